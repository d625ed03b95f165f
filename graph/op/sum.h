/* graph/op/sum.h -- the type in which a template sums products up.
 *
 * A sum of float16 or bfloat16 rounds at each step, so it is kept in float32 and rounded once, by a
 * statement of its own.  Sums of products of 8-bit integers are int32, and so are the results.
 */
#ifndef HN_GRAPH_OP_SUM_H
#define HN_GRAPH_OP_SUM_H

#include "graph/ir/op.h"

/* Of operands x and y: the result's type; HN_N_DTYPE: they have no product. */
enum hn_dtype hn_sum_type(enum hn_dtype x, enum hn_dtype y);

/* The same of node n, whose attribute `sum` may say another (graph/form). */
enum hn_dtype hn_sum_result(const struct hn_gnode *n, enum hn_dtype x, enum hn_dtype y);

/* The left side of the sum that becomes v.  Returns the tensor that holds it, 0 for v itself. */
uint32_t hn_sum_left(struct hn_say *s, int32_t v, const hn_say_index *index);

/* Before and behind a factor of type t. */
void hn_sum_open(struct hn_say *s, int32_t v, enum hn_dtype t);
void hn_sum_close(struct hn_say *s, int32_t v, enum hn_dtype t);

/* Before and behind what was summed up, where v's type is another: it is rounded. */
void hn_sum_round_open(struct hn_say *s, int32_t v);
void hn_sum_round_close(struct hn_say *s, int32_t v);

/* The statement that rounds, where there is one. */
void hn_sum_end(struct hn_say *s, int32_t v, uint32_t temp, const hn_say_index *index);

#endif
