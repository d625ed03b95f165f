/* loopstate/dag/law.c -- see law.h. */
#include "loopstate/dag/law.h"

#include <string.h>

#define MAX_PART 4        /* carried values that are decided together */
#define MAX_TRIES 2000000 /* arguments tried for one combiner */
#define MAX_WORK 50000	  /* tries times nodes, of what is asked of every op that is read */

/* -- known by law ------------------------------------------------------------------------ */

enum known {
	UNKNOWN,
	NEEDS_ZERO, /* associative and commutative; the identity must be this */
	NEEDS_ONE,
	IDEMPOTENT /* and f(x, x) = x */
};

static const uint8_t known_law[HN_N_EXPR] = {
	[HN_EXPR_ADD] = NEEDS_ZERO, [HN_EXPR_MUL] = NEEDS_ONE,	[HN_EXPR_MIN] = IDEMPOTENT,
	[HN_EXPR_MAX] = IDEMPOTENT, [HN_EXPR_AND] = IDEMPOTENT, [HN_EXPR_OR] = IDEMPOTENT,
};

static bool is_slot(const struct hn_expr *e, uint32_t slot)
{
	return e->op == HN_EXPR_VAR && (uint32_t)e->ref == slot;
}

/* The law of component k, where it combines its own two values and nothing else. */
static enum known law_of(const struct hn_reduce *r, uint32_t k)
{
	const struct hn_expr *e = r->result[k];
	uint32_t l = HN_SLOT_LHS + k, q = HN_SLOT_RHS + k;

	if (e->n_arg != 2 || !((is_slot(e->arg[0], l) && is_slot(e->arg[1], q)) ||
			       (is_slot(e->arg[0], q) && is_slot(e->arg[1], l)))) {
		return UNKNOWN;
	}
	return (enum known)known_law[e->op];
}

static bool is_number(const struct hn_expr *e, int v)
{
	return (e->op == HN_EXPR_INT && e->u.i == v) || (e->op == HN_EXPR_FLOAT && e->u.f == v);
}

static bool is_neutral(const struct hn_reduce *r, uint32_t k, enum known law)
{
	return law == IDEMPOTENT || is_number(r->identity[k], law == NEEDS_ONE);
}

/* -- decided by all orders ---------------------------------------------------------------- */

/* Components whose values are compared with each other, or take each other's place. */
struct order {
	const struct hn_reduce *r;
	uint8_t group[MAX_PART];
	bool only_order; /* it compares and selects, and nothing else */
};

static uint8_t join(struct order *o, uint8_t x, uint8_t y)
{
	for (uint32_t k = 0; k < o->r->n; k++) {
		o->group[k] = o->group[k] == y ? x : o->group[k];
	}
	return x;
}

static int component(const struct order *o, const struct hn_expr *var)
{
	int32_t k = var->ref >= HN_SLOT_RHS ? var->ref - HN_SLOT_RHS : var->ref - HN_SLOT_LHS;

	return k >= 0 && (uint32_t)k < o->r->n ? k : -1;
}

/* The group that the value of e comes from; of a condition, none. */
static int group_of(struct order *o, const struct hn_expr *e)
{
	bool compares = e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE;
	bool picks = e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX;
	int x, y;

	if (e->op == HN_EXPR_VAR && component(o, e) >= 0) {
		return o->group[component(o, e)];
	}
	if (compares || picks) {
		x = group_of(o, e->arg[0]);
		y = group_of(o, e->arg[1]);
		/* What joined last may have renamed x. */
		o->only_order = o->only_order && x >= 0 && y >= 0;
		return !o->only_order ? -1 : picks ? join(o, (uint8_t)x, (uint8_t)y)
						   : (join(o, (uint8_t)x, (uint8_t)y), -1);
	}
	if (e->op == HN_EXPR_SELECT) {
		group_of(o, e->arg[0]);
		x = group_of(o, e->arg[1]);
		y = group_of(o, e->arg[2]);
		o->only_order = o->only_order && x >= 0 && y >= 0;
		return o->only_order ? join(o, (uint8_t)x, (uint8_t)y) : -1;
	}
	if (e->op == HN_EXPR_AND || e->op == HN_EXPR_OR || e->op == HN_EXPR_NOT) {
		for (uint32_t i = 0; i < e->n_arg; i++) {
			group_of(o, e->arg[i]);
		}
		return -1;
	}
	o->only_order = false;
	return -1;
}

/* Groups settle after as many rounds as there are components: each round joins two or none. */
static void find_groups(struct order *o)
{
	for (uint32_t k = 0; k < o->r->n; k++) {
		o->group[k] = (uint8_t)k;
	}
	for (uint32_t round = 0; round <= o->r->n && o->only_order; round++) {
		for (uint32_t k = 0; k < o->r->n && o->only_order; k++) {
			int g = group_of(o, o->r->result[k]);

			o->only_order = o->only_order && g >= 0;
			if (o->only_order) {
				join(o, o->group[k], (uint8_t)g);
			}
		}
	}
}

struct tuple {
	int at[MAX_PART]; /* ranks */
};

static int value(const struct hn_expr *e, const struct order *o, const struct tuple *l,
		 const struct tuple *r)
{
	int x, y;

	if (e->op == HN_EXPR_VAR) {
		return (e->ref >= HN_SLOT_RHS ? r : l)->at[component(o, e)];
	}
	x = value(e->arg[0], o, l, r);
	if (e->op == HN_EXPR_NOT) {
		return !x;
	}
	if (e->op == HN_EXPR_SELECT) {
		return value(e->arg[x ? 1 : 2], o, l, r);
	}
	y = value(e->arg[1], o, l, r);

	int64_t ret = 0;

	hn_assert(hn_expr_ints((enum hn_expr_op)e->op, x, y, &ret));
	return (int)ret;
}

static struct tuple combine(const struct order *o, const struct tuple *l, const struct tuple *r)
{
	struct tuple ret = { { 0 } };

	for (uint32_t k = 0; k < o->r->n; k++) {
		ret.at[k] = value(o->r->result[k], o, l, r);
	}
	return ret;
}

static bool same(const struct tuple *x, const struct tuple *y)
{
	return memcmp(x, y, sizeof(*x)) == 0;
}

static const char *broken_law(const struct order *o, const struct tuple t[3])
{
	struct tuple xy = combine(o, &t[0], &t[1]), yx = combine(o, &t[1], &t[0]);
	struct tuple yz = combine(o, &t[1], &t[2]), xx = combine(o, &t[0], &t[0]);
	struct tuple left = combine(o, &xy, &t[2]), right = combine(o, &t[0], &yz);

	return !same(&xy, &yx)	     ? "its combiner is not commutative: of equal values, the "
				       "order decides"
	       : !same(&left, &right) ? "its combiner is not associative"
	       : !same(&xx, &t[0])    ? "its identity would count once for each part"
				      : NULL;
}

/* Ranks that components of k's group need: three values of each. */
static int n_rank(const struct order *o, uint32_t k)
{
	int n = 0;

	for (uint32_t i = 0; i < o->r->n; i++) {
		n += 3 * (o->group[i] == o->group[k]);
	}
	return n;
}

static const char *broken_order(const struct order *o, const struct tuple t[3])
{
	struct tuple x = combine(o, &t[0], &t[1]), y = combine(o, &t[0], &t[2]);
	struct tuple xy = combine(o, &x, &t[2]), yx = combine(o, &y, &t[1]);

	return same(&xy, &yx) ? NULL : "its order counts";
}

typedef const char *(*law_fn)(const struct order *o, const struct tuple t[3]);

static void count_node(const struct hn_expr *e, void *ctx)
{
	(void)e;
	*(double *)ctx += 1;
}

/* Whether the law holds of all; most: tries times nodes, 0 = MAX_TRIES of any size. */
static const char *decide(const struct hn_reduce *r, law_fn broken, double most)
{
	static const char *const unknown = "its combiner is not known to be associative and "
					   "commutative";
	struct order o = { .r = r, .only_order = r->n <= MAX_PART };
	struct tuple t[3] = { { { 0 } } };
	const char *why = NULL;
	double tries = 1, nodes = 0;
	bool more = true;

	for (uint32_t k = 0; k < r->n && most > 0; k++) {
		hn_expr_visit(r->result[k], count_node, &nodes);
	}
	o.only_order = o.only_order && nodes <= most;
	if (o.only_order) {
		find_groups(&o);
	}
	for (uint32_t k = 0; k < r->n && o.only_order; k++) {
		int n = n_rank(&o, k);

		tries *= (double)n * n * n;
	}
	if (!o.only_order || tries > MAX_TRIES || tries * nodes > most) {
		return unknown;
	}
	while (more && !why) {
		why = broken(&o, t);
		more = false;
		for (uint32_t i = 0; i < 3 * r->n && !more; i++) {
			int *at = &t[i / r->n].at[i % r->n];

			more = ++*at < n_rank(&o, i % r->n);
			*at = more ? *at : 0;
		}
	}
	return why;
}

/* Component k is the old value less the new one. */
static bool subtracts(const struct hn_reduce *r, uint32_t k)
{
	const struct hn_expr *e = r->result[k];

	return e->op == HN_EXPR_SUB && is_slot(e->arg[0], HN_SLOT_LHS + k) &&
	       is_slot(e->arg[1], HN_SLOT_RHS + k);
}

bool hn_law_any_order(const struct hn_reduce *r)
{
	for (uint32_t k = 0; k < r->n; k++) {
		if (law_of(r, k) == UNKNOWN && !subtracts(r, k)) {
			return !decide(r, broken_order, MAX_WORK);
		}
	}
	return true;
}

const char *hn_law_against_parts(const struct hn_op *op)
{
	const struct hn_reduce *r = op->reduce;

	for (uint32_t k = 0; k < r->n; k++) {
		enum known law = law_of(r, k);

		if (law == UNKNOWN) {
			return decide(r, broken_law, 0);
		}
		if (!is_neutral(r, k, law)) {
			return "its identity is not neutral: it would count once for each part";
		}
	}
	return NULL;
}
