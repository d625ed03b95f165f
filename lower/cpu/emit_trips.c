/* lower/cpu/emit_trips.c -- full and partial iterations of a reduction loop.
 *
 * If a reduction was split by lengths that do not divide it, its guards fail only in the last
 * iterations. The range of their operands (emit_lin) says two things: in how many first
 * iterations all guards hold, so that these run without guards; and from which iteration on none
 * can hold, so that the rest need not run. For spatial loops, the tile has both forms instead
 * (emit_tile).
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

struct trips {
	struct emit *e;
	const struct emit_nest *n;
	uint32_t i; /* the dim */
	int64_t block;
};

/* The guard compares index forms of reduction loops of the tile, and of loops around. */
bool hn_emit_trips_plain(struct emit *e, const struct emit_nest *n,
			 const struct hn_expr *g)
{
	if (!hn_emit_compares_indices(e, g) || g->op < HN_EXPR_LT) {
		return false;
	}
	for (uint32_t k = 0; k < n->n_dim; k++) {
		if (!n->dim[k].reduce && n->dim[k].now > 1 &&
		    hn_emit_uses_loop(e, g, n->dim[k].loop)) {
			return false;
		}
	}
	return true;
}

/* A loop variable that may be any of first..first + count - 1. */
static struct emit_var any_of(const struct emit_dim *d, int64_t first, int64_t count)
{
	/* dry values are words that are only compared */
	uintptr_t word = ((uintptr_t)d->loop + 1) * 16 + 4;

	if (count < 2) {
		return (struct emit_var){ .add = first };
	}
	return (struct emit_var){
		.base = (LLVMValueRef)word, .mul = 1, .add = first, .hi = count - 1
	};
}

/* Whether the guard holds (want) or fails (!want) at every point of the loop's iterations
 * begin..end - 1, by the range of its operands' difference. */
static bool always(const struct trips *t, const struct hn_expr *g, int64_t begin,
		   int64_t end, bool want)
{
	struct emit *e = t->e;
	struct hn_linear x;

	e->var[t->n->dim[t->i].loop] =
		any_of(&t->n->dim[t->i], begin * t->block, (end - begin) * t->block);
	e->epoch++;
	hn_emit_difference(e, g, 0, &x);
	return hn_emit_judge(g->op, &x) == want;
}

/* The largest n with always(0, n), and the least with never(n, trips). */
static void search(const struct trips *t, const struct hn_expr *g, int64_t trips,
		   int64_t *ret_full, int64_t *ret_dead)
{
	int64_t lo = 0, hi = trips;

	while (lo < hi) {
		int64_t mid = hi - (hi - lo) / 2;

		if (always(t, g, 0, mid, true)) {
			lo = mid;
		} else {
			hi = mid - 1;
		}
	}
	*ret_full = lo;
	hi = trips;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (always(t, g, mid, trips, false)) {
			hi = mid;
		} else {
			lo = mid + 1;
		}
	}
	*ret_dead = lo;
}

void hn_emit_find_trips(struct emit *e, const struct emit_nest *n, uint32_t i,
			int64_t trips, int64_t *ret_full, int64_t *ret_dead)
{
	struct trips t = { e, n, i, n->dim[i].block };
	struct emit_var *saved = HN_NEW_ARRAY(e->a, struct emit_var, n->n_dim);
	int32_t lane = e->lane;

	*ret_full = *ret_dead = trips;
	for (uint32_t k = 0; k < n->n_dim; k++) {
		saved[k] = e->var[n->dim[k].loop];
		if (n->dim[k].reduce && (k > i || &n->dim[k] == n->across)) {
			e->var[n->dim[k].loop] = any_of(&n->dim[k], 0, n->dim[k].extent);
		}
	}
	e->dry = true;
	e->lane = 0;
	for (uint32_t g = 0; g < n->stmt->n_guard; g++) {
		const struct hn_expr *x = n->stmt->guard[g];
		int64_t full = 0, dead = trips;

		if (!hn_emit_on_reduction(e, n, x)) {
			continue;
		}
		if (hn_emit_trips_plain(e, n, x)) {
			search(&t, x, trips, &full, &dead);
		}
		*ret_full = full < *ret_full ? full : *ret_full;
		*ret_dead = dead < *ret_dead ? dead : *ret_dead;
	}
	for (uint32_t k = 0; k < n->n_dim; k++) {
		e->var[n->dim[k].loop] = saved[k];
	}
	e->dry = false;
	e->n_dry = 0;
	e->lane = lane;
	e->epoch++;
	*ret_dead = *ret_dead > *ret_full ? *ret_dead : *ret_full;
}
