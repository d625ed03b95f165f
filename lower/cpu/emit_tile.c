/* lower/cpu/emit_tile.c -- one register tile: a box of points of a nest, and the reduction loops
 * inside it.
 *
 * Order of what is emitted: the accumulators' first values; the reduction loops
 * (emit_reduce); then the stores.  A tile at an edge masks its points (emit_edge); those
 * beyond a known edge are left out.  Masks of points guard loads and stores; an accumulator
 * may hold anything in lanes that are never stored.
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

/* -- guards
 * ------------------------------------------------------------------------------ */

/* No mask instead of one that is always true. */
static struct emit_val unless_true(struct emit_val m)
{
	bool known;

	return hn_emit_is_const_bool(m, &known) && known ? (struct emit_val){ 0 } : m;
}

/* The guards of each point that do not change over the reduction, as masks. */
static void find_masks(struct emit *e, struct emit_tile *t)
{
	const struct hn_node *s = t->n->stmt;

	for (uint32_t p = 0; p < t->n_point; p++) {
		struct emit_val m = { 0 }, loose = { 0 };

		hn_emit_set_point(e, t->n, p);
		t->spare[p] = true;
		for (uint32_t i = 0; i < s->n_guard; i++) {
			if (hn_emit_on_reduction(e, t->n, s->guard[i])) {
				continue;
			}
			struct emit_val c = hn_emit_condition(e, s->guard[i]);

			m = hn_emit_and(e, m, c);
			t->spare[p] = t->spare[p] &&
				      (!unless_true(c).v ||
				       hn_emit_keeps_spare(e, t->n, s->guard[i]));
			if (!hn_emit_is_clamped(t, s->guard[i])) {
				loose = hn_emit_and(e, loose, c);
			}
		}
		t->guard[p] = unless_true(m);
		t->loose[p] = unless_true(loose);
	}
}

bool hn_emit_is_dead(const struct emit_tile *t, uint32_t p)
{
	bool counts = true;

	return t->guard[p].v && hn_emit_is_const_bool(t->guard[p], &counts) && !counts;
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

void hn_emit_update(struct emit *e, struct emit_tile *t, LLVMValueRef *acc)
{
	const struct emit_nest *n = t->n;
	const struct hn_reduce *r = n->op->reduce;
	struct emit_val *v = HN_NEW_ARRAY(e->a, struct emit_val, 3 * r->n);
	struct emit_val *lhs = v, *rhs = v + r->n, *result = v + 2 * r->n;
	struct emit_val point = e->mask, keep = { 0 };
	bool spare = e->spare;

	for (uint32_t i = 0; i < n->stmt->n_guard && !t->sure; i++) {
		if (hn_emit_on_reduction(e, n, n->stmt->guard[i])) {
			keep = hn_emit_and(e, keep,
					   hn_emit_condition(e, n->stmt->guard[i]));
			spare = spare && hn_emit_is_spare(e, n->stmt->guard[i]);
		}
	}
	e->spare = spare && !r->condition;
	e->mask = hn_emit_and(e, e->mask, keep);
	enter_op(e, n);
	if (hn_emit_adds_nothing(e, n, EMIT_THE_TERM)) {
		e->axis = NULL;
		return;
	}
	if (r->condition) {
		e->mask = hn_emit_and(e, point, keep);
		keep = hn_emit_and(e, keep, hn_emit_value(e, r->condition));
	}
	keep = unless_true(keep);
	e->mask = unless_true(hn_emit_and(e, point, keep));
	for (uint32_t k = 0; k < r->n; k++) {
		rhs[k] = hn_emit_value(e, r->source[k]);
		lhs[k] = as_val(e, acc[k]);
	}
	combine(e, n, lhs, rhs, result);
	e->axis = NULL;
	if (n->across && e->n_active < e->n_lane) {
		keep = hn_emit_and(e, keep,
				   (struct emit_val){ hn_emit_lane_mask(e), true });
	}
	for (uint32_t k = 0; k < r->n; k++) {
		acc[k] = shaped(e, keep.v ? hn_emit_select(e, keep, result[k], lhs[k])
					  : result[k]);
	}
}

/* The lanes of each accumulator, and of all of a point, become one value. */
static LLVMValueRef across_lanes(struct emit *e, struct emit_tile *t,
				 const LLVMValueRef *acc)
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

static void store_result(struct emit *e, struct emit_tile *t, uint32_t p)
{
	struct emit_nest *n = t->n;
	const struct hn_node *s = n->stmt;
	LLVMValueRef *acc = t->acc + (size_t)p * n->n_across * t->n_out;

	hn_emit_set_point(e, n, p);
	e->mask = t->guard[p];
	e->spare = t->spare[p];
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

static void first_values(struct emit *e, struct emit_tile *t)
{
	struct emit_nest *n = t->n;

	for (uint32_t p = 0; p < t->n_point; p++) {
		hn_emit_set_point(e, n, p);
		e->mask = t->guard[p];
		e->spare = t->spare[p];
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

/* Comparisons of indices, and what joins them, none of which moves with the loop. */
static bool stands(const struct emit *e, const struct hn_expr *x, int32_t loop)
{
	bool all = x->op == HN_EXPR_AND || x->op == HN_EXPR_OR || x->op == HN_EXPR_NOT;

	for (uint32_t i = 0; i < x->n_arg && all; i++) {
		all = stands(e, x->arg[i], loop);
	}
	return all || (hn_emit_compares_indices(e, x) && !hn_emit_uses_loop(e, x, loop));
}

/* Whether each lane is masked alike at all points of the turn, as where rows are copied of which a
 * size leaves a part: `condition ? load : constant`. */
static bool masks_stand(struct emit *e, const struct emit_nest *n)
{
	const struct hn_node *s = n->stmt;
	const struct hn_expr *x = s->stmt == HN_STMT_COMPUTE ? n->op->body[0] : NULL;
	int32_t loop = n->turn->loop;
	bool still = x && n->op->n_out == 1;

	for (uint32_t i = 0; i < s->n_guard && still; i++) {
		still = stands(e, s->guard[i], loop);
	}
	if (!still || x->op == HN_EXPR_LOAD) {
		return still;
	}
	enter_op(e, n);
	still = x->op == HN_EXPR_IF && x->arg[1]->op == HN_EXPR_LOAD && x->arg[2]->n_arg == 0 &&
		stands(e, x->arg[0], loop);
	e->axis = NULL;
	return still;
}

static void pointwise(struct emit *e, struct emit_tile *t)
{
	const struct emit_nest *n = t->n;
	const struct hn_node *s = n->stmt;
	struct emit_turn turn = { 0 };
	bool masked = false;

	for (uint32_t p = 0; p < t->n_point; p++) {
		masked = masked || t->guard[p].v;
	}
	/* a block's rows are read for all of its points */
	turn.still = n->turn && masks_stand(e, n);
	if (n->turn && n->turn->now > 1 && (!masked || turn.still)) {
		turn.var = &e->var[n->turn->loop];
		turn.first = n->turn->base;
		turn.count = (uint32_t)n->turn->now;
		e->turn = &turn;
	}
	for (uint32_t p = 0; p < t->n_point; p++) {
		if (hn_emit_is_dead(t, p)) {
			continue;
		}
		hn_emit_set_point(e, t->n, p);
		e->mask = t->guard[p];
		e->spare = t->spare[p];
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

void hn_emit_tile_form(struct emit *e, struct emit_tile *t)
{
	struct emit_nest *n = t->n;

	memset(t->guard, 0, t->n_point * sizeof(*t->guard));
	memset(t->loose, 0, t->n_point * sizeof(*t->loose));
	memset(t->spare, 0, t->n_point * sizeof(*t->spare));
	t->n_clamp = 0;
	if (n->stmt->stmt == HN_STMT_UPDATE) {
		hn_emit_find_clamps(e, t);
	}
	if (n->stmt->n_guard > 0) {
		find_masks(e, t);
	}
	if (n->stmt->stmt == HN_STMT_UPDATE) {
		t->n_acc = t->n_point * n->n_across * t->n_out;
		t->acc = HN_NEW_ARRAY(e->a, LLVMValueRef, t->n_acc);
		first_values(e, t);
		hn_emit_no_point(e, n);
		hn_emit_reduction(e, t, n->tile);
		for (uint32_t p = 0; p < t->n_point; p++) {
			if (!hn_emit_is_dead(t, p)) {
				store_result(e, t, p);
			}
		}
	} else {
		pointwise(e, t);
	}
	hn_emit_store_now(e);
	hn_emit_no_point(e, n);
}
