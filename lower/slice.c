/* lower/slice.c -- see slice.h. */
#include "lower/slice.h"

#include <string.h>

/* Runs of statements under a node, what comes before its first iteration included. */
static double points_of(const struct hn_node *n)
{
	double sum = n->kind == HN_NODE_STMT ? 1 : 0;

	for (uint32_t i = 0; i < n->n_child; i++) {
		sum += points_of(n->child[i]);
	}
	if (n->kind == HN_NODE_LOOP) {
		sum *= (double)n->extent;
	}
	return sum + (n->init ? points_of(n->init) : 0);
}

static struct hn_node *with_children(const struct hn_node *n, uint32_t n_child,
				     const struct hn_node *const *child, struct hn_arena *a)
{
	struct hn_node *ret = HN_NEW(a, struct hn_node);
	const struct hn_node **list = HN_NEW_ARRAY(a, const struct hn_node *, n_child);

	for (uint32_t i = 0; i < n_child; i++) {
		list[i] = child[i];
	}
	*ret = *n;
	ret->n_child = n_child;
	ret->child = list;
	return ret;
}

/* A nest cut down: loops that run fewer iterations run those in the middle, which borders
 * and paddings do not make cheaper than the others. */
struct cutting {
	const struct hn_expr **value; /* [n_value] a cut loop's variable, moved; NULL = as it is */
	uint32_t n_value;
	struct hn_arena *a;
};

static void move(struct cutting *c, int32_t loop, int64_t by)
{
	c->value[loop] = hn_expr_binary(HN_EXPR_ADD, hn_expr_var(loop, HN_I32, NULL, c->a),
					hn_expr_int(by, HN_I32, c->a), c->a);
}

/* The node with fewer iterations: of its outermost loop, and when one of these is too long yet
 * and is a loop alone, of that. */
static const struct hn_node *cut(struct cutting *c, const struct hn_node *n, double most)
{
	if (n->kind != HN_NODE_LOOP || points_of(n) <= most) {
		return n;
	}
	double each = points_of(n) / (double)n->extent;
	struct hn_node *ret = with_children(n, n->n_child, n->child, c->a);

	ret->extent = each < most ? (int64_t)(most / each) : 1;
	move(c, n->loop, (n->extent - ret->extent) / 2);
	if (each > most && n->n_child == 1) {
		const struct hn_node *child = cut(c, n->child[0], most);

		ret = with_children(ret, 1, &child, c->a);
	}
	return ret;
}

static const struct hn_expr *const *moved_list(struct cutting *c, uint32_t n,
					       const struct hn_expr *const *list)
{
	const struct hn_expr **ret = HN_NEW_ARRAY(c->a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		ret[i] = list[i] ? hn_expr_substitute(list[i], c->value, c->n_value, c->a) : NULL;
	}
	return ret;
}

/* The nest with its statements' indices moved. */
static const struct hn_node *moved(struct cutting *c, const struct hn_node *n, uint32_t n_axis)
{
	struct hn_node *ret = with_children(n, n->n_child, n->child, c->a);
	const struct hn_node **child =
		HN_NEW_ARRAY(c->a, const struct hn_node *, n->n_child);

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = moved(c, n->child[i], n_axis);
	}
	ret->child = child;
	ret->init = n->init ? moved(c, n->init, n_axis) : NULL;
	if (n->kind == HN_NODE_STMT) {
		ret->axis = moved_list(c, n_axis, n->axis);
		ret->guard = moved_list(c, n->n_guard, n->guard);
	}
	return ret;
}

static const struct hn_node *part_of(const struct hn_looptree *t, const struct hn_node *nest,
				     double most, struct hn_arena *a)
{
	struct cutting c = { .value = HN_NEW_ARRAY(a, const struct hn_expr *, t->n_loop),
			     .n_value = t->n_loop,
			     .a = a };
	const struct hn_op *op = t->dag->op[nest->stage];

	return moved(&c, cut(&c, nest, most), op->n_spatial + op->n_reduce);
}

static struct hn_slice slice_of(const struct hn_looptree *t, uint32_t n,
				const struct hn_node *const *child, double of, struct hn_arena *a)
{
	struct hn_looptree *tree = HN_NEW(a, struct hn_looptree);

	*tree = *t;
	tree->root = with_children(t->root, n, child, a);
	return (struct hn_slice){ .tree = tree, .points = points_of(tree->root), .of = of };
}

uint32_t hn_slice(const struct hn_looptree *t, double most, struct hn_arena *a,
		  struct hn_slice ret[HN_SLICE_MAX])
{
	const struct hn_node *root = t->root;
	const struct hn_node **rest = HN_NEW_ARRAY(a, const struct hn_node *, root->n_child + 1);
	double of_rest = 0;
	uint32_t n = 0, n_rest = 0;

	for (uint32_t i = 0; i < root->n_child; i++) {
		double points = points_of(root->child[i]);

		if (points > most && n + 1 < HN_SLICE_MAX) {
			const struct hn_node *part = part_of(t, root->child[i], most, a);

			ret[n++] = slice_of(t, 1, &part, points, a);
		} else {
			of_rest += points;
			rest[n_rest++] = root->child[i];
		}
	}
	if (n > 0 && n_rest > 0) {
		ret[n++] = slice_of(t, n_rest, rest, of_rest, a);
	}
	return n;
}
