/* graph/ir/memo.h -- constants that an earlier reading of the same model has computed.
 *
 * A model is read once for each size of a range (graph/net/ranges.h), and what it makes of its weights
 * is the same each time: casts, transposes, dequantized matrices.  The first reading keeps what it
 * computes, and later ones take it from there; so weights are also known to be the same by where they
 * lie.  A result is found by the program that makes it and by its operands: by the place of those that
 * last, which are the file's and results that were kept, and by the elements of small ones.
 */
#ifndef HN_GRAPH_IR_MEMO_H
#define HN_GRAPH_IR_MEMO_H

#include "graph/ir/text.h"

/* In `a`, in which the first graph is built, too. */
struct hn_memo *hn_memo_new(struct hn_arena *a);

/* From now on nothing is kept any more. */
void hn_memo_close(struct hn_memo *m);

/* What the program's results were, into result[n_out].data; false: unknown.  g: what the numbers of
 * text->arg are of. */
bool hn_memo_find(const struct hn_memo *m, const struct hn_graph *g, const struct hn_gtext *text,
		  uint32_t n_out, struct hn_gvalue *result);

/* Keep them, where the operands last and the memo is open: result[n_out] last, then. */
void hn_memo_keep(struct hn_memo *m, const struct hn_graph *g, const struct hn_gtext *text,
		  uint32_t n_out, struct hn_gvalue *result);

#endif
