/* lower/c/c_guard.c -- the guards of a register tile: where a length does not divide its loop, some
 * points or terms are none (docs/trace.md).
 *
 * A tile tests once for all its points, and runs whole where all of them count; elsewhere its points
 * are tested one by one (c_tile.c).  Terms past the end of a reduction are tested each.
 */
#include "lower/c/c_tile.h"

struct users {
	const struct c_tile *x;
	bool place, term, lane;
};

static void find_users(const struct hn_expr *e, void *ctx)
{
	struct users *u = ctx;

	for (uint32_t i = 0; e->op == HN_EXPR_VAR && i < u->x->n_dim; i++) {
		const struct c_dim *d = &u->x->dim[i];

		if (d->loop->loop == e->ref && d->loop->extent > 1) {
			u->term = u->term || d->reduce;
			u->place = u->place || !d->reduce;
			u->lane = u->lane || d->chain >= 0;
		}
	}
}

/* Where in a box the guard fails first: at the end of each loop along which the side that must be
 * less grows.  False where that is not known. */
static bool find_corner(struct c_tile *x, const struct hn_nest_loops *loops,
			const struct hn_expr *g, struct c_place_guard *ret)
{
	bool less = g->op == HN_EXPR_LT || g->op == HN_EXPR_LE;
	struct hn_linear f;

	if ((!less && g->op != HN_EXPR_GT && g->op != HN_EXPR_GE) ||
	    !hn_nest_linear(x->c->t, &x->nest, loops, g->arg[!less], g->arg[less], &f)) {
		return false;
	}
	ret->guard = g;
	ret->at_end = HN_NEW_ARRAY(x->c->a, bool, x->n_dim + 1);
	for (uint32_t i = 0; i < f.n; i++) {
		int32_t loop = hn_nest_loop_of(&x->nest, &f.t[i]);

		if (loop >= 0) {
			ret->at_end[loop] = f.t[i].coef > 0;
		}
	}
	return true;
}

bool hn_c_guards_read(struct c_tile *x, const struct hn_nest_loops *loops)
{
	uint32_t n = x->nest.stmt->n_guard;
	struct c *c = x->c;

	x->place = HN_NEW_ARRAY(c->a, struct c_place_guard, n + 1);
	x->term = HN_NEW_ARRAY(c->a, const struct hn_expr *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_expr *g = x->nest.stmt->guard[i], *now = hn_c_settled(c, g);
		struct users u = { .x = x };

		if (now->op == HN_EXPR_INT && now->u.i != 0) {
			continue;
		}
		hn_expr_visit(g, find_users, &u);
		if (u.term && u.place) {
			return false;
		}
		if (u.term) {
			x->term[x->n_term++] = g;
			continue;
		}
		x->by_lane = x->by_lane || u.lane;
		if (!find_corner(x, loops, g, &x->place[x->n_place++])) {
			return false;
		}
	}
	return true;
}

/* `all` and one condition more, unless it always holds. */
static const char *also(struct c *c, const char *all, const struct hn_expr *guard)
{
	const struct hn_expr *g = hn_c_settled(c, guard);

	if (g->op == HN_EXPR_INT && g->u.i != 0) {
		return all;
	}
	const char *s = hn_c_at(c, hn_c_value(c, g), C_AND);

	return all == NULL ? s : hn_arena_printf(c->a, "%s && %s", all, s);
}

const char *hn_c_guards_of_box(struct c_tile *x)
{
	const char *all = NULL;

	for (uint32_t i = 0; i < x->n_place; i++) {
		for (uint32_t k = 0; k < x->n_dim; k++) {
			const struct c_dim *d = &x->dim[k];

			if (!d->reduce && d->loop->extent > 1) {
				hn_c_know(x->c, d->loop->loop, d->looped,
					  d->base + (x->place[i].at_end[k] ? d->now - 1 : 0));
			}
		}
		all = also(x->c, all, x->place[i].guard);
	}
	return all;
}

const char *hn_c_guards_of_term(struct c_tile *x)
{
	const char *all = NULL;

	for (uint32_t i = 0; i < x->n_term; i++) {
		all = also(x->c, all, x->term[i]);
	}
	return all;
}
