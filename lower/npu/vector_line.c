/* lower/npu/vector_line.c -- indices as linear forms of the dimensions found, and where a tensor that is
 * read by such forms lies.
 */
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_eval.h"

#define MOST_TERM ((int64_t)1 << 31)

static void add_line(struct vec_line *to, const struct vec_line *l, int64_t by)
{
	to->c += l->c * by;
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		to->k[d] += l->k[d] * by;
	}
}

void vec_line_ends(const struct vec *x, const struct vec_line *l, int64_t *lo, int64_t *hi)
{
	*lo = *hi = l->c;
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		int64_t far = l->k[d] == 0 ? 0 : hn_mul_sat(l->k[d] < 0 ? -l->k[d] : l->k[d], x->found[d] - 1);

		*hi = l->k[d] > 0 ? hn_add_sat(*hi, far) : *hi;
		*lo = l->k[d] < 0 ? -hn_add_sat(-*lo, far) : *lo;
	}
}

/* So small that sums and products of few do not overflow. */
static bool is_small(const struct vec_line *l)
{
	bool small = l->c < MOST_TERM && l->c > -MOST_TERM;

	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		small = small && l->k[d] < MOST_TERM && l->k[d] > -MOST_TERM;
	}
	return small;
}

static bool is_number(const struct vec_line *l)
{
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		if (l->k[d] != 0) {
			return false;
		}
	}
	return true;
}

/* l / c and l % c where what c does not divide stays within one multiple of it. */
static bool divided(const struct vec *x, const struct vec_line *l, int64_t c, struct vec_line *q,
		    struct vec_line *r)
{
	int64_t lo, hi, f;

	*q = *r = (struct vec_line){ 0 };
	r->c = l->c;
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		*(l->k[d] % c == 0 ? &q->k[d] : &r->k[d]) = l->k[d] % c == 0 ? l->k[d] / c : l->k[d];
	}
	vec_line_ends(x, r, &lo, &hi);
	f = hn_floordiv(lo, c);
	if (f != hn_floordiv(hi, c)) {
		return false;
	}
	q->c = f;
	r->c -= f * c;
	return true;
}

bool vec_line_of(const struct vec_point *p, const struct hn_expr *e, struct vec_line *ret)
{
	struct vec_line a, b, q, r;

	*ret = (struct vec_line){ 0 };
	if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < p->op->n_spatial + p->op->n_reduce) {
		*ret = p->axis[e->ref];
		return true;
	}
	if (e->op == HN_EXPR_INT) {
		ret->c = e->u.i;
		return is_small(ret);
	}
	if (e->op == HN_EXPR_CAST && e->arg[0]->op != HN_EXPR_LOAD) {
		return vec_line_of(p, e->arg[0], ret);
	}
	if (e->n_arg != 2 || !vec_line_of(p, e->arg[0], &a) || !vec_line_of(p, e->arg[1], &b)) {
		return false;
	}
	switch (e->op) {
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		*ret = a;
		add_line(ret, &b, e->op == HN_EXPR_ADD ? 1 : -1);
		return is_small(ret);
	case HN_EXPR_MUL:
		if (is_number(&b) || is_number(&a)) {
			add_line(ret, is_number(&b) ? &a : &b, is_number(&b) ? b.c : a.c);
			return is_small(ret);
		}
		return false;
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		if (!is_number(&b) || b.c <= 0 || !divided(p->x, &a, b.c, &q, &r)) {
			return false;
		}
		*ret = e->op == HN_EXPR_FLOORDIV ? q : r;
		return true;
	default:
		return false;
	}
}

/* Where it lies in an argument of this shape, as the space has dimensions. */
void vec_lie(const struct vec *x, const int64_t *shape, uint32_t rank, const struct vec_line *at,
	     struct vec_value *ret)
{
	struct vec_line sum = { 0 };
	int64_t n = 1;

	for (uint32_t d = rank; d-- > 0; n *= shape[d]) {
		add_line(&sum, &at[d], n);
	}
	ret->dims = 0;
	ret->offset = sum.c;
	memset(ret->stride, 0, sizeof(ret->stride));
	for (uint32_t d = 0; d < x->n_found; d++) {
		if (sum.k[d] != 0 && x->to[d] >= 0) {
			uint32_t k = (uint32_t)x->to[d];

			ret->dims |= vec_bit(k);
			ret->stride[k] = sum.k[(uint32_t)x->inner[k]];
		}
	}
}
