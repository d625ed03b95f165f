/* lower/cpu/emit_reduce.c -- the reduction loops of a register tile, accumulators carried as SSA
 * values.
 *
 * A loop is cut into the iterations in which guards on reductions hold, those that need
 * masks, and the rest (emit_trips).  What is known of terms that are nothing is tested
 * where it does not change further in, and what lies inside gets a form for it
 * (emit_zero).  Innermost run the block's points, one after the other.
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

void hn_emit_all_points(struct emit *e, struct emit_tile *t, uint32_t m)
{
	for (uint32_t p = 0; p < t->n_point; p++) {
		uint32_t active = e->n_active;

		if (hn_emit_is_dead(t, p)) {
			continue;
		}
		hn_emit_set_point(e, t->n, p);
		if (t->n->across) {
			e->n_active = active;
		}
		hn_emit_clamp(e, t);
		e->mask = t->loose[p];
		e->spare = t->spare[p];
		(t->grouped ? hn_emit_group : hn_emit_update)(
			e, t, t->acc + (size_t)(p * t->n->n_across + m) * t->n_out);
		hn_emit_unclamp(e, t);
	}
}

/* Go on in block; its accumulators are those given. */
static void enter_block(struct emit *e, struct emit_tile *t, LLVMBasicBlockRef block,
			const LLVMValueRef *acc)
{
	LLVMPositionBuilderAtEnd(e->b, block);
	memcpy(t->acc, acc, t->n_acc * sizeof(*acc));
	e->epoch++;
}

/* End the current block; at join each accumulator is the current one, or other[] when
 * control came from `from`. */
static void join_blocks(struct emit *e, struct emit_tile *t, LLVMBasicBlockRef join,
			LLVMBasicBlockRef from, const LLVMValueRef *other)
{
	LLVMBasicBlockRef in[2] = { LLVMGetInsertBlock(e->b), from };

	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, join);
	for (uint32_t k = 0; k < t->n_acc; k++) {
		LLVMValueRef v[2] = { t->acc[k], other[k] };

		if (v[0] != v[1]) {
			t->acc[k] = LLVMBuildPhi(e->b, LLVMTypeOf(v[0]), "acc");
			LLVMAddIncoming(t->acc[k], v, in, 2);
		}
	}
	e->epoch++;
}

static LLVMValueRef *accumulators(struct emit *e, const struct emit_tile *t)
{
	LLVMValueRef *copy = HN_NEW_ARRAY(e->a, LLVMValueRef, t->n_acc);

	memcpy(copy, t->acc, t->n_acc * sizeof(*copy));
	return copy;
}

struct emit_some hn_emit_begin_some(struct emit *e, struct emit_tile *t, LLVMValueRef condition)
{
	LLVMBasicBlockRef some = hn_emit_block(e, "some");
	struct emit_some s = { LLVMGetInsertBlock(e->b), hn_emit_block(e, "none"), accumulators(e, t) };

	LLVMBuildCondBr(e->b, condition, some, s.join);
	enter_block(e, t, some, s.kept);
	return s;
}

void hn_emit_end_some(struct emit *e, struct emit_tile *t, const struct emit_some *s)
{
	join_blocks(e, t, s->join, s->before, s->kept);
}

LLVMValueRef hn_emit_is_less(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildICmp(e->b, LLVMIntSLT, x, y, "");
}

/* Iterations begin..end - 1 of dim i's loop, `block` of the dim's each. */
static void reduction_part(struct emit *e, struct emit_tile *t, uint32_t i, int64_t begin,
			   int64_t end)
{
	struct emit_nest *n = t->n;
	struct emit_dim *d = &n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	bool loops = end - begin > 1;
	struct emit_loop loop = { 0 };

	if (begin == end) {
		return;
	}
	*var = (struct emit_var){ .add = begin * d->block };
	if (loops) {
		hn_emit_loop_begin(e, hn_emit_const(e, begin), hn_emit_const(e, end),
				   t->n_acc, t->acc, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = d->block,
					  .lo = begin,
					  .hi = end - 1,
					  .depth = e->fn->depth };
		hn_emit_fetch_ahead(e, n, i);
	}
	int64_t first = var->add;

	for (int64_t k = 0; k < d->block; k++) {
		var->add = first + k;
		e->epoch++;
		hn_emit_reduction(e, t, i + 1);
	}
	if (loops) {
		hn_emit_loop_end(e, &loop, t->acc);
	}
	*var = (struct emit_var){ 0 };
}

static void size_parts(struct emit *e, struct emit_tile *t, uint32_t i,
		       const struct emit_live *live);

static void ragged_parts(struct emit *e, struct emit_tile *t, uint32_t i, int64_t full,
			 int64_t dead, const struct emit_ragged *r);

static void reduction_inside(struct emit *e, struct emit_tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;
	bool sure = t->sure;
	int64_t full, dead;

	if (i == n->n_dim) {
		if (n->across) {
			hn_emit_across(e, t);
		} else {
			hn_emit_all_points(e, t, 0);
		}
		return;
	}
	full = dead = n->dim[i].extent / n->dim[i].block;
	struct emit_live live;

	if (!sure && hn_emit_live_trips(e, n, i, &live)) {
		size_parts(e, t, i, &live);
		return;
	}
	if (!sure) {
		hn_emit_find_trips(e, n, i, full, &full, &dead);
	}
	struct emit_ragged ragged;

	if (hn_emit_ragged_trips(e, n, i, &ragged)) {
		ragged_parts(e, t, i, full, dead, &ragged);
		return;
	}
	t->sure = true;
	reduction_part(e, t, i, 0, full);
	t->sure = sure;
	reduction_part(e, t, i, full, dead);
}

/* Iterations [begin, end) of dim i's loop, `block` at a time; begin and end are values, in
 * blocks, and there may be none. */
static void part_between(struct emit *e, struct emit_tile *t, uint32_t i, LLVMValueRef begin,
			 LLVMValueRef end, int64_t block)
{
	struct emit_dim *d = &t->n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	struct emit_some some = hn_emit_begin_some(e, t, hn_emit_is_less(e, begin, end));
	int64_t whole = d->block;
	struct emit_loop loop;

	hn_emit_loop_begin(e, begin, end, t->n_acc, t->acc, &loop);
	d->block = block;
	*var = (struct emit_var){ .base = loop.iv,
				  .mul = block,
				  .hi = d->extent / block - 1,
				  .depth = e->fn->depth };
	hn_emit_fetch_ahead(e, t->n, i);
	for (int64_t k = 0; k < block; k++) {
		var->add = k;
		e->epoch++;
		hn_emit_reduction(e, t, i + 1);
	}
	hn_emit_loop_end(e, &loop, t->acc);
	d->block = whole;
	*var = (struct emit_var){ 0 };
	hn_emit_end_some(e, t, &some);
}

/* Where sizes end the reduction: whole blocks in which all guards hold, then one iteration at
 * a time, under masks when the loops inside still have to be asked. */
static void size_parts(struct emit *e, struct emit_tile *t, uint32_t i,
		       const struct emit_live *live)
{
	int64_t block = t->n->dim[i].block;
	LLVMValueRef zero = hn_emit_const(e, 0), blocks = live->full, rest = live->full;

	if (block > 1) {
		LLVMValueRef c = hn_emit_const(e, block);

		blocks = hn_emit_place(e, HN_LINEAR_DIV, live->full, c, live->depth);
		rest = hn_emit_place(e, HN_LINEAR_MUL, blocks, c, live->depth);
	}
	t->sure = true;
	part_between(e, t, i, zero, blocks, block);
	t->sure = live->exact;
	if (block > 1 || !live->exact) {
		part_between(e, t, i, rest, live->live, 1);
	}
	t->sure = false;
}

/* Where a condition ends the reduction: whole blocks in which it holds at every point, then one
 * iteration at a time.  full, dead: trips of whole blocks, as hn_emit_find_trips says. */
static void ragged_parts(struct emit *e, struct emit_tile *t, uint32_t i, int64_t full,
			 int64_t dead, const struct emit_ragged *r)
{
	struct emit_nest *n = t->n;
	int64_t block = n->dim[i].block;
	uint64_t old = n->zero_true;
	LLVMValueRef zero = hn_emit_const(e, 0), c = hn_emit_const(e, block), rest = zero;
	bool sure = t->sure;

	n->zero_copies++;
	if (r->full && full > 0) {
		LLVMValueRef blocks =
			block > 1 ? hn_emit_place(e, HN_LINEAR_DIV, r->full, c, r->depth) : r->full;

		blocks = hn_emit_place(e, HN_LINEAR_EXPR + HN_EXPR_MIN, blocks,
				       hn_emit_const(e, full), r->depth);
		rest = block > 1 ? hn_emit_place(e, HN_LINEAR_MUL, blocks, c, r->depth) : blocks;
		t->sure = true;
		n->zero_true |= r->holds;
		part_between(e, t, i, zero, blocks, block);
		t->sure = sure;
		n->zero_true = old;
	}
	if (!r->exact || block > 1 || full < dead) {
		n->zero_true |= r->exact ? r->holds : 0;
		part_between(e, t, i, rest,
			     hn_emit_place(e, HN_LINEAR_EXPR + HN_EXPR_MIN, r->live,
					   hn_emit_const(e, dead * block), r->depth),
			     1);
		n->zero_true = old;
	}
	n->zero_copies--;
}

/* Two forms of dims i and inwards: one where z's conditions hold at every point. */
static void full_and_edge(struct emit *e, struct emit_tile *t, uint32_t i,
			  const struct emit_zero *z)
{
	LLVMValueRef *before = accumulators(e, t), *after;
	LLVMBasicBlockRef full = hn_emit_block(e, "full"),
			  edge = hn_emit_block(e, "edge");
	LLVMBasicBlockRef join = hn_emit_block(e, "join"), end;

	t->n->zero_copies++;
	LLVMBuildCondBr(e->b, z->all, full, edge);
	enter_block(e, t, full, before);
	t->n->zero_true |= z->if_all;
	reduction_inside(e, t, i);
	t->n->zero_true &= ~z->if_all;
	after = accumulators(e, t);
	end = LLVMGetInsertBlock(e->b);
	LLVMBuildBr(e->b, join);
	enter_block(e, t, edge, before);
	reduction_inside(e, t, i);
	join_blocks(e, t, join, end, after);
	t->n->zero_copies--;
}

void hn_emit_reduction(struct emit *e, struct emit_tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;
	bool grouped = t->grouped, sure = t->sure;
	struct emit_some some;
	struct emit_zero z;

	while (i < n->n_dim &&
	       (!n->dim[i].reduce || n->dim[i].extent == 1 || &n->dim[i] == n->across ||
		hn_emit_group_here(e, t, i))) {
		if (&n->dim[i] == n->group && !n->across) { /* all its terms: every guard holds */
			t->grouped = t->sure = true;
		}
		i++;
	}
	hn_emit_zero_test(e, n, i, /* every= */ t->n_clamp > 0, &z);
	if (!z.never) {
		if (z.any) {
			some = hn_emit_begin_some(e, t, z.any);
		}
		if (z.all) {
			full_and_edge(e, t, i, &z);
		} else {
			reduction_inside(e, t, i);
		}
		if (z.any) {
			hn_emit_end_some(e, t, &some);
		}
	}
	n->zero_true = z.old_true;
	n->zero_seen = z.old_seen;
	t->grouped = grouped;
	t->sure = sure;
}
