/* loopstate/nest/quick_guard.c -- the guards of a statement as bounds on sums of digits.  See
 * quick_cover.c. */
#include "loopstate/nest/quick_cover.h"

#include "base/arith.h"

static bool negative(const struct hn_digit_form *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->term[i].coef > 0) {
			return false;
		}
	}
	return true;
}

/* Where all other terms together make less than one of the largest, and so many of that are the
 * end, the guard says no more than how far this one counts. */
static void bound_largest(const struct hn_digit_space *s, struct hn_quick_guard *g)
{
	int64_t rest = 0;
	uint32_t top = 0;

	for (uint32_t i = 1; i < g->g.n; i++) {
		top = g->g.term[i].coef > g->g.term[top].coef ? i : top;
	}
	if (g->g.n < 2 || g->lo > 0 || g->hi < 0 || g->hi == INT64_MAX) {
		return;
	}
	for (uint32_t i = 0; i < g->g.n; i++) {
		int64_t coef = g->g.term[i].coef;

		if (coef < 0) {
			return;
		}
		rest += i == top ? 0 : hn_mul_sat(coef, s->digit[g->g.term[i].digit].range - 1);
		if (rest >= HN_EXTENT_MAX) {
			return;
		}
	}
	const struct hn_digit_term t = g->g.term[top];

	if (rest < t.coef && (g->hi + 1) % t.coef == 0) {
		g->g.term[0] = (struct hn_digit_term){ t.digit, 1 };
		g->g.n = 1;
		g->hi = (g->hi + 1) / t.coef - 1;
		g->lo = INT64_MIN;
	}
}

static bool compare(struct hn_quick_covering *v, enum hn_expr_op op, const struct hn_expr *x,
		    const struct hn_expr *y)
{
	const struct hn_digit_space *s = &v->c->space;
	struct hn_quick_guard *g = &v->guard[v->n_guard];

	hn_digit_form_zero(&g->g);
	g->lo = INT64_MIN;
	g->hi = INT64_MAX;
	g->made = g->own = false;
	if (v->n_guard == HN_QUICK_MAX_GUARDS || !hn_digit_form_add_expr(s, x, NULL, 1, &g->g) ||
	    !hn_digit_form_add_expr(s, y, NULL, -1, &g->g) || g->g.lo != g->g.hi) {
		return false;
	}
	int64_t c = g->g.lo;

	if (op == HN_EXPR_LT || op == HN_EXPR_LE) {
		g->hi = -c - (op == HN_EXPR_LT);
	} else if (op == HN_EXPR_GT || op == HN_EXPR_GE) {
		g->lo = -c + (op == HN_EXPR_GT);
	} else {
		return false;
	}
	g->g.lo = g->g.hi = 0;
	if (g->g.n > 0 && negative(&g->g)) {
		int64_t lo = g->lo;

		for (uint32_t i = 0; i < g->g.n; i++) {
			g->g.term[i].coef = -g->g.term[i].coef;
		}
		g->lo = g->hi == INT64_MAX ? INT64_MIN : -g->hi;
		g->hi = lo == INT64_MIN ? INT64_MAX : -lo;
	}
	bound_largest(s, g);
	v->n_guard++;
	return true;
}

static bool read_guard(struct hn_quick_covering *v, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_AND) {
		return read_guard(v, e->arg[0]) && read_guard(v, e->arg[1]);
	}
	return e->n_arg == 2 && compare(v, e->op, e->arg[0], e->arg[1]);
}

bool hn_quick_read_guards(struct hn_quick_covering *v)
{
	for (uint32_t i = 0; i < v->s->node->n_guard; i++) {
		if (!read_guard(v, v->s->node->guard[i])) {
			return hn_quick_refuse(v->c, v->s, "a guard is no bound on a sum of loops");
		}
	}
	return true;
}

void hn_quick_bound_ragged(struct hn_quick_covering *v)
{
	const struct hn_digit_space *s = &v->c->space;

	for (uint32_t i = 0; i < v->s->n_level && v->n_guard < HN_QUICK_MAX_GUARDS; i++) {
		const struct hn_node *n = v->s->level[i].node;
		struct hn_quick_guard *g = &v->guard[v->n_guard];

		if (n->kind != HN_NODE_LOOP || s->radix[n->loop].n_digit < 2 ||
		    !s->digit[s->first[n->loop]].ragged) {
			continue;
		}
		const struct hn_radix *r = &s->radix[n->loop];

		*g = (struct hn_quick_guard){ .lo = INT64_MIN, .hi = r->extent - 1, .own = true };
		for (uint32_t k = 0; k < r->n_digit && g->g.n < HN_DIGIT_FORM_TERMS; k++) {
			uint32_t digit = (uint32_t)s->first[n->loop] + k;

			if (s->digit[digit].range > 1) {
				g->g.term[g->g.n++] =
					(struct hn_digit_term){ digit, r->weight[k] };
			}
		}
		v->n_guard++;
	}
}
