/* lower/npu/vector_region.c -- conditions on where a point is, not on data: padding, what is put behind
 * each other, borders.
 *
 * Results are computed box by box, so that each such condition holds in all of a box or nowhere in it.
 * A condition that does not says where the box is to be cut.  Sums are taken part by part likewise; of a
 * condition on a point of a window, as h + r > 0, point by point.
 */
#include "base/arith.h"
#include "lower/npu/vector_eval.h"

/* k d + c < 0, where d is the found dimension `found`, which is to be cut. */
static void cut(struct vec *x, uint32_t found, int64_t k, int64_t c)
{
	x->cut = (int32_t)found;
	x->cut_at = k > 0 ? -hn_floordiv(c, k) : hn_floordiv(c, -k) + 1;
}

/* Of its dimensions that sums are over. */
static int32_t shortest_term(const struct vec *x, const struct vec_line *l)
{
	int32_t best = -1;

	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		if (l->k[d] != 0 && x->term[d].extent > 0 && (best < 0 || x->found[d] < x->found[best])) {
			best = (int32_t)d;
		}
	}
	return best;
}

/* l < 0. */
static enum vec_truth is_below(struct vec *x, const struct vec_line *l)
{
	int32_t found = -1;
	int64_t lo, hi;
	uint32_t n = 0;

	vec_line_ends(x, l, &lo, &hi);
	if (lo >= 0 || hi < 0) {
		return hi < 0 ? VEC_YES : VEC_NO;
	}
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		if (l->k[d] != 0) {
			found = (int32_t)d;
			n++;
		}
	}
	if (n == 1 && x->cut < 0) {
		cut(x, (uint32_t)found, l->k[found], l->c);
	} else if (n > 1 && x->apart_at < 0) {
		x->apart_at = shortest_term(x, l);
	}
	return VEC_PARTLY;
}

static enum vec_truth not(enum vec_truth t)
{
	return t == VEC_YES ? VEC_NO : t == VEC_NO ? VEC_YES : t;
}

static enum vec_truth both(enum vec_truth a, enum vec_truth b)
{
	return a == VEC_NO || b == VEC_NO ? VEC_NO : a == VEC_DATA || b == VEC_DATA ? VEC_DATA
		       : a == VEC_PARTLY || b == VEC_PARTLY ? VEC_PARTLY : VEC_YES;
}

/* a - b + c < 0. */
static enum vec_truth is_less(struct vec *x, const struct vec_line *a, const struct vec_line *b, int64_t c)
{
	struct vec_line l = *a;

	l.c += c - b->c;
	for (uint32_t d = 0; d < VEC_DIMS; d++) {
		l.k[d] -= b->k[d];
	}
	return is_below(x, &l);
}

static enum vec_truth compared(const struct vec_point *p, const struct hn_expr *e)
{
	struct vec_line a, b;

	if (!vec_line_of(p, e->arg[0], &a) || !vec_line_of(p, e->arg[1], &b)) {
		return VEC_DATA;
	}
	switch (e->op) {
	case HN_EXPR_LT:
		return is_less(p->x, &a, &b, 0);
	case HN_EXPR_LE:
		return is_less(p->x, &a, &b, -1);
	case HN_EXPR_GT:
		return is_less(p->x, &b, &a, 0);
	case HN_EXPR_GE:
		return is_less(p->x, &b, &a, -1);
	default: { /* neither is less */
		enum vec_truth below = is_less(p->x, &a, &b, 0), above = is_less(p->x, &b, &a, 0);
		enum vec_truth same = below == VEC_YES || above == VEC_YES ? VEC_NO : both(not(below), not(above));

		return e->op == HN_EXPR_EQ ? same : not(same);
	}
	}
}

enum vec_truth vec_decided(const struct vec_point *p, const struct hn_expr *e)
{
	if (e->dtype != HN_BOOL) {
		return VEC_DATA;
	}
	switch (e->op) {
	case HN_EXPR_INT:
		return e->u.i != 0 ? VEC_YES : VEC_NO;
	case HN_EXPR_NOT:
		return not(vec_decided(p, e->arg[0]));
	case HN_EXPR_AND:
		return both(vec_decided(p, e->arg[0]), vec_decided(p, e->arg[1]));
	case HN_EXPR_OR:
		return not(both(not(vec_decided(p, e->arg[0])), not(vec_decided(p, e->arg[1]))));
	case HN_EXPR_EQ:
	case HN_EXPR_NE:
	case HN_EXPR_LT:
	case HN_EXPR_LE:
	case HN_EXPR_GT:
	case HN_EXPR_GE:
		return compared(p, e);
	default:
		return VEC_DATA;
	}
}
