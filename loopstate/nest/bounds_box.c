/* loopstate/nest/bounds_box.c -- the interval of an index expression (see bounds_box.h).
 *
 * The expression is brought to affine form; each atom gets an interval by the rule of its
 * operator, and the sum of intervals is the answer.  An atom without a rule, or whose
 * rule gives up, has its constant range. */
#include "loopstate/nest/bounds_box.h"

#include "base/arith.h"

struct ctx {
	const struct hn_interval_env *env;
	struct hn_arena *a;
};

static const struct hn_expr *simple(const struct ctx *x, const struct hn_expr *e)
{
	return hn_simplify(e, x->env->loop, x->env->n_loop, x->a);
}

static const struct hn_expr *binary(const struct ctx *x, enum hn_expr_op op,
				    const struct hn_expr *p, const struct hn_expr *q)
{
	return simple(x, hn_expr_binary(op, p, q, x->a));
}

static const struct hn_expr *binary_int(const struct ctx *x, enum hn_expr_op op,
					const struct hn_expr *p, int64_t c)
{
	return binary(x, op, p, hn_expr_int(c, p->dtype, x->a));
}

/* Nothing in e changes while the free loops run, and e can be told before they do. */
static bool stands_still(const struct ctx *x, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET) {
		return false;
	}
	if (e->op == HN_EXPR_VAR) {
		return e->ref >= 0 && (uint32_t)e->ref < x->env->n_loop &&
		       x->env->fixed[e->ref];
	}
	for (uint32_t k = 0; k < e->n_arg; k++) {
		if (!stands_still(x, e->arg[k])) {
			return false;
		}
	}
	return true;
}

static bool by_range(const struct ctx *x, const struct hn_expr *e,
		     struct hn_interval *ret)
{
	int64_t lo, hi;

	if (!hn_expr_range(e, x->env->loop, x->env->n_loop, &lo, &hi)) {
		return false;
	}
	ret->min = hn_expr_int(lo, e->dtype, x->a);
	ret->width = hi - lo;
	return true;
}

/* The residues of v modulo d lie in *first, *first + step, ..., at most d - 1: returns
 * the greatest one and sets *known when there is just one. */
static int64_t last_residue(const struct ctx *x, const struct hn_expr *v, int64_t d,
			    bool *known)
{
	struct hn_affine f = hn_affine_of(v, x->env->loop, x->env->n_loop, x->a);
	int64_t g = d;

	for (uint32_t k = 0; k < f.n; k++) {
		g = hn_gcd(f.term[k].coef, g);
	}
	*known = g == d;
	return d - g + hn_floormod(f.c, g);
}

static bool divisor(const struct hn_expr *e, int64_t *ret)
{
	if (e->arg[1]->op != HN_EXPR_INT || e->arg[1]->u.i <= 0) {
		return false;
	}
	*ret = e->arg[1]->u.i;
	return true;
}

static bool interval_floordiv(const struct ctx *x, const struct hn_expr *e,
			      struct hn_interval *ret)
{
	struct hn_interval v;
	int64_t d;
	bool known;

	if (!divisor(e, &d) || !hn_interval_of(e->arg[0], x->env, x->a, &v)) {
		return false;
	}
	ret->min = binary_int(x, HN_EXPR_FLOORDIV, v.min, d);
	ret->width = (last_residue(x, v.min, d, &known) + v.width) / d;
	return true;
}

static bool interval_floormod(const struct ctx *x, const struct hn_expr *e,
			      struct hn_interval *ret)
{
	struct hn_interval v;
	int64_t d;
	bool known;

	if (!divisor(e, &d) || !hn_interval_of(e->arg[0], x->env, x->a, &v) ||
	    v.width >= d || last_residue(x, v.min, d, &known) + v.width >= d) {
		return false;
	}
	ret->min = binary_int(x, HN_EXPR_FLOORMOD, v.min, d);
	ret->width = v.width;
	return true;
}

/* min(p, q) and max(p, q) of intervals: their lower ends so combined, and the greater
 * width. */
static bool interval_minmax(const struct ctx *x, const struct hn_expr *e,
			    struct hn_interval *ret)
{
	struct hn_interval p, q;

	if (!hn_interval_of(e->arg[0], x->env, x->a, &p) ||
	    !hn_interval_of(e->arg[1], x->env, x->a, &q)) {
		return false;
	}
	ret->min = binary(x, e->op, p.min, q.min);
	ret->width = p.width > q.width ? p.width : q.width;
	return true;
}

static bool interval_choice(const struct ctx *x, const struct hn_expr *e,
			    struct hn_interval *ret)
{
	struct hn_interval p, q;

	if (!hn_interval_of(e->arg[1], x->env, x->a, &p) ||
	    !hn_interval_of(e->arg[2], x->env, x->a, &q)) {
		return false;
	}
	return hn_interval_union(p, q, x->env, x->a, ret);
}

typedef bool (*interval_fn)(const struct ctx *x, const struct hn_expr *e,
			    struct hn_interval *ret);

static const interval_fn rule[HN_N_EXPR] = {
	[HN_EXPR_FLOORDIV] = interval_floordiv, [HN_EXPR_FLOORMOD] = interval_floormod,
	[HN_EXPR_MIN] = interval_minmax,	[HN_EXPR_MAX] = interval_minmax,
	[HN_EXPR_SELECT] = interval_choice,	[HN_EXPR_IF] = interval_choice,
};

static bool interval_atom(const struct ctx *x, const struct hn_expr *e,
			  struct hn_interval *ret)
{
	if (hn_expr_is_size(e) && x->env->sizes) {
		const struct hn_size *s = &x->env->sizes->size[e->ref - HN_SLOT_SIZE];

		*ret = (struct hn_interval){ hn_expr_int(s->lo, e->dtype, x->a), s->hi - s->lo };
		return true;
	}
	if (stands_still(x, e)) {
		*ret = (struct hn_interval){ e, 0 };
		return true;
	}
	if (rule[e->op] != NULL && rule[e->op](x, e, ret)) {
		return true;
	}
	return by_range(x, e, ret);
}

/* A loop that runs: the atom of nearly every index. */
static bool is_free_loop(const struct ctx *x, const struct hn_expr *e)
{
	return e->op == HN_EXPR_VAR && e->ref >= 0 && (uint32_t)e->ref < x->env->n_loop &&
	       !x->env->fixed[e->ref];
}

/* Least value and width of coef * atom, of which *ret_min is left for the sum; NULL: nothing is. */
static bool interval_term(const struct ctx *x, struct hn_term t, __int128 *ret_shift,
			  int64_t *ret_width, const struct hn_expr **ret_min)
{
	struct hn_interval v;
	int64_t least;

	*ret_min = NULL;
	if (is_free_loop(x, t.atom)) {
		int64_t hi;

		if (!hn_expr_range(t.atom, x->env->loop, x->env->n_loop, &least, &hi)) {
			return false;
		}
		*ret_width = hi - least;
	} else if (interval_atom(x, t.atom, &v)) {
		*ret_width = v.width;
		*ret_min = v.min->op == HN_EXPR_INT ? NULL : v.min;
		least = v.min->op == HN_EXPR_INT ? v.min->u.i : 0;
	} else {
		return false;
	}
	/* A negative multiple is least where the atom is greatest. */
	*ret_shift = (__int128)t.coef * least +
		     (t.coef > 0 ? 0 : (__int128)t.coef * *ret_width);
	return true;
}

bool hn_interval_of(const struct hn_expr *e, const struct hn_interval_env *env,
		    struct hn_arena *a, struct hn_interval *ret)
{
	const struct ctx x = { env, a };
	struct hn_affine f = hn_affine_of(e, env->loop, env->n_loop, a);
	struct hn_term *term = HN_NEW_ARRAY(a, struct hn_term, f.n);
	struct hn_affine min = { .term = term };
	__int128 width = 0, shift = f.c;

	for (uint32_t k = 0; k < f.n; k++) {
		int64_t coef = f.term[k].coef, wide;
		const struct hn_expr *moving;
		__int128 least;

		if (coef == INT64_MIN ||
		    !interval_term(&x, f.term[k], &least, &wide, &moving)) {
			return false;
		}
		shift += least;
		if (moving) {
			term[min.n++] = (struct hn_term){ coef, moving };
		}
		width += (__int128)(coef > 0 ? coef : -coef) * wide;
		if (width >= HN_SPAN_MAX || shift <= -HN_SPAN_MAX ||
		    shift >= HN_SPAN_MAX) {
			return false;
		}
	}
	min.c = (int64_t)shift;
	ret->min = min.n == 0
			   ? hn_expr_int(min.c, e->dtype, a)
			   : hn_simplify_sum(min, e->dtype, env->loop, env->n_loop, a);
	ret->width = (int64_t)width;
	return true;
}

static bool has_floormod(const struct hn_expr *e)
{
	bool any = e->op == HN_EXPR_FLOORMOD;

	for (uint32_t k = 0; k < e->n_arg && !any; k++) {
		any = has_floormod(e->arg[k]);
	}
	return any;
}

/* v modulo d without a look at what v is made of: v itself less a multiple of d where it
 * crosses none, else everything. */
static struct hn_interval modulo(const struct ctx *x, struct hn_interval v, int64_t d)
{
	enum hn_dtype t = v.min->dtype;
	int64_t lo, hi;
	bool known;

	if (v.width > 0 && hn_expr_range(v.min, x->env->loop, x->env->n_loop, &lo, &hi) &&
	    hi < HN_SPAN_MAX - v.width &&
	    hn_floordiv(lo, d) == hn_floordiv(hi + v.width, d)) {
		int64_t skip = hn_floordiv(lo, d) * d;
		return (struct hn_interval){ binary_int(x, HN_EXPR_SUB, v.min, skip),
					     v.width };
	}
	if (v.width > 0 &&
	    (v.width >= d || last_residue(x, v.min, d, &known) + v.width >= d)) {
		return (struct hn_interval){ hn_expr_int(0, t, x->a), d - 1 };
	}
	return (struct hn_interval){ binary_int(x, HN_EXPR_FLOORMOD, v.min, d), v.width };
}

/* p + q or p - q. */
static bool sum(const struct ctx *x, const struct hn_expr *e, struct hn_interval p,
		struct hn_interval q, struct hn_interval *ret)
{
	if (q.width >= HN_SPAN_MAX - p.width) {
		return false;
	}
	if (e->op == HN_EXPR_SUB) { /* least where q is greatest */
		q.min = binary_int(x, HN_EXPR_ADD, q.min, q.width);
	}
	*ret = (struct hn_interval){ binary(x, e->op, p.min, q.min), p.width + q.width };
	return true;
}

bool hn_interval_of_index(const struct hn_expr *e, const struct hn_expr *const *value,
			  uint32_t n_value, const struct hn_interval_env *env,
			  struct hn_arena *a, struct hn_interval *ret)
{
	const struct ctx x = { env, a };
	struct hn_interval p, q;
	int64_t d;
	bool sums = e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB;

	if (!has_floormod(e) ||
	    !(sums || (e->op == HN_EXPR_FLOORMOD && divisor(e, &d)))) {
		return hn_interval_of(hn_expr_substitute(e, value, n_value, a), env, a,
				      ret);
	}
	if (!hn_interval_of_index(e->arg[0], value, n_value, env, a, &p)) {
		return false;
	}
	if (!sums) {
		*ret = modulo(&x, p, d);
		return true;
	}
	return hn_interval_of_index(e->arg[1], value, n_value, env, a, &q) &&
	       sum(&x, e, p, q, ret);
}

bool hn_interval_union(struct hn_interval p, struct hn_interval q,
		       const struct hn_interval_env *env, struct hn_arena *a,
		       struct hn_interval *ret)
{
	const struct ctx x = { env, a };
	const struct hn_expr *d = binary(&x, HN_EXPR_SUB, q.min, p.min);

	if (d->op != HN_EXPR_INT) {
		return false;
	}
	int64_t shift = d->u.i; /* of q against p */
	__int128 first = shift < 0 ? shift : 0;
	__int128 p_last = p.width, q_last = (__int128)shift + q.width;
	__int128 width = (p_last > q_last ? p_last : q_last) - first;

	if (width >= HN_SPAN_MAX) {
		return false;
	}
	ret->min = shift < 0 ? q.min : p.min;
	ret->width = (int64_t)width;
	return true;
}
