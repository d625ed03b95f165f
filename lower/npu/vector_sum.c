/* lower/npu/vector_sum.c -- a reduction as operations: outer dimensions first, slice by slice; then rows,
 * by what goes across lanes; then what several tiles give.
 */
#include <math.h>

#include "lower/npu/vector_eval.h"

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

struct vec_item vec_reduced(const struct vec_point *p, const struct hn_op *op)
{
	struct vec *x = p->x;
	const struct hn_reduce *r = op->reduce;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	uint32_t over = 0, row = 0;
	struct vec_item a;
	int32_t v;

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
	for (uint32_t d = op->n_spatial; d < op->n_spatial + op->n_reduce; d++) {
		for (uint32_t k = 0; k < x->n_found; k++) {
			over |= p->axis[d].k[k] != 0 ? vec_bit((uint32_t)x->to[k]) : 0;
		}
	}
	a = vec_expr(p, r->source[0]);
	if (x->rc == 0 && r->condition != NULL) {
		a = vec_guarded(p, r->condition, a, (struct vec_item){ -1, sums[row].neutral }, vec_carrier(t));
	}
	if (x->rc != 0) {
		return a;
	}
	v = a.value >= 0 ? a.value : vec_constant(x, a.number, vec_carrier(t));
	v = vec_widened(x, v, x->v[v].dims | over);
	a.value = over == 0 ? v : total(x, op, v, over, row);
	if (x->rc == 0 && r->identity[0]->op == HN_EXPR_FLOAT && isfinite(r->identity[0]->u.f) &&
	    fabs(r->identity[0]->u.f) < 3e38 && (float)r->identity[0]->u.f != sums[row].neutral) {
		a = vec_binary(x, sums[row].with, a, (struct vec_item){ -1, (float)r->identity[0]->u.f },
			       vec_carrier(t));
	}
	return a;
}
