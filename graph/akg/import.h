/* graph/akg/import.h -- a network from a fused operator of AKG.
 *
 * Every operator of the file becomes operators of graph/op/ops.def by its row of graph/akg/ops.def.
 * What cannot be is told at once for the whole file, as graph/import does for ONNX.
 *
 * An operator that writes into one of its operands (Assign, InplaceAssign, AssignAdd) gives that
 * tensor a new value: later operators read it, and where it is an input of the kernel and no output
 * has the value, the network has one output more, of the input's name.
 */
#ifndef HN_GRAPH_AKG_IMPORT_H
#define HN_GRAPH_AKG_IMPORT_H

#include "graph/akg/akg.h"
#include "graph/import/import.h"

/* Into `g`, which is initialized and empty; `k` outlives it.  Errors as hn_graph_import's. */
int hn_akg_import(const struct hn_akg *k, struct hn_import *im, struct hn_graph *g,
		  struct hn_err *err) HN_NODISCARD;

/* Why there is no row of that name: refused.def's reason, or that hone does not know it. */
const char *hn_akg_why_not(const char *op);

/* All rows, for those who list them; *ret_n of them. */
struct hn_akg_row;
const struct hn_akg_row *hn_akg_rows(uint32_t *ret_n);

#endif
