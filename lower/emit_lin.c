/* lower/emit_lin.c -- index arithmetic on linear forms.
 *
 * floormod(x, c) is kept as x - c * floordiv(x, c), so that the pieces of a fused axis
 * cancel when they meet again in an offset.  floordiv drops what cannot carry: with the
 * coefficients and the divisor sharing a factor g, a remainder known to lie in [0, g)
 * does not matter.
 */
#include "lower/emit_int.h"

#include <string.h>

#include "base/arith.h"

#define RANGE_MAX ((int64_t)1 << 61)

static int64_t clamp(__int128 v)
{
	return v > RANGE_MAX ? RANGE_MAX : v < -RANGE_MAX ? -RANGE_MAX : (int64_t)v;
}

void hn_emit_lin_range(const struct emit_lin *x, int64_t *lo, int64_t *hi)
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

static void lin_const(struct emit_lin *x, int64_t c)
{
	x->n = 0;
	x->c = c;
}

static void lin_term(struct emit *e, struct emit_lin *x, struct emit_term t)
{
	if (t.coef == 0) {
		return;
	}
	for (uint32_t i = 0; i < e->n_known; i++) {
		if (t.v == e->known[i].v) {
			x->c += t.coef * e->known[i].value;
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
	if (x->n == EMIT_MAX_TERMS) {
		struct emit_lin rest = *x;
		struct emit_term all = { .coef = 1 };

		rest.c = 0;
		hn_emit_lin_range(&rest, &all.lo, &all.hi);
		all.v = hn_emit_lin_placed(e, &rest, &all.depth);
		x->n = 1;
		x->t[0] = all;
	}
	x->t[x->n++] = t;
}

void hn_emit_lin_add(struct emit *e, struct emit_lin *x, const struct emit_lin *y,
		     int64_t coef)
{
	x->c += y->c * coef;
	for (uint32_t i = 0; i < y->n; i++) {
		struct emit_term t = y->t[i];

		t.coef *= coef;
		lin_term(e, x, t);
	}
}

bool hn_emit_lin_same_terms(const struct emit_lin *x, const struct emit_lin *y)
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

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* Largest coefficients first, for the search of a factor that absorbs the rest. */
static void sort_by_coef(struct emit_lin *x)
{
	for (uint32_t i = 1; i < x->n; i++) {
		struct emit_term t = x->t[i];
		uint32_t j = i;

		for (; j > 0 && magnitude(x->t[j - 1].coef) < magnitude(t.coef); j--) {
			x->t[j] = x->t[j - 1];
		}
		x->t[j] = t;
	}
}

/* x -> floordiv(x, *c) simplified: x and *c divided by a common factor where what is
 * dropped cannot carry. */
static void divide_common(struct emit_lin *x, int64_t *c)
{
	int64_t g = *c;

	sort_by_coef(x);
	for (uint32_t k = 0; k <= x->n; k++) {
		if (k > 0) {
			g = hn_gcd(g, x->t[k - 1].coef);
		}
		struct emit_lin tail = { .n = x->n - k, .c = hn_floormod(x->c, g) };
		int64_t lo, hi;

		memcpy(tail.t, x->t + k, tail.n * sizeof(tail.t[0]));
		hn_emit_lin_range(&tail, &lo, &hi);
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

static void lin_floordiv(struct emit *e, const struct emit_lin *x, int64_t c,
			 struct emit_lin *ret)
{
	struct emit_lin rest = { .c = hn_floormod(x->c, c) };
	int64_t lo, hi;

	lin_const(ret, hn_floordiv(x->c, c));
	for (uint32_t i = 0; i < x->n; i++) {
		struct emit_term t = x->t[i];

		if (t.coef % c == 0) {
			t.coef /= c;
			lin_term(e, ret, t);
		} else {
			rest.t[rest.n++] = t;
		}
	}
	if (rest.n == 0) {
		return;
	}
	divide_common(&rest, &c);
	if (c == 1) {
		hn_emit_lin_add(e, ret, &rest, 1);
		return;
	}
	if (rest.n == 0) {
		ret->c += hn_floordiv(rest.c, c);
		return;
	}
	struct emit_term q = { .coef = 1 };

	hn_emit_lin_range(&rest, &lo, &hi);
	LLVMValueRef v = hn_emit_lin_placed(e, &rest, &q.depth);

	q.v = hn_emit_place(e, lo >= 0 ? EMIT_DIV : EMIT_EXPR + HN_EXPR_FLOORDIV, v, hn_emit_const(e, c),
		    q.depth);
	q.lo = hn_floordiv(lo, c);
	q.hi = hn_floordiv(hi, c);
	lin_term(e, ret, q);
}

/* Two linear forms under an operator that is not linear. */
static void lin_opaque(struct emit *e, const struct hn_expr *like,
		       const struct emit_lin *x, const struct emit_lin *y,
		       struct emit_lin *ret)
{
	int64_t xl, xh, yl, yh;
	struct emit_term t = { .coef = 1, .lo = -RANGE_MAX, .hi = RANGE_MAX };
	int32_t dx, dy;
	LLVMValueRef u = hn_emit_lin_placed(e, x, &dx), v = hn_emit_lin_placed(e, y, &dy);

	hn_emit_lin_range(x, &xl, &xh);
	hn_emit_lin_range(y, &yl, &yh);
	t.depth = dx > dy ? dx : dy;
	if (like->op == HN_EXPR_MIN || like->op == HN_EXPR_MAX) {
		bool max = like->op == HN_EXPR_MAX;

		t.lo = max == (xl > yl) ? xl : yl;
		t.hi = max == (xh > yh) ? xh : yh;
	} else if (yl <= 0 && yh >= 0) {
		t.depth = EMIT_HERE; /* may trap: stay where it is asked for */
	}
	t.v = hn_emit_place(e, EMIT_EXPR + like->op, u, v, t.depth);
	lin_const(ret, 0);
	lin_term(e, ret, t);
}

static void lin_divmod(struct emit *e, const struct hn_expr *x, struct emit_lin *ret)
{
	struct emit_lin u, v, q;
	int64_t lo, hi;
	bool mod = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_TRUNCMOD;
	bool floored = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_FLOORDIV;

	hn_emit_lin_of(e, x->arg[0], &u);
	hn_emit_lin_of(e, x->arg[1], &v);
	hn_emit_lin_range(&u, &lo, &hi);
	if (v.n || v.c <= 0 || (!floored && lo < 0)) {
		lin_opaque(e, x, &u, &v, ret);
		return;
	}
	lin_floordiv(e, &u, v.c, &q);
	if (!mod) {
		*ret = q;
		return;
	}
	*ret = u;
	hn_emit_lin_add(e, ret, &q, -v.c);
}

static void lin_mul(struct emit *e, const struct hn_expr *x, struct emit_lin *ret)
{
	struct emit_lin u, v;

	hn_emit_lin_of(e, x->arg[0], &u);
	hn_emit_lin_of(e, x->arg[1], &v);
	lin_const(ret, 0);
	if (v.n == 0) {
		hn_emit_lin_add(e, ret, &u, v.c);
	} else if (u.n == 0) {
		hn_emit_lin_add(e, ret, &v, u.c);
	} else {
		struct emit_term t = { .coef = 1, .lo = -RANGE_MAX, .hi = RANGE_MAX };
		int32_t dx, dy;
		LLVMValueRef p = hn_emit_lin_placed(e, &u, &dx), q = hn_emit_lin_placed(e, &v, &dy);

		t.depth = dx > dy ? dx : dy;
		t.v = hn_emit_place(e, EMIT_MUL, p, q, t.depth);
		lin_term(e, ret, t);
	}
}

static void lin_minmax(struct emit *e, const struct hn_expr *x, struct emit_lin *ret)
{
	struct emit_lin u, v, d;
	int64_t lo, hi;

	hn_emit_lin_of(e, x->arg[0], &u);
	hn_emit_lin_of(e, x->arg[1], &v);
	d = u;
	hn_emit_lin_add(e, &d, &v, -1);
	hn_emit_lin_range(&d, &lo, &hi);
	if (lo >= 0) {
		*ret = x->op == HN_EXPR_MAX ? u : v;
	} else if (hi <= 0) {
		*ret = x->op == HN_EXPR_MAX ? v : u;
	} else {
		lin_opaque(e, x, &u, &v, ret);
	}
}

static void lin_var(struct emit *e, int32_t slot, struct emit_lin *ret)
{
	const struct emit_var *v = &e->var[slot];

	lin_const(ret, v->add + (v->lane ? v->lane[e->lane < 0 ? 0 : e->lane] : 0));
	if (v->base) {
		lin_term(e, ret,
			 (struct emit_term){ v->base, v->mul, v->lo, v->hi, v->depth });
	}
}

static void lin_size(struct emit *e, int32_t k, struct emit_lin *ret)
{
	const struct hn_size *s = &e->t->dag->sizes->size[k];

	lin_const(ret, 0);
	lin_term(e, ret, (struct emit_term){ e->size[k], 1, s->lo, s->hi, 0 });
}

/* A value that comes from memory or a function: as it is, in lane e->lane. */
static void lin_data(struct emit *e, const struct hn_expr *x, struct emit_lin *ret)
{
	bool varies = hn_emit_lane_varies(e, x);
	struct emit_term t = {
		.coef = 1, .lo = -RANGE_MAX, .hi = RANGE_MAX, .depth = EMIT_HERE
	};

	lin_const(ret, 0);
	for (uint32_t i = e->n_uniform; !varies && i-- > 0;) {
		if (e->uniform[i].x == x && e->uniform[i].epoch == e->epoch) {
			t.v = e->uniform[i].v;
			lin_term(e, ret, t);
			return;
		}
	}
	if (e->dry) {
		t.v = hn_emit_dry_word(e, (struct emit_memo){ 0 });
	} else {
		int32_t lane = e->lane;

		e->lane = lane < 0 ? 0 : lane;
		struct emit_val v = hn_emit_value(e, x);

		e->lane = lane;
		bool negative = hn_dtype_class(x->dtype) == HN_CLASS_SIGNED;

		t.v = LLVMBuildIntCast2(e->b, v.v, e->i64, negative, "");
	}
	if (!varies) {
		if (e->n_uniform && e->uniform[e->n_uniform - 1].epoch != e->epoch) {
			e->n_uniform = 0;
		}
		e->uniform = hn_arena_grow(e->a, e->uniform, e->n_uniform,
					   &e->cap_uniform, sizeof(*e->uniform));
		e->uniform[e->n_uniform++] = (struct emit_uniform){ x, t.v, e->epoch };
	}
	lin_term(e, ret, t);
}

void hn_emit_lin_of(struct emit *e, const struct hn_expr *x, struct emit_lin *ret)
{
	const struct hn_expr *const *axis = e->axis;
	struct emit_lin y;

	switch (x->op) {
	case HN_EXPR_INT:
		lin_const(ret, x->u.i);
		return;
	case HN_EXPR_VAR:
		if (hn_expr_is_size(x)) {
			lin_size(e, x->ref - HN_SLOT_SIZE, ret);
		} else if (axis && (uint32_t)x->ref < e->n_axis) {
			e->axis = NULL;
			hn_emit_lin_of(e, axis[x->ref], ret);
			e->axis = axis;
		} else if (axis) {
			lin_data(e, x, ret);
		} else {
			lin_var(e, x->ref, ret);
		}
		return;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		hn_emit_lin_of(e, x->arg[0], ret);
		hn_emit_lin_of(e, x->arg[1], &y);
		hn_emit_lin_add(e, ret, &y, x->op == HN_EXPR_ADD ? 1 : -1);
		return;
	case HN_EXPR_MUL:
		lin_mul(e, x, ret);
		return;
	case HN_EXPR_DIV:
	case HN_EXPR_TRUNCMOD:
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		lin_divmod(e, x, ret);
		return;
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		lin_minmax(e, x, ret);
		return;
	case HN_EXPR_CAST:
		if (hn_emit_is_index(e, x->arg[0]) && hn_dtype_bytes(x->dtype) >= 4) {
			hn_emit_lin_of(e, x->arg[0], ret);
			return;
		}
		lin_data(e, x, ret);
		return;
	default:
		lin_data(e, x, ret);
		return;
	}
}

void hn_emit_lin_lane(struct emit *e, const struct hn_expr *x, uint32_t k,
		      struct emit_lin *ret)
{
	int32_t lane = e->lane;

	if (lane < 0) {
		e->lane = (int32_t)k;
	}
	hn_emit_lin_of(e, x, ret);
	e->lane = lane;
}

bool hn_emit_is_index(const struct emit *e, const struct hn_expr *x)
{
	if (hn_dtype_class(x->dtype) != HN_CLASS_SIGNED) {
		return false;
	}
	if (x->op == HN_EXPR_VAR) {
		return hn_expr_is_size(x) ||
		       (x->ref < HN_SLOT_LHS && (!e->axis || (uint32_t)x->ref < e->n_axis));
	}
	if (x->op == HN_EXPR_INT) {
		return true;
	}
	if (x->op < HN_EXPR_ADD || x->op > HN_EXPR_TRUNCMOD) {
		return false;
	}
	return hn_emit_is_index(e, x->arg[0]) && hn_emit_is_index(e, x->arg[1]);
}

bool hn_emit_lane_varies(const struct emit *e, const struct hn_expr *x)
{
	if (hn_expr_is_size(x)) {
		return false;
	}
	if (x->op == HN_EXPR_VAR) {
		if (e->axis && (uint32_t)x->ref < e->n_axis) {
			struct emit inner = *e;

			inner.axis = NULL;
			return e->axis[x->ref] &&
			       hn_emit_lane_varies(&inner, e->axis[x->ref]);
		}
		if (e->axis) {
			for (uint32_t i = e->n_let; i-- > 0;) {
				if (e->let[i].slot == x->ref) {
					return e->let[i].val.vec;
				}
			}
			return true;
		}
		return e->var[x->ref].lane != NULL;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (hn_emit_lane_varies(e, x->arg[i])) {
			return true;
		}
	}
	return false;
}

bool hn_emit_uses_loop(const struct emit *e, const struct hn_expr *x, int32_t loop)
{
	if (x->op == HN_EXPR_VAR) {
		if (e->axis && (uint32_t)x->ref < e->n_axis) {
			struct emit inner = *e;

			inner.axis = NULL;
			return e->axis[x->ref] &&
			       hn_emit_uses_loop(&inner, e->axis[x->ref], loop);
		}
		return !e->axis && x->ref == loop;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (hn_emit_uses_loop(e, x->arg[i], loop)) {
			return true;
		}
	}
	return false;
}
