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

#include "base/arith.h"

struct tile {
	struct emit_nest *n;
	uint32_t n_point, n_out;
	struct emit_val *guard; /* [n_point]; v NULL = always */
	bool masked;		/* the slow form */
	LLVMValueRef *acc;	/* [n_point * n_across * n_out] */
};

static void emit_level(struct emit *e, struct emit_nest *n, uint32_t i);

/* -- points ----------------------------------------------------------------------------
 */

static int64_t chain_now(const struct emit_nest *n)
{
	int64_t lanes = 1;

	for (uint32_t i = 0; i < n->n_chain; i++) {
		lanes *= n->chain[i]->now;
	}
	return lanes;
}

static bool in_block(const struct emit_dim *d)
{
	return !d->reduce && !d->chain && d->now > 1;
}

static uint32_t count_points(struct emit_nest *n)
{
	int64_t lanes = chain_now(n), points;

	n->w = n->width;
	while (!n->across && n->w > 1 && lanes <= n->w / 2) {
		n->w /= 2;
	}
	points = n->n_chain ? hn_ceildiv(lanes, n->w) : 1;
	for (uint32_t i = 0; i < n->n_dim; i++) {
		points *= in_block(&n->dim[i]) ? n->dim[i].now : 1;
	}
	return (uint32_t)points;
}

static void set_lanes(struct emit *e, struct emit_nest *n, int64_t v)
{
	int64_t lanes = chain_now(n), first = v * n->w;

	e->n_lane = n->w;
	e->n_active = (uint32_t)(lanes - first < n->w ? lanes - first : n->w);
	e->lane = n->w > 1 ? -1 : 0;
	for (uint32_t k = 0; k < n->w; k++) {
		int64_t at = first + (k < e->n_active ? k : 0);

		for (uint32_t i = 0; i < n->n_chain; i++) {
			n->lane[i][k] = at % n->chain[i]->now;
			at /= n->chain[i]->now;
		}
	}
	for (uint32_t i = 0; i < n->n_chain; i++) {
		struct emit_var *var = &e->var[n->chain[i]->loop];

		var->add = n->chain[i]->base;
		var->lane = n->lane[i];
	}
}

/* Make point p of the block the one that values are for. */
static void set_point(struct emit *e, struct emit_nest *n, uint32_t p)
{
	e->epoch++;
	e->mask = (struct emit_val){ 0 };
	e->n_let = 0;
	if (n->n_chain) {
		uint32_t vectors = (uint32_t)hn_ceildiv(chain_now(n), n->w);

		set_lanes(e, n, p % vectors);
		p /= vectors;
	} else {
		e->n_lane = e->n_active = n->w;
		e->lane = n->w > 1 ? -1 : 0;
	}
	for (uint32_t i = 2 * n->n_dim; i-- > 0;) {
		struct emit_dim *d = &n->dim[i % n->n_dim];

		if (in_block(d) && d->fast == (i >= n->n_dim)) {
			e->var[d->loop].add = d->base + p % d->now;
			p /= (uint32_t)d->now;
		}
	}
}

static void no_point(struct emit *e, struct emit_nest *n)
{
	for (uint32_t i = 0; i < n->n_dim; i++) {
		if (!n->dim[i].reduce) {
			e->var[n->dim[i].loop].lane = NULL;
			e->var[n->dim[i].loop].add = n->dim[i].base;
		}
	}
	e->mask = (struct emit_val){ 0 };
	e->n_lane = e->n_active = 1;
	e->lane = 0;
	e->epoch++;
}

/* -- guards
 * ------------------------------------------------------------------------------ */

static bool depends_on_reduction(struct emit *e, const struct emit_nest *n,
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

/* One comparison for the whole tile: its operands' difference at the worst point. */
static bool worst_point(struct emit *e, struct tile *t, const struct hn_expr *g,
			struct emit_lin *ret)
{
	bool any = false, low = g->op == HN_EXPR_GE || g->op == HN_EXPR_GT;

	if (g->op < HN_EXPR_LT || g->op > HN_EXPR_GE || !hn_emit_is_index(e, g->arg[0]) ||
	    !hn_emit_is_index(e, g->arg[1])) {
		return false;
	}
	for (uint32_t p = 0; p < t->n_point; p++) {
		set_point(e, t->n, p);
		for (uint32_t k = 0; k < e->n_active; k++) {
			struct emit_lin x, y;

			hn_emit_lin_lane(e, g->arg[0], k, &x);
			hn_emit_lin_lane(e, g->arg[1], k, &y);
			hn_emit_lin_add(e, &x, &y, -1);
			if (!any) {
				*ret = x;
				any = true;
			} else if (!hn_emit_lin_same_terms(ret, &x)) {
				return false;
			} else if (low ? x.c < ret->c : x.c > ret->c) {
				ret->c = x.c;
			}
		}
	}
	return true;
}

/* i1: the guard holds at every point of the tile; NULL = cannot be told. Constants stay
 * so. */
static LLVMValueRef holds_everywhere(struct emit *e, struct tile *t,
				     const struct hn_expr *g)
{
	static const LLVMIntPredicate pred[] = { LLVMIntSLT, LLVMIntSLE, LLVMIntSGT,
						 LLVMIntSGE };
	struct emit_lin x;
	int64_t lo, hi;

	if (g->op == HN_EXPR_AND) {
		LLVMValueRef u = holds_everywhere(e, t, g->arg[0]);
		LLVMValueRef v = holds_everywhere(e, t, g->arg[1]);

		return u && v ? LLVMBuildAnd(e->b, u, v, "") : NULL;
	}
	if (!worst_point(e, t, g, &x)) {
		return NULL;
	}
	hn_emit_lin_range(&x, &lo, &hi);
	bool low = g->op == HN_EXPR_GE || g->op == HN_EXPR_GT;
	bool strict = g->op == HN_EXPR_LT || g->op == HN_EXPR_GT;

	if (low ? lo >= strict : hi <= -(int64_t)strict) {
		return LLVMConstInt(e->i1, 1, 0);
	}
	int64_t c = x.c;

	x.c = 0;
	return LLVMBuildICmp(e->b, pred[g->op - HN_EXPR_LT], hn_emit_lin_value(e, &x),
			     hn_emit_const(e, -c), "");
}

/* The guards of each point that do not change over the reduction, as masks. */
static void find_masks(struct emit *e, struct tile *t)
{
	const struct hn_node *s = t->n->stmt;

	for (uint32_t p = 0; p < t->n_point; p++) {
		struct emit_val m = { 0 };

		set_point(e, t->n, p);
		for (uint32_t i = 0; i < s->n_guard; i++) {
			if (!depends_on_reduction(e, t->n, s->guard[i])) {
				m = hn_emit_and(e, m, hn_emit_condition(e, s->guard[i]));
			}
		}
		t->guard[p] = m;
	}
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

	for (uint32_t i = 0; i < n->stmt->n_guard; i++) {
		if (depends_on_reduction(e, n, n->stmt->guard[i])) {
			e->mask = hn_emit_and(e, e->mask,
					      hn_emit_condition(e, n->stmt->guard[i]));
		}
	}
	enter_op(e, n);
	if (r->condition) {
		e->mask = hn_emit_and(e, e->mask, hn_emit_value(e, r->condition));
	}
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

		set_point(e, t->n, p);
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
	uint32_t w = n->w, n_acc = t->n_point * n->n_across * t->n_out;
	int64_t step = (int64_t)w * n->n_across, trips = d->extent / step;
	struct emit_loop loop;

	for (uint32_t k = 0; k < w; k++) {
		n->lane[0][k] = k;
	}
	e->n_active = w;
	if (trips > 0) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, trips), n_acc,
				   t->acc, &loop);
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

static void reduction(struct emit *e, struct tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;

	while (i < n->n_dim &&
	       (!n->dim[i].reduce || n->dim[i].extent == 1 || &n->dim[i] == n->across)) {
		i++;
	}
	if (i == n->n_dim) {
		if (n->across) {
			across_loop(e, t);
		} else {
			all_points(e, t, 0);
		}
		return;
	}
	struct emit_dim *d = &n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	int64_t trips = d->extent / d->block;
	struct emit_loop loop = { 0 };

	*var = (struct emit_var){ 0 };
	if (trips > 1) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, trips),
				   t->n_point * n->n_across * t->n_out, t->acc, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = d->block,
					  .hi = trips - 1,
					  .depth = e->fn->depth };
	}
	for (int64_t k = 0; k < d->block; k++) {
		var->add = k;
		e->epoch++;
		reduction(e, t, i + 1);
	}
	if (trips > 1) {
		hn_emit_loop_end(e, &loop, t->acc);
	}
	*var = (struct emit_var){ 0 };
}

/* The lanes of each accumulator, and of all of a point, become one value. */
static LLVMValueRef across_lanes(struct emit *e, struct tile *t, const LLVMValueRef *acc)
{
	struct emit_nest *n = t->n;
	struct emit_val sum = as_val(e, acc[0]);

	for (uint32_t m = 1; m < n->n_across; m++) {
		struct emit_val next = as_val(e, acc[m]);

		combine(e, n, &sum, &next, &sum);
	}
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

	set_point(e, n, p);
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
		set_point(e, n, p);
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

	for (uint32_t p = 0; p < t->n_point; p++) {
		set_point(e, t->n, p);
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
}

static void tile_form(struct emit *e, struct tile *t)
{
	struct emit_nest *n = t->n;

	memset(t->guard, 0, t->n_point * sizeof(*t->guard));
	if (t->masked) {
		find_masks(e, t);
	}
	if (n->stmt->stmt == HN_STMT_UPDATE) {
		t->acc = HN_NEW_ARRAY(e->a, LLVMValueRef,
				      (size_t)t->n_point * n->n_across * t->n_out);
		first_values(e, t);
		no_point(e, n);
		reduction(e, t, n->tile);
		for (uint32_t p = 0; p < t->n_point; p++) {
			store_result(e, t, p);
		}
	} else {
		pointwise(e, t);
	}
	no_point(e, n);
}

/* In a branch, what was hoisted to an enclosing loop stays valid; nothing else is shared.
 */
static void tile_branch(struct emit *e, struct tile *t, LLVMBasicBlockRef block,
			LLVMBasicBlockRef join, bool masked)
{
	LLVMPositionBuilderAtEnd(e->b, block);
	e->epoch++;
	t->masked = masked;
	tile_form(e, t);
	LLVMBuildBr(e->b, join);
}

static void emit_tile(struct emit *e, struct emit_nest *n)
{
	const struct hn_node *s = n->stmt;
	struct tile t = { .n = n, .n_out = n->op->n_out, .n_point = count_points(n) };
	LLVMValueRef full = LLVMConstInt(e->i1, 1, 0);

	t.guard = HN_NEW_ARRAY(e->a, struct emit_val, t.n_point);
	for (uint32_t i = 0; i < s->n_guard && full; i++) {
		if (!depends_on_reduction(e, n, s->guard[i])) {
			LLVMValueRef one = holds_everywhere(e, &t, s->guard[i]);

			full = one ? LLVMBuildAnd(e->b, full, one, "") : NULL;
		}
	}
	no_point(e, n);
	if (full && LLVMIsAConstantInt(full) && LLVMConstIntGetZExtValue(full)) {
		tile_form(e, &t);
		return;
	}
	if (!full || LLVMIsAConstantInt(full)) {
		t.masked = true;
		tile_form(e, &t);
		return;
	}
	LLVMBasicBlockRef fast = hn_emit_block(e, "full"),
			  slow = hn_emit_block(e, "edge");
	LLVMBasicBlockRef join = hn_emit_block(e, "join");

	LLVMBuildCondBr(e->b, full, fast, slow);
	tile_branch(e, &t, fast, join, false);
	tile_branch(e, &t, slow, join, true);
	LLVMPositionBuilderAtEnd(e->b, join);
	e->epoch++;
}

/* -- loops around it
 * ---------------------------------------------------------------------------- */

/* Loop over the blocks of d, then the remainder. */
static void emit_blocks(struct emit *e, struct emit_nest *n, uint32_t i)
{
	struct emit_dim *d = &n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	int64_t full = d->extent / d->block, rest = d->extent % d->block;
	struct emit_loop loop;

	*var = (struct emit_var){ 0 };
	d->base = 0;
	d->now = d->block;
	if (full > 1) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, full), 0,
				   NULL, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = d->block,
					  .hi = full - 1,
					  .depth = e->fn->depth };
		emit_level(e, n, i + 1);
		hn_emit_loop_end(e, &loop, NULL);
	} else if (full == 1) {
		emit_level(e, n, i + 1);
	}
	*var = (struct emit_var){ 0 };
	if (rest) {
		d->base = var->add = full * d->block;
		d->now = rest;
		e->epoch++;
		emit_level(e, n, i + 1);
	}
	*var = (struct emit_var){ 0 };
	d->base = 0;
	d->now = 1;
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
	if (n.stmt->init && !n.from_identity) {
		hn_emit_node(e, n.stmt->init);
	}
	emit_level(e, &n, 0);
}
