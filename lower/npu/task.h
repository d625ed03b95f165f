/* lower/npu/task.h -- what the cube is to do, as data: two factors, how they and the results lie in
 * the arguments, and what is done with the sums before they are stored.
 *
 * A matrix lies in fractal columns of C0 numbers (16, of int8 32): element (r, c) at
 * first + r * row + c / C0 * block + c % C0 * lane.  Rows next to each other, both transposed forms, blocks of
 * channels and fractals (FRACTAL_NZ, FRACTAL_Z) are all of this form.  A convolution is a product
 * whose left factor is windows of an image.
 */
#ifndef HN_LOWER_NPU_TASK_H
#define HN_LOWER_NPU_TASK_H

#include "lower/npu/npu.h"

enum { HN_NPU_BATCH = 6, HN_NPU_MOST_VALUES = 64, HN_NPU_MOST_STORES = 4 };

struct hn_npu_view {
	int32_t arg;
	uint8_t dtype;
	bool turned;	/* columns are not those of its factor: A's rows are terms, B's are results */
	int64_t first, row, block, lane; /* in elements; first: where element (0, 0) lies */
	int64_t split, outer; /* 0, or row r lies at r / split * outer + r % split * row: of the left factor */
	int64_t batch[HN_NPU_BATCH];
};

/* Rows of the left factor are windows of an image of rows of `width` points; its terms go through
 * C0 channels, then the window's columns, rows, and the blocks of channels.  Of an image that is turned,
 * a channel's points lie one behind the other, and its channels are `row` apart. */
struct hn_npu_window {
	int64_t height, width, channels; /* of the image */
	int64_t kh, kw, sh, sw, dh, dw, top, left;
	int64_t high, wide;		 /* windows */
	int64_t weight_h, weight_w; /* of the right factor: from row to row of the window, ... */
	bool merged;		    /* its terms lie as the left factor's, one behind the other */
	bool staged;		    /* a result's channels, and the window's points, lie one behind the other */
};

/* Values behind the sums.  A narrow one has a number for each row, for each column, or one. */
enum hn_npu_shape { HN_NPU_ONE, HN_NPU_ROW, HN_NPU_COLUMN, HN_NPU_FULL };

struct hn_npu_value {
	uint8_t shape, dtype;
	bool loaded;
	uint16_t op; /* enum hn_npu_op that makes it, of what is not loaded */
	int32_t from[2]; /* values; -1: none */
	float scale;
	struct hn_npu_view view; /* where it is loaded from */
};

struct hn_npu_store {
	int32_t value;
	struct hn_npu_view view;
};

struct hn_npu_task {
	int64_t m, n, k;
	uint32_t n_batch;
	int64_t batch[HN_NPU_BATCH];
	uint8_t dtype; /* of the factors: float16, or int8 */
	struct hn_npu_view a, b;
	const struct hn_npu_window *window; /* NULL: a product */
	uint32_t n_value, n_store;
	struct hn_npu_value value[HN_NPU_MOST_VALUES]; /* the first one is the sums */
	struct hn_npu_store store[HN_NPU_MOST_STORES];
	int32_t sum;	/* the op that sums, */
	uint8_t role[HN_DAG_MAX_ITERS]; /* and enum hn_npu_role of each of its axes */
	uint32_t n_buffer;
	const struct hn_npu_buffer *buffer; /* [n_buffer], the arguments */
};

/* The task of a dag; its sizes and the task are filled.  False: it is none, and *why says what of it
 * has no form, where there is a product in it.  task.c */
bool hn_npu_task_of(const struct hn_dag *dag, struct hn_arena *a, struct hn_npu_product *ret,
		    const char **why);

/* C[m,n] = A[m,k] B[k,n], row by row. */
const struct hn_npu_task *hn_npu_plain_task(const struct hn_npu_product *p, struct hn_arena *a);

static inline int64_t hn_npu_c0(const struct hn_npu_task *t)
{
	return t->dtype == HN_I8 ? 32 : 16;
}

static inline int64_t hn_npu_batches(const struct hn_npu_task *t)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < t->n_batch; d++) {
		n *= t->batch[d];
	}
	return n;
}

#endif
