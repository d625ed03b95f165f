/* lower/cpu/emit_uses.c -- what an expression depends on: indices alone, a loop, the lane. */
#include "lower/cpu/emit_nest.h"

uint32_t hn_emit_n_axis(const struct emit *e)
{
	return e->axis ? e->n_axis : UINT32_MAX;
}

bool hn_emit_is_index(const struct emit *e, const struct hn_expr *x)
{
	return hn_linear_is_index(x, hn_emit_n_axis(e));
}

bool hn_emit_uses_loop(const struct emit *e, const struct hn_expr *x, int32_t loop)
{
	if (x->op == HN_EXPR_VAR) {
		if (e->axis && (uint32_t)x->ref < e->n_axis) {
			struct emit inner = *e;

			inner.axis = NULL;
			return e->axis[x->ref] &&
			       hn_emit_uses_loop(&inner, e->axis[x->ref], loop);
		}
		return !e->axis && x->ref == loop;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (hn_emit_uses_loop(e, x->arg[i], loop)) {
			return true;
		}
	}
	return false;
}

bool hn_emit_lane_varies(const struct emit *e, const struct hn_expr *x)
{
	if (hn_expr_is_size(x)) {
		return false;
	}
	if (x->op == HN_EXPR_VAR) {
		if (e->axis && (uint32_t)x->ref < e->n_axis) {
			struct emit inner = *e;

			inner.axis = NULL;
			return e->axis[x->ref] &&
			       hn_emit_lane_varies(&inner, e->axis[x->ref]);
		}
		if (e->axis) {
			for (uint32_t i = e->n_let; i-- > 0;) {
				if (e->let[i].slot == x->ref) {
					return e->let[i].val.vec;
				}
			}
			return true;
		}
		return e->var[x->ref].lane != NULL;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (hn_emit_lane_varies(e, x->arg[i])) {
			return true;
		}
	}
	return false;
}

bool hn_emit_on_reduction(const struct emit *e, const struct emit_nest *n,
			  const struct hn_expr *g)
{
	for (uint32_t i = n->tile; i < n->n_dim; i++) {
		if (n->dim[i].reduce && n->dim[i].extent > 1 &&
		    hn_emit_uses_loop(e, g, n->dim[i].loop)) {
			return true;
		}
	}
	return false;
}
