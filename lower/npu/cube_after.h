/* lower/npu/cube_after.h -- a piece of the sums on its way through the unified buffer: what the files that
 * place, load, compute and store its values share.
 *
 * A piece lies as the sums do: columns of 16, one behind the other, each with all rows of the tile.  A
 * number for each column is spread over a repeat once, a number for each row over 16 lanes; so all
 * operations go through whole repeats.
 */
#ifndef HN_LOWER_NPU_CUBE_AFTER_H
#define HN_LOWER_NPU_CUBE_AFTER_H

#include "lower/npu/cube.h"
#include "target/npu/npu_insn.h"

enum { CUBE_REPEAT = 256, CUBE_MOST_REPEATS = 255 };

struct cube_piece {
	const struct cube_step *s;
	int64_t column, n; /* in the tile, in the result's columns */
	int64_t n1, m1;	   /* fractals */
	int64_t base;	   /* of the copy */
	int64_t sums;	   /* in L0C */
};

static inline int64_t cube_value_bytes(const struct hn_npu_value *v)
{
	return hn_dtype_bytes((enum hn_dtype)v->dtype);
}

/* What has fewer numbers than the sums is loaded for a whole tile, to a place of its own. */
static inline bool cube_is_fixed(const struct hn_npu_value *v)
{
	return v->loaded && v->shape != HN_NPU_FULL;
}

/* Rows of global memory as rows of a piece: fewer and longer bursts than columns of 16 by themselves. */
static inline bool cube_is_wide(const struct hn_npu_view *v, int64_t columns)
{
	return v->block == 16 && v->lane == 1 && columns > 16;
}

/* product_place.c: bytes of a value that is spread over `columns` columns. */
int64_t cube_spread_bytes(const struct cube *x, const struct hn_npu_value *v, int64_t columns);

/* product_cores.c: whether a piece has a store's edge; and it, to scratch. */
bool cube_is_edge(const struct cube *x, const struct cube_piece *p, uint32_t store);
void cube_put_edge(struct cube *x, uint32_t store, int64_t first, int64_t n, int64_t at, int64_t step);

/* product_terms.c: the sums of a piece, of all parts of the terms. */
void cube_take_sums(struct cube *x, const struct cube_piece *p);

/* product_operand.c: the operands of a tile that all of its pieces have, and one of a piece alone; where
 * a value of a piece begins. */
void cube_load_fixed(struct cube *x, const struct cube_step *s);
void cube_load_full(struct cube *x, const struct cube_piece *p, int32_t value);
int64_t cube_place_of(const struct cube *x, const struct cube_piece *p, int32_t value);

/* Between columns of 16 and rows; between matrices of 16 x 16 and columns of all rows. */
void cube_rearrange(struct cube *x, const struct cube_piece *p, enum hn_dtype t, int64_t to, int64_t from,
		    bool to_rows);
void cube_exchange(struct cube *x, const struct cube_piece *p, int64_t fractals, int64_t turned, bool to_columns);

#endif
