/* lower/npu/vector_int.h -- a dag as a list of vector operations on values of a tile: what the files
 * of hn_npu_vector share.
 *
 * The dag's ops go through one space of rows and columns.  A value has a number for each point of
 * it, for each row, for each column, or one for all.
 */
#ifndef HN_LOWER_NPU_VECTOR_INT_H
#define HN_LOWER_NPU_VECTOR_INT_H

#include "lower/npu/npu.h"
#include "target/npu/npu_insn.h"

enum vec_shape {
	VEC_ONE,    /* a block of one number, or what it is loaded to */
	VEC_ROW,    /* a number for each row, next to each other */
	VEC_SPREAD, /* a block for each row, of its number */
	VEC_COLUMN, /* a row */
	VEC_FULL,   /* rows, each padded to vec.padded columns */
	VEC_BITS,   /* of a comparison of full values: a block for each repeat */
	VEC_CHUNK   /* a repeat for each row: sums on their way */
};

struct vec_value {
	uint8_t shape, dtype;
	bool once;	 /* it is the same in all tiles */
	int32_t arg;	 /* the argument that it is loaded from or stored to; -1 */
	bool loaded, stored;
	int32_t first, last; /* operations that write it first and touch it last */
	int64_t bytes, at;   /* of a copy; in the unified buffer */
	uint32_t copies;
};

enum { VEC_LOAD = HN_NPU_N_OP, VEC_STORE, VEC_FOLD }; /* FOLD: the chunks of rows become one */

struct vec_op {
	uint16_t what;	   /* enum hn_npu_op, or one of the above */
	int32_t to, from[3]; /* values; -1: none */
	float scale;
	uint8_t with;	   /* FOLD: ADD, MAX, MIN */
};

struct vec {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	const struct hn_npu_plan *plan;
	struct hn_arena *a;
	struct hn_err *err;
	int rc;
	/* the space: extents other than 1 of the widest op, and where its columns begin */
	uint32_t n_dim, n_row_dim;
	int64_t dim[HN_DAG_MAX_ITERS];
	int64_t rows, columns;	 /* of the task */
	bool flat;		 /* no value is of rows or columns: tiles are of elements */
	int8_t (*pos)[HN_DAG_MAX_ITERS]; /* [n_op] dimension of the space of each axis; -1: extent 1 */
	int32_t *value;		 /* [n_op] of the stage; -1: none yet */
	uint32_t n_value, cap_value, n_op, cap_op;
	struct vec_value *v;
	struct vec_op *op;
	/* of a tile, when it is known */
	int64_t tile_rows, padded, n_tile, rows_core, ub_bytes;
	uint32_t n_core;
};

/* vector_space.c: the space, and where in it each op's axes are. */
int vec_space(struct vec *x);
/* vector_ops.c: operations of all stages. */
int vec_ops(struct vec *x);
/* vector_place.c: sizes of tiles, addresses of values. */
int vec_place(struct vec *x);
/* vector_code.c: the text. */
void vec_code(struct vec *x, struct hn_buf *text);

int32_t vec_new_value(struct vec *x, enum vec_shape shape, enum hn_dtype t);
void vec_new_op(struct vec *x, uint16_t what, int32_t to, int32_t a, int32_t b, int32_t c,
		float scale);

#endif
