/* target/cpu/nest.c -- see nest.h. */
#include "target/cpu/nest.h"

#include "loopstate/dag/law.h"
#include "loopstate/dag/liberty.h"
#include "target/cpu/function.h"

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

void hn_nest_exprs(const struct hn_nest *n, void (*f)(const struct hn_expr *, void *), void *ctx)
{
	const struct hn_reduce *r = n->op->reduce;

	for (uint32_t k = 0; n->stmt->stmt == HN_STMT_COMPUTE && k < n->op->n_out; k++) {
		f(n->op->body[k], ctx);
	}
	for (uint32_t k = 0; n->stmt->stmt == HN_STMT_UPDATE && k < r->n; k++) {
		f(r->source[k], ctx);
	}
	if (n->stmt->stmt == HN_STMT_UPDATE && r->condition) {
		f(r->condition, ctx);
	}
}

static void count_all(const struct hn_expr *e, void *ctx)
{
	hn_expr_visit(e, count_loads, ctx);
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
	hn_nest_exprs(ret, count_all, ret);
	ret->load = HN_NEW_ARRAY(a, const struct hn_expr *, ret->n_load + 1);
	ret->n_load = 0;
	hn_nest_exprs(ret, count_all, ret);
}

/* Whether lanes may each reduce a part, from the identity on. */
static bool may_cross(const struct hn_looptree *t, const struct hn_op *op)
{
	return op->reduce->n == 1 && !hn_keeps_order(t->dag, op) &&
	       op->reduce->kind != HN_COMBINE_NONE &&
	       op->reduce->kind != HN_COMBINE_GENERAL && !hn_law_against_parts(op);
}

static int64_t widest(const struct hn_nest *n)
{
	int64_t bytes = 1;

	for (uint32_t k = 0; k < n->op->n_out; k++) {
		int64_t b = hn_dtype_bytes(hn_dtype_arith(n->op->dtype[k]));

		bytes = b > bytes ? b : bytes;
	}
	for (uint32_t i = 0; i < n->n_load; i++) {
		int64_t b = hn_dtype_bytes(hn_dtype_arith(n->load[i]->dtype));

		bytes = b > bytes ? b : bytes;
	}
	return bytes;
}

struct functions {
	const struct hn_target *target;
	bool exact, libm;
};

static void find_libm(const struct hn_expr *x, void *ctx)
{
	struct functions *f = ctx;

	f->libm |= x->op == HN_EXPR_CALL && hn_function_is_call(x, f->target, f->exact);
}

/* The statement computes a body, and what that calls is no scalar function. */
static bool may_widen(const struct hn_looptree *t, const struct hn_nest *n,
		      const struct hn_target *target)
{
	struct functions f = { target, hn_dag_forbids(t->dag, HN_LIBERTY_functions), false };

	for (uint32_t k = 0; n->op->body && k < n->op->n_out; k++) {
		hn_expr_visit(n->op->body[k], find_libm, &f);
	}
	return n->stmt->stmt == HN_STMT_COMPUTE && !f.libm;
}

void hn_nest_tile(const struct hn_looptree *t, const struct hn_nest *n,
		  const struct hn_target *target, struct hn_arena *a, struct hn_tile *ret)
{
	bool update = n->stmt->stmt == HN_STMT_UPDATE;

	*ret = (struct hn_tile){ .n_dim = n->n_loop,
				 .dim = HN_NEW_ARRAY(a, struct hn_tile_dim, n->n_loop + 1),
				 .n_load = n->n_load,
				 .elem_bytes = widest(n),
				 .update = update,
				 .may_cross = update && may_cross(t, n->op),
				 .init = n->stmt->init != NULL,
				 .calls = n->calls,
				 .may_widen = may_widen(t, n, target) };
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
