/* lower/npu/vector_sum.c -- a reduction as operations: outer dimensions first, slice by slice; then rows,
 * by what goes across lanes; then what several tiles give.  A sum whose condition holds in parts of it
 * is taken part by part (vector_region.c).
 */
#include <math.h>

#include "lower/npu/vector_eval.h"

#define MOST_PARTS 512 /* of a sum */

static const struct {
	uint8_t kind;
	uint16_t with, lanes; /* lanes: 0 = lanes become one by no instruction */
	float neutral;
} sums[] = {
	{ HN_COMBINE_SUM, HN_NPU_I_ADD, HN_NPU_I_CADD, 0 },
	{ HN_COMBINE_MAX, HN_NPU_I_MAX, HN_NPU_I_CMAX, -INFINITY },
	{ HN_COMBINE_MIN, HN_NPU_I_MIN, HN_NPU_I_CMIN, INFINITY },
	{ HN_COMBINE_PROD, HN_NPU_I_MUL, 0, 1 },
};

/* The number that the reduction of `op` begins with; false: it is the row's neutral one. */
static bool begins_with(const struct hn_op *op, uint32_t row, double *ret)
{
	const struct hn_expr *e = op->reduce->identity[0];
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	int64_t lo, hi;

	if (e->op == HN_EXPR_FLOAT) {
		*ret = e->u.f;
		return isfinite(*ret) && fabs(*ret) < 3e38 && (float)*ret != sums[row].neutral;
	}
	if (e->op != HN_EXPR_INT) {
		return false;
	}
	hi = (int64_t)((uint64_t)1 << (8 * hn_dtype_bytes(t) - (hn_dtype_class(t) == HN_CLASS_SIGNED))) - 1;
	lo = hn_dtype_class(t) == HN_CLASS_SIGNED ? -hi - 1 : 0;
	*ret = (double)e->u.i;
	return isfinite(sums[row].neutral) ? *ret != (double)sums[row].neutral
	       : sums[row].neutral < 0	   ? e->u.i > lo
					   : e->u.i < hi;
}

/* The sum with the number that it begins with. */
static struct vec_item begun(struct vec *x, const struct hn_op *op, uint32_t row, struct vec_item a)
{
	double first;

	if (!begins_with(op, row, &first)) {
		return a;
	}
	if (op->reduce->identity[0]->op == HN_EXPR_INT && (double)(float)first != first) {
		vec_no(x, op, "a sum that begins with an integer past 2^24 has no form", "");
		return (struct vec_item){ -1, 0 };
	}
	return vec_binary(x, sums[row].with, a, (struct vec_item){ -1, (float)first },
			  vec_carrier((enum hn_dtype)op->dtype[0]));
}

/* v without the dimensions `over`. */
static int32_t total(struct vec *x, const struct hn_op *op, int32_t v, uint32_t over, uint32_t row)
{
	enum hn_dtype t = (enum hn_dtype)x->v[v].dtype;
	uint32_t last = over & vec_last(x), others = over & ~last;
	int32_t to;

	if ((others != 0 || last == 0) && x->v[v].form == VEC_NUMBERS) {
		v = vec_spread(x, v);
	}
	if (others != 0) {
		to = vec_new_value(x, (enum vec_form)x->v[v].form, t, x->v[v].dims & ~others);
		x->v[to].behind = x->v[to].form == VEC_FULL ? 256 : 0;
		vec_new_op(x, VEC_CHAIN, to, v, -1, -1, 0)->with = (uint8_t)sums[row].with;
		v = to;
	}
	if (last != 0) {
		if (sums[row].lanes == 0 || t == HN_I32) {
			vec_no(x, op, "lanes of this type become one by no instruction", "");
			return v;
		}
		to = vec_new_value(x, VEC_CHUNK, t, x->v[v].dims & ~last);
		vec_new_op(x, VEC_FOLD, to, v, -1, -1, 0)->with = (uint8_t)sums[row].with;
		v = to;
		to = vec_new_value(x, VEC_NUMBERS, t, x->v[v].dims);
		vec_new_op(x, sums[row].lanes, to, v, -1, -1, 0);
		v = to;
	}
	to = vec_new_value(x, (enum vec_form)x->v[v].form, t, x->v[v].dims);
	*vec_new_op(x, VEC_TOTAL, to, v, -1, -1, 0) =
		(struct vec_op){ .what = VEC_TOTAL, .to = to, .from = { v, -1, -1 },
				 .with = (uint8_t)sums[row].with, .over = over };
	x->v[to].deps = x->v[v].deps & ~over;
	return to;
}

static uint32_t dims_of(const struct vec_point *p, const struct hn_op *op)
{
	uint32_t over = 0;

	for (uint32_t d = op->n_spatial; d < op->n_spatial + op->n_reduce; d++) {
		for (uint32_t k = 0; k < p->x->n_found; k++) {
			over |= p->axis[d].k[k] != 0 ? vec_bit((uint32_t)p->x->to[k]) : 0;
		}
	}
	return over;
}

/* Of the points that p's axes say. */
static struct vec_item part(const struct vec_point *p, const struct hn_op *op, uint32_t row)
{
	struct vec *x = p->x;
	const struct hn_reduce *r = op->reduce;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	struct vec_item none = { -1, sums[row].neutral }, a;
	uint32_t over = dims_of(p, op);
	enum vec_truth in = r->condition == NULL ? VEC_YES : vec_decided(p, r->condition);
	int32_t v;

	if (in == VEC_NO) {
		return none;
	}
	if (in == VEC_PARTLY) {
		vec_no(x, op, "a condition on where a point is, that no box of results is within", "");
	}
	a = vec_expr(p, r->source[0]);
	if (x->rc == 0 && in == VEC_DATA) {
		a = vec_guarded(p, r->condition, a, none, vec_carrier(t));
	}
	if (x->rc != 0 || over == 0) {
		return a;
	}
	v = a.value >= 0 ? a.value : vec_constant(x, a.number, vec_carrier(t));
	v = vec_widened(x, v, x->v[v].dims | over);
	return (struct vec_item){ total(x, op, v, over, row), 0 };
}

bool vec_is_split(const struct vec *x, uint32_t i, uint32_t axis)
{
	for (uint32_t k = 0; k < x->n_split; k++) {
		if (x->split_at[k].op == i && x->split_at[k].axis == axis) {
			return true;
		}
	}
	return false;
}

/* Where the part that begins at `from` ends. */
static int64_t end_of_part(const struct vec *x, uint32_t i, uint32_t axis, int64_t from)
{
	int64_t end = x->dag->op[i]->axis[axis].extent;

	for (uint32_t k = 0; k < x->n_split; k++) {
		const struct vec_split *s = &x->split_at[k];

		end = s->op == i && s->axis == axis && s->at > from && s->at < end ? s->at : end;
	}
	return end;
}

/* All parts, along this axis and those behind it; *n: how many yet. */
static struct vec_item parts(struct vec_point *p, const struct hn_op *op, uint32_t row, uint32_t d,
			     uint32_t *n)
{
	struct vec *x = p->x;
	struct vec_item sum = { -1, sums[row].neutral };
	enum hn_dtype t = vec_carrier((enum hn_dtype)op->dtype[0]);
	int64_t extent, from = 0;

	while (d < op->n_spatial + op->n_reduce && !vec_is_split(x, p->i, d)) {
		d++;
	}
	if (d == op->n_spatial + op->n_reduce) {
		if (++*n > MOST_PARTS) {
			vec_no(x, op, "a sum of too many parts", "");
		}
		return x->rc != 0 ? sum : part(p, op, row);
	}
	extent = op->axis[d].extent;
	for (int64_t end; from < extent && x->rc == 0; from = end) {
		struct vec_item a;

		end = end_of_part(x, p->i, d, from);
		p->axis[d] = (struct vec_line){ .c = op->axis[d].min + from };
		if (end - from > 1) {
			int8_t k = vec_side_of(x, p->i, d, from, end - from);

			p->axis[d].k[(uint32_t)k] = 1;
			x->term[(uint32_t)k] = (struct vec_side){ p->i, d, from, end - from, k };
		}
		a = parts(p, op, row, d + 1, n);
		if (x->rc == 0 && (a.value >= 0 || a.number != sums[row].neutral)) {
			sum = sum.value < 0 && sum.number == sums[row].neutral
				      ? a : vec_binary(x, sums[row].with, sum, a, t);
		}
	}
	return sum;
}

struct vec_item vec_reduced(struct vec_point *p, const struct hn_op *op)
{
	struct vec *x = p->x;
	const struct hn_reduce *r = op->reduce;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	uint32_t row = 0, n = 0;
	struct vec_item a;

	while (row < HN_COUNT_OF(sums) && sums[row].kind != r->kind) {
		row++;
	}
	if (r->n != 1 || row == HN_COUNT_OF(sums)) {
		vec_no(x, op, "of reductions sums, products, greatest and least have a form", "");
		return (struct vec_item){ -1, 0 };
	}
	if ((r->kind == HN_COMBINE_SUM || r->kind == HN_COMBINE_PROD) && t != HN_I32 &&
	    (t != HN_F32 || !r->any_order)) {
		vec_no(x, op, "sums that keep their order have no form; of float16, cast first", "");
		return (struct vec_item){ -1, 0 };
	}
	a = parts(p, op, row, op->n_spatial, &n);
	if (x->rc == 0 && a.value < 0) {
		a.value = vec_constant(x, a.number, vec_carrier(t));
	}
	return x->rc == 0 ? begun(x, op, row, a) : a;
}
