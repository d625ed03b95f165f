/* lower/cpu/emit_across.c -- a reduction loop whose iterations are the lanes of vectors.
 *
 * Whole vectors run in several accumulators, so that a sum need not wait for the last one.  Where a
 * condition or a size ends the loop, the vectors before the end have no mask and one has.
 */
#include "lower/cpu/emit_nest.h"

/* Iterations begin..end - 1, at least one, of a loop across lanes: one vector for each of
 * n_across accumulators. */
static void across_trips(struct emit *e, struct emit_tile *t, LLVMValueRef begin, LLVMValueRef end,
			 uint32_t n_across)
{
	struct emit_nest *n = t->n;
	struct emit_dim *d = n->across;
	struct emit_var *var = &e->var[d->loop];
	int64_t step = (int64_t)n->w * n_across;
	struct emit_loop loop;

	hn_emit_loop_begin(e, begin, end, t->n_acc, t->acc, &loop);
	*var = (struct emit_var){
		loop.iv, step, 0, 0, d->extent / step - 1, e->fn->depth, n->lane[0]
	};
	for (uint32_t m = 0; m < n_across; m++) {
		var->add = (int64_t)m * n->w;
		hn_emit_all_points(e, t, m);
	}
	hn_emit_loop_end(e, &loop, t->acc);
	*var = (struct emit_var){ .lane = n->lane[0] };
}

/* The whole vectors of a loop across lanes that a condition ends: those in which it holds, in
 * n_across accumulators, then one at a time.  Returns the iterations they are; what is left runs
 * where *ret_left holds. */
static int64_t across_ragged(struct emit *e, struct emit_tile *t, const struct emit_ragged *r,
			     LLVMValueRef *ret_left)
{
	struct emit_nest *n = t->n;
	uint64_t old = n->zero_true;
	int64_t vectors = n->across->extent / n->w;
	LLVMValueRef begin = hn_emit_const(e, 0), w = hn_emit_const(e, n->w), end;
	struct emit_some some;

	if (r->full && vectors >= n->n_across) {
		end = hn_emit_place(e, HN_LINEAR_DIV, r->full,
				    hn_emit_const(e, (int64_t)n->w * n->n_across), r->depth);
		some = hn_emit_begin_some(e, t, hn_emit_is_less(e, begin, end));
		n->zero_true |= r->holds;
		across_trips(e, t, begin, end, n->n_across);
		n->zero_true = old;
		hn_emit_end_some(e, t, &some);
		begin = hn_emit_place(e, HN_LINEAR_MUL, end, hn_emit_const(e, n->n_across), r->depth);
	}
	if (vectors > 0) {
		end = hn_emit_place(e, HN_LINEAR_ADD, r->live, hn_emit_const(e, n->w - 1), r->depth);
		end = hn_emit_place(e, HN_LINEAR_DIV, end, w, r->depth);
		end = hn_emit_place(e, HN_LINEAR_EXPR + HN_EXPR_MIN, end, hn_emit_const(e, vectors),
				    r->depth);
		some = hn_emit_begin_some(e, t, hn_emit_is_less(e, begin, end));
		across_trips(e, t, begin, end, 1);
		hn_emit_end_some(e, t, &some);
	}
	*ret_left = hn_emit_is_less(e, hn_emit_const(e, vectors * n->w), r->live);
	return vectors * n->w;
}

/* The same where a size ends the loop: the whole vectors that lie before it have no mask, in
 * n_across accumulators and then in one, and at most one vector has. */
static int64_t across_sized(struct emit *e, struct emit_tile *t, const struct emit_live *l,
			    LLVMValueRef *ret_left)
{
	struct emit_nest *n = t->n;
	int64_t vectors = n->across->extent / n->w;
	LLVMValueRef w = hn_emit_const(e, n->w), begin = hn_emit_const(e, 0), end;
	LLVMValueRef whole = hn_emit_place(e, HN_LINEAR_DIV, l->full, w, l->depth);
	struct emit_some some;

	*ret_left = hn_emit_is_less(e, hn_emit_const(e, vectors * n->w), l->live);
	if (vectors == 0) {
		return 0;
	}
	t->sure = true;
	if (n->n_across > 1 && vectors >= n->n_across) {
		LLVMValueRef across = hn_emit_const(e, n->n_across);

		end = hn_emit_place(e, HN_LINEAR_DIV, whole, across, l->depth);
		some = hn_emit_begin_some(e, t, hn_emit_is_less(e, begin, end));
		across_trips(e, t, begin, end, n->n_across);
		hn_emit_end_some(e, t, &some);
		begin = hn_emit_place(e, HN_LINEAR_MUL, end, across, l->depth);
	}
	some = hn_emit_begin_some(e, t, hn_emit_is_less(e, begin, whole));
	across_trips(e, t, begin, whole, 1);
	hn_emit_end_some(e, t, &some);
	t->sure = false;
	end = hn_emit_place(e, HN_LINEAR_ADD, l->live, hn_emit_const(e, n->w - 1), l->depth);
	end = hn_emit_place(e, HN_LINEAR_DIV, end, w, l->depth);
	end = hn_emit_place(e, HN_LINEAR_EXPR + HN_EXPR_MIN, end, hn_emit_const(e, vectors),
			    l->depth);
	some = hn_emit_begin_some(e, t, hn_emit_is_less(e, whole, end));
	across_trips(e, t, whole, end, 1);
	hn_emit_end_some(e, t, &some);
	return vectors * n->w;
}

/* The loop that runs across lanes: full vectors in n_across accumulators, then what is
 * left. */
void hn_emit_across(struct emit *e, struct emit_tile *t)
{
	struct emit_nest *n = t->n;
	struct emit_dim *d = n->across;
	struct emit_var *var = &e->var[d->loop];
	uint32_t w = n->w;
	int64_t step = (int64_t)w * n->n_across, done = d->extent / step * step;
	LLVMValueRef left = NULL;
	struct emit_ragged ragged;
	struct emit_some some;

	for (uint32_t k = 0; k < w; k++) {
		n->lane[0][k] = k;
	}
	struct emit_live live;
	bool sized = !t->sure && hn_emit_live_trips(e, n, (uint32_t)(d - n->dim), &live);
	bool ends = !sized && hn_emit_ragged_trips(e, n, (uint32_t)(d - n->dim), &ragged);

	e->n_active = w;
	if (sized) {
		done = across_sized(e, t, &live, &left);
	} else if (ends) {
		done = across_ragged(e, t, &ragged, &left);
	} else if (done > 0) {
		across_trips(e, t, hn_emit_const(e, 0), hn_emit_const(e, done / step), n->n_across);
	}
	*var = (struct emit_var){ .lane = n->lane[0] };
	uint32_t m = 0;

	if (left && done < d->extent) {
		some = hn_emit_begin_some(e, t, left);
	}
	for (int64_t at = done; at < d->extent; at += w, m++) {
		var->add = at;
		e->n_active = (uint32_t)(d->extent - at < w ? d->extent - at : w);
		for (uint32_t k = e->n_active; k < w; k++) {
			n->lane[0][k] = 0;
		}
		hn_emit_all_points(e, t, m);
	}
	if (left && done < d->extent) {
		hn_emit_end_some(e, t, &some);
	}
	*var = (struct emit_var){ 0 };
}
