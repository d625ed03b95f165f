/* lower/prove/equal_match.c -- guesses which point of a reduction a point of its parts is.
 *
 * The sources of both are read side by side. Where the reduction's source has one of its axes k,
 * or an index that is linear in it, the parts' source gives the value of k there. Indices below
 * a quotient or a remainder are used last, because the parts' may have been simplified to less
 * than k. It is only a guess: the caller proves it, or refuses.
 */
#include "base/arith.h"
#include "lower/prove/equal_int.h"

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

/* Axes of x without a value, as terms of a sum. */
struct unknown {
	uint32_t n;
	uint32_t k[HN_EQ_MAX_SLOTS];
	int64_t coef[HN_EQ_MAX_SLOTS];
};

static void note(struct unknown *u, uint32_t k, int64_t coef)
{
	uint32_t at = u->n++;

	for (; at > 0 && u->coef[at - 1] < coef; at--) {
		u->k[at] = u->k[at - 1];
		u->coef[at] = u->coef[at - 1];
	}
	u->k[at] = k;
	u->coef[at] = coef;
}

static const struct hn_expr *by(struct match *m, enum hn_expr_op op, const struct hn_expr *x,
				int64_t c)
{
	return hn_expr_binary(op, x, hn_expr_int(c, HN_I32, m->c->arena), m->c->arena);
}

/* Several axes whose sum is y, each counting from 0 what the smaller ones leave: its digits. */
static bool solve_digits(struct match *m, const struct unknown *u, struct hn_eq_lin *y)
{
	int64_t least = u->coef[u->n - 1];

	for (uint32_t i = 0; i < u->n; i++) {
		const struct hn_eq_axis *slot = &m->c->slot[m->first + u->k[i]];
		bool fits = i == 0 || (u->coef[i - 1] % u->coef[i] == 0 &&
				       hn_mul_sat(slot->extent, u->coef[i]) <= u->coef[i - 1]);

		if (u->coef[i] < 1 || u->coef[i] > INT32_MAX || slot->min != 0 || !fits) {
			return false;
		}
	}
	if (!divide(y, least)) {
		return false;
	}
	const struct hn_expr *number = hn_eq_of_lin(m->c, y);

	for (uint32_t i = 0; i < u->n; i++) {
		const struct hn_expr *digit =
			by(m, HN_EXPR_FLOORDIV, number, u->coef[i] / least);

		m->value[u->k[i]] = i == 0 ? digit
					   : by(m, HN_EXPR_FLOORMOD, digit,
						u->coef[i - 1] / u->coef[i]);
	}
	return true;
}

/* a * k + x = y for the axes k of x that have no value yet. */
static bool solve(struct match *m, const struct hn_expr *x, const struct hn_expr *y)
{
	struct hn_eq_lin lx = { 0 }, l = { 0 };
	struct unknown u = { 0 };

	hn_eq_add(m->c, &lx, x, 1);
	hn_eq_add(m->c, &l, y, 1);
	for (uint32_t i = 0; i < lx.n && !lx.bad; i++) {
		const struct hn_expr *atom = lx.term[i].atom, *value = atom;

		if (is_open(m, atom)) {
			value = m->value[(uint32_t)atom->ref - m->first];
		} else if (has_open(m, atom)) {
			return false;
		}
		if (value) {
			hn_eq_add(m->c, &l, value, -lx.term[i].coef);
		} else if (u.n < HN_EQ_MAX_SLOTS) {
			note(&u, (uint32_t)atom->ref - m->first, lx.term[i].coef);
		}
	}
	hn_eq_add(m->c, &l, hn_expr_int(lx.c, HN_I64, m->c->arena), -1);
	if (lx.bad || l.bad || u.n == 0 || u.coef[u.n - 1] == INT64_MIN) {
		return false;
	}
	if (u.n > 1) {
		return solve_digits(m, &u, &l);
	}
	if (!divide(&l, u.coef[0])) {
		return false;
	}
	m->value[u.k[0]] = x->op == HN_EXPR_VAR ? y : hn_eq_of_lin(m->c, &l);
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
