/* costmodel/view.c -- read one statement: what it computes, and how its indices move along
 * each loop (costmodel/line.h), which gives strides and spans.
 */
#include "costmodel/analytic_int.h"
#include "target/cpu/function.h"
#include "costmodel/line.h"
#include "loopstate/state/intrin.h"

/* What the walk through a body finds. */
struct found {
	struct hn_view *view;
	const struct hn_expr *load[HN_VIEW_MAX_STREAMS];
	uint32_t n_load;
	uint64_t unrolled; /* axes whose value is a constant in each unrolled copy */
	uint64_t lanes; /* axes that move from lane to lane */
	uint64_t padded; /* axes at whose ends terms are skipped */
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

static uint64_t axes_of(const struct hn_expr *e)
{
	uint64_t axes = e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < 64
				? UINT64_C(1) << e->ref
				: 0;

	for (uint32_t i = 0; i < e->n_arg; i++) {
		axes |= axes_of(e->arg[i]);
	}
	return axes;
}

/* An if in a reduction is tested outside of the loops that do not change it, and its terms
 * are skipped (lower/cpu/emit_zero.c); anywhere else both sides are computed, lane by lane. */
static void walk_choice(const struct hn_expr *e, struct found *f)
{
	bool constant = e->arg[2]->n_arg == 0 && e->arg[2]->op != HN_EXPR_LOAD;

	if (f->reduces && constant && !moves_with(e->arg[0], f->lanes)) {
		f->view->skips = true;
		f->padded |= axes_of(e->arg[0]);
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
	if (e->op == HN_EXPR_CALL && hn_function_is_cheap((enum hn_fn)e->ref)) {
		f->view->n_arith += 1;
	} else if (e->op == HN_EXPR_CALL) {
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

/* The indices of a statement, as lines over the loops that run more than once: others stand at
 * 0. */
struct indices {
	uint32_t n_moving;
	const uint32_t *moving;	    /* [n_moving] which of the view's loops these are */
	struct hn_line_space loops; /* expressions over the tree's loops */
	struct hn_line_space axes;  /* expressions over the op's axes */
};

static struct indices find_axes(const struct hn_view *v, const struct hn_op *op,
				struct hn_arena *a)
{
	uint32_t n_axis = op->n_spatial + op->n_reduce, n = 0;
	int32_t *at = HN_NEW_ARRAY(a, int32_t, v->tree->n_loop);
	uint32_t *moving = HN_NEW_ARRAY(a, uint32_t, v->n_loop);
	const struct hn_node **loop = HN_NEW_ARRAY(a, const struct hn_node *, v->n_loop);
	struct hn_line *line = HN_NEW_ARRAY(a, struct hn_line, n_axis);

	for (uint32_t l = 0; l < v->tree->n_loop; l++) {
		at[l] = -1;
	}
	for (uint32_t l = 0; l < v->n_loop; l++) {
		if (v->loop[l]->extent >= 2) {
			at[v->loop[l]->loop] = (int32_t)n;
			loop[n] = v->loop[l];
			moving[n++] = l;
		}
	}
	struct indices x = {n, moving, {n, loop, at, NULL, v->tree->n_loop, a},
			    {n, loop, NULL, line, n_axis, a}};

	for (uint32_t k = 0; k < n_axis; k++) {
		line[k] = hn_line_zero(&x.loops);
		if (v->stmt->axis[k]) {
			hn_line_add(&x.loops, v->stmt->axis[k], 1, &line[k]);
		}
	}
	return x;
}

/* Index d of an access, by its own expression or axis d for the store, less the lower corner of
 * a local buffer, which moves with the loops outside it. */
static struct hn_line index_line(const struct indices *x, const struct hn_buffer *b, uint32_t d,
				 const struct hn_expr *load)
{
	bool local = b->lifetime == HN_LIFETIME_LOOP && b->min && b->min[d];
	int32_t axis = !load				   ? (int32_t)d
		       : load->arg[d]->op == HN_EXPR_VAR ? load->arg[d]->ref
							   : -1;

	if (!local && axis >= 0 && (uint32_t)axis < x->axes.n_var) {
		return x->axes.line[axis];
	}
	struct hn_line out = hn_line_zero(&x->axes);

	if (load) {
		hn_line_add(&x->axes, load->arg[d], 1, &out);
	} else {
		hn_line_add_variable(&x->axes, axis, 1, &out);
	}
	if (local) {
		hn_line_add(&x->loops, b->min[d], -1, &out);
	}
	return out;
}

static void index_moves(const struct hn_view *v, const struct indices *x, struct hn_stream *s,
			uint32_t d, const struct hn_line *line)
{
	int64_t *of = s->span + (size_t)d * v->n_loop;

	for (uint32_t i = 0; i < x->n_moving; i++) {
		uint32_t l = x->moving[i];
		int64_t step = line->one[i], span = line->end[i];

		of[l] = span < 0 ? -span : span;
		s->stride[l] += step * s->buffer->stride[d];
		s->moves[l] |= span != 0 || step != 0;
	}
}

static void make_stream(struct hn_view *v, const struct hn_expr *load, int32_t op_id,
			const struct indices *x, struct hn_arena *a)
{
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
		struct hn_line line = index_line(x, b, d, load);

		index_moves(v, x, s, d, &line);
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

/* A loop given to an instruction (TE) is one of its groups, where the terms lie side by side and
 * the target has it. */
static void find_group(struct hn_view *v, const struct hn_target *t)
{
	int32_t at = -1;

	for (uint32_t l = 0; l < v->n_loop; l++) {
		const struct hn_intrin *in =
			v->loop[l]->stage == v->stmt->stage ? v->loop[l]->intrin : NULL;

		bool made = in != NULL && !hn_intrin_is_tile(in) &&
			    hn_target_has_intrin(t, in) != 0;

		at = made ? (int32_t)l : at;
	}
	for (uint32_t i = 0; at >= 0 && i + 1 < v->n_stream; i++) {
		at = v->stream[i].stride[at] == 1 ? at : -1;
	}
	if (at < 0 || v->stmt->stmt != HN_STMT_UPDATE) {
		return;
	}
	v->group = at;
	v->n_arith = 1;
	v->multiplies = true;
	for (uint32_t i = 0; i + 1 < v->n_stream; i++) {
		int64_t *stride = v->stream[i].stride, terms = v->loop[at]->extent;

		for (uint32_t l = 0; l < v->n_loop; l++) {
			stride[l] /= (int32_t)l != at && stride[l] % terms == 0 ? terms : 1;
		}
	}
}

/* A padded axis has points in the tile, inside of all reductions or of the group, and tiles outside:
 * only those at its ends meet padding, so that their rows are apart. */
static bool has_border_tiles(const struct hn_view *v, const struct hn_op *op, uint64_t padded)
{
	int32_t last = v->group;

	for (uint32_t l = 0; l < v->n_loop && v->group < 0; l++) {
		last = v->loop[l]->iter_kind == HN_ITER_REDUCE ? (int32_t)l : last;
	}
	for (uint32_t a = 0; a < op->n_spatial && a < 64; a++) {
		bool inside = false, outside = false;

		for (uint32_t l = 0; l < v->n_loop && (padded >> a & 1); l++) {
			if (v->loop[l]->extent > 1 && uses_loop(v->stmt->axis[a], v->loop[l]->loop)) {
				*((int32_t)l > last ? &inside : &outside) = true;
			}
		}
		if (inside && outside) {
			return true;
		}
	}
	return false;
}

bool hn_view_make(const struct hn_looptree *tree, const struct hn_node *stmt,
		  const struct hn_node *const *path, uint32_t n,
		  const struct hn_target *t, struct hn_arena *a,
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
	ret->vector = ret->parallel = ret->guard_loop = ret->group = -1;
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
	struct indices indices = find_axes(ret, op, a);
	for (uint32_t i = 0; i < f.n_load; i++) {
		if (tree->buffer[f.load[i]->ref].op >= 0) {
			make_stream(ret, f.load[i], f.load[i]->ref, &indices, a);
		}
	}
	make_stream(ret, NULL, stmt->stage, &indices, a);
	find_group(ret, t);
	ret->border_tiles = stmt->stmt == HN_STMT_UPDATE && has_border_tiles(ret, op, f.padded);
	return !f.overflow;
}
