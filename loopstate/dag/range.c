/* loopstate/dag/range.c -- see range.h.
 *
 * Invariants:
 *   1. every atom's value lies in its [lo, hi] whenever the assumptions hold;
 *   2. every fact (its form plus its hi) is >= 0 whenever the assumptions hold;
 *   3. atoms and facts made since a mark refer to nothing that pop keeps alive wrongly:
 * pop cuts both lists and undoes tightened intervals from the trail.
 */
#include "loopstate/dag/range_priv.h"

#include <stdlib.h>

#include "loopstate/dag/size.h"

int64_t hn_range_clamp(__int128 v)
{
	return v <= -HN_RANGE_INF  ? -HN_RANGE_INF
	       : v >= HN_RANGE_INF ? HN_RANGE_INF
				   : (int64_t)v;
}

bool hn_range_known(int64_t v)
{
	return v > -HN_RANGE_INF && v < HN_RANGE_INF;
}

struct hn_form hn_form_interval(int64_t lo, int64_t hi)
{
	struct hn_form f;

	f.n = 0;
	f.lo = lo;
	f.hi = hi;
	return f;
}

/* coef * [lo, hi], infinite ends kept. */
void hn_form_scale_interval(int64_t coef, int64_t lo, int64_t hi, int64_t *ret_lo,
			    int64_t *ret_hi)
{
	int64_t x = coef < 0 ? hi : lo, y = coef < 0 ? lo : hi;

	if (coef == 0) {
		*ret_lo = *ret_hi = 0;
		return;
	}
	*ret_lo = hn_range_known(x) ? hn_range_clamp((__int128)x * coef) : -HN_RANGE_INF;
	*ret_hi = hn_range_known(y) ? hn_range_clamp((__int128)y * coef) : HN_RANGE_INF;
}

static int64_t add_lo(int64_t x, int64_t y)
{
	return hn_range_known(x) && hn_range_known(y) ? hn_range_clamp((__int128)x + y)
						      : -HN_RANGE_INF;
}

static int64_t add_hi(int64_t x, int64_t y)
{
	return hn_range_known(x) && hn_range_known(y) ? hn_range_clamp((__int128)x + y)
						      : HN_RANGE_INF;
}

void hn_form_shift(struct hn_form *f, int64_t lo, int64_t hi)
{
	f->lo = add_lo(f->lo, lo);
	f->hi = add_hi(f->hi, hi);
}

/* f += coef * atom; a term that does not fit goes into the interval. */
void hn_form_add_term(const struct hn_range *r, struct hn_form *f, int32_t atom,
		      __int128 coef)
{
	uint32_t i = 0;
	int64_t lo, hi;

	while (i < f->n && f->term[i].atom != atom) {
		i++;
	}
	if (i < f->n) {
		coef += f->term[i].coef;
		f->term[i] = f->term[--f->n];
	}
	if (coef == 0) {
		return;
	}
	bool small = coef < ((int64_t)1 << 40) && coef > -((int64_t)1 << 40);

	if (small && f->n < HN_RANGE_TERMS) {
		f->term[f->n].atom = atom;
		f->term[f->n++].coef = (int64_t)coef;
		return;
	}
	hn_form_scale_interval(hn_range_clamp(coef), r->atom[atom].lo, r->atom[atom].hi,
			       &lo, &hi);
	hn_form_shift(f, lo, hi);
}

/* f + coef * g. */
struct hn_form hn_form_combine(const struct hn_range *r, struct hn_form f,
			       const struct hn_form *g, int64_t coef)
{
	int64_t lo, hi;

	for (uint32_t i = 0; i < g->n; i++) {
		hn_form_add_term(r, &f, g->term[i].atom,
				 (__int128)coef * g->term[i].coef);
	}
	hn_form_scale_interval(coef, g->lo, g->hi, &lo, &hi);
	hn_form_shift(&f, lo, hi);
	return f;
}

struct hn_form hn_form_scaled(const struct hn_range *r, const struct hn_form *g,
			      int64_t coef)
{
	return hn_form_combine(r, hn_form_interval(0, 0), g, coef);
}

int64_t hn_form_min(const struct hn_range *r, const struct hn_form *f)
{
	int64_t sum = f->lo;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct atom *a = &r->atom[f->term[i].atom];
		int64_t lo, hi;

		hn_form_scale_interval(f->term[i].coef, a->lo, a->hi, &lo, &hi);
		sum = add_lo(sum, lo);
	}
	return sum;
}

int64_t hn_form_max(const struct hn_range *r, const struct hn_form *f)
{
	struct hn_form neg = hn_form_scaled(r, f, -1);
	int64_t m = hn_form_min(r, &neg);

	return -m;
}

static int64_t ceil_to(int64_t v, int64_t by)
{
	return hn_range_known(v) ? -hn_floordiv(-v, by) : v;
}

/* The best lower bound found for f, by adding multiples of facts that cancel one of its
 * terms: |c| f - |a| F with F >= 0 bounds |c| f from below. Stops when `goal` is reached.
 */
static int64_t search_min(struct hn_range *r, const struct hn_form *f, int64_t goal,
			  int depth)
{
	int64_t best = hn_form_min(r, f);

	for (uint32_t k = 0; depth > 0 && k < f->n; k++) {
		for (uint32_t j = r->n_fact; j-- > 0 && best < goal;) {
			const struct hn_form *fact = &r->fact[j];
			int64_t a = f->term[k].coef, c = 0;

			for (uint32_t i = 0; i < fact->n; i++) {
				c = fact->term[i].atom == f->term[k].atom
					    ? fact->term[i].coef
					    : c;
			}
			if (c == 0 || (a < 0) != (c < 0) ||
			    ++r->question_steps > STEPS_PER_QUESTION) {
				continue;
			}
			int64_t by = c < 0 ? -c : c;
			/* Only the fact's hi is known to hold. */
			struct hn_form whole = *fact;

			whole.lo = whole.hi;
			struct hn_form next = hn_form_combine(r, hn_form_scaled(r, f, by),
							      &whole, a < 0 ? a : -a);
			__int128 next_goal = (__int128)(goal - 1) * by + 1;
			int64_t m =
				ceil_to(search_min(r, &next, hn_range_clamp(next_goal),
						   depth - 1),
					by);

			best = m > best ? m : best;
		}
	}
	return best;
}

static int64_t find_min(struct hn_range *r, const struct hn_form *f, int64_t goal)
{
	int64_t best = hn_form_min(r, f);

	for (int depth = 1; best < goal && depth <= SEARCH_DEPTH; depth++) {
		if (r->steps > STEPS_IN_ALL) {
			break;
		}
		r->question_steps = 0;
		best = search_min(r, f, goal, depth);
		r->steps += r->question_steps;
	}
	return best;
}

static void set_interval(struct hn_range *r, int32_t atom, int64_t lo, int64_t hi)
{
	struct atom *a = &r->atom[atom];

	if (r->n_trail == MAX_TRAIL) {
		return;
	}
	r->trail[r->n_trail++] = (struct undo){ atom, a->lo, a->hi };
	a->lo = lo;
	a->hi = hi;
	r->empty = r->empty || lo > hi;
}

/* Use fact f to tighten its atoms; whether one became tighter. */
static bool tighten(struct hn_range *r, const struct hn_form *f)
{
	bool changed = false;

	for (uint32_t k = 0; k < f->n && !r->empty; k++) {
		struct atom *a = &r->atom[f->term[k].atom];
		struct hn_form rest = *f;
		int64_t c = f->term[k].coef;

		rest.term[k] = rest.term[--rest.n];
		int64_t m = hn_form_max(r, &rest); /* c * atom >= -m */

		if (!hn_range_known(m)) {
			continue;
		}
		int64_t lo = c > 0 ? -hn_floordiv(m, c) : a->lo;
		int64_t hi = c < 0 ? hn_floordiv(m, -c) : a->hi;

		if (lo > a->lo || hi < a->hi) {
			set_interval(r, f->term[k].atom, lo > a->lo ? lo : a->lo,
				     hi < a->hi ? hi : a->hi);
			changed = true;
		}
	}
	return changed;
}

static void propagate(struct hn_range *r)
{
	bool changed = true;

	for (int round = 0; changed && round < PROPAGATE_ROUNDS; round++) {
		changed = false;
		for (uint32_t i = 0; i < r->n_fact && !r->empty; i++) {
			r->steps += r->fact[i].n * r->fact[i].n;
			if (r->steps > STEPS_IN_ALL) {
				return;
			}
			changed = tighten(r, &r->fact[i]) || changed;
		}
	}
}

/* f >= 0 holds. */
void hn_range_add_fact(struct hn_range *r, const struct hn_form *f)
{
	if (f->n == 0) {
		r->empty = r->empty || f->hi < 0;
		return;
	}
	if (!hn_range_known(f->hi) || r->n_fact == MAX_FACT) {
		return;
	}
	r->fact[r->n_fact++] = *f;
	propagate(r);
}

/* Axis i - its first value < its extent, whatever the sizes are. */
static void assume_below_extent(struct hn_range *r, uint32_t i, struct hn_arena *a)
{
	const struct hn_axis *x = &r->op->axis[i];
	const struct hn_expr *end =
		hn_expr_binary(HN_EXPR_ADD, hn_op_extent(r->op, i),
			       hn_expr_int(x->min, HN_I32, a), a);

	hn_range_assume_less(r, hn_expr_var((int32_t)i, HN_I32, x->name, a), end);
}

/* The tables stay as they come: a quarter of a megabyte, and a dag has hundreds of ops. */
struct hn_range *hn_range_new(const struct hn_op *op, struct hn_arena *a)
{
	struct hn_range *r = malloc(sizeof(*r));
	bool fresh;

	hn_assert(r != NULL);
	r->n_atom = r->n_fact = r->n_trail = r->n_let = 0;
	r->op = op;
	r->steps = r->question_steps = 0;
	r->empty = r->data = false;
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		const struct hn_axis *x = &op->axis[i];

		hn_range_atom(r, hn_expr_var((int32_t)i, HN_I32, x->name, a), 0, x->min,
			      x->min + x->extent - 1, &fresh);
	}
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		if (hn_op_extent(op, i) != NULL) {
			assume_below_extent(r, i, a);
		}
	}
	return r;
}

void hn_range_free(struct hn_range *r)
{
	free(r);
}

struct hn_range_mark hn_range_push(struct hn_range *r)
{
	return (struct hn_range_mark){ r->n_atom, r->n_fact, r->n_trail, r->n_let,
				       r->empty };
}

void hn_range_pop(struct hn_range *r, struct hn_range_mark mark)
{
	while (r->n_trail > mark.n_trail) {
		const struct undo *u = &r->trail[--r->n_trail];

		r->atom[u->atom].lo = u->lo;
		r->atom[u->atom].hi = u->hi;
	}
	r->n_atom = mark.n_atom;
	r->n_fact = mark.n_fact;
	r->n_let = mark.n_let;
	r->empty = mark.empty;
}

/* y - x - strict >= 0. */
static void assume_order(struct hn_range *r, const struct hn_expr *x,
			 const struct hn_expr *y, bool strict)
{
	struct hn_form fx = hn_range_form(r, x), fy = hn_range_form(r, y);
	struct hn_form f = hn_form_combine(r, fy, &fx, -1);

	hn_form_shift(&f, strict ? -1 : 0, strict ? -1 : 0);
	hn_range_add_fact(r, &f);
}

void hn_range_assume_less(struct hn_range *r, const struct hn_expr *x,
			  const struct hn_expr *y)
{
	assume_order(r, x, y, /* strict= */ true);
}

void hn_range_assume(struct hn_range *r, const struct hn_expr *e, bool holds)
{
	if (e->op == HN_EXPR_INT) {
		r->empty = r->empty || (e->u.i != 0) != holds;
		return;
	}
	if (e->op < HN_EXPR_EQ || e->op > HN_EXPR_GE ||
	    hn_dtype_class(e->arg[0]->dtype) == HN_CLASS_FLOAT) {
		return;
	}
	bool less = e->op == HN_EXPR_LT || e->op == HN_EXPR_LE;
	bool strict = e->op == HN_EXPR_LT || e->op == HN_EXPR_GT;
	const struct hn_expr *x = e->arg[less ? 0 : 1], *y = e->arg[less ? 1 : 0];

	if (e->op == HN_EXPR_EQ || e->op == HN_EXPR_NE) {
		if ((e->op == HN_EXPR_EQ) == holds) {
			assume_order(r, x, y, /* strict= */ false);
			assume_order(r, y, x, /* strict= */ false);
		}
		return;
	}
	if (holds) {
		assume_order(r, x, y, strict);
	} else {
		assume_order(r, y, x, !strict);
	}
}

bool hn_range_empty(const struct hn_range *r)
{
	return r->empty;
}

void hn_range_bind(struct hn_range *r, int32_t slot, const struct hn_expr *value)
{
	bool outer = r->data;

	if (r->n_let == MAX_LET || hn_dtype_class(value->dtype) == HN_CLASS_FLOAT) {
		return;
	}
	r->data = false;
	struct hn_form f = hn_range_form(r, value);

	r->let[r->n_let++] = (struct let){ slot, f, r->data };
	r->data = outer;
}

/* Whether the form is a sum of axes, each in its whole range: then a box's corners are
 * taken. */
static bool corners_taken(const struct hn_range *r, const struct hn_form *f)
{
	bool taken = f->lo == f->hi && r->n_fact == 0;

	for (uint32_t i = 0; i < f->n; i++) {
		taken = taken &&
			(uint32_t)f->term[i].atom < r->op->n_spatial + r->op->n_reduce;
	}
	return taken;
}

struct hn_bound hn_range_of(struct hn_range *r, const struct hn_expr *e, int64_t want_lo,
			    int64_t want_hi)
{
	r->data = false;
	struct hn_form f = hn_range_form(r, e);
	struct hn_form neg = hn_form_scaled(r, &f, -1);
	struct hn_bound b = { .data = r->data, .exact = corners_taken(r, &f) };

	b.lo = find_min(r, &f, want_lo);
	b.hi = -find_min(r, &neg, -want_hi);
	return b;
}
