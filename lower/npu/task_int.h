/* lower/npu/task_int.h -- a dag read as a product and what follows it: what the files that do so share.
 *
 * All indices are linear forms over the axes of the one op that sums.  What reads or writes an
 * argument is a step for each axis; groups of axes (rows, columns, terms, batch) become matrices.
 */
#ifndef HN_LOWER_NPU_TASK_INT_H
#define HN_LOWER_NPU_TASK_INT_H

#include "base/arith.h"
#include "lower/npu/task.h"
#include "target/npu/npu_insn.h"

struct task_form { /* first + by[0] * axis 0 + ... */
	int64_t first, by[HN_DAG_MAX_ITERS];
};

struct task_steps { /* of an argument, in elements, for each axis of the sum */
	int32_t arg;
	uint8_t dtype;
	struct task_form at;
};

struct task_factor {
	int32_t op; /* a placeholder */
	uint32_t n_dim;
	const struct task_form *index; /* [n_dim]; outside of it zeros are read, if `padded` */
	bool padded;
	struct task_steps steps;
};

struct task_group { /* axes, the outermost first */
	uint32_t n;
	uint8_t axis[HN_DAG_MAX_ITERS];
};

struct task_known { /* an op at these forms is this value */
	int32_t op;
	const struct task_form *env;
	int32_t value;
	float number;
};

struct task {
	const struct hn_dag *dag;
	struct hn_arena *a;
	const struct hn_op *sum;
	int32_t sum_at;
	const char *why;
	struct hn_npu_task *t;
	struct task_factor factor[2]; /* left and right */
	struct task_steps value[HN_NPU_MOST_VALUES], store[HN_NPU_MOST_STORES];
	const struct task_form *(*env);	/* [n_op] of ops that follow the sum: their axes; NULL */
	uint32_t n_known;
	struct task_known known[HN_NPU_MOST_VALUES];
	struct task_group rows, columns, terms, batch;
};

/* The first reason is kept. */
static inline bool task_no(struct task *x, const char *why)
{
	x->why = x->why ? x->why : why;
	return false;
}

static inline int64_t task_extent(const struct task *x, uint32_t axis)
{
	return x->sum->axis[axis].extent;
}

/* task_form.c.  An index over axes that are forms themselves (env; NULL: each is itself); the argument
 * that a load reads, through copies and padding. */
bool task_form(const struct hn_expr *e, const struct task_form *env, struct task_form *ret);
const struct task_form *task_indices(struct task *x, const struct hn_expr *load, const struct task_form *env);
bool task_factor(struct task *x, const struct hn_expr *load, struct task_factor *ret);
bool task_steps(struct task *x, int32_t op, const struct task_form *index, struct task_steps *ret);

/* task_expr.c.  What an op has at these forms: a value, or (value < 0) a number. */
struct task_item {
	int32_t value;
	float number;
};

struct task_item task_op_at(struct task *x, int32_t at, const struct task_form *env);

/* task_after.c.  The values and stores behind the sums. */
bool task_after(struct task *x);

/* task_axes.c.  Axes to groups; a group's steps as a matrix's rows, or as its columns, of c0 numbers
 * each; and all of it, for a product. */
bool task_flat(const struct task *x, const struct task_group *g, const struct task_steps *s, int64_t *ret);
bool task_blocks(const struct task *x, const struct task_group *g, const struct task_steps *s, int64_t c0,
		 int64_t *block, int64_t *lane);
void task_sort(struct task *x, struct task_group *g, const struct task_steps *by);
bool task_results(struct task *x);
bool task_product(struct task *x);

/* task_window.c.  A product of windows of an image. */
bool task_is_window(const struct task *x);
bool task_window(struct task *x);

#endif
