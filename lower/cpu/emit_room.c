/* lower/cpu/emit_room.c -- accesses to a kernel's own buffers past the end that a size gives.
 *
 * A buffer of the kernel's own is as large as the largest sizes ask.  Where a guard of sizes would
 * hold if they were the largest, the element that it keeps from being stored has a place there, and
 * nobody reads it but under such a guard.  So the access needs no mask: whole vectors go to a buffer
 * and come back, and a load finds what the store before it wrote without waiting for memory, which
 * it would have to after a store under a mask.
 */
#include "lower/cpu/emit_nest.h"

#include "loopstate/dag/size.h"

bool hn_emit_is_spare(struct emit *e, const struct hn_expr *g)
{
	int64_t lo, hi, end;
	bool spare = hn_emit_is_size_guard(e, g) && !hn_expr_uses_size(g->arg[0]) &&
		     hn_size_range(e->t->dag->sizes, g->arg[1], &lo, &end);

	for (uint32_t k = 0; k < e->n_active && spare; k++) {
		struct hn_linear x;

		hn_emit_lin_lane(e, g->arg[0], k, &x);
		hn_linear_range(&x, &lo, &hi);
		spare = hi < end + (g->op == HN_EXPR_LE);
	}
	return spare;
}

bool hn_emit_keeps_spare(struct emit *e, const struct emit_nest *n, const struct hn_expr *g)
{
	bool spatial = false;

	for (uint32_t k = 0; k < n->op->n_spatial && !spatial; k++) {
		spatial = n->stmt->axis[k] && g->n_arg == 2 &&
			  hn_expr_equal(g->arg[0], n->stmt->axis[k]);
	}
	return spatial && hn_emit_is_spare(e, g);
}

/* No data in it, and no size: it lies where it does for the largest. */
static bool is_plain(const struct hn_expr *x, const struct hn_expr *const *axis, uint32_t n_axis)
{
	bool plain = x->op != HN_EXPR_LOAD && !hn_expr_is_size(x);

	if (plain && x->op == HN_EXPR_VAR && axis) {
		return (uint32_t)x->ref < n_axis && axis[x->ref] && is_plain(axis[x->ref], NULL, 0);
	}
	for (uint32_t i = 0; i < x->n_arg && plain; i++) {
		plain = is_plain(x->arg[i], axis, n_axis);
	}
	return plain;
}

static bool has_room(const struct emit *e, int32_t op, const struct hn_expr *const *index)
{
	bool room = e->spare && e->buffer[op].place != HN_PLACE_ARG;

	for (uint32_t d = 0; d < e->t->buffer[op].n_dim && room; d++) {
		room = !index[d] || is_plain(index[d], e->axis, e->n_axis);
		room = room && is_plain(e->t->buffer[op].min[d], NULL, 0);
	}
	return room;
}

struct emit_val hn_emit_spare_mask(struct emit *e, int32_t op, const struct hn_expr *const *index)
{
	struct emit_val mask = e->mask;

	if (has_room(e, op, index)) {
		e->mask = (struct emit_val){ 0 };
	}
	return mask;
}
