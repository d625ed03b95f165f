/* costmodel/view.c -- read one statement: evaluate its indices with every loop at 0, then
 * with one loop at a time at 1 and at its end.  The differences are strides and spans; so
 * fused and split loops need no symbolic algebra.
 */
#include <string.h>

#include "base/arith.h"
#include "costmodel/analytic_int.h"

struct env { /* values of VAR slots */
	const int64_t *value;
	int32_t n;
};

static int64_t eval(const struct hn_expr *e, const struct env *env);

static int64_t eval_binary(enum hn_expr_op op, int64_t x, int64_t y)
{
	switch (op) {
	case HN_EXPR_ADD:
		return (int64_t)((uint64_t)x + (uint64_t)y);
	case HN_EXPR_SUB:
		return (int64_t)((uint64_t)x - (uint64_t)y);
	case HN_EXPR_MUL:
		return (int64_t)((uint64_t)x * (uint64_t)y);
	case HN_EXPR_DIV:
		return y > 0 ? x / y : 0;
	case HN_EXPR_FLOORDIV:
		return y > 0 ? hn_floordiv(x, y) : 0;
	case HN_EXPR_FLOORMOD:
		return y > 0 ? hn_floormod(x, y) : 0;
	case HN_EXPR_TRUNCMOD:
		return y > 0 ? x % y : 0;
	case HN_EXPR_MIN:
		return x < y ? x : y;
	case HN_EXPR_MAX:
		return x > y ? x : y;
	case HN_EXPR_EQ:
		return x == y;
	case HN_EXPR_NE:
		return x != y;
	case HN_EXPR_LT:
		return x < y;
	case HN_EXPR_LE:
		return x <= y;
	case HN_EXPR_GT:
		return x > y;
	case HN_EXPR_GE:
		return x >= y;
	case HN_EXPR_AND:
		return x && y;
	case HN_EXPR_OR:
		return x || y;
	default:
		return 0;
	}
}

static int64_t eval(const struct hn_expr *e, const struct env *env)
{
	if (e->op == HN_EXPR_VAR) {
		return e->ref >= 0 && e->ref < env->n ? env->value[e->ref] : 0;
	}
	if (e->op == HN_EXPR_INT) {
		return e->u.i;
	}
	if (e->op == HN_EXPR_LOAD || e->op == HN_EXPR_CALL || e->n_arg == 0) {
		return 0;
	}
	int64_t x = eval(e->arg[0], env);
	if (e->n_arg == 1) {
		return e->op == HN_EXPR_NOT ? !x : x;
	}
	if (e->n_arg == 3) {
		return eval(e->arg[x ? 1 : 2], env);
	}
	return eval_binary(e->op, x, eval(e->arg[1], env));
}

/* What the walk through a body finds. */
struct found {
	struct hn_view *view;
	const struct hn_expr *load[HN_VIEW_MAX_STREAMS];
	uint32_t n_load;
	uint64_t unrolled; /* axes whose value is a constant in each unrolled copy */
	uint64_t lanes; /* axes that move from lane to lane */
	bool reduces; /* a reduction's source: terms of which nothing is left can be skipped */
	bool overflow;
};

/* Whether e is decided when the program is made. */
static bool decided(const struct hn_expr *e, uint64_t unrolled)
{
	if (e->op == HN_EXPR_LOAD) {
		return false;
	}
	if (e->op == HN_EXPR_VAR) {
		return e->ref >= 0 && e->ref < 64 && (unrolled >> e->ref & 1);
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (!decided(e->arg[i], unrolled)) {
			return false;
		}
	}
	return true;
}

static bool moves_with(const struct hn_expr *e, uint64_t axes)
{
	bool moves = e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < 64 &&
		     (axes >> e->ref & 1);

	for (uint32_t i = 0; i < e->n_arg && !moves; i++) {
		moves = moves_with(e->arg[i], axes);
	}
	return moves;
}

/* The share of points for which the condition's remainders (of strided padding) are right. */
static double share_of(const struct hn_expr *c)
{
	if (c->op == HN_EXPR_AND) {
		return share_of(c->arg[0]) * share_of(c->arg[1]);
	}
	const struct hn_expr *mod = c->op == HN_EXPR_EQ ? c->arg[0] : NULL;

	return mod && (mod->op == HN_EXPR_FLOORMOD || mod->op == HN_EXPR_TRUNCMOD) &&
			       mod->arg[1]->op == HN_EXPR_INT && mod->arg[1]->u.i > 0
		       ? 1 / (double)mod->arg[1]->u.i
		       : 1;
}

/* An if in a reduction is tested outside of the loops that do not change it, and its terms
 * are skipped (lower/emit_zero.c); anywhere else both sides are computed, lane by lane. */
static void walk_choice(const struct hn_expr *e, struct found *f)
{
	bool constant = e->arg[2]->n_arg == 0 && e->arg[2]->op != HN_EXPR_LOAD;

	if (f->reduces && constant && !moves_with(e->arg[0], f->lanes)) {
		f->view->skips = true;
		f->view->share *= share_of(e->arg[0]);
	} else {
		f->view->branches = true;
		f->view->n_arith += 1;
	}
}

static void walk(const struct hn_expr *e, struct found *f)
{
	if (e->op == HN_EXPR_LOAD) {
		if (f->n_load + 1 < HN_VIEW_MAX_STREAMS) {
			f->load[f->n_load++] = e;
		} else {
			f->overflow = true;
		}
		return;
	}
	if (e->op == HN_EXPR_CALL) {
		f->view->n_expensive += 1;
	} else if (e->op == HN_EXPR_DIV) {
		f->view->n_arith += 4;
	} else if (e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) {
		if (f->unrolled && decided(e->arg[0], f->unrolled)) {
			walk(e->arg[2], f);
			return;
		}
		walk_choice(e, f);
	} else if (e->n_arg == 2) {
		f->view->n_arith += 1;
	}
	for (uint32_t i = e->op == HN_EXPR_IF ? 1 : 0; i < e->n_arg; i++) {
		walk(e->arg[i], f);
	}
}

static void walk_stmt(struct found *f, const struct hn_op *op, uint8_t kind)
{
	if (kind == HN_STMT_UPDATE && op->reduce) {
		f->reduces = true;
		for (uint32_t i = 0; i < op->reduce->n; i++) {
			walk(op->reduce->source[i], f);
			f->view->multiplies = op->reduce->source[i]->op == HN_EXPR_MUL;
		}
		f->view->branches |= op->reduce->condition != NULL;
	} else if (kind == HN_STMT_COMPUTE && op->body) {
		for (uint32_t i = 0; i < op->n_out; i++) {
			walk(op->body[i], f);
		}
	}
}

static void mark_loops(const struct hn_expr *e, bool *used, int32_t n)
{
	if (e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < n) {
		used[e->ref] = true;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		mark_loops(e->arg[i], used, n);
	}
}

/* What the indices of a statement are made of. */
struct points {
	int64_t *axis; /* [2 * n_loop + 1][n_axis] axis values: at point 0 all loops at 0,
			* at 1 + 2l loop l at 1, at 2 + 2l loop l at its end */
	bool *moves;   /* [n_loop] whether loop l moves an axis: its points are known then */
	int64_t *loop; /* [tree's loops] all 0: where a loop is set, to look, and put back */
	bool *used;    /* [tree's loops] scratch */
};

/* e with loop l at v, all others at 0. */
static int64_t eval_at(const struct hn_expr *e, const struct hn_view *v, uint32_t l,
		       int64_t value, int64_t *loop_value)
{
	struct env env = {loop_value, (int32_t)v->tree->n_loop};
	int32_t id = v->loop[l]->loop;

	loop_value[id] = value;
	int64_t x = eval(e, &env);
	loop_value[id] = 0;
	return x;
}

static void axis_values(const struct hn_view *v, const struct hn_op *op,
			struct hn_arena *a, struct points *p)
{
	uint32_t n_axis = op->n_spatial + op->n_reduce, n_point = 2 * v->n_loop + 1;
	int32_t n_loop = (int32_t)v->tree->n_loop;

	p->axis = HN_NEW_ARRAY(a, int64_t, (size_t)n_axis * n_point);
	p->moves = HN_NEW_ARRAY(a, bool, v->n_loop);
	p->loop = HN_NEW_ARRAY(a, int64_t, n_loop);
	p->used = HN_NEW_ARRAY(a, bool, n_loop);
	struct env env = {p->loop, n_loop};

	for (uint32_t k = 0; k < n_axis; k++) {
		const struct hn_expr *e = v->stmt->axis[k];
		p->axis[k] = e ? eval(e, &env) : 0;
	}
	for (uint32_t i = 1; i < n_point; i++) {
		memcpy(p->axis + (size_t)i * n_axis, p->axis, n_axis * sizeof *p->axis);
	}
	for (uint32_t k = 0; k < n_axis; k++) {
		const struct hn_expr *e = v->stmt->axis[k];
		if (!e) {
			continue;
		}
		memset(p->used, 0, (size_t)n_loop * sizeof *p->used);
		mark_loops(e, p->used, n_loop);
		for (uint32_t l = 0; l < v->n_loop; l++) {
			int64_t *one = p->axis + (size_t)(2 * l + 1) * n_axis;
			if (!p->used[v->loop[l]->loop]) {
				continue;
			}
			p->moves[l] = true;
			one[k] = eval_at(e, v, l, 1, p->loop);
			one[n_axis + k] =
				eval_at(e, v, l, v->loop[l]->extent - 1, p->loop);
		}
	}
}

/* Index d of an access at point p: by its own expression, or axis d for the store. */
static int64_t index_at(const struct hn_expr *load, uint32_t d, const int64_t *axis,
			uint32_t n_axis)
{
	struct env env = {axis, (int32_t)n_axis};

	return load ? eval(load->arg[d], &env) : axis[d];
}

/* The lower corner of a local buffer along d, which moves with the loops outside it; NULL =
 * it is 0. */
static const struct hn_expr *corner_of(const struct hn_buffer *b, uint32_t d)
{
	return b->scope == HN_SCOPE_LOCAL && b->min ? b->min[d] : NULL;
}

static void index_moves(const struct hn_view *v, struct hn_stream *s, uint32_t d,
			const struct hn_expr *load, uint32_t n_axis, struct points *p)
{
	const struct hn_expr *corner = corner_of(s->buffer, d);
	struct env env = {p->loop, (int32_t)v->tree->n_loop};
	int64_t corner0 = 0;

	memset(p->used, 0, v->tree->n_loop * sizeof *p->used);
	if (corner) {
		mark_loops(corner, p->used, (int32_t)v->tree->n_loop);
		corner0 = eval(corner, &env);
	}
	int64_t base = index_at(load, d, p->axis, n_axis) - corner0;
	for (uint32_t l = 0; l < v->n_loop; l++) {
		const int64_t *one = p->axis + (size_t)(2 * l + 1) * n_axis;
		bool local = p->used[v->loop[l]->loop];
		int64_t extent = v->loop[l]->extent, at1 = corner0, at_end = corner0;
		if (extent < 2 || (!p->moves[l] && !local)) {
			continue;
		}
		if (local) {
			at1 = eval_at(corner, v, l, 1, p->loop);
			at_end = eval_at(corner, v, l, extent - 1, p->loop);
		}
		int64_t step = index_at(load, d, one, n_axis) - at1 - base;
		int64_t span = index_at(load, d, one + n_axis, n_axis) - at_end - base;
		span = span < 0 ? -span : span;
		s->span[(size_t)d * v->n_loop + l] = span;
		s->stride[l] += step * s->buffer->stride[d];
		s->moves[l] |= span != 0 || step != 0;
	}
}

static void make_stream(struct hn_view *v, const struct hn_expr *load, int32_t op_id,
			struct points *p, struct hn_arena *a)
{
	const struct hn_op *op = v->tree->dag->op[v->stmt->stage];
	const struct hn_buffer *b = &v->tree->buffer[op_id];
	uint32_t n = v->n_loop;
	struct hn_stream *s = &v->stream[v->n_stream++];
	int64_t dtype = v->tree->dag->op[op_id]->dtype[load ? load->out : 0];

	*s = (struct hn_stream){.store = !load,
				.elem_bytes = hn_dtype_bytes((enum hn_dtype)dtype),
				.n_dim = b->n_dim,
				.buffer = b,
				.span = HN_NEW_ARRAY(a, int64_t, (size_t)b->n_dim * n),
				.stride = HN_NEW_ARRAY(a, int64_t, n),
				.moves = HN_NEW_ARRAY(a, bool, n)};
	for (uint32_t d = 0; d < b->n_dim; d++) {
		index_moves(v, s, d, load, op->n_spatial + op->n_reduce, p);
	}
}

static bool uses_loop(const struct hn_expr *e, int32_t loop)
{
	bool uses = e->op == HN_EXPR_VAR && e->ref == loop;

	for (uint32_t i = 0; i < e->n_arg && !uses; i++) {
		uses = uses_loop(e->arg[i], loop);
	}
	return uses;
}

/* Axes that only loops to be unrolled move. */
static uint64_t unrolled_axes(const struct hn_view *v, const struct hn_op *op)
{
	uint64_t out = 0;

	for (uint32_t k = 0; k < op->n_spatial + op->n_reduce && k < 64; k++) {
		const struct hn_expr *e = v->stmt->axis[k];
		if (e && e->op == HN_EXPR_VAR) {
			for (uint32_t l = 0; l < v->n_loop; l++) {
				bool unroll = v->loop[l]->ann == HN_ANN_UNROLL;
				out |= (uint64_t)(v->loop[l]->loop == e->ref && unroll)
				       << k;
			}
		}
	}
	return out;
}

/* Axes that the vector loop moves, or the innermost where none is said to be one. */
static uint64_t lane_axes(const struct hn_view *v, const struct hn_op *op)
{
	uint64_t out = 0;

	if (v->n_loop == 0) {
		return 0;
	}
	uint32_t l = v->vector >= 0 ? (uint32_t)v->vector : v->n_loop - 1;

	for (uint32_t k = 0; k < op->n_spatial + op->n_reduce && k < 64; k++) {
		const struct hn_expr *e = v->stmt->axis[k];

		out |= (uint64_t)(e && uses_loop(e, v->loop[l]->loop)) << k;
	}
	return out;
}

static int32_t deepest(const struct hn_view *v, const struct hn_expr *e)
{
	int32_t best = -1;

	if (e->op == HN_EXPR_VAR) {
		for (uint32_t l = 0; l < v->n_loop; l++) {
			best = v->loop[l]->loop == e->ref ? (int32_t)l : best;
		}
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		int32_t k = deepest(v, e->arg[i]);
		best = k > best ? k : best;
	}
	return best;
}

bool hn_view_make(const struct hn_looptree *tree, const struct hn_node *stmt,
		  const struct hn_node *const *path, uint32_t n, struct hn_arena *a,
		  struct hn_view *ret)
{
	const struct hn_op *op = tree->dag->op[stmt->stage];
	struct found f = {.view = ret};

	if (n > HN_VIEW_MAX_LOOPS) {
		return false;
	}
	ret->tree = tree;
	ret->stmt = stmt;
	ret->n_loop = n;
	ret->vector = ret->parallel = ret->guard_loop = -1;
	ret->n_stream = 0;
	ret->n_arith = ret->n_expensive = 0;
	ret->share = 1;
	ret->multiplies = ret->branches = ret->skips = false;
	for (uint32_t l = 0; l < n; l++) {
		ret->loop[l] = path[l];
		if (path[l]->ann == HN_ANN_VECTORIZE && path[l]->extent > 1) {
			ret->vector = (int32_t)l;
		} else if (path[l]->ann == HN_ANN_PARALLEL && ret->parallel < 0) {
			ret->parallel = (int32_t)l;
		}
	}
	for (uint32_t i = 0; i < stmt->n_guard; i++) {
		int32_t k = deepest(ret, stmt->guard[i]);
		ret->guard_loop = k > ret->guard_loop ? k : ret->guard_loop;
	}
	f.unrolled = unrolled_axes(ret, op);
	f.lanes = lane_axes(ret, op);
	walk_stmt(&f, op, stmt->stmt);
	struct points points;
	axis_values(ret, op, a, &points);
	for (uint32_t i = 0; i < f.n_load; i++) {
		if (tree->buffer[f.load[i]->ref].op >= 0) {
			make_stream(ret, f.load[i], f.load[i]->ref, &points, a);
		}
	}
	make_stream(ret, NULL, stmt->stage, &points, a);
	return !f.overflow;
}
