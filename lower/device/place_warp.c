/* lower/device/place_warp.c -- results of sums that a warp's instruction makes (TE, device_warp.h).
 *
 * In the loop tree one thread computes a tile of results, and holds it.  In the program the 32
 * threads of a warp do: numbers of the tree's threads in y and z are those of warps, and x is the
 * lane.  The tile lies in fragments, a part in each lane.
 *
 * What is done with the results, before and behind the sum (place_product.c), is done by the lane
 * that holds them: where a loop of 16 runs through a tile's rows, or one of 8 through its columns,
 * each lane runs through its own alone.
 */
#include "base/arith.h"
#include "lower/device/device_wgmma.h"
#include "lower/device/place_warp_int.h"

/* ---- before a nest is placed */

struct look {
	struct place *p;
	const struct hn_node *stmt;
	bool any;
};

static const struct hn_expr *less_min(struct place *p, int32_t stage, uint32_t d,
				      const struct hn_expr *x)
{
	return hn_place_binary(p, HN_EXPR_SUB, x, p->t->buffer[stage].min[d]);
}

/* The loop whose iterations are the tile's rows (or columns) where the index moves by one from each
 * to the next, and by whole tiles with all other loops; -1: there is none. */
static int32_t digit_loop(struct place *p, const struct hn_expr *index, int64_t unit)
{
	struct hn_affine f = hn_affine_of(index, p->loop_span, p->t->n_loop, p->a);
	int32_t ret = -1;

	for (uint32_t i = 0; i < f.n; i++) {
		const struct hn_expr *x = f.term[i].atom;

		if (f.term[i].coef % unit == 0) {
			continue;
		}
		if (f.term[i].coef != 1 || x->op != HN_EXPR_VAR || ret >= 0 ||
		    p->loop_span[x->ref].hi != unit - 1) {
			return -1;
		}
		ret = x->ref;
	}
	return f.c % unit == 0 ? ret : -1;
}

/* A touch of the stage's results at these indices, in loop space. */
static void see_touch(struct place *p, int32_t stage, const struct hn_expr *const *axis,
		      int32_t by)
{
	const struct fragment *f = &p->fragment[stage];

	for (uint32_t i = 0; i < 2; i++) {
		enum digit digit = i == 0 ? DIGIT_ROW : DIGIT_COLUMN;
		int64_t unit = f->intrin->most[i == 0 ? HN_INTRIN_M : HN_INTRIN_N];
		int32_t loop = digit_loop(
			p, less_min(p, stage, f->dim[i], axis[f->dim[i]]), unit);

		if (loop < 0 || (p->digit[loop] != DIGIT_NONE && p->digit[loop] != digit)) {
			hn_place_refuse(p, by,
					"touches what a warp holds of %s in no loop of %lld "
					"through a tile",
					p->t->dag->op[stage]->name, (long long)unit);
			return;
		}
		p->digit[loop] = (uint8_t)digit;
	}
}

static const struct hn_expr *in_loops(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct look *l = ctx;

	(void)a;
	return e->op == HN_EXPR_VAR && e->ref < HN_SLOT_LHS && l->stmt->axis[e->ref] != NULL
		       ? l->stmt->axis[e->ref]
		       : e;
}

static void see_load(const struct hn_expr *e, void *ctx)
{
	const struct look *l = ctx;
	const struct hn_expr *axis[HN_DAG_MAX_RANK];

	if (e->op != HN_EXPR_LOAD || l->p->fragment[e->ref].intrin == NULL) {
		return;
	}
	for (uint32_t d = 0; d < e->n_arg; d++) {
		axis[d] = hn_expr_map(e->arg[d], in_loops, ctx, l->p->a);
	}
	see_touch(l->p, e->ref, axis, l->stmt->stage);
}

static void see_value(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, see_load, ctx);
}

static void see_statements(struct place *p, const struct hn_node *n)
{
	struct look l = { .p = p, .stmt = n };

	if (n->init != NULL) {
		see_statements(p, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		if (p->fragment[n->stage].intrin != NULL && n->stmt == HN_STMT_INIT) {
			see_touch(p, n->stage, n->axis, n->stage);
		}
		hn_dag_op_exprs(p->t->dag->op[n->stage], see_value, &l);
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		see_statements(p, n->child[i]);
	}
}

static void see_loops(struct place *p, const struct hn_node *n)
{
	if (n->init != NULL) {
		see_loops(p, n->init);
	}
	if (n->kind == HN_NODE_LOOP) {
		p->loop_span[n->loop] = (struct hn_span){ 0, n->extent - 1 };
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see_loops(p, n->child[i]);
	}
}

/* Which of the stage's dimensions the loop moves in. */
static uint32_t dim_of(struct place *p, const struct hn_node *stmt, const struct hn_node *loop)
{
	const struct hn_op *op = p->t->dag->op[stmt->stage];

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		if (hn_expr_uses(stmt->axis[d], loop->loop)) {
			return d;
		}
	}
	hn_place_refuse(p, stmt->stage, "has rows or columns that are none of its results'");
	return 0;
}

static void see_team(struct place *p, const struct hn_node *stmt)
{
	int64_t n = hn_warp_threads(p->fragment[stmt->stage].intrin);

	if (p->team != 0 && p->team != n) {
		hn_place_refuse(p, stmt->stage,
				"is made by %lld threads together, and what it is made with by "
				"%lld",
				(long long)n, (long long)p->team);
	}
	p->team = n;
	if (n == HN_WARPGROUP) {
		hn_place_wgmma_survey(p, stmt);
	}
}

static void see_products(struct place *p, const struct hn_node *n,
			 const struct hn_node *loop[HN_INTRIN_DIMS])
{
	bool given = n->kind == HN_NODE_LOOP && n->intrin != NULL && hn_intrin_is_warp(n->intrin);

	if (given) {
		loop[n->intrin_dim] = n;
	}
	if (n->kind == HN_NODE_STMT && n->stmt == HN_STMT_UPDATE &&
	    loop[HN_INTRIN_TERMS] != NULL && loop[HN_INTRIN_TERMS]->stage == n->stage) {
		p->fragment[n->stage] =
			(struct fragment){ loop[HN_INTRIN_TERMS]->intrin,
					   { dim_of(p, n, loop[HN_INTRIN_M]),
					     dim_of(p, n, loop[HN_INTRIN_N]) } };
		see_team(p, n);
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		see_products(p, n->child[i], loop);
	}
	if (given) {
		loop[n->intrin_dim] = NULL;
	}
}

void hn_place_warp_survey(struct place *p, const struct hn_node *nest)
{
	const struct hn_node *loop[HN_INTRIN_DIMS] = { NULL };

	p->team = 0;
	see_products(p, nest, loop);
	if (p->team == 0 || p->rc != 0) {
		return;
	}
	if (p->block[0] != 1 && p->block[0] != p->team) {
		hn_place_refuse(p, nest->stage,
				"is made by warps, and %lld threads in x are no %s",
				(long long)p->block[0],
				p->team == HN_WARP ? "warp" : "warpgroup");
	}
	p->block[0] = p->team;
	see_loops(p, nest);
	see_statements(p, nest);
	for (uint32_t i = 0; i < p->t->dag->n_op && p->rc == 0; i++) {
		const struct hn_buffer *b = &p->t->buffer[i];

		if (p->fragment[i].intrin != NULL &&
		    (b->lifetime != HN_LIFETIME_LOOP ||
		     p->held[i].memory != HN_MEMORY_LOCAL)) {
			hn_place_refuse(p, (int32_t)i,
					"is made by warps, and is no thread's own (CHW, CA)");
		}
	}
}

static void see_fragment(const struct hn_expr *e, void *ctx)
{
	struct look *l = ctx;

	l->any = l->any ||
		 (e->op == HN_EXPR_LOAD && l->p->fragment[e->ref].intrin != NULL);
}

static void see_any(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, see_fragment, ctx);
}

bool hn_place_is_warp(struct place *p, const struct hn_node *n)
{
	struct look l = { .p = p };

	if (p->team == 0) {
		return false;
	}
	if (n->kind == HN_NODE_STMT) {
		l.any = p->fragment[n->stage].intrin != NULL;
		hn_dag_op_exprs(p->t->dag->op[n->stage], see_any, &l);
	}
	for (uint32_t i = 0; i < n->n_child && !l.any; i++) {
		l.any = hn_place_is_warp(p, n->child[i]);
	}
	return l.any;
}

/* ---- what lanes hold */

/* Of the lane's first element of a tile: row or column.  Each warp of a warpgroup has 16 rows. */
static const struct hn_expr *lane_digit(struct place *p, enum digit digit)
{
	const struct hn_expr *l = lane(p);

	if (digit != DIGIT_ROW) {
		return op_int(p, HN_EXPR_MUL, op_int(p, HN_EXPR_FLOORMOD, l, 4), 2);
	}
	if (p->team == HN_WARP) {
		return op_int(p, HN_EXPR_FLOORDIV, l, 4);
	}
	return sum(p,
		   op_int(p, HN_EXPR_FLOORDIV, op_int(p, HN_EXPR_FLOORMOD, l, HN_WARP), 4),
		   op_int(p, HN_EXPR_MUL, op_int(p, HN_EXPR_FLOORDIV, l, HN_WARP), 16));
}

/* Elements of a tile that are this far apart are the lane's. */
static int64_t lane_step(enum digit digit)
{
	return digit == DIGIT_ROW ? 8 : 1;
}

const struct hn_expr *hn_place_lane_value(struct place *p, enum digit digit, int32_t slot)
{
	return sum(p, lane_digit(p, digit),
		   op_int(p, HN_EXPR_MUL, hn_place_var(p, slot), lane_step(digit)));
}

/* index = unit * *tile + lane's first + step * *part */
static bool take_apart(struct place *p, const struct hn_expr *index, enum digit digit,
		       int64_t unit, const struct hn_expr **tile, const struct hn_expr **part)
{
	const struct hn_expr *rest =
		p->in_mma ? index
			  : hn_place_binary(p, HN_EXPR_SUB, index, lane_digit(p, digit));
	struct hn_affine f = hn_affine_of(rest, p->span, p->n_slot, p->a);

	*tile = hn_place_int(p, f.c / unit);
	*part = hn_place_int(p, 0);
	for (uint32_t i = 0; i < f.n; i++) {
		if (f.term[i].coef % unit == 0) {
			*tile = sum(p, *tile,
				    op_int(p, HN_EXPR_MUL, f.term[i].atom,
					   f.term[i].coef / unit));
		} else if (f.term[i].coef == lane_step(digit) &&
			   f.term[i].atom->op == HN_EXPR_VAR) {
			*part = sum(p, *part, f.term[i].atom);
		} else {
			return false;
		}
	}
	return f.c % unit == 0;
}

int64_t hn_place_fragment_size(struct place *p, int32_t stage)
{
	const struct hn_buffer *b = &p->t->buffer[stage];
	const struct fragment *f = &p->fragment[stage];
	int64_t n = hn_warp_elements(f->intrin, HN_FRAGMENT_SUM);

	for (uint32_t d = 0; d < b->n_dim; d++) {
		int64_t unit = d == f->dim[0]	? f->intrin->most[HN_INTRIN_M]
			       : d == f->dim[1] ? f->intrin->most[HN_INTRIN_N]
						: 1;

		n = hn_mul_sat(n, hn_ceildiv(b->extent[d], unit));
	}
	return n;
}

const struct hn_expr *hn_place_fragment(struct place *p, int32_t stage,
					const struct hn_expr *const *x)
{
	const struct hn_buffer *b = &p->t->buffer[stage];
	const struct fragment *f = &p->fragment[stage];
	const struct hn_expr *at = hn_place_int(p, 0), *part[2] = { NULL, NULL };

	for (uint32_t d = 0; d < b->n_dim; d++) {
		const struct hn_expr *tile = x[d];
		int64_t unit = 1;

		for (uint32_t i = 0; i < 2; i++) {
			if (d != f->dim[i]) {
				continue;
			}
			unit = f->intrin->most[i == 0 ? HN_INTRIN_M : HN_INTRIN_N];
			if (!take_apart(p, x[d], i == 0 ? DIGIT_ROW : DIGIT_COLUMN, unit,
					&tile, &part[i])) {
				hn_place_refuse(p, stage,
						"is held by a warp, and touched where no lane "
						"can tell what is its own");
				return at;
			}
		}
		at = sum(p, op_int(p, HN_EXPR_MUL, at, hn_ceildiv(b->extent[d], unit)), tile);
	}
	at = op_int(p, HN_EXPR_MUL, at, hn_warp_elements(f->intrin, HN_FRAGMENT_SUM));
	at = sum(p, at, op_int(p, HN_EXPR_MUL, part[0], 2));
	return hn_simplify(sum(p, at, part[1]), p->span, p->n_slot, p->a);
}
