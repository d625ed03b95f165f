/* graph/pass/pass.h -- what exporters took apart is put together again, while a graph is built.
 *
 * A rule (rules.def) looks at a node that is being added, and back along what it is made of.  Where
 * it knows the pattern it gives a value that is equal, of fewer or better operators; what nobody
 * needs any more is swept away later.  Rules change no meaning: sums may be taken in another order,
 * as kernels do anyway.
 */
#ifndef HN_GRAPH_PASS_PASS_H
#define HN_GRAPH_PASS_PASS_H

#include "graph/ir/graph.h"

/* For hn_graph.simplify.  As written: quantization stays where the model has it. */
int32_t hn_pass_simplify(struct hn_graph *g, const struct hn_gnode *n);
int32_t hn_pass_simplify_as_written(struct hn_graph *g, const struct hn_gnode *n);

/* -- for rules: each returns a value, HN_NONE where it does not apply --------------------- */

#define RULE(name, op, function, numbers)                                                \
	int32_t function(struct hn_graph *g, const struct hn_gnode *n);
#include "graph/pass/rules.def"
#undef RULE

/* The node of operator `op` that computes v; NULL: another one does, or none. */
const struct hn_gnode *hn_pass_made_by(const struct hn_graph *g, int32_t v,
				       const char *op);

/* The one number that constant v is. */
bool hn_pass_number(const struct hn_graph *g, int32_t v, double *ret);

/* v is a sum, or an extreme (`sign`), over some dimensions that stay as ones: of what, and which. */
bool hn_pass_reduced(const struct hn_graph *g, int32_t v, const char *sign,
		     int32_t *ret_of, const struct hn_gattr **ret_axes);

bool hn_pass_same_axes(const struct hn_gattr *x, const struct hn_gattr *y);

#endif
