/* graph/ir/fold.h -- results that depend on constants alone are constants.
 *
 * They are computed by the reference interpreter from the node's own template, so an operator is
 * described once.  A constant whose elements are all equal stays one element, however large its
 * shape is: models that come without weights have hundreds of megabytes of them.
 *
 * The work is bounded for a whole graph (HN_GRAPH_WORK).  What is too much stays a node: it is the
 * compiled network's prepared data.
 */
#ifndef HN_GRAPH_IR_FOLD_H
#define HN_GRAPH_IR_FOLD_H

#include "graph/ir/graph.h"

struct hn_dag;

/* What computing it costs, in the unit of HN_GRAPH_WORK. */
int64_t hn_graph_work(const struct hn_dag *dag);

/* Whether the results of the node, whose shapes are known, are constants now.  Sets g->failed
 * where they cannot be computed. */
bool hn_graph_fold(struct hn_graph *g, const struct hn_gnode *n);

/* Whether the node's text is a computation: so that what is in a graph can be compiled, whatever the
 * model says.  Sets g->failed where it is not. */
bool hn_graph_check(struct hn_graph *g, const struct hn_gnode *n);

#endif
