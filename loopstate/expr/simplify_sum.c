/* loopstate/expr/simplify_sum.c -- sums of terms: order, arithmetic, ranges, splitting at a
 * factor.
 *
 * The part of the simplifier that knows nothing of operators (see simplify_sum.h). */
#include "loopstate/expr/simplify_sum.h"

#include <string.h>

#include "base/arith.h"

/* A total order, so that sums have one spelling. */
int hn_expr_order(const struct hn_expr *p, const struct hn_expr *q)
{
	if (p == q) {
		return 0;
	}
	if (p->op != q->op) {
		return p->op < q->op ? -1 : 1;
	}
	if (p->ref != q->ref) {
		return p->ref < q->ref ? -1 : 1;
	}
	if (p->dtype != q->dtype) {
		return p->dtype < q->dtype ? -1 : 1;
	}
	if (p->out != q->out) {
		return p->out < q->out ? -1 : 1;
	}
	if (p->n_arg != q->n_arg) {
		return p->n_arg < q->n_arg ? -1 : 1;
	}
	if (p->op == HN_EXPR_INT && p->u.i != q->u.i) {
		return p->u.i < q->u.i ? -1 : 1;
	}
	if (p->op == HN_EXPR_FLOAT) {
		return memcmp(&p->u.f, &q->u.f, sizeof(p->u.f));
	}
	for (uint32_t k = 0; k < p->n_arg; k++) {
		int order = hn_expr_order(p->arg[k], q->arg[k]);

		if (order != 0) {
			return order;
		}
	}
	return 0;
}

int64_t hn_lin_mul64(struct hn_lin_ctx *x, int64_t p, int64_t q)
{
	int64_t r = 0;

	x->bad |= __builtin_mul_overflow(p, q, &r);
	return r;
}

int64_t hn_lin_add64(struct hn_lin_ctx *x, int64_t p, int64_t q)
{
	int64_t r = 0;

	x->bad |= __builtin_add_overflow(p, q, &r);
	return r;
}

struct hn_lin hn_lin_const(int64_t c)
{
	return (struct hn_lin){ .c = c };
}

struct hn_lin hn_lin_atom(struct hn_lin_ctx *x, const struct hn_expr *atom)
{
	struct hn_lin v = { .n = 1, .term = HN_NEW(x->a, struct hn_term) };

	v.term[0] = (struct hn_term){ 1, atom };
	return v;
}

struct hn_lin hn_lin_scale(struct hn_lin_ctx *x, struct hn_lin v, int64_t k)
{
	struct hn_lin r = { .c = hn_lin_mul64(x, v.c, k) };

	if (k == 0) {
		return hn_lin_const(0);
	}
	if (k == 1 || v.n == 0) {
		return (struct hn_lin){ r.c, v.n, v.term };
	}
	r.n = v.n;
	r.term = HN_NEW_ARRAY(x->a, struct hn_term, v.n);
	for (uint32_t i = 0; i < v.n; i++) {
		r.term[i] = (struct hn_term){ hn_lin_mul64(x, v.term[i].coef, k),
					      v.term[i].atom };
	}
	return r;
}

/* Terms there is room for when n are in use: powers of two, four at least. */
static uint32_t room(uint32_t n)
{
	uint32_t r = 4;

	while (r < n) {
		r *= 2;
	}
	return r;
}

void hn_lin_add_term(struct hn_lin_ctx *x, struct hn_lin *v, int64_t coef,
		     const struct hn_expr *atom)
{
	uint32_t i = v->n;
	int order = 1;

	while (i > 0 && (order = hn_expr_order(v->term[i - 1].atom, atom)) > 0) {
		i--;
	}
	if (i > 0 && order == 0) {
		int64_t sum = hn_lin_add64(x, v->term[i - 1].coef, coef);

		v->term[i - 1].coef = sum;
		if (sum == 0) {
			memmove(v->term + i - 1, v->term + i,
				(v->n - i) * sizeof(*v->term));
			v->n--;
		}
		return;
	}
	if (v->n == 0 || room(v->n) < v->n + 1) {
		struct hn_term *term = HN_NEW_ARRAY(x->a, struct hn_term, room(v->n + 1));

		if (v->n > 0) {
			memcpy(term, v->term, v->n * sizeof(*term));
		}
		v->term = term;
	}
	memmove(v->term + i + 1, v->term + i, (v->n - i) * sizeof(*v->term));
	v->term[i] = (struct hn_term){ coef, atom };
	v->n++;
}

/* Merge two sorted sums. */
struct hn_lin hn_lin_plus(struct hn_lin_ctx *x, struct hn_lin p, struct hn_lin q)
{
	if (p.n == 0 || q.n == 0) {
		const struct hn_lin *some = p.n == 0 ? &q : &p;

		return (struct hn_lin){ hn_lin_add64(x, p.c, q.c), some->n, some->term };
	}
	struct hn_lin r = { .c = hn_lin_add64(x, p.c, q.c),
			    .term = HN_NEW_ARRAY(x->a, struct hn_term,
						 (size_t)p.n + q.n) };
	uint32_t i = 0, j = 0;

	while (i < p.n || j < q.n) {
		int order = i == p.n   ? 1
			    : j == q.n ? -1
				       : hn_expr_order(p.term[i].atom, q.term[j].atom);

		if (order < 0) {
			r.term[r.n++] = p.term[i++];
		} else if (order > 0) {
			r.term[r.n++] = q.term[j++];
		} else {
			int64_t coef = hn_lin_add64(x, p.term[i].coef, q.term[j].coef);

			if (coef != 0) {
				r.term[r.n++] = (struct hn_term){ coef, p.term[i].atom };
			}
			i++;
			j++;
		}
	}
	return r;
}

static const struct hn_expr *cast_to(const struct hn_expr *e, enum hn_dtype t,
				     struct hn_arena *a)
{
	if (e->dtype == t) {
		return e;
	}
	if (e->op == HN_EXPR_INT) {
		return hn_expr_int(e->u.i, t, a);
	}
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = (uint8_t)t };

	return hn_expr_with_args(&like, &e, 1, a);
}

/* Nothing to fold: terms are distinct, coefficients not 0. */
static const struct hn_expr *raw(enum hn_expr_op op, const struct hn_expr *p,
				 const struct hn_expr *q, struct hn_arena *a)
{
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = p->dtype };
	const struct hn_expr *const arg[] = { p, q };

	return hn_expr_with_args(&like, arg, 2, a);
}

static const struct hn_expr *term_build(const struct hn_expr *atom, int64_t coef,
					enum hn_dtype t, struct hn_arena *a)
{
	const struct hn_expr *e = cast_to(atom, t, a);

	return coef == 1 ? e : raw(HN_EXPR_MUL, e, hn_expr_int(coef, t, a), a);
}

/* Positive terms first, so that `-i + j` reads `j - i`. */
const struct hn_expr *hn_lin_build(struct hn_lin_ctx *x, struct hn_lin v, enum hn_dtype t)
{
	const struct hn_expr *e = NULL;

	for (uint32_t i = 0; i < v.n; i++) {
		if (v.term[i].coef > 0) {
			const struct hn_expr *p =
				term_build(v.term[i].atom, v.term[i].coef, t, x->a);

			e = e == NULL ? p : raw(HN_EXPR_ADD, e, p, x->a);
		}
	}
	if (e == NULL || v.c > 0) {
		const struct hn_expr *c = hn_expr_int(v.c, t, x->a);

		e = e == NULL ? c : raw(HN_EXPR_ADD, e, c, x->a);
		v.c = 0;
	}
	for (uint32_t i = 0; i < v.n; i++) {
		if (v.term[i].coef < 0) {
			e = raw(HN_EXPR_SUB, e,
				term_build(v.term[i].atom,
					   hn_lin_mul64(x, v.term[i].coef, -1), t, x->a),
				x->a);
		}
	}
	if (v.c < 0) {
		e = raw(HN_EXPR_SUB, e, hn_expr_int(hn_lin_mul64(x, v.c, -1), t, x->a),
			x->a);
	}
	return e;
}

/* Bounds of a sum; false when not known. */
bool hn_lin_range(struct hn_lin_ctx *x, struct hn_lin v, int64_t *lo, int64_t *hi)
{
	__int128 l = v.c, h = v.c;

	for (uint32_t i = 0; i < v.n; i++) {
		int64_t p, q, coef = v.term[i].coef;

		if (!hn_expr_range(v.term[i].atom, x->loop, x->n_loop, &p, &q)) {
			return false;
		}
		l += (__int128)coef * (coef > 0 ? p : q);
		h += (__int128)coef * (coef > 0 ? q : p);
		if (l < -HN_SPAN_MAX || h > HN_SPAN_MAX) {
			return false;
		}
	}
	*lo = (int64_t)l;
	*hi = (int64_t)h;
	return true;
}

/* v = g * high + low with 0 <= low - g*k < g for one k: then high + k is v floordiv g and
 * low - g*k is v floormod g.  False when the small terms may cross a multiple of g. */
static bool split_at(struct hn_lin_ctx *x, struct hn_lin v, int64_t g,
		     struct hn_lin *high, struct hn_lin *low)
{
	int64_t lo, hi;

	*high = (struct hn_lin){ .c = hn_floordiv(v.c, g),
				 .term = HN_NEW_ARRAY(x->a, struct hn_term, v.n) };
	*low = (struct hn_lin){ .c = hn_floormod(v.c, g),
				.term = HN_NEW_ARRAY(x->a, struct hn_term, v.n) };
	for (uint32_t i = 0; i < v.n; i++) {
		struct hn_term t = v.term[i];

		if (t.coef % g == 0) {
			t.coef /= g;
			high->term[high->n++] = t;
		} else {
			low->term[low->n++] = t;
		}
	}
	if (!hn_lin_range(x, *low, &lo, &hi) ||
	    hn_floordiv(lo, g) != hn_floordiv(hi, g)) {
		return false;
	}
	int64_t k = hn_floordiv(lo, g);

	high->c = hn_lin_add64(x, high->c, k);
	low->c = hn_lin_add64(x, low->c, -hn_lin_mul64(x, k, g));
	return true;
}

/* The largest g > 1, a common divisor of d and some coefficient (or d), at which v
 * splits. */
int64_t hn_lin_split(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
		     struct hn_lin *high, struct hn_lin *low)
{
	int64_t below = INT64_MAX;

	for (;;) {
		int64_t g = d < below ? d : 1;

		for (uint32_t i = 0; i < v.n; i++) {
			int64_t c = hn_gcd(v.term[i].coef, d);

			if (c < below && c > g) {
				g = c;
			}
		}
		if (g <= 1) {
			return 1;
		}
		if (split_at(x, v, g, high, low)) {
			return g;
		}
		below = g;
	}
}
