/* lower/npu/task_axes.c -- axes as rows, columns, terms and batch, and all that is read and written as
 * matrices of them.
 *
 * An axis of the result that only the left factor has is of rows, one that only the right factor has
 * of columns, one that both have of the batch.  A group's axes have to be one behind the other in
 * everything; where they are not, the outermost goes to the batch.
 */
#include "lower/npu/task_int.h"

/* Steps of a group as one step. */
bool task_flat(const struct task *x, const struct task_group *g, const struct task_steps *s, int64_t *ret)
{
	*ret = g->n == 0 ? 0 : s->at.by[g->axis[g->n - 1]];
	for (uint32_t i = 0; i + 1 < g->n; i++) {
		if (s->at.by[g->axis[i]] != s->at.by[g->axis[i + 1]] * task_extent(x, g->axis[i + 1])) {
			return false;
		}
	}
	return true;
}

bool task_blocks(const struct task *x, const struct task_group *g, const struct task_steps *s, int64_t c0,
		 int64_t *block, int64_t *lane)
{
	struct task_group outer = *g;

	if (g->n == 0) {
		*block = c0;
		*lane = 1;
		return true;
	}
	*lane = s->at.by[g->axis[g->n - 1]];
	if (*lane != 0 && *lane != 1) {
		return false;
	}
	if (task_flat(x, g, s, block)) {
		*block = *lane * c0;
		return true;
	}
	outer.n--;
	return task_extent(x, g->axis[g->n - 1]) == c0 && task_flat(x, &outer, s, block);
}

void task_sort(struct task *x, struct task_group *g, const struct task_steps *by)
{
	(void)x;
	for (uint32_t i = 1; i < g->n; i++) {
		for (uint32_t k = i; k > 0 && by->at.by[g->axis[k]] > by->at.by[g->axis[k - 1]]; k--) {
			uint8_t axis = g->axis[k];

			g->axis[k] = g->axis[k - 1];
			g->axis[k - 1] = axis;
		}
	}
}

static void put_axis(struct task_group *g, uint32_t axis)
{
	g->axis[g->n++] = (uint8_t)axis;
}

/* The factor that has the result's columns is the right one. */
static bool classify(struct task *x)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < x->sum->n_spatial; i++) {
		if (x->store[0].at.by[i] == 1 && task_extent(x, i) > 1) {
			last = i;
		}
	}
	if (last != UINT32_MAX && x->factor[0].steps.at.by[last] != 0) {
		struct task_factor f = x->factor[0];

		x->factor[0] = x->factor[1];
		x->factor[1] = f;
	}
	for (uint32_t i = 0; i < x->sum->n_spatial + x->sum->n_reduce; i++) {
		bool left = x->factor[0].steps.at.by[i] != 0, right = x->factor[1].steps.at.by[i] != 0;

		if (task_extent(x, i) == 1) {
			continue;
		}
		if (i >= x->sum->n_spatial) {
			if (!left || !right) {
				return task_no(x, "terms that one factor alone has");
			}
			put_axis(&x->terms, i);
		} else if (left && right) {
			put_axis(&x->batch, i);
		} else if (left || right) {
			put_axis(left ? &x->rows : &x->columns, i);
		} else {
			return task_no(x, "results that no factor has");
		}
	}
	task_sort(x, &x->rows, &x->store[0]);
	task_sort(x, &x->columns, &x->store[0]);
	task_sort(x, &x->batch, &x->store[0]);
	return true;
}

static bool to_batch(struct task *x, struct task_group *g)
{
	if (g->n == 0) {
		return false;
	}
	put_axis(&x->batch, g->axis[0]);
	for (uint32_t i = 0; i + 1 < g->n; i++) {
		g->axis[i] = g->axis[i + 1];
	}
	g->n--;
	return true;
}

/* How a loaded value is spread. */
static bool shape_of(struct task *x, uint32_t i)
{
	struct hn_npu_value *v = &x->t->value[i];
	int64_t row = v->view.row, block = v->view.block, lane = v->view.lane;
	bool no_columns = x->columns.n == 0;

	if (v->view.turned) {
		v->shape = HN_NPU_FULL;
		return true;
	}
	if (no_columns && row == 0) {
		lane = v->view.lane = 0; /* one number, or one for each row */
		block = v->view.block = 0;
	}
	if (no_columns && row != 0) { /* a column of numbers */
		v->view.lane = 1;
		v->view.block = 16;
		v->shape = HN_NPU_FULL;
		return true;
	}
	if (lane == 0 && block != 0) {
		return task_no(x, "an operand that is the same in blocks of columns");
	}
	v->shape = lane == 0 ? row == 0 ? HN_NPU_ONE : HN_NPU_ROW : row == 0 && x->rows.n > 0 ? HN_NPU_COLUMN
											     : HN_NPU_FULL;
	if (v->shape == HN_NPU_ROW && row != 1) {
		return task_no(x, "a number for each row, which are not next to each other");
	}
	return (v->shape != HN_NPU_ROW && v->shape != HN_NPU_ONE) || v->dtype != HN_I32 ||
	       task_no(x, "an int32 for each row");
}

static enum hn_npu_shape join(enum hn_npu_shape a, enum hn_npu_shape b)
{
	return a == HN_NPU_ONE ? b : b == HN_NPU_ONE || a == b ? a : HN_NPU_FULL;
}

static bool as_matrix(const struct task *x, const struct task_steps *s, struct hn_npu_view *v)
{
	*v = (struct hn_npu_view){ .arg = s->arg, .dtype = s->dtype, .first = s->at.first };
	if (!task_flat(x, &x->rows, s, &v->row)) {
		return false;
	}
	if (task_blocks(x, &x->columns, s, 16, &v->block, &v->lane)) {
		return true;
	}
	v->turned = task_flat(x, &x->columns, s, &v->lane); /* rows are next to each other instead */
	v->block = 16 * v->lane;
	return v->turned && s->dtype == HN_F16 && v->row == 1 && v->lane > 1;
}

/* Whether all behind the sums are matrices of the present rows and columns. */
static bool are_matrices(struct task *x, bool by_rows)
{
	struct hn_npu_view v;
	int64_t step;

	for (uint32_t i = 0; i < x->t->n_value + x->t->n_store; i++) {
		const struct task_steps *s = i < x->t->n_value ? &x->value[i] : &x->store[i - x->t->n_value];

		if (i < x->t->n_value && !x->t->value[i].loaded) {
			continue;
		}
		if (by_rows ? !task_flat(x, &x->rows, s, &step) : !as_matrix(x, s, &v)) {
			return false;
		}
	}
	return true;
}

static void put_batch(struct task *x, const struct task_steps *s, struct hn_npu_view *v)
{
	for (uint32_t d = 0; d < x->batch.n; d++) {
		v->batch[d] = s->at.by[x->batch.axis[d]];
	}
}

/* Whether axis d of the batch and the one behind it are one everywhere. */
static bool is_one(const struct task *x, const struct task_steps *s, uint32_t d)
{
	return s->at.by[x->batch.axis[d]] == s->at.by[x->batch.axis[d + 1]] * task_extent(x, x->batch.axis[d + 1]);
}

static bool is_one_axis(const struct task *x, uint32_t d)
{
	bool one = is_one(x, &x->factor[0].steps, d) && is_one(x, &x->factor[1].steps, d);

	for (uint32_t i = 0; i < x->t->n_value && one; i++) {
		one = !x->t->value[i].loaded || is_one(x, &x->value[i], d);
	}
	for (uint32_t i = 0; i < x->t->n_store && one; i++) {
		one = is_one(x, &x->store[i], d);
	}
	return one;
}

/* The batch's axes, those that are one joined. */
static bool put_batches(struct task *x)
{
	struct hn_npu_task *t = x->t;
	int64_t extent[HN_DAG_MAX_ITERS];
	struct task_group all;

	task_sort(x, &x->batch, &x->store[0]);
	all = x->batch;
	for (uint32_t d = 0; d < all.n; d++) {
		extent[d] = task_extent(x, all.axis[d]);
	}
	for (uint32_t d = all.n; d-- > 0;) {
		if (d + 1 < all.n && is_one_axis(x, d)) {
			extent[d + 1] *= extent[d];
			for (uint32_t i = d; i + 1 < x->batch.n; i++) { /* the inner one stays */
				x->batch.axis[i] = x->batch.axis[i + 1];
				extent[i] = extent[i + 1];
			}
			x->batch.n--;
			all = x->batch;
		}
	}
	if (x->batch.n > HN_NPU_BATCH) {
		return task_no(x, "more axes than the batch has, that do not lie one behind the other");
	}
	t->n_batch = x->batch.n;
	for (uint32_t d = 0; d < x->batch.n; d++) {
		t->batch[d] = extent[d];
	}
	put_batch(x, &x->factor[0].steps, &t->a);
	put_batch(x, &x->factor[1].steps, &t->b);
	for (uint32_t i = 0; i < t->n_value; i++) {
		put_batch(x, &x->value[i], &t->value[i].view);
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		put_batch(x, &x->store[i], &t->store[i].view);
	}
	return true;
}

static int64_t size_of(const struct task *x, const struct task_group *g)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < g->n; i++) {
		n *= task_extent(x, g->axis[i]);
	}
	return n;
}

bool task_results(struct task *x)
{
	struct hn_npu_task *t = x->t;

	for (uint32_t i = 0; i < t->n_store; i++) {
		const struct hn_npu_view *v = &t->store[i].view;

		if (!as_matrix(x, &x->store[i], &t->store[i].view) || (v->lane != 1 && !v->turned)) {
			return task_no(x, "results of which neither rows nor columns are next to each other, or rows "
					  "that are not float16");
		}
	}
	for (uint32_t i = 1; i < t->n_value; i++) {
		struct hn_npu_value *v = &t->value[i];

		if (v->loaded && (!as_matrix(x, &x->value[i], &v->view) || !shape_of(x, i))) {
			return task_no(x, "an operand behind the sums that does not lie as they do");
		}
		if (!v->loaded) {
			v->shape = HN_NPU_ONE;
			for (int k = 0; k < 2 && v->from[k] >= 0; k++) {
				v->shape = (uint8_t)join((enum hn_npu_shape)v->shape,
							 (enum hn_npu_shape)t->value[v->from[k]].shape);
			}
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		if (t->value[t->store[i].value].shape != HN_NPU_FULL ||
		    t->value[t->store[i].value].dtype != t->store[i].view.dtype) {
			return task_no(x, "a result that is the same in rows or columns");
		}
	}
	t->m = size_of(x, &x->rows);
	t->n = size_of(x, &x->columns);
	return put_batches(x);
}

/* Rows as a few one behind the other, and those one behind the other. */
static bool split(const struct task *x, const struct task_steps *s, const struct task_group *g,
		  struct hn_npu_view *v)
{
	struct task_group inner = { .n = 1, .axis = { g->n == 0 ? 0 : g->axis[g->n - 1] } }, outer = *g;

	v->split = 1;
	if (g->n < 2) {
		return false;
	}
	do {
		v->split *= task_extent(x, g->axis[outer.n - 1]);
		outer.n--;
		inner.n = g->n - outer.n;
		for (uint32_t i = 0; i < inner.n; i++) {
			inner.axis[i] = g->axis[outer.n + i];
		}
	} while (outer.n > 1 && s->at.by[g->axis[outer.n - 1]] ==
					s->at.by[g->axis[outer.n]] * task_extent(x, g->axis[outer.n]));
	return task_flat(x, &inner, s, &v->row) && task_flat(x, &outer, s, &v->outer);
}

/* A factor whose own axes are `own`: its rows or its columns are the terms. */
static bool factor(const struct task *x, const struct task_steps *s, const struct task_group *own, bool right,
		   struct hn_npu_view *v)
{
	int64_t c0 = x->t->dtype == HN_I8 ? 32 : 16, lane;

	*v = (struct hn_npu_view){ .arg = s->arg, .dtype = s->dtype, .first = s->at.first, .turned = right };
	if (task_flat(x, own, s, &v->row) && task_blocks(x, &x->terms, s, c0, &v->block, &lane) && lane == 1) {
		v->lane = 1;
		return true;
	}
	v->lane = 1;
	if (!right && task_blocks(x, &x->terms, s, c0, &v->block, &lane) && lane == 1 && split(x, s, own, v)) {
		return true;
	}
	v->split = 0;
	v->turned = !right;
	if (!task_flat(x, &x->terms, s, &v->row) || !task_blocks(x, own, s, 16, &v->block, &lane) || lane != 1) {
		return false;
	}
	return c0 == 16 || v->block == 16; /* bytes are transposed before they are fractals */
}

bool task_product(struct task *x)
{
	struct hn_npu_task *t = x->t;

	if (!classify(x)) {
		return false;
	}
	if (x->factor[0].padded || x->factor[1].padded) {
		return task_no(x, "a factor that is padded");
	}
	task_sort(x, &x->terms, &x->factor[0].steps);
	while ((!factor(x, &x->factor[0].steps, &x->rows, false, &t->a) || !are_matrices(x, true)) &&
	       to_batch(x, &x->rows)) {
	}
	while ((!factor(x, &x->factor[1].steps, &x->columns, true, &t->b) || !are_matrices(x, false)) &&
	       to_batch(x, &x->columns)) {
	}
	if (!factor(x, &x->factor[0].steps, &x->rows, false, &t->a) ||
	    !factor(x, &x->factor[1].steps, &x->columns, true, &t->b)) {
		return task_no(x, "a factor of which neither terms nor results are next to each other");
	}
	t->k = size_of(x, &x->terms);
	return task_results(x);
}
