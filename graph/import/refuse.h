/* graph/import/refuse.h -- the list of what an import does not take, kept while it goes on. */
#ifndef HN_GRAPH_IMPORT_REFUSE_H
#define HN_GRAPH_IMPORT_REFUSE_H

#include "graph/import/import.h"

/* The node `at` of operator `op` is refused: `why` is the graph's error, the node's name in front.
 * The list and its texts live in `a`, and so does what is borrowed here. */
void hn_import_refuse(struct hn_import *im, struct hn_arena *a, const char *op, const char *at,
		      const struct hn_err *why);

/* 0, or the error that sums the list up. */
int hn_import_refused(const struct hn_import *im, struct hn_err *err) HN_NODISCARD;

#endif
