/* loopstate/nest/bounds_apply.c -- bounds put back into the state: extents and mins of its
 * loops. */
#include "loopstate/nest/bounds.h"

static const struct hn_stage *apply_stage(const struct hn_stage *st,
					  const struct hn_stage_bounds *b,
					  uint32_t n_axis, struct hn_arena *a)
{
	struct hn_stage *r = HN_NEW(a, struct hn_stage);
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, st->n_iter);

	*r = *st;
	r->iter = iter;
	for (uint32_t k = 0; k < st->n_iter; k++) {
		iter[k] = st->iter[k];
		iter[k].extent = b->iter_extent[k];
		iter[k].min = 0;
		iter[k].min_expr = NULL;
		if ((uint32_t)st->iter[k].var < n_axis) {
			const struct hn_expr *min = b->axis[st->iter[k].var].min;
			bool constant = min->op == HN_EXPR_INT;

			iter[k].min = constant ? min->u.i : 0;
			iter[k].min_expr = constant ? NULL : min;
		}
	}
	return r;
}

const struct hn_state *hn_bounds_apply(const struct hn_state *s,
				       const struct hn_bounds *b, struct hn_arena *a)
{
	struct hn_state *r = HN_NEW(a, struct hn_state);
	const struct hn_stage **stage =
		HN_NEW_ARRAY(a, const struct hn_stage *, s->n_stage);

	*r = *s;
	r->stage = stage;
	for (uint32_t i = 0; i < s->n_stage; i++) {
		const struct hn_op *op = s->dag->op[i];
		bool known = b->stage[i].iter_extent != NULL;

		stage[i] = known ? apply_stage(s->stage[i], &b->stage[i],
					       op->n_spatial + op->n_reduce, a)
				 : s->stage[i];
	}
	return r;
}
