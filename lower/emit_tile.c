/* lower/emit_tile.c -- a pure nest (loops of one stage around a statement) as a register
 * tile.
 *
 * Order of what is emitted: the loops above the tile and the loops over blocks; then the
 * accumulators' first values; the reduction loops, accumulators carried as SSA values;
 * inside them the block's points, one after the other, lanes fastest; then the stores.  A
 * loop whose block does not divide it gets its remainder as a smaller tile after it.
 * Guards that can fail only at an edge are tested once per tile: the fast form has none,
 * the slow form masks its points.
 */
#include "lower/emit_int.h"

#include <string.h>

struct tile {
	struct emit_nest *n;
	uint32_t n_point, n_out;
	struct emit_val *guard; /* [n_point]; v NULL = always */
	bool sure;		/* guards on reductions hold in what is being emitted */
	uint32_t n_acc;		/* n_point * n_across * n_out */
	LLVMValueRef *acc;	/* [n_acc] */
};

static void emit_level(struct emit *e, struct emit_nest *n, uint32_t i);

/* -- guards
 * ------------------------------------------------------------------------------ */

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

/* No mask instead of one that is always true. */
static struct emit_val unless_true(struct emit_val m)
{
	bool known;

	return hn_emit_is_const_bool(m, &known) && known ? (struct emit_val){ 0 } : m;
}

/* The guards of each point that do not change over the reduction, as masks. */
static void find_masks(struct emit *e, struct tile *t)
{
	const struct hn_node *s = t->n->stmt;

	for (uint32_t p = 0; p < t->n_point; p++) {
		struct emit_val m = { 0 };

		hn_emit_set_point(e, t->n, p);
		for (uint32_t i = 0; i < s->n_guard; i++) {
			if (!hn_emit_on_reduction(e, t->n, s->guard[i])) {
				m = hn_emit_and(e, m, hn_emit_condition(e, s->guard[i]));
			}
		}
		t->guard[p] = unless_true(m);
	}
}

/* What dim i's loop is to fetch ahead.  In a tile its other dimensions are blocks. */
static void fetch_ahead(struct emit *e, const struct emit_nest *n, uint32_t i)
{
	const struct emit_dim *d = &n->dim[i];
	bool in_tile = i >= n->tile && d->reduce;
	int64_t block = in_tile ? d->block : d->now;
	struct emit_fetch_dim *dim;
	uint32_t k = 0;

	if (d->node->n_prefetch == 0) {
		return;
	}
	dim = HN_NEW_ARRAY(e->a, struct emit_fetch_dim, n->n_dim);
	for (uint32_t j = in_tile ? 0 : i; j < n->n_dim; j++) {
		const struct emit_dim *x = &n->dim[j];
		int64_t count = in_tile && !x->reduce ? x->now : x->extent;

		if (j >= i || !x->reduce) {
			dim[k++] = (struct emit_fetch_dim){ x->loop,
							    j == i ? block : count };
		}
	}
	hn_emit_prefetch(e, d->node, n->stmt, dim, k, block, in_tile);
}

/* -- the statement at one point
 * ------------------------------------------------------------ */

static LLVMValueRef shaped(struct emit *e, struct emit_val v)
{
	return e->n_lane > 1 ? hn_emit_splat(e, v) : v.v;
}

static struct emit_val as_val(const struct emit *e, LLVMValueRef v)
{
	return (struct emit_val){ v, e->n_lane > 1 };
}

static LLVMValueRef identity(struct emit *e, const struct emit_nest *n, uint32_t k)
{
	return shaped(e, hn_emit_value(e, n->op->reduce->identity[k]));
}

static void enter_op(struct emit *e, const struct emit_nest *n)
{
	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
}

/* result[k] of the combiner on (lhs, rhs). */
static void combine(struct emit *e, const struct emit_nest *n, const struct emit_val *lhs,
		    const struct emit_val *rhs, struct emit_val *ret)
{
	const struct hn_reduce *r = n->op->reduce;
	const struct hn_expr *const *axis = e->axis;
	uint32_t n_axis = e->n_axis;
	uint32_t n_let = e->n_let;

	enter_op(e, n); /* the combiner's variables are slots of op space */
	for (uint32_t k = 0; k < r->n; k++) {
		hn_emit_let_push(e, HN_SLOT_LHS + (int32_t)k, lhs[k]);
		hn_emit_let_push(e, HN_SLOT_RHS + (int32_t)k, rhs[k]);
	}
	for (uint32_t k = 0; k < r->n; k++) {
		ret[k] = hn_emit_value(e, r->result[k]);
	}
	e->n_let = n_let;
	e->axis = axis;
	e->n_axis = n_axis;
}

/* acc[0..n_out) = combine(acc, source) at the current point, where mask and guards hold.
 */
static void update(struct emit *e, struct tile *t, LLVMValueRef *acc)
{
	const struct emit_nest *n = t->n;
	const struct hn_reduce *r = n->op->reduce;
	struct emit_val *v = HN_NEW_ARRAY(e->a, struct emit_val, 3 * r->n);
	struct emit_val *lhs = v, *rhs = v + r->n, *result = v + 2 * r->n, keep;

	for (uint32_t i = 0; i < n->stmt->n_guard && !t->sure; i++) {
		if (hn_emit_on_reduction(e, n, n->stmt->guard[i])) {
			e->mask = hn_emit_and(e, e->mask,
					      hn_emit_condition(e, n->stmt->guard[i]));
		}
	}
	enter_op(e, n);
	if (hn_emit_adds_nothing(e, n, EMIT_THE_TERM)) {
		e->axis = NULL;
		return;
	}
	if (r->condition) {
		e->mask = hn_emit_and(e, e->mask, hn_emit_value(e, r->condition));
	}
	e->mask = unless_true(e->mask);
	for (uint32_t k = 0; k < r->n; k++) {
		rhs[k] = hn_emit_value(e, r->source[k]);
		lhs[k] = as_val(e, acc[k]);
	}
	combine(e, n, lhs, rhs, result);
	e->axis = NULL;
	keep = e->mask;
	if (n->across && e->n_active < e->n_lane) {
		keep = hn_emit_and(e, keep,
				   (struct emit_val){ hn_emit_lane_mask(e), true });
	}
	for (uint32_t k = 0; k < r->n; k++) {
		acc[k] = shaped(e, keep.v ? hn_emit_select(e, keep, result[k], lhs[k])
					  : result[k]);
	}
}

/* -- reduction loops
 * ------------------------------------------------------------------------- */

static void all_points(struct emit *e, struct tile *t, uint32_t m)
{
	for (uint32_t p = 0; p < t->n_point; p++) {
		uint32_t active = e->n_active;

		hn_emit_set_point(e, t->n, p);
		if (t->n->across) {
			e->n_active = active;
		}
		e->mask = t->guard[p];
		update(e, t, t->acc + (size_t)(p * t->n->n_across + m) * t->n_out);
	}
}

/* The loop that runs across lanes: full vectors in n_across accumulators, then what is
 * left. */
static void across_loop(struct emit *e, struct tile *t)
{
	struct emit_nest *n = t->n;
	struct emit_dim *d = n->across;
	struct emit_var *var = &e->var[d->loop];
	uint32_t w = n->w;
	int64_t step = (int64_t)w * n->n_across, trips = d->extent / step;
	struct emit_loop loop;

	for (uint32_t k = 0; k < w; k++) {
		n->lane[0][k] = k;
	}
	e->n_active = w;
	if (trips > 0) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, trips),
				   t->n_acc, t->acc, &loop);
		*var = (struct emit_var){ loop.iv,   step,	   0,	      0,
					  trips - 1, e->fn->depth, n->lane[0] };
		for (uint32_t m = 0; m < n->n_across; m++) {
			var->add = (int64_t)m * w;
			all_points(e, t, m);
		}
		hn_emit_loop_end(e, &loop, t->acc);
	}
	*var = (struct emit_var){ .lane = n->lane[0] };
	uint32_t m = 0;

	for (int64_t at = trips * step; at < d->extent; at += w, m++) {
		var->add = at;
		e->n_active = (uint32_t)(d->extent - at < w ? d->extent - at : w);
		for (uint32_t k = e->n_active; k < w; k++) {
			n->lane[0][k] = 0;
		}
		all_points(e, t, m);
	}
	*var = (struct emit_var){ 0 };
}

static void reduction(struct emit *e, struct tile *t, uint32_t i);

/* Iterations begin..end - 1 of dim i's loop, `block` of the dim's each. */
static void reduction_part(struct emit *e, struct tile *t, uint32_t i, int64_t begin,
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
		fetch_ahead(e, n, i);
	}
	int64_t first = var->add;

	for (int64_t k = 0; k < d->block; k++) {
		var->add = first + k;
		e->epoch++;
		reduction(e, t, i + 1);
	}
	if (loops) {
		hn_emit_loop_end(e, &loop, t->acc);
	}
	*var = (struct emit_var){ 0 };
}

static void reduction_inside(struct emit *e, struct tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;
	bool sure = t->sure;
	int64_t full, dead;

	if (i == n->n_dim) {
		if (n->across) {
			across_loop(e, t);
		} else {
			all_points(e, t, 0);
		}
		return;
	}
	full = dead = n->dim[i].extent / n->dim[i].block;
	if (!sure) {
		hn_emit_find_trips(e, n, i, full, &full, &dead);
	}
	t->sure = true;
	reduction_part(e, t, i, 0, full);
	t->sure = sure;
	reduction_part(e, t, i, full, dead);
}

/* Go on in block; its accumulators are those given. */
static void enter_block(struct emit *e, struct tile *t, LLVMBasicBlockRef block,
			const LLVMValueRef *acc)
{
	LLVMPositionBuilderAtEnd(e->b, block);
	memcpy(t->acc, acc, t->n_acc * sizeof(*acc));
	e->epoch++;
}

/* End the current block; at join each accumulator is the current one, or other[] when
 * control came from `from`. */
static void join_blocks(struct emit *e, struct tile *t, LLVMBasicBlockRef join,
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

static LLVMValueRef *accumulators(struct emit *e, const struct tile *t)
{
	LLVMValueRef *copy = HN_NEW_ARRAY(e->a, LLVMValueRef, t->n_acc);

	memcpy(copy, t->acc, t->n_acc * sizeof(*copy));
	return copy;
}

/* Two forms of dims i and inwards: one where z's conditions hold at every point. */
static void full_and_edge(struct emit *e, struct tile *t, uint32_t i,
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

/* The reduction loops from dim i inwards; terms that are nothing are left out. */
static void reduction(struct emit *e, struct tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;
	LLVMBasicBlockRef before, join = NULL;
	LLVMValueRef *kept = NULL;
	struct emit_zero z;

	while (i < n->n_dim &&
	       (!n->dim[i].reduce || n->dim[i].extent == 1 || &n->dim[i] == n->across)) {
		i++;
	}
	hn_emit_zero_test(e, n, i, &z);
	if (!z.never) {
		before = LLVMGetInsertBlock(e->b);
		if (z.any) {
			LLVMBasicBlockRef some = hn_emit_block(e, "some");

			join = hn_emit_block(e, "none");
			kept = accumulators(e, t);
			LLVMBuildCondBr(e->b, z.any, some, join);
			enter_block(e, t, some, kept);
		}
		if (z.all) {
			full_and_edge(e, t, i, &z);
		} else {
			reduction_inside(e, t, i);
		}
		if (z.any) {
			join_blocks(e, t, join, before, kept);
		}
	}
	n->zero_true = z.old_true;
	n->zero_seen = z.old_seen;
}

/* The lanes of each accumulator, and of all of a point, become one value. */
static LLVMValueRef across_lanes(struct emit *e, struct tile *t, const LLVMValueRef *acc)
{
	struct emit_nest *n = t->n;
	struct emit_val *part = HN_NEW_ARRAY(e->a, struct emit_val, n->n_across);

	for (uint32_t m = 0; m < n->n_across; m++) {
		part[m] = as_val(e, acc[m]);
	}
	/* in pairs: a chain would wait out the combiner's latency for each accumulator */
	for (uint32_t gap = 1; gap < n->n_across; gap *= 2) {
		for (uint32_t m = 0; m + gap < n->n_across; m += 2 * gap) {
			combine(e, n, &part[m], &part[m + gap], &part[m]);
		}
	}
	struct emit_val sum = part[0];

	for (uint32_t half = n->w / 2; half >= 1; half /= 2) {
		LLVMValueRef at[EMIT_MAX_LANES];

		for (uint32_t k = 0; k < n->w; k++) {
			at[k] = LLVMConstInt(e->i32, (k + half) % n->w, 0);
		}
		LLVMValueRef other = LLVMBuildShuffleVector(
			e->b, sum.v, sum.v, LLVMConstVector(at, n->w), "");
		struct emit_val next = as_val(e, other);

		combine(e, n, &sum, &next, &sum);
	}
	return LLVMBuildExtractElement(e->b, sum.v, LLVMConstInt(e->i32, 0, 0), "");
}

static void store_result(struct emit *e, struct tile *t, uint32_t p)
{
	struct emit_nest *n = t->n;
	const struct hn_node *s = n->stmt;
	LLVMValueRef *acc = t->acc + (size_t)p * n->n_across * t->n_out;

	hn_emit_set_point(e, n, p);
	e->mask = t->guard[p];
	if (n->across) {
		LLVMValueRef sum = across_lanes(e, t, acc);

		e->n_lane = e->n_active = 1;
		e->lane = 0;
		struct emit_val rhs = { sum, false }, lhs;

		if (n->from_identity) {
			lhs = hn_emit_value(e, n->op->reduce->identity[0]);
		} else {
			lhs = hn_emit_load_at(e, s->stage, 0, s->axis);
		}
		combine(e, n, &lhs, &rhs, &lhs);
		hn_emit_store_at(e, s->stage, 0, s->axis, lhs);
		return;
	}
	for (uint32_t k = 0; k < t->n_out; k++) {
		hn_emit_store_at(e, s->stage, (int32_t)k, s->axis, as_val(e, acc[k]));
	}
}

static void first_values(struct emit *e, struct tile *t)
{
	struct emit_nest *n = t->n;

	for (uint32_t p = 0; p < t->n_point; p++) {
		hn_emit_set_point(e, n, p);
		e->mask = t->guard[p];
		for (uint32_t k = 0; k < t->n_out * n->n_across; k++) {
			LLVMValueRef *acc =
				&t->acc[(size_t)p * n->n_across * t->n_out + k];

			if (n->from_identity || n->across) {
				*acc = identity(e, n, n->across ? 0 : k);
			} else {
				*acc = shaped(e,
					      hn_emit_load_at(e, n->stmt->stage,
							      (int32_t)k, n->stmt->axis));
			}
		}
	}
}

/* -- the tile
 * ----------------------------------------------------------------------------------- */

static void pointwise(struct emit *e, struct tile *t)
{
	const struct emit_nest *n = t->n;
	const struct hn_node *s = n->stmt;
	struct emit_turn turn = { 0 };

	if (n->turn && n->turn->now > 1) {
		turn.var = &e->var[n->turn->loop];
		turn.first = n->turn->base;
		turn.count = (uint32_t)n->turn->now;
		e->turn = &turn;
	}
	for (uint32_t p = 0; p < t->n_point; p++) {
		hn_emit_set_point(e, t->n, p);
		e->mask = t->guard[p];
		for (uint32_t k = 0; k < t->n_out; k++) {
			struct emit_val v;

			if (s->stmt == HN_STMT_INIT) {
				v = hn_emit_value(e, n->op->reduce->identity[k]);
			} else {
				enter_op(e, n);
				v = hn_emit_value(e, n->op->body[k]);
				e->axis = NULL;
			}
			hn_emit_store_at(e, s->stage, (int32_t)k, s->axis, v);
		}
	}
	e->turn = NULL;
}

static void tile_form(struct emit *e, struct tile *t)
{
	struct emit_nest *n = t->n;

	memset(t->guard, 0, t->n_point * sizeof(*t->guard));
	if (n->stmt->n_guard > 0) {
		find_masks(e, t);
	}
	if (n->stmt->stmt == HN_STMT_UPDATE) {
		t->n_acc = t->n_point * n->n_across * t->n_out;
		t->acc = HN_NEW_ARRAY(e->a, LLVMValueRef, t->n_acc);
		first_values(e, t);
		hn_emit_no_point(e, n);
		reduction(e, t, n->tile);
		for (uint32_t p = 0; p < t->n_point; p++) {
			store_result(e, t, p);
		}
	} else {
		pointwise(e, t);
	}
	hn_emit_no_point(e, n);
}

/* In a branch, what was hoisted to an enclosing loop stays valid; nothing else is shared.
 */
static void tile_branch(struct emit *e, struct tile *t, LLVMBasicBlockRef block,
			LLVMBasicBlockRef join)
{
	LLVMPositionBuilderAtEnd(e->b, block);
	e->epoch++;
	tile_form(e, t);
	LLVMBuildBr(e->b, join);
}

static void emit_tile(struct emit *e, struct emit_nest *n)
{
	struct tile t = { .n = n,
			  .n_out = n->op->n_out,
			  .n_point = hn_emit_count_points(n) };
	struct emit_facts facts;

	t.guard = HN_NEW_ARRAY(e->a, struct emit_val, t.n_point);
	hn_emit_find_facts(e, n, &facts);
	hn_emit_no_point(e, n);
	e->fact = facts.fact;
	e->n_fact = facts.n;
	if (!facts.test) {
		tile_form(e, &t);
	} else {
		LLVMBasicBlockRef fast = hn_emit_block(e, "full"),
				  slow = hn_emit_block(e, "edge"),
				  join = hn_emit_block(e, "join");

		LLVMBuildCondBr(e->b, facts.test, fast, slow);
		tile_branch(e, &t, fast, join);
		e->n_fact = facts.n_sure;
		tile_branch(e, &t, slow, join);
		LLVMPositionBuilderAtEnd(e->b, join);
		e->epoch++;
	}
	e->n_fact = 0;
}

/* -- loops around it
 * ---------------------------------------------------------------------------- */

/* Loop over the blocks of dim i in [begin, end), then the remainder. */
static void emit_range(struct emit *e, struct emit_nest *n, uint32_t i, int64_t begin,
		       int64_t end)
{
	struct emit_dim *d = &n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	int64_t full = (end - begin) / d->block, rest = (end - begin) % d->block;
	struct emit_loop loop;

	*var = (struct emit_var){ .add = begin };
	d->base = begin;
	d->now = d->block;
	if (full > 1) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, full), 0,
				   NULL, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = d->block,
					  .add = begin,
					  .hi = full - 1,
					  .depth = e->fn->depth };
		fetch_ahead(e, n, i);
		emit_level(e, n, i + 1);
		hn_emit_loop_end(e, &loop, NULL);
	} else if (full == 1) {
		e->epoch++;
		emit_level(e, n, i + 1);
	}
	*var = (struct emit_var){ 0 };
	if (rest) {
		d->base = var->add = begin + full * d->block;
		d->now = rest;
		e->epoch++;
		emit_level(e, n, i + 1);
	}
	*var = (struct emit_var){ 0 };
	d->base = 0;
	d->now = 1;
}

/* The loop of dim i.  Where pads are met at its ends alone, the ends are tiles of their
 * own and the rest has none: one loop of a nest, for the code's size. */
static void emit_blocks(struct emit *e, struct emit_nest *n, uint32_t i)
{
	struct emit_dim *d = &n->dim[i];
	int64_t begin, end, block = d->block;

	if (d->reduce || d->chain || d->extent < 4 || n->peeled ||
	    !hn_emit_find_interior(e, n, i, &begin, &end)) {
		emit_range(e, n, i, 0, d->extent);
		return;
	}
	n->peeled = true;
	d->block = begin < block ? begin : block;
	if (begin > 0) {
		emit_range(e, n, i, 0, begin);
	}
	d->block = end - begin < block ? end - begin : block;
	emit_range(e, n, i, begin, end);
	d->block = d->extent - end < block ? d->extent - end : block;
	if (end < d->extent) {
		emit_range(e, n, i, end, d->extent);
	}
	d->block = block;
	n->peeled = false;
}

static void emit_level(struct emit *e, struct emit_nest *n, uint32_t i)
{
	if (i == n->n_dim) {
		emit_tile(e, n);
		return;
	}
	struct emit_dim *d = &n->dim[i];

	if (d->node->init && !n->from_identity) {
		hn_emit_node(e, d->node->init);
	}
	if (i >= n->tile && d->reduce) {
		emit_level(e, n, i + 1);
		return;
	}
	if (d->reduce) {
		d->block = 1;
	}
	emit_blocks(e, n, i);
}

bool hn_emit_is_nest(const struct emit *e, const struct hn_node *node)
{
	int32_t stage = node->stage;

	if (e->opt->scalar) {
		return node->kind == HN_NODE_STMT;
	}
	while (node->kind == HN_NODE_LOOP) {
		bool plain = node->iter_kind == HN_ITER_SPATIAL ||
			     node->iter_kind == HN_ITER_REDUCE;
		bool parallel = node->ann == HN_ANN_PARALLEL && !e->in_parallel;

		if (!plain || parallel || node->n_child != 1 || node->stage != stage) {
			return false;
		}
		node = node->child[0];
	}
	return node->kind == HN_NODE_STMT && node->stage == stage;
}

void hn_emit_nest(struct emit *e, const struct hn_node *node)
{
	const struct emit_nest *outer;
	struct emit_nest n = { 0 };
	const struct hn_node *x = node;

	for (; x->kind == HN_NODE_LOOP; x = x->child[0]) {
		n.n_dim++;
	}
	n.stmt = x;
	n.op = e->t->dag->op[x->stage];
	n.dim = HN_NEW_ARRAY(e->a, struct emit_dim, n.n_dim);
	for (uint32_t i = 0; i < n.n_dim; i++, node = node->child[0]) {
		n.dim[i] =
			(struct emit_dim){ .node = node,
					   .loop = node->loop,
					   .extent = node->extent,
					   .now = 1,
					   .block = 1,
					   .reduce = node->iter_kind == HN_ITER_REDUCE };
	}
	hn_emit_plan(e, &n);
	hn_emit_zero_find(e, &n);
	outer = e->nest;
	e->nest = &n;
	if (n.stmt->init && !n.from_identity) {
		hn_emit_node(e, n.stmt->init);
	}
	emit_level(e, &n, 0);
	e->nest = outer;
}
