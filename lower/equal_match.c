/* lower/equal_match.c -- a guess at which point of a reduction a point of its parts is.
 *
 * The sources of both are gone through side by side: where the reduction's has one of its axes
 * k, or an index that is linear in it, the parts' says what k is there.  What lies below a quotient
 * or a remainder of indices is asked last: there the parts' may have been simplified to less than k.  A guess
 * only: the caller proves it, or refuses.
 */
#include "lower/equal_int.h"

struct match {
	struct hn_eq *c;
	uint32_t first, n;
	const struct hn_expr **value;
	bool below; /* quotients and remainders, too */
};

static bool is_open(const struct match *m, const struct hn_expr *e)
{
	uint32_t k = (uint32_t)e->ref - m->first;

	return e->op == HN_EXPR_VAR && k < m->n;
}

/* Whether an axis that is looked for occurs in e. */
static bool has_open(const struct match *m, const struct hn_expr *e)
{
	bool has = is_open(m, e);

	for (uint32_t i = 0; i < e->n_arg && !has; i++) {
		has = has_open(m, e->arg[i]);
	}
	return has;
}

static bool divide(struct hn_eq_lin *l, int64_t by)
{
	bool whole = l->c % by == 0;

	for (uint32_t i = 0; i < l->n && whole; i++) {
		whole = l->term[i].coef % by == 0;
		l->term[i].coef /= by;
	}
	l->c /= by;
	return whole;
}

/* a * k + x = y for the one axis k of x that has no value yet. */
static bool solve(struct match *m, const struct hn_expr *x, const struct hn_expr *y)
{
	struct hn_eq_lin lx = { 0 }, l = { 0 };
	const struct hn_expr *open = NULL;
	int64_t coef = 0;

	hn_eq_add(m->c, &lx, x, 1);
	hn_eq_add(m->c, &l, y, 1);
	for (uint32_t i = 0; i < lx.n && !lx.bad; i++) {
		const struct hn_expr *atom = lx.term[i].atom, *value = atom;

		if (is_open(m, atom)) {
			value = m->value[(uint32_t)atom->ref - m->first];
		} else if (has_open(m, atom)) {
			return false;
		}
		if (!value && open) {
			return false;
		}
		if (!value) {
			open = atom;
			coef = lx.term[i].coef;
		} else {
			hn_eq_add(m->c, &l, value, -lx.term[i].coef);
		}
	}
	hn_eq_add(m->c, &l, hn_expr_int(lx.c, HN_I64, m->c->arena), -1);
	if (lx.bad || l.bad || !open || coef == INT64_MIN || !divide(&l, coef)) {
		return false;
	}
	m->value[(uint32_t)open->ref - m->first] = open == x ? y : hn_eq_of_lin(m->c, &l);
	return true;
}

static bool is_choice(const struct hn_expr *e)
{
	return e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;
}

static bool loads(const struct hn_expr *e)
{
	bool found = e->op == HN_EXPR_LOAD;

	for (uint32_t i = 0; i < e->n_arg && !found; i++) {
		found = loads(e->arg[i]);
	}
	return found;
}

static void match(struct match *m, const struct hn_expr *x, const struct hn_expr *y)
{
	bool rounds = x->op == HN_EXPR_FLOORDIV || x->op == HN_EXPR_FLOORMOD;

	if (!hn_eq_spend(m->c, 1) || !has_open(m, x) || (rounds && !m->below && !loads(x))) {
		return;
	}
	bool number = x->dtype == HN_I32 || x->dtype == HN_I64;

	if (number && (y->dtype == HN_I32 || y->dtype == HN_I64) && solve(m, x, y)) {
		return;
	}
	if (is_choice(x) != is_choice(y)) {
		for (int side = 1; side <= 2; side++) {
			match(m, is_choice(x) ? x->arg[side] : x, is_choice(y) ? y->arg[side] : y);
		}
		return;
	}
	if (x->op != y->op || x->n_arg != y->n_arg ||
	    (x->op == HN_EXPR_LOAD && (x->ref != y->ref || x->out != y->out))) {
		return;
	}
	/* Twice: what a later argument tells may be what an earlier one needs. */
	for (uint32_t i = 0; i < 2 * x->n_arg; i++) {
		match(m, x->arg[i % x->n_arg], y->arg[i % x->n_arg]);
	}
}

void hn_eq_match(struct hn_eq *c, const struct hn_expr *x, const struct hn_expr *y,
		 uint32_t first, const struct hn_expr **value, uint32_t n, bool below)
{
	struct match m = { c, first, n, value, below };

	match(&m, x, y);
}
