/* loopstate/expr/simplify.c -- the rules of the affine normal form, operator by operator (see
 * simplify.h; the sums are simplify_sum.c's).
 *
 * A sum that overflows or a tree that needs too many steps sets `bad`, and the caller
 * gets its expression back as it was: giving up is always sound here. */
#include "loopstate/expr/simplify_sum.h"

#include "base/arith.h"

#define MAX_STEPS 200000

static struct hn_lin lin_of(struct hn_lin_ctx *x, const struct hn_expr *e);
static const struct hn_expr *simplify(struct hn_lin_ctx *x, const struct hn_expr *e);
static struct hn_lin lin_floordiv(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
				  enum hn_dtype t);

static bool is_index(const struct hn_expr *e)
{
	return e->dtype == HN_I32 || e->dtype == HN_I64;
}

static const struct hn_expr *node2(struct hn_lin_ctx *x, enum hn_expr_op op,
				   struct hn_lin v, int64_t d, enum hn_dtype t)
{
	return hn_expr_binary(op, hn_lin_build(x, v, t), hn_expr_int(d, t, x->a), x->a);
}

static bool is_by_const(const struct hn_expr *e, enum hn_expr_op op)
{
	return e->op == op && e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0;
}

static bool single(struct hn_lin v)
{
	return v.n == 1 && v.c == 0 && v.term[0].coef == 1;
}

static struct hn_lin lin_floormod(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
				  enum hn_dtype t)
{
	struct hn_lin high, low;

	if (x->steps == 0 || x->bad) {
		x->bad = true;
		return hn_lin_const(0);
	}
	x->steps--;
	if (d == 1) {
		return hn_lin_const(0);
	}
	int64_t g = hn_lin_split(x, v, d, &high, &low);

	if (g == d) {
		return low;
	}
	if (g > 1) {
		struct hn_lin m = lin_floormod(x, high, d / g, t);

		return hn_lin_plus(x, hn_lin_scale(x, m, g), low);
	}
	/* Whole multiples of d do not change the remainder. */
	struct hn_lin r = { .c = hn_floormod(v.c, d),
			    .term = HN_NEW_ARRAY(x->a, struct hn_term, v.n) };

	for (uint32_t i = 0; i < v.n; i++) {
		if (v.term[i].coef % d != 0) {
			r.term[r.n++] = v.term[i];
		}
	}
	if (single(r) && is_by_const(r.term[0].atom, HN_EXPR_FLOORMOD) &&
	    r.term[0].atom->arg[1]->u.i % d == 0) {
		return lin_floormod(x, lin_of(x, r.term[0].atom->arg[0]), d, t);
	}
	return hn_lin_atom(x, node2(x, HN_EXPR_FLOORMOD, r, d, t));
}

static struct hn_lin floordiv_atom(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
				   enum hn_dtype t)
{
	const struct hn_expr *atom = single(v) ? v.term[0].atom : NULL;

	if (atom != NULL && is_by_const(atom, HN_EXPR_FLOORDIV)) {
		int64_t product = hn_lin_mul64(x, atom->arg[1]->u.i, d);

		return lin_floordiv(x, lin_of(x, atom->arg[0]), product, t);
	}
	if (atom != NULL && is_by_const(atom, HN_EXPR_FLOORMOD) &&
	    atom->arg[1]->u.i % d == 0) {
		struct hn_lin q = lin_floordiv(x, lin_of(x, atom->arg[0]), d, t);

		return lin_floormod(x, q, atom->arg[1]->u.i / d, t);
	}
	return hn_lin_atom(x, node2(x, HN_EXPR_FLOORDIV, v, d, t));
}

static struct hn_lin lin_floordiv(struct hn_lin_ctx *x, struct hn_lin v, int64_t d,
				  enum hn_dtype t)
{
	struct hn_lin high, low;

	if (x->steps == 0 || x->bad) {
		x->bad = true;
		return hn_lin_const(0);
	}
	x->steps--;
	if (d == 1) {
		return v;
	}
	int64_t g = hn_lin_split(x, v, d, &high, &low);

	if (g > 1) {
		return g == d ? high : lin_floordiv(x, high, d / g, t);
	}
	/* Whole multiples of d come out in front. */
	struct hn_lin whole = { .c = hn_floordiv(v.c, d),
				.term = HN_NEW_ARRAY(x->a, struct hn_term, v.n) };
	struct hn_lin r = { .c = hn_floormod(v.c, d),
			    .term = HN_NEW_ARRAY(x->a, struct hn_term, v.n) };

	for (uint32_t i = 0; i < v.n; i++) {
		struct hn_term term = v.term[i];

		if (term.coef % d == 0) {
			term.coef /= d;
			whole.term[whole.n++] = term;
		} else {
			r.term[r.n++] = term;
		}
	}
	return hn_lin_plus(x, whole, floordiv_atom(x, r, d, t));
}

/* floormod(v, b) at term i and its quotient at term j, with coefficients in proportion,
 * are one term again: what fusing and splitting leave behind. */
static bool rejoin_pair(struct hn_lin_ctx *x, struct hn_lin *v, uint32_t i,
			const struct hn_expr *y, uint32_t j)
{
	const struct hn_expr *m = v->term[i].atom, *q = v->term[j].atom;
	int64_t b = m->arg[1]->u.i, coef = v->term[i].coef, scaled;

	if (i == j || __builtin_mul_overflow(coef, b, &scaled) ||
	    v->term[j].coef != scaled) {
		return false;
	}
	struct hn_lin joined;

	if (hn_expr_order(q, y) == 0) {
		joined = lin_of(x, m->arg[0]);
	} else if (is_by_const(q, HN_EXPR_FLOORMOD) && hn_expr_order(q->arg[0], y) == 0) {
		joined = lin_floormod(x, lin_of(x, m->arg[0]),
				      hn_lin_mul64(x, b, q->arg[1]->u.i), m->dtype);
	} else {
		return false;
	}
	struct hn_lin rest = { .c = v->c,
			       .term = HN_NEW_ARRAY(x->a, struct hn_term, v->n) };

	for (uint32_t k = 0; k < v->n; k++) {
		if (k != i && k != j) {
			rest.term[rest.n++] = v->term[k];
		}
	}
	*v = hn_lin_plus(x, rest, hn_lin_scale(x, joined, coef));
	return true;
}

/* floordiv(v + floordiv(z, k), d) is floordiv(v * k + z, d * k), too: numbers that are split at
 * d * k have that spelling.  NULL: q is no such quotient. */
static const struct hn_expr *flatten(struct hn_lin_ctx *x, const struct hn_expr *q)
{
	struct hn_lin v, flat;

	if (!is_by_const(q, HN_EXPR_FLOORDIV)) {
		return NULL;
	}
	v = lin_of(x, q->arg[0]);
	for (uint32_t i = 0; i < v.n; i++) {
		const struct hn_expr *part = v.term[i].atom;

		if (v.term[i].coef != 1 || !is_by_const(part, HN_EXPR_FLOORDIV)) {
			continue;
		}
		int64_t k = part->arg[1]->u.i;
		struct hn_lin rest = hn_lin_plus(
			x, v, hn_lin_scale(x, hn_lin_atom(x, part), -1));

		flat = hn_lin_plus(x, hn_lin_scale(x, rest, k), lin_of(x, part->arg[0]));
		flat = lin_floordiv(x, flat, hn_lin_mul64(x, k, q->arg[1]->u.i), q->dtype);
		return single(flat) ? flat.term[0].atom : NULL;
	}
	return NULL;
}

/* Whether some term may be the quotient that belongs to the remainder at term i. */
static bool may_rejoin(const struct hn_lin *v, uint32_t i)
{
	int64_t scaled;

	if (!is_by_const(v->term[i].atom, HN_EXPR_FLOORMOD) ||
	    __builtin_mul_overflow(v->term[i].coef, v->term[i].atom->arg[1]->u.i, &scaled)) {
		return false;
	}
	for (uint32_t j = 0; j < v->n; j++) {
		if (j != i && v->term[j].coef == scaled) {
			return true;
		}
	}
	return false;
}

static bool rejoin_once(struct hn_lin_ctx *x, struct hn_lin *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct hn_expr *m = v->term[i].atom;

		if (!may_rejoin(v, i)) {
			continue;
		}
		struct hn_lin q =
			lin_floordiv(x, lin_of(x, m->arg[0]), m->arg[1]->u.i, m->dtype);

		const struct hn_expr *y = single(q) ? q.term[0].atom : NULL;

		for (int spelling = 0; spelling < 2 && y != NULL; spelling++) {
			for (uint32_t j = 0; j < v->n; j++) {
				if (rejoin_pair(x, v, i, y, j)) {
					return true;
				}
			}
			y = spelling == 0 ? flatten(x, y) : NULL;
		}
	}
	return false;
}

static struct hn_lin rejoin(struct hn_lin_ctx *x, struct hn_lin v)
{
	uint32_t n_mod = 0;

	for (uint32_t i = 0; i < v.n; i++) {
		n_mod += v.term[i].atom->op == HN_EXPR_FLOORMOD;
	}
	while (v.n > 1 && n_mod > 0 && !x->bad && rejoin_once(x, &v)) {
	}
	return v;
}

/* Rebuild a node that has no rule of its own around simplified arguments. */
static const struct hn_expr *rebuild(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	if (e->n_arg == 0) {
		return e;
	}
	const struct hn_expr **arg = HN_NEW_ARRAY(x->a, const struct hn_expr *, e->n_arg);

	for (uint32_t k = 0; k < e->n_arg; k++) {
		arg[k] = simplify(x, e->arg[k]);
	}
	bool choice = e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;

	if (choice && arg[0]->op == HN_EXPR_INT) {
		return arg[0]->u.i != 0 ? arg[1] : arg[2];
	}
	bool binary = e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_OR;

	return binary ? hn_expr_binary(e->op, arg[0], arg[1], x->a)
		      : hn_expr_with_args(e, arg, e->n_arg, x->a);
}

static struct hn_lin lin_opaque(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	const struct hn_expr *r = rebuild(x, e);

	if (r->op == HN_EXPR_INT) {
		return hn_lin_const(r->u.i);
	}
	bool chosen = (e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF) && r->op != e->op;

	return chosen ? lin_of(x, r) : hn_lin_atom(x, r);
}

/* A loop of one value. */
static bool is_constant(const struct hn_lin_ctx *x, const struct hn_expr *var)
{
	return var->ref >= 0 && (uint32_t)var->ref < x->n_loop &&
	       x->loop[var->ref].lo == x->loop[var->ref].hi;
}

static struct hn_lin lin_var(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	return is_constant(x, e) ? hn_lin_const(x->loop[e->ref].lo) : hn_lin_atom(x, e);
}

static struct hn_lin lin_int(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	(void)x;
	return hn_lin_const(e->u.i);
}

/* sum += k * e, looking through sums and multiples. */
static void gather(struct hn_lin_ctx *x, const struct hn_expr *e, int64_t k,
		   struct hn_lin *sum)
{
	bool sums = e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB;

	if (sums && x->steps > 0) {
		x->steps--;
		gather(x, e->arg[0], k, sum);
		gather(x, e->arg[1], e->op == HN_EXPR_ADD ? k : hn_lin_mul64(x, k, -1),
		       sum);
		return;
	}
	if (e->op == HN_EXPR_MUL && e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i != 0) {
		gather(x, e->arg[0], hn_lin_mul64(x, k, e->arg[1]->u.i), sum);
		return;
	}
	if (e->op == HN_EXPR_VAR && is_index(e) && !is_constant(x, e)) {
		hn_lin_add_term(x, sum, k, e);
		return;
	}
	if (e->op == HN_EXPR_INT && is_index(e)) {
		sum->c = hn_lin_add64(x, sum->c, hn_lin_mul64(x, e->u.i, k));
		return;
	}
	struct hn_lin v = lin_of(x, e);

	sum->c = hn_lin_add64(x, sum->c, hn_lin_mul64(x, v.c, k));
	for (uint32_t i = 0; i < v.n && !x->bad; i++) {
		hn_lin_add_term(x, sum, hn_lin_mul64(x, v.term[i].coef, k),
				v.term[i].atom);
	}
}

static struct hn_lin lin_sum(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin sum = { 0 };

	gather(x, e, 1, &sum);
	return rejoin(x, sum);
}

static struct hn_lin lin_mul(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin p = lin_of(x, e->arg[0]), q = lin_of(x, e->arg[1]);

	if (q.n == 0) {
		return hn_lin_scale(x, p, q.c);
	}
	if (p.n == 0) {
		return hn_lin_scale(x, q, p.c);
	}
	return hn_lin_atom(x, hn_expr_binary(HN_EXPR_MUL, hn_lin_build(x, p, e->dtype),
					     hn_lin_build(x, q, e->dtype), x->a));
}

static struct hn_lin lin_div_floor(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin d = lin_of(x, e->arg[1]);

	return d.n != 0 || d.c <= 0
		       ? lin_opaque(x, e)
		       : lin_floordiv(x, lin_of(x, e->arg[0]), d.c, e->dtype);
}

static struct hn_lin lin_mod_floor(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin d = lin_of(x, e->arg[1]);

	return d.n != 0 || d.c <= 0
		       ? lin_opaque(x, e)
		       : lin_floormod(x, lin_of(x, e->arg[0]), d.c, e->dtype);
}

/* Truncating forms are the flooring ones where the operand is known not to be negative.
 */
static struct hn_lin lin_trunc(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin v = lin_of(x, e->arg[0]), d = lin_of(x, e->arg[1]);
	int64_t lo, hi;

	if (d.n != 0 || d.c <= 0 || !hn_lin_range(x, v, &lo, &hi) || lo < 0) {
		return lin_opaque(x, e);
	}
	return e->op == HN_EXPR_DIV ? lin_floordiv(x, v, d.c, e->dtype)
				    : lin_floormod(x, v, d.c, e->dtype);
}

static struct hn_lin lin_minmax(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	struct hn_lin p = lin_of(x, e->arg[0]), q = lin_of(x, e->arg[1]);
	int64_t lo, hi;

	if (hn_lin_range(x, hn_lin_plus(x, p, hn_lin_scale(x, q, -1)), &lo, &hi)) {
		bool is_min = e->op == HN_EXPR_MIN;

		if (hi <= 0) {
			return is_min ? p : q;
		}
		if (lo >= 0) {
			return is_min ? q : p;
		}
	}
	return hn_lin_atom(x, hn_expr_binary(e->op, hn_lin_build(x, p, e->dtype),
					     hn_lin_build(x, q, e->dtype), x->a));
}

/* A conversion between index types that keeps the value is no node at all. */
static struct hn_lin lin_cast(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	int64_t lo, hi;

	if (!is_index(e->arg[0]) || x->bad) {
		return lin_opaque(x, e);
	}
	struct hn_lin v = lin_of(x, e->arg[0]);
	bool known = hn_lin_range(x, v, &lo, &hi);
	bool fits = e->dtype == HN_I64 || e->arg[0]->dtype == HN_I32 ||
		    (known && lo >= INT32_MIN && hi <= INT32_MAX);

	return fits ? v : lin_opaque(x, e);
}

typedef struct hn_lin (*lin_fn)(struct hn_lin_ctx *x, const struct hn_expr *e);

static const lin_fn lin_rule[HN_N_EXPR] = {
	[HN_EXPR_VAR] = lin_var,
	[HN_EXPR_INT] = lin_int,
	[HN_EXPR_ADD] = lin_sum,
	[HN_EXPR_SUB] = lin_sum,
	[HN_EXPR_MUL] = lin_mul,
	[HN_EXPR_FLOORDIV] = lin_div_floor,
	[HN_EXPR_FLOORMOD] = lin_mod_floor,
	[HN_EXPR_DIV] = lin_trunc,
	[HN_EXPR_TRUNCMOD] = lin_trunc,
	[HN_EXPR_MIN] = lin_minmax,
	[HN_EXPR_MAX] = lin_minmax,
	[HN_EXPR_CAST] = lin_cast,
};

static struct hn_lin lin_of(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	if (x->steps == 0 || x->bad) {
		x->bad = true;
		return hn_lin_atom(x, e);
	}
	x->steps--;
	if (!is_index(e)) {
		return hn_lin_atom(x, simplify(x, e));
	}
	bool sums = lin_rule[e->op] == lin_sum || lin_rule[e->op] == lin_mul;

	if (x->given_simple && e->n_arg > 0 && !sums) {
		return hn_lin_atom(x, e);
	}
	return lin_rule[e->op] != NULL ? lin_rule[e->op](x, e) : lin_opaque(x, e);
}

/* Comparisons: the sign of the difference, where its range tells; else the terms of each
 * side that cancel are gone. */
static const struct hn_expr *simplify_compare(struct hn_lin_ctx *x,
					      const struct hn_expr *e)
{
	struct hn_lin p = lin_of(x, e->arg[0]), q = lin_of(x, e->arg[1]);
	struct hn_lin d = hn_lin_plus(x, p, hn_lin_scale(x, q, -1));
	int64_t lo, hi;
	int known = -1;

	if (hn_lin_range(x, d, &lo, &hi)) {
		const int yes_no[HN_N_EXPR][2] = {
			[HN_EXPR_LT] = { hi < 0, lo >= 0 },
			[HN_EXPR_LE] = { hi <= 0, lo > 0 },
			[HN_EXPR_GT] = { lo > 0, hi <= 0 },
			[HN_EXPR_GE] = { lo >= 0, hi < 0 },
			[HN_EXPR_EQ] = { lo == 0 && hi == 0, lo > 0 || hi < 0 },
			[HN_EXPR_NE] = { lo > 0 || hi < 0, lo == 0 && hi == 0 },
		};

		known = yes_no[e->op][0] ? 1 : yes_no[e->op][1] ? 0 : -1;
	}
	if (known >= 0) {
		return hn_expr_int(known, HN_BOOL, x->a);
	}
	enum hn_dtype t = e->arg[0]->dtype;

	/* Constants to the right. */
	p.c = hn_lin_add64(x, p.c, hn_lin_mul64(x, q.c, -1));
	q.c = hn_lin_mul64(x, p.c, -1);
	p.c = 0;
	return hn_expr_binary(e->op, hn_lin_build(x, p, t), hn_lin_build(x, q, t), x->a);
}

static const struct hn_expr *simplify_logic(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	const struct hn_expr *p = simplify(x, e->arg[0]), *q = simplify(x, e->arg[1]);
	bool is_and = e->op == HN_EXPR_AND;

	if (p->op == HN_EXPR_INT) {
		return (p->u.i != 0) == is_and ? q : p;
	}
	if (q->op == HN_EXPR_INT) {
		return (q->u.i != 0) == is_and ? p : q;
	}
	return hn_expr_binary(e->op, p, q, x->a);
}

static const struct hn_expr *simplify_not(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	const struct hn_expr *p = simplify(x, e->arg[0]);

	return p->op == HN_EXPR_INT ? hn_expr_int(p->u.i == 0, HN_BOOL, x->a)
				    : hn_expr_with_args(e, &p, 1, x->a);
}

static const struct hn_expr *simplify(struct hn_lin_ctx *x, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_INT) {
		return e;
	}
	if (is_index(e)) {
		return hn_lin_build(x, lin_of(x, e), e->dtype);
	}
	if (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && is_index(e->arg[0])) {
		return simplify_compare(x, e);
	}
	if (e->op == HN_EXPR_AND || e->op == HN_EXPR_OR) {
		return simplify_logic(x, e);
	}
	return e->op == HN_EXPR_NOT ? simplify_not(x, e) : rebuild(x, e);
}

const struct hn_expr *hn_simplify(const struct hn_expr *e, const struct hn_span *loop,
				  uint32_t n_loop, struct hn_arena *a)
{
	struct hn_lin_ctx x = {
		.loop = loop, .n_loop = n_loop, .a = a, .steps = MAX_STEPS
	};
	const struct hn_expr *r = simplify(&x, e);

	return x.bad ? e : r;
}

const struct hn_expr *hn_simplify_sum(struct hn_affine sum, enum hn_dtype t,
				      const struct hn_span *loop, uint32_t n_loop,
				      struct hn_arena *a)
{
	struct hn_lin_ctx x = { .loop = loop,
				.n_loop = n_loop,
				.a = a,
				.steps = MAX_STEPS,
				.given_simple = true };
	struct hn_lin v = { .c = sum.c };

	for (uint32_t i = 0; i < sum.n; i++) {
		gather(&x, sum.term[i].atom, sum.term[i].coef, &v);
	}
	const struct hn_expr *r = hn_lin_build(&x, rejoin(&x, v), t);

	if (!x.bad) {
		return r;
	}
	r = hn_expr_int(sum.c, t, a);
	for (uint32_t i = 0; i < sum.n; i++) {
		const struct hn_expr *coef = hn_expr_int(sum.term[i].coef, t, a);

		r = hn_expr_binary(HN_EXPR_ADD, r,
				   hn_expr_binary(HN_EXPR_MUL, sum.term[i].atom, coef, a),
				   a);
	}
	return r;
}

struct hn_affine hn_affine_of(const struct hn_expr *e, const struct hn_span *loop,
			      uint32_t n_loop, struct hn_arena *a)
{
	struct hn_lin_ctx x = {
		.loop = loop, .n_loop = n_loop, .a = a, .steps = MAX_STEPS
	};
	struct hn_lin v = lin_of(&x, e);

	if (x.bad) {
		x.bad = false;
		v = hn_lin_atom(&x, e);
	}
	return (struct hn_affine){ v.c, v.n, v.term };
}
