/* lower/npu/vector_text.h -- a tile whose instructions are written: shared by the files that write
 * them. */
#ifndef HN_LOWER_NPU_VECTOR_TEXT_H
#define HN_LOWER_NPU_VECTOR_TEXT_H

#include "lower/npu/vector_int.h"

#define VEC_REPEATS 255 /* of an instruction */

struct vec_tile {
	struct vec *x;
	struct hn_buf *text;
	int64_t n[VEC_DIMS], at[VEC_DIMS]; /* how much of each dimension, from where in the core's part */
	int64_t padded;
	int64_t skip[2]; /* parts of the split dimensions before this section's first */
	uint32_t phase;
	int64_t n_insn;
};

static inline int64_t vec_columns(const struct vec_tile *t)
{
	return t->x->n_dim > 0 ? t->n[t->x->n_dim - 1] : 1;
}

int64_t vec_address(const struct vec_tile *t, int32_t v);
/* Bytes from one to the next along d, in the unified buffer; 0: it has no such dimension. */
int64_t vec_stride(const struct vec_tile *t, int32_t v, uint32_t d);
const char *vec_type_word(const struct vec_tile *t, int32_t v);
void vec_named(const struct vec_tile *t, const char *name, int64_t v, int64_t fallback);
void vec_end_line(struct vec_tile *t);

/* vector_lanes.c: what goes lane by lane, and slices that become one. */
void vec_lanes(struct vec_tile *t, const struct vec_op *op);
void vec_chain(struct vec_tile *t, const struct vec_op *op);
/* to = from, or to with= from. */
void vec_total(struct vec_tile *t, const struct vec_op *op, bool first);
/* Rows are written to their ends, whatever their type. */
bool vec_is_filled(const struct vec_tile *t);
/* vector_across.c: what goes across lanes. */
/* The same as vec_chain, where short rows that follow each other fill a repeat; false: they do not. */
bool vec_chain_rows(struct vec_tile *t, const struct vec_op *op);
void vec_fold(struct vec_tile *t, const struct vec_op *op);
void vec_reduce(struct vec_tile *t, const struct vec_op *op, const struct vec_op *before);
void vec_to_blocks(struct vec_tile *t, const struct vec_op *op);
void vec_gather(struct vec_tile *t, const struct vec_op *op);
/* vector_move.c: loads and stores; registers that say where a core's part begins. */
void vec_transfer(struct vec_tile *t, bool in, int32_t v);
void vec_registers(struct vec_tile *t);
int vec_assign(struct vec *x);

#endif
