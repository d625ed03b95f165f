/* ast_walk.h -- the statement instances that isl's AST of a loop tree runs, and those that
 * the loop tree runs, in order, as numbers to compare.
 *
 * An instance is its statement's id, then the values of the op's axes (for an update the
 * reduction axes too). */
#ifndef HN_TESTS_AST_WALK_H
#define HN_TESTS_AST_WALK_H

#include <isl/ast.h>
#include <isl/ast_type.h>
#include <isl/id.h>
#include <isl/val.h>

#include "loopstate/nest/ring.h"
#include "lower/prove/poly_ast.h"
#include "tests/lib/expr_eval.h"

#define AST_MAX_LOOPS 256

struct instances {
	int64_t *v;
	size_t n, cap, most; /* numbers; more than `most` are not wanted */
	char fault[200];
};

static inline void instances_add(struct instances *x, int64_t v)
{
	if (x->n == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 4096;
		x->v = realloc(x->v, x->cap * sizeof(*x->v));
		if (!x->v) {
			abort();
		}
	}
	x->v[x->n++] = v;
}

static inline bool instances_full(const struct instances *x)
{
	return x->n > x->most || x->fault[0];
}

/* Of the loop tree. */

struct tree_walk {
	const struct hn_poly *p;
	struct eval x; /* loops are its slots */
	struct instances *to;
};

static inline void walk_stmt(struct tree_walk *w, const struct hn_node *n)
{
	const struct hn_op *op = w->p->tree->dag->op[n->stage];
	uint32_t n_axis = op->n_spatial + (n->stmt == HN_STMT_UPDATE ? op->n_reduce : 0);
	uint32_t id = 0;

	for (uint32_t k = 0; k < n->n_guard; k++) {
		if (!eval_int(&w->x, n->guard[k])) {
			return;
		}
	}
	while (w->p->stmt[id].node != n) {
		id++;
	}
	instances_add(w->to, id);
	for (uint32_t k = 0; k < n_axis; k++) {
		instances_add(w->to, eval_int(&w->x, n->axis[k]));
	}
}

static inline void walk_node(struct tree_walk *w, const struct hn_node *n)
{
	bool loop = n->kind == HN_NODE_LOOP;
	int64_t extent = loop ? n->extent : 1, ahead = loop ? hn_ring_ahead(n) : 0;

	if (n->init) {
		walk_node(w, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		walk_stmt(w, n);
		return;
	}
	for (int64_t turn = -ahead; turn < extent && !instances_full(w->to); turn++) {
		for (uint32_t k = 0; k < n->n_child; k++) {
			int64_t v = turn + n->child[k]->ahead;

			if (v < 0 || v >= extent) {
				continue;
			}
			if (loop) {
				w->x.slot[n->loop] = v;
			}
			walk_node(w, n->child[k]);
		}
	}
}

static inline void instances_of_tree(const struct hn_poly *p, struct instances *ret)
{
	struct tree_walk w = { .p = p, .to = ret };

	w.x.dag = p->tree->dag;
	w.x.slot = calloc(p->tree->n_loop + 1, sizeof(*w.x.slot));
	w.x.n_slot = p->tree->n_loop;
	walk_node(&w, p->tree->root);
	free(w.x.slot);
}

/* Of isl's AST. */

struct ast_walk {
	struct instances *to;
	uint32_t n_loop;
	isl_id *id[AST_MAX_LOOPS]; /* iterators of the loops around, outermost first */
	int64_t value[AST_MAX_LOOPS];
};

static inline int64_t ast_int(struct ast_walk *w, isl_ast_expr *e);

static inline void ast_fault(struct ast_walk *w, const char *what)
{
	if (!w->to->fault[0]) {
		snprintf(w->to->fault, sizeof(w->to->fault), "%s", what);
	}
}

static inline int64_t ast_name(struct ast_walk *w, isl_ast_expr *e)
{
	isl_id *id = isl_ast_expr_get_id(e);
	int64_t ret = 0;
	uint32_t i = w->n_loop;

	while (i > 0 && w->id[i - 1] != id) {
		i--;
	}
	if (i == 0) {
		ast_fault(w, "a name that is no loop's");
	} else {
		ret = w->value[i - 1];
	}
	isl_id_free(id);
	return ret;
}

static inline int64_t ast_arg(struct ast_walk *w, isl_ast_expr *e, int k)
{
	isl_ast_expr *arg = isl_ast_expr_op_get_arg(e, k);
	int64_t v = ast_int(w, arg);

	isl_ast_expr_free(arg);
	return v;
}

/* The least or greatest of all operands. */
static inline int64_t ast_extreme(struct ast_walk *w, isl_ast_expr *e, int sign)
{
	int n = (int)isl_ast_expr_op_get_n_arg(e);
	int64_t best = ast_arg(w, e, 0);

	for (int k = 1; k < n; k++) {
		int64_t v = ast_arg(w, e, k);

		best = (sign < 0) == (v < best) ? v : best;
	}
	return best;
}

static inline int64_t ast_divide(struct ast_walk *w, enum isl_ast_expr_op_type type,
				 int64_t x, int64_t y)
{
	if (y <= 0) {
		ast_fault(w, "a divisor that is not positive");
		return 0;
	}
	switch (type) {
	case isl_ast_expr_op_fdiv_q:
		return hn_floordiv(x, y);
	case isl_ast_expr_op_div:
	case isl_ast_expr_op_pdiv_q:
		if (x % y && (x < 0 || type == isl_ast_expr_op_div)) {
			ast_fault(w, "a quotient that is not what was promised");
		}
		return x / y;
	case isl_ast_expr_op_pdiv_r:
		if (x < 0) {
			ast_fault(w, "the remainder of a negative number");
		}
		return x % y;
	default: /* zdiv_r: only compared with zero */
		return x % y;
	}
}

static inline int64_t ast_two(struct ast_walk *w, isl_ast_expr *e,
			      enum isl_ast_expr_op_type type)
{
	int64_t x = ast_arg(w, e, 0), y = ast_arg(w, e, 1);

	switch (type) {
	case isl_ast_expr_op_add:
		return x + y;
	case isl_ast_expr_op_sub:
		return x - y;
	case isl_ast_expr_op_mul:
		return x * y;
	case isl_ast_expr_op_eq:
		return x == y;
	case isl_ast_expr_op_le:
		return x <= y;
	case isl_ast_expr_op_lt:
		return x < y;
	case isl_ast_expr_op_ge:
		return x >= y;
	case isl_ast_expr_op_gt:
		return x > y;
	case isl_ast_expr_op_or:
		return x || y;
	case isl_ast_expr_op_div:
	case isl_ast_expr_op_fdiv_q:
	case isl_ast_expr_op_pdiv_q:
	case isl_ast_expr_op_pdiv_r:
	case isl_ast_expr_op_zdiv_r:
		return ast_divide(w, type, x, y);
	default:
		ast_fault(w, "an operation that is not known");
		return 0;
	}
}

static inline int64_t ast_int(struct ast_walk *w, isl_ast_expr *e)
{
	enum isl_ast_expr_type kind = isl_ast_expr_get_type(e);
	enum isl_ast_expr_op_type type;

	if (kind == isl_ast_expr_int) {
		isl_val *v = isl_ast_expr_int_get_val(e);
		int64_t ret = isl_val_get_num_si(v);

		isl_val_free(v);
		return ret;
	}
	if (kind == isl_ast_expr_id) {
		return ast_name(w, e);
	}
	type = isl_ast_expr_op_get_type(e);
	switch (type) {
	case isl_ast_expr_op_minus:
		return -ast_arg(w, e, 0);
	case isl_ast_expr_op_min:
	case isl_ast_expr_op_max:
		return ast_extreme(w, e, type == isl_ast_expr_op_min ? -1 : 1);
	case isl_ast_expr_op_cond:
	case isl_ast_expr_op_select:
		return ast_arg(w, e, ast_arg(w, e, 0) ? 1 : 2);
	case isl_ast_expr_op_and: /* a dividend may be below 0 where the first fails already */
	case isl_ast_expr_op_and_then:
		return ast_arg(w, e, 0) && ast_arg(w, e, 1);
	case isl_ast_expr_op_or_else:
		return ast_arg(w, e, 0) || ast_arg(w, e, 1);
	default:
		return ast_two(w, e, type);
	}
}

static inline void ast_node(struct ast_walk *w, isl_ast_node *n);

static inline int64_t ast_take(struct ast_walk *w, isl_ast_expr *e)
{
	int64_t v = ast_int(w, e);

	isl_ast_expr_free(e);
	return v;
}

static inline void ast_for(struct ast_walk *w, isl_ast_node *n)
{
	isl_ast_expr *iterator = isl_ast_node_for_get_iterator(n);
	isl_ast_node *body = isl_ast_node_for_get_body(n);
	isl_ast_expr *cond = NULL, *inc = NULL;
	uint32_t i = w->n_loop;

	w->value[i] = ast_take(w, isl_ast_node_for_get_init(n));
	w->id[i] = isl_ast_expr_get_id(iterator);
	w->n_loop++;
	if (isl_ast_node_for_is_degenerate(n) == isl_bool_true) {
		ast_node(w, body);
	} else {
		cond = isl_ast_node_for_get_cond(n);
		inc = isl_ast_node_for_get_inc(n);
		while (!instances_full(w->to) && ast_int(w, cond)) {
			ast_node(w, body);
			w->value[i] += ast_int(w, inc);
		}
	}
	w->n_loop--;
	isl_id_free(w->id[i]);
	isl_ast_expr_free(iterator);
	isl_ast_expr_free(cond);
	isl_ast_expr_free(inc);
	isl_ast_node_free(body);
}

static inline void ast_if(struct ast_walk *w, isl_ast_node *n)
{
	isl_ast_node *side = NULL;

	if (ast_take(w, isl_ast_node_if_get_cond(n))) {
		side = isl_ast_node_if_get_then_node(n);
	} else if (isl_ast_node_if_has_else_node(n) == isl_bool_true) {
		side = isl_ast_node_if_get_else_node(n);
	}
	if (side) {
		ast_node(w, side);
		isl_ast_node_free(side);
	}
}

static inline void ast_block(struct ast_walk *w, isl_ast_node *n)
{
	isl_ast_node_list *list = isl_ast_node_block_get_children(n);
	int count = (int)isl_ast_node_list_size(list);

	for (int k = 0; k < count; k++) {
		isl_ast_node *child = isl_ast_node_list_get_at(list, k);

		ast_node(w, child);
		isl_ast_node_free(child);
	}
	isl_ast_node_list_free(list);
}

/* S<id>(axes). */
static inline void ast_call(struct ast_walk *w, isl_ast_node *n)
{
	isl_ast_expr *call = isl_ast_node_user_get_expr(n);
	isl_ast_expr *callee = isl_ast_expr_op_get_arg(call, 0);
	isl_id *name = isl_ast_expr_get_id(callee);
	int n_arg = (int)isl_ast_expr_op_get_n_arg(call);

	instances_add(w->to, strtoll(isl_id_get_name(name) + 1, NULL, 10));
	for (int k = 1; k < n_arg; k++) {
		instances_add(w->to, ast_arg(w, call, k));
	}
	isl_id_free(name);
	isl_ast_expr_free(callee);
	isl_ast_expr_free(call);
}

static inline void ast_node(struct ast_walk *w, isl_ast_node *n)
{
	isl_ast_node *inner;

	if (instances_full(w->to)) {
		return;
	}
	switch (isl_ast_node_get_type(n)) {
	case isl_ast_node_for:
		ast_for(w, n);
		break;
	case isl_ast_node_if:
		ast_if(w, n);
		break;
	case isl_ast_node_block:
		ast_block(w, n);
		break;
	case isl_ast_node_mark:
		inner = isl_ast_node_mark_get_node(n);
		ast_node(w, inner);
		isl_ast_node_free(inner);
		break;
	case isl_ast_node_user:
		ast_call(w, n);
		break;
	default:
		ast_fault(w, "a node that is not known");
	}
}

static inline void instances_of_ast(isl_ast_node *ast, struct instances *ret)
{
	struct ast_walk w = { .to = ret };

	ast_node(&w, ast);
}

#endif
