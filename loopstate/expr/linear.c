/* loopstate/expr/linear.c -- see linear.h.
 *
 * floormod(x, c) is kept as x - c * floordiv(x, c). So the pieces of a fused axis cancel when
 * they meet again in an offset. floordiv drops what cannot carry: if the coefficients and the
 * divisor share a factor g, a remainder that lies in [0, g) does not matter.
 */
#include "loopstate/expr/linear.h"

#include <string.h>

#include "base/arith.h"

static int64_t clamp(__int128 v)
{
	return v > HN_LINEAR_RANGE    ? HN_LINEAR_RANGE
	       : v < -HN_LINEAR_RANGE ? -HN_LINEAR_RANGE
				      : (int64_t)v;
}

void hn_linear_range(const struct hn_linear *x, int64_t *lo, int64_t *hi)
{
	__int128 l = x->c, h = x->c;

	for (uint32_t i = 0; i < x->n; i++) {
		__int128 p = (__int128)x->t[i].coef * x->t[i].lo;
		__int128 q = (__int128)x->t[i].coef * x->t[i].hi;

		l += p < q ? p : q;
		h += p < q ? q : p;
	}
	*lo = clamp(l);
	*hi = clamp(h);
}

static void set_const(struct hn_linear *x, int64_t c)
{
	x->n = 0;
	x->c = c;
}

void hn_linear_add_term(const struct hn_linear_maker *f, struct hn_linear *x,
			struct hn_linear_term t)
{
	if (t.coef == 0) {
		return;
	}
	for (uint32_t i = 0; i < f->n_known; i++) {
		if (t.v == f->known[i].v) {
			x->c += t.coef * f->known[i].value;
			return;
		}
	}
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->t[i].v == t.v) {
			x->t[i].coef += t.coef;
			if (x->t[i].coef == 0) {
				x->t[i] = x->t[--x->n];
			}
			return;
		}
	}
	if (x->n == HN_LINEAR_TERMS) {
		struct hn_linear rest = *x;
		struct hn_linear_term all = { .coef = 1 };

		rest.c = 0;
		hn_linear_range(&rest, &all.lo, &all.hi);
		all.v = hn_linear_value(f, &rest, &all.depth);
		x->n = 1;
		x->t[0] = all;
	}
	x->t[x->n++] = t;
}

void hn_linear_add(const struct hn_linear_maker *f, struct hn_linear *x,
		   const struct hn_linear *y, int64_t coef)
{
	x->c += y->c * coef;
	for (uint32_t i = 0; i < y->n; i++) {
		struct hn_linear_term t = y->t[i];

		t.coef *= coef;
		hn_linear_add_term(f, x, t);
	}
}

bool hn_linear_same_terms(const struct hn_linear *x, const struct hn_linear *y)
{
	if (x->n != y->n) {
		return false;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		bool found = false;

		for (uint32_t j = 0; j < y->n && !found; j++) {
			found = x->t[i].v == y->t[j].v && x->t[i].coef == y->t[j].coef;
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

void hn_linear_sort(struct hn_linear *x)
{
	for (uint32_t i = 1; i < x->n; i++) {
		struct hn_linear_term t = x->t[i];
		uint32_t j = i;

		for (; j > 0 && x->t[j - 1].depth > t.depth; j--) {
			x->t[j] = x->t[j - 1];
		}
		x->t[j] = t;
	}
}

void *hn_linear_value(const struct hn_linear_maker *f, const struct hn_linear *x,
		      int32_t *ret_depth)
{
	struct hn_linear s = *x;
	int32_t depth = 0;
	void *sum = NULL;

	hn_linear_sort(&s);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct hn_linear_term *t = &s.t[i];
		void *v = t->v;

		if (t->coef != 1) {
			v = f->ops->place(f->ctx, HN_LINEAR_MUL, v,
					  f->ops->number(f->ctx, t->coef), t->depth);
		}
		depth = t->depth > depth ? t->depth : depth;
		sum = sum ? f->ops->place(f->ctx, HN_LINEAR_ADD, sum, v, depth) : v;
	}
	if (sum && s.c != 0) {
		sum = f->ops->place(f->ctx, HN_LINEAR_ADD, sum,
				    f->ops->number(f->ctx, s.c), depth);
	}
	*ret_depth = depth;
	return sum ? sum : f->ops->number(f->ctx, s.c);
}

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* Largest coefficients first, for the search of a factor that absorbs the rest. */
static void sort_by_coef(struct hn_linear *x)
{
	for (uint32_t i = 1; i < x->n; i++) {
		struct hn_linear_term t = x->t[i];
		uint32_t j = i;

		for (; j > 0 && magnitude(x->t[j - 1].coef) < magnitude(t.coef); j--) {
			x->t[j] = x->t[j - 1];
		}
		x->t[j] = t;
	}
}

/* x -> floordiv(x, *c) simplified: x and *c divided by a common factor where what is
 * dropped cannot carry. */
static void divide_common(struct hn_linear *x, int64_t *c)
{
	int64_t g = *c;

	sort_by_coef(x);
	for (uint32_t k = 0; k <= x->n; k++) {
		if (k > 0) {
			g = hn_gcd(g, x->t[k - 1].coef);
		}
		struct hn_linear tail = { .n = x->n - k, .c = hn_floormod(x->c, g) };
		int64_t lo, hi;

		memcpy(tail.t, x->t + k, tail.n * sizeof(tail.t[0]));
		hn_linear_range(&tail, &lo, &hi);
		if (lo >= 0 && hi < g) {
			x->c = hn_floordiv(x->c, g);
			x->n = k;
			for (uint32_t i = 0; i < k; i++) {
				x->t[i].coef /= g;
			}
			*c /= g;
			return;
		}
	}
}

void hn_linear_floordiv(const struct hn_linear_maker *f, const struct hn_linear *x, int64_t c,
			struct hn_linear *ret)
{
	struct hn_linear rest = { .c = hn_floormod(x->c, c) };
	int64_t lo, hi;

	set_const(ret, hn_floordiv(x->c, c));
	for (uint32_t i = 0; i < x->n; i++) {
		struct hn_linear_term t = x->t[i];

		if (t.coef % c == 0) {
			t.coef /= c;
			hn_linear_add_term(f, ret, t);
		} else {
			rest.t[rest.n++] = t;
		}
	}
	if (rest.n == 0) {
		return;
	}
	divide_common(&rest, &c);
	if (c == 1) {
		hn_linear_add(f, ret, &rest, 1);
		return;
	}
	if (rest.n == 0) {
		ret->c += hn_floordiv(rest.c, c);
		return;
	}
	struct hn_linear_term q = { .coef = 1 };

	hn_linear_range(&rest, &lo, &hi);
	void *v = hn_linear_value(f, &rest, &q.depth);

	q.v = f->ops->place(f->ctx,
			    lo >= 0 ? HN_LINEAR_DIV : HN_LINEAR_EXPR + HN_EXPR_FLOORDIV,
			    v, f->ops->number(f->ctx, c), q.depth);
	q.lo = hn_floordiv(lo, c);
	q.hi = hn_floordiv(hi, c);
	hn_linear_add_term(f, ret, q);
}

void hn_linear_xor(const struct hn_linear_maker *f, const struct hn_linear *x,
		   const struct hn_linear *y, uint32_t bits, struct hn_linear *ret)
{
	if (x->n == 0 && y->n == 0) {
		set_const(ret, x->c ^ y->c);
		return;
	}
	if ((x->n == 0 && x->c == 0) || (y->n == 0 && y->c == 0)) {
		*ret = y->n == 0 && y->c == 0 ? *x : *y;
		return;
	}
	struct hn_linear_term t = { .coef = 1, .hi = ((int64_t)1 << bits) - 1 };
	int32_t dx, dy;
	void *u = hn_linear_value(f, x, &dx), *v = hn_linear_value(f, y, &dy);

	t.depth = dx > dy ? dx : dy;
	t.v = f->ops->place(f->ctx, HN_LINEAR_XOR, u, v, t.depth);
	set_const(ret, 0);
	hn_linear_add_term(f, ret, t);
}

/* Two linear forms under an operator that is not linear. */
static void opaque(const struct hn_linear_maker *f, const struct hn_expr *like,
		   const struct hn_linear *x, const struct hn_linear *y,
		   struct hn_linear *ret)
{
	int64_t xl, xh, yl, yh;
	struct hn_linear_term t = { .coef = 1,
				    .lo = -HN_LINEAR_RANGE,
				    .hi = HN_LINEAR_RANGE };
	int32_t dx, dy;
	void *u = hn_linear_value(f, x, &dx), *v = hn_linear_value(f, y, &dy);

	hn_linear_range(x, &xl, &xh);
	hn_linear_range(y, &yl, &yh);
	t.depth = dx > dy ? dx : dy;
	if (like->op == HN_EXPR_MIN || like->op == HN_EXPR_MAX) {
		bool max = like->op == HN_EXPR_MAX;

		t.lo = max == (xl > yl) ? xl : yl;
		t.hi = max == (xh > yh) ? xh : yh;
	} else if (yl <= 0 && yh >= 0) {
		t.depth = HN_LINEAR_HERE; /* may trap: stay where it is asked for */
	}
	t.v = f->ops->place(f->ctx, HN_LINEAR_EXPR + like->op, u, v, t.depth);
	set_const(ret, 0);
	hn_linear_add_term(f, ret, t);
}

static void divmod(const struct hn_linear_maker *f, const struct hn_expr *x,
		   struct hn_linear *ret)
{
	struct hn_linear u, v, q;
	int64_t lo, hi;
	bool mod = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_TRUNCMOD;
	bool floored = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_FLOORDIV;

	hn_linear_of(f, x->arg[0], &u);
	hn_linear_of(f, x->arg[1], &v);
	hn_linear_range(&u, &lo, &hi);
	if (v.n || v.c <= 0 || (!floored && lo < 0)) {
		opaque(f, x, &u, &v, ret);
		return;
	}
	hn_linear_floordiv(f, &u, v.c, &q);
	if (!mod) {
		*ret = q;
		return;
	}
	*ret = u;
	hn_linear_add(f, ret, &q, -v.c);
}

static void mul(const struct hn_linear_maker *f, const struct hn_expr *x,
		struct hn_linear *ret)
{
	struct hn_linear u, v;

	hn_linear_of(f, x->arg[0], &u);
	hn_linear_of(f, x->arg[1], &v);
	set_const(ret, 0);
	if (v.n == 0) {
		hn_linear_add(f, ret, &u, v.c);
	} else if (u.n == 0) {
		hn_linear_add(f, ret, &v, u.c);
	} else {
		struct hn_linear_term t = { .coef = 1,
					    .lo = -HN_LINEAR_RANGE,
					    .hi = HN_LINEAR_RANGE };
		int32_t dx, dy;
		void *p = hn_linear_value(f, &u, &dx), *q = hn_linear_value(f, &v, &dy);

		t.depth = dx > dy ? dx : dy;
		t.v = f->ops->place(f->ctx, HN_LINEAR_MUL, p, q, t.depth);
		hn_linear_add_term(f, ret, t);
	}
}

static void minmax(const struct hn_linear_maker *f, const struct hn_expr *x,
		   struct hn_linear *ret)
{
	struct hn_linear u, v, d;
	int64_t lo, hi;

	hn_linear_of(f, x->arg[0], &u);
	hn_linear_of(f, x->arg[1], &v);
	d = u;
	hn_linear_add(f, &d, &v, -1);
	hn_linear_range(&d, &lo, &hi);
	if (lo >= 0) {
		*ret = x->op == HN_EXPR_MAX ? u : v;
	} else if (hi <= 0) {
		*ret = x->op == HN_EXPR_MAX ? v : u;
	} else {
		opaque(f, x, &u, &v, ret);
	}
}

void hn_linear_of(const struct hn_linear_maker *f, const struct hn_expr *x,
		  struct hn_linear *ret)
{
	struct hn_linear y;

	switch (x->op) {
	case HN_EXPR_INT:
		set_const(ret, x->u.i);
		return;
	case HN_EXPR_VAR:
		f->ops->variable(f->ctx, x, ret);
		return;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		hn_linear_of(f, x->arg[0], ret);
		hn_linear_of(f, x->arg[1], &y);
		hn_linear_add(f, ret, &y, x->op == HN_EXPR_ADD ? 1 : -1);
		return;
	case HN_EXPR_MUL:
		mul(f, x, ret);
		return;
	case HN_EXPR_DIV:
	case HN_EXPR_TRUNCMOD:
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		divmod(f, x, ret);
		return;
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		minmax(f, x, ret);
		return;
	default:
		f->ops->data(f->ctx, x, ret);
		return;
	}
}

const struct hn_expr *hn_linear_cast(const struct hn_expr *x, uint32_t n_axis)
{
	bool same = x->op == HN_EXPR_CAST && hn_linear_is_index(x->arg[0], n_axis) &&
		    hn_dtype_bytes(x->dtype) >= 4;

	return same ? x->arg[0] : NULL;
}

bool hn_linear_is_index(const struct hn_expr *x, uint32_t n_axis)
{
	if (hn_dtype_class(x->dtype) != HN_CLASS_SIGNED) {
		return false;
	}
	if (x->op == HN_EXPR_VAR) {
		return hn_expr_is_size(x) ||
		       (x->ref < HN_SLOT_LHS && (uint32_t)x->ref < n_axis);
	}
	if (x->op == HN_EXPR_INT) {
		return true;
	}
	if (x->op < HN_EXPR_ADD || x->op > HN_EXPR_TRUNCMOD) {
		return false;
	}
	return hn_linear_is_index(x->arg[0], n_axis) &&
	       hn_linear_is_index(x->arg[1], n_axis);
}

#define MOST_LOOKED_AT 16

int64_t hn_linear_step(int64_t count,
		       void (*at)(void *ctx, int64_t i, struct hn_linear *ret), void *ctx)
{
	struct hn_linear first, next;
	int64_t step = 0;

	count = count < MOST_LOOKED_AT ? count : MOST_LOOKED_AT;
	at(ctx, 0, &first);
	for (int64_t i = 1; i < count && step != HN_LINEAR_UNEVEN; i++) {
		at(ctx, i, &next);
		bool even = i == 1 || next.c - first.c == step * i;

		step = even && hn_linear_same_terms(&first, &next)
			       ? (next.c - first.c) / i
			       : HN_LINEAR_UNEVEN;
	}
	return step;
}
