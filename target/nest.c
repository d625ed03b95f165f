/* target/nest.c -- see nest.h. */
#include "target/nest.h"

#include "loopstate/bitwise.h"

bool hn_nest_begins(const struct hn_node *node, bool in_parallel)
{
	int32_t stage = node->stage;

	while (node->kind == HN_NODE_LOOP) {
		bool plain = node->iter_kind == HN_ITER_SPATIAL ||
			     node->iter_kind == HN_ITER_REDUCE;
		bool parallel = node->ann == HN_ANN_PARALLEL && !in_parallel;

		if (!plain || parallel || node->n_child != 1 || node->stage != stage) {
			return false;
		}
		node = node->child[0];
	}
	return node->kind == HN_NODE_STMT && node->stage == stage;
}

static void count_loads(const struct hn_expr *x, void *ctx)
{
	struct hn_nest *n = ctx;

	if (x->op == HN_EXPR_LOAD) {
		if (n->load) {
			n->load[n->n_load] = x;
		}
		n->n_load++;
	} else if (x->op == HN_EXPR_CALL && x->ref != HN_FN_sqrt &&
		   x->ref != HN_FN_rsqrt &&
		   (x->ref < HN_FN_abs || x->ref > HN_FN_trunc)) {
		n->calls = true;
	}
}

static void visit_body(struct hn_nest *n)
{
	const struct hn_op *op = n->op;

	n->n_load = 0;
	if (n->stmt->stmt == HN_STMT_COMPUTE) {
		for (uint32_t k = 0; k < op->n_out; k++) {
			hn_expr_visit(op->body[k], count_loads, n);
		}
	} else if (n->stmt->stmt == HN_STMT_UPDATE) {
		for (uint32_t k = 0; k < op->reduce->n; k++) {
			hn_expr_visit(op->reduce->source[k], count_loads, n);
		}
		if (op->reduce->condition) {
			hn_expr_visit(op->reduce->condition, count_loads, n);
		}
	}
}

void hn_nest_read(const struct hn_looptree *t, const struct hn_node *node, struct hn_arena *a,
		  struct hn_nest *ret)
{
	const struct hn_node *x = node;

	*ret = (struct hn_nest){ 0 };
	for (; x->kind == HN_NODE_LOOP; x = x->child[0]) {
		ret->n_loop++;
	}
	ret->stmt = x;
	ret->op = t->dag->op[x->stage];
	ret->loop = HN_NEW_ARRAY(a, const struct hn_node *, ret->n_loop + 1);
	for (uint32_t i = 0; i < ret->n_loop; i++, node = node->child[0]) {
		ret->loop[i] = node;
	}
	visit_body(ret);
	ret->load = HN_NEW_ARRAY(a, const struct hn_expr *, ret->n_load + 1);
	visit_body(ret);
}

static bool may_cross(const struct hn_looptree *t, const struct hn_op *op)
{
	return op->reduce->n == 1 && !hn_keeps_order(t->dag, op) &&
	       op->reduce->kind != HN_COMBINE_NONE &&
	       op->reduce->kind != HN_COMBINE_GENERAL;
}

static int64_t widest(const struct hn_nest *n)
{
	int64_t bytes = 1;

	for (uint32_t k = 0; k < n->op->n_out; k++) {
		int64_t b = hn_dtype_bytes(n->op->dtype[k]);

		bytes = b > bytes ? b : bytes;
	}
	for (uint32_t i = 0; i < n->n_load; i++) {
		int64_t b = hn_dtype_bytes(n->load[i]->dtype);

		bytes = b > bytes ? b : bytes;
	}
	return bytes;
}

void hn_nest_tile(const struct hn_looptree *t, const struct hn_nest *n, struct hn_arena *a,
		  struct hn_tile *ret)
{
	bool update = n->stmt->stmt == HN_STMT_UPDATE;

	*ret = (struct hn_tile){ .n_dim = n->n_loop,
				 .dim = HN_NEW_ARRAY(a, struct hn_tile_dim, n->n_loop + 1),
				 .n_load = n->n_load,
				 .elem_bytes = widest(n),
				 .update = update,
				 .may_cross = update && may_cross(t, n->op),
				 .init = n->stmt->init != NULL,
				 .calls = n->calls };
	for (uint32_t i = 0; i < n->n_loop; i++) {
		const struct hn_node *x = n->loop[i];

		ret->dim[i] = (struct hn_tile_dim){
			.extent = x->extent,
			.reduce = x->iter_kind == HN_ITER_REDUCE,
			.vectorize = x->ann == HN_ANN_VECTORIZE,
			.unroll = x->ann == HN_ANN_UNROLL || x->unroll_max_step >= x->extent,
			.init = x->init != NULL
		};
	}
}

/* -- strides ------------------------------------------------------------------------------ */

/* The code generator adds up as many terms of an index; past that it makes one of them. */
#define MOST_TERMS 16
#define MOST_QUOTIENTS 4

/* scale * floordiv(x, by) that was met, of which others may leave nothing: an axis that was
 * fused comes back as floordiv(x, c) * (c * s) + (x - floordiv(x, c) * c) * s. */
struct quotient {
	const struct hn_expr *of; /* the quotient or a remainder of the same two; loop space */
	int64_t scale;
};

struct met {
	uint32_t n_term; /* variables, and what is neither sum nor multiple, each once */
	const struct hn_expr *term[MOST_TERMS];
	uint32_t n_quotient;
	struct quotient quotient[MOST_QUOTIENTS];
};

struct strides {
	const struct hn_nest *nest;
	struct met *met;
	const struct hn_expr *const *axis; /* of op space; NULL = in loop space */
	uint32_t n_axis;
	int64_t *to;		   /* [n_loop]; NULL = terms are kept instead */
	struct hn_nest_line *line; /* with room for MOST_TERMS */
};

/* Loop number of the variable in the nest; -1 = it is none that moves. */
static int32_t loop_of(const struct hn_nest *n, int32_t slot)
{
	for (uint32_t i = 0; i < n->n_loop; i++) {
		if (n->loop[i]->loop == slot && n->loop[i]->extent > 1) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* One term more, unless it is of loop space and was met. */
static void meet(const struct strides *s, const struct hn_expr *x)
{
	struct met *m = s->met;

	for (uint32_t i = 0; i < m->n_term && i < MOST_TERMS && !s->axis; i++) {
		if (m->term[i] && hn_expr_equal(m->term[i], x)) {
			return;
		}
	}
	if (m->n_term < MOST_TERMS) {
		m->term[m->n_term] = s->axis ? NULL : x;
	}
	m->n_term++;
}

static bool add(const struct strides *s, const struct hn_expr *x, int64_t scale);

static bool stays(const struct strides *s, const struct hn_expr *x)
{
	if (x->op == HN_EXPR_VAR && s->axis && x->ref >= 0 && (uint32_t)x->ref < s->n_axis) {
		struct strides in_loops = { .nest = s->nest, .met = s->met };

		return !s->axis[x->ref] || stays(&in_loops, s->axis[x->ref]);
	}
	bool still = x->op != HN_EXPR_VAR || loop_of(s->nest, x->ref) < 0;

	if (x->op != HN_EXPR_INT && x->op != HN_EXPR_ADD && x->op != HN_EXPR_SUB &&
	    x->op != HN_EXPR_MUL) {
		meet(s, x);
	}
	for (uint32_t i = 0; i < x->n_arg && still; i++) {
		still = stays(s, x->arg[i]);
	}
	return still;
}

/* The term x, of loop i when that is not -1. */
static bool note(const struct strides *s, int32_t i, const struct hn_expr *x, int64_t scale)
{
	if (s->line && s->line->n < MOST_TERMS) {
		s->line->term[s->line->n++] = (struct hn_nest_term){ i, x, scale };
	} else if (s->to && i >= 0) {
		s->to[i] += scale;
	}
	return true;
}

static bool note_quotient(const struct strides *s, const struct hn_expr *of, int64_t scale)
{
	struct met *m = s->met;
	uint32_t i = 0;

	while (i < m->n_quotient && !(hn_expr_equal(m->quotient[i].of->arg[0], of->arg[0]) &&
				      hn_expr_equal(m->quotient[i].of->arg[1], of->arg[1]))) {
		i++;
	}
	if (i == MOST_QUOTIENTS) {
		return false;
	}
	if (i == m->n_quotient) {
		m->quotient[m->n_quotient++] = (struct quotient){ of, 0 };
	}
	m->quotient[i].scale += scale;
	meet(s, of);
	return true;
}

/* A quotient or remainder of loops of the nest by a constant. */
static bool add_quotient(const struct strides *s, const struct hn_expr *x, int64_t scale)
{
	bool mod = x->op == HN_EXPR_FLOORMOD;

	if ((!mod && x->op != HN_EXPR_FLOORDIV) || s->axis || s->line ||
	    x->arg[1]->op != HN_EXPR_INT || x->arg[1]->u.i <= 0) {
		return false;
	}
	return note_quotient(s, x, mod ? -scale * x->arg[1]->u.i : scale) &&
	       (!mod || add(s, x->arg[0], scale));
}

/* to += scale * the coefficients of x; false where it has none. */
static bool add(const struct strides *s, const struct hn_expr *x, int64_t scale)
{
	if (x->op == HN_EXPR_ADD || x->op == HN_EXPR_SUB) {
		return add(s, x->arg[0], scale) &&
		       add(s, x->arg[1], x->op == HN_EXPR_ADD ? scale : -scale);
	}
	if (x->op == HN_EXPR_MUL && x->arg[1]->op == HN_EXPR_INT) {
		return add(s, x->arg[0], scale * x->arg[1]->u.i);
	}
	if (x->op == HN_EXPR_MUL && x->arg[0]->op == HN_EXPR_INT) {
		return add(s, x->arg[1], scale * x->arg[0]->u.i);
	}
	if (x->op != HN_EXPR_VAR) {
		return stays(s, x) ? note(s, -1, x, scale) : add_quotient(s, x, scale);
	}
	if (s->axis && x->ref >= 0 && (uint32_t)x->ref < s->n_axis) {
		struct strides in_loops = { .nest = s->nest, .met = s->met, .to = s->to };

		return !s->axis[x->ref] || add(&in_loops, s->axis[x->ref], scale);
	}
	meet(s, x);
	return note(s, loop_of(s->nest, x->ref), x, scale);
}

bool hn_nest_line(const struct hn_nest *n, const struct hn_expr *x, struct hn_arena *a,
		  struct hn_nest_line *ret)
{
	struct met met = { 0 };
	struct strides s = { .nest = n, .met = &met, .line = ret };

	*ret = (struct hn_nest_line){ .term = HN_NEW_ARRAY(a, struct hn_nest_term, MOST_TERMS) };
	return add(&s, x, 1) && met.n_term < MOST_TERMS && ret->n < MOST_TERMS;
}

/* Coefficients of T[index] of a buffer: its index less its lower corner. */
static bool add_access(const struct hn_nest *n, const struct hn_buffer *b,
		       const struct hn_expr *const *index, const struct hn_expr *const *axis,
		       int64_t *to)
{
	struct met met = { 0 };
	struct strides s = { n, &met, axis, n->op->n_spatial + n->op->n_reduce, to, NULL };
	struct strides corner = { .nest = n, .met = &met, .to = to };
	bool known = b->op >= 0;

	for (uint32_t d = 0; known && d < b->n_dim; d++) {
		known = add(&s, index[d], b->stride[d]) &&
			(b->scope != HN_SCOPE_LOCAL || add(&corner, b->min[d], -b->stride[d]));
	}
	for (uint32_t i = 0; i < met.n_quotient; i++) {
		known = known && met.quotient[i].scale == 0;
	}
	return known && met.n_term < MOST_TERMS;
}

bool hn_nest_strides(const struct hn_looptree *t, const struct hn_nest *n, struct hn_arena *a,
		     struct hn_tile *ret)
{
	int64_t *to = HN_NEW_ARRAY(a, int64_t, n->n_loop + 1);
	uint32_t n_access = n->n_load + 1;
	int64_t *stride = HN_NEW_ARRAY(a, int64_t, (size_t)n_access * (n->n_loop + 1));

	for (uint32_t k = 0; k < n_access; k++) {
		const struct hn_expr *load = k > 0 ? n->load[k - 1] : NULL;

		for (uint32_t i = 0; i < n->n_loop; i++) {
			to[i] = 0;
		}
		if (!add_access(n, &t->buffer[load ? load->ref : n->stmt->stage],
				load ? load->arg : n->stmt->axis,
				load ? n->stmt->axis : NULL, to)) {
			return false;
		}
		for (uint32_t i = 0; i < n->n_loop; i++) {
			stride[i * n_access + k] = to[i];
		}
	}
	for (uint32_t i = 0; i < n->n_loop; i++) {
		ret->dim[i].stride = stride + (size_t)i * n_access;
	}
	return true;
}
