/* lower/build/restrict.c -- see restrict.h. */
#include "lower/build/restrict.h"

double hn_node_points(const struct hn_node *n)
{
	double sum = n->kind == HN_NODE_STMT ? 1 : 0;

	for (uint32_t i = 0; i < n->n_child; i++) {
		sum += hn_node_points(n->child[i]);
	}
	if (n->kind == HN_NODE_LOOP) {
		sum *= (double)n->extent;
	}
	return sum + (n->init ? hn_node_points(n->init) : 0);
}

struct hn_restrict hn_restrict_none(const struct hn_looptree *t, struct hn_arena *a)
{
	return (struct hn_restrict){ .first = HN_NEW_ARRAY(a, int64_t, t->n_loop),
				     .extent = HN_NEW_ARRAY(a, int64_t, t->n_loop),
				     .a = a };
}

struct rewriting {
	const struct hn_restrict *r;
	const struct hn_expr **value; /* [n_value] a loop's variable, moved; NULL = as it is */
	uint32_t n_value, n_axis;
};

static const struct hn_expr *const *moved_list(const struct rewriting *w, uint32_t n,
					       const struct hn_expr *const *list)
{
	const struct hn_expr **ret = HN_NEW_ARRAY(w->r->a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		ret[i] = list[i] ? hn_expr_substitute(list[i], w->value, w->n_value, w->r->a)
				 : NULL;
	}
	return ret;
}

static const struct hn_node *rewritten(const struct rewriting *w, const struct hn_node *n)
{
	struct hn_node *ret = HN_NEW(w->r->a, struct hn_node);
	const struct hn_node **child =
		HN_NEW_ARRAY(w->r->a, const struct hn_node *, n->n_child);

	*ret = *n;
	ret->child = child;
	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = rewritten(w, n->child[i]);
	}
	ret->init = n->init ? rewritten(w, n->init) : NULL;
	if (n->kind == HN_NODE_LOOP && w->r->extent[n->loop] > 0) {
		ret->extent = w->r->extent[n->loop];
	}
	if (n->kind == HN_NODE_STMT) {
		ret->axis = moved_list(w, w->n_axis, n->axis);
		ret->guard = moved_list(w, n->n_guard, n->guard);
	}
	return ret;
}

const struct hn_node *hn_restrict(const struct hn_looptree *t, const struct hn_node *nest,
				  const struct hn_restrict *r)
{
	const struct hn_op *op = t->dag->op[nest->stage];
	struct rewriting w = { .r = r,
			       .value = HN_NEW_ARRAY(r->a, const struct hn_expr *, t->n_loop),
			       .n_value = t->n_loop,
			       .n_axis = op->n_spatial + op->n_reduce };

	for (uint32_t i = 0; i < t->n_loop; i++) {
		if (r->extent[i] > 0 && r->first[i] != 0) {
			w.value[i] = hn_expr_binary(HN_EXPR_ADD,
						    hn_expr_var((int32_t)i, HN_I32, NULL, r->a),
						    hn_expr_int(r->first[i], HN_I32, r->a), r->a);
		}
	}
	return rewritten(&w, nest);
}

const struct hn_looptree *hn_restrict_tree(const struct hn_looptree *t, uint32_t n,
					   const struct hn_node *const *nest, struct hn_arena *a)
{
	struct hn_looptree *tree = HN_NEW(a, struct hn_looptree);
	struct hn_node *root = HN_NEW(a, struct hn_node);
	const struct hn_node **child = HN_NEW_ARRAY(a, const struct hn_node *, n);

	for (uint32_t i = 0; i < n; i++) {
		child[i] = nest[i];
	}
	*root = *t->root;
	root->n_child = n;
	root->child = child;
	*tree = *t;
	tree->root = root;
	return tree;
}
