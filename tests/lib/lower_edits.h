/* Ways to make a right loop tree wrong. */
#ifndef LOWER_EDITS_H
#define LOWER_EDITS_H

#include "loopstate/nest/looptree.h"

/* A deep copy of the tree with `edit` applied to every node on the way up. */
typedef void (*edit_fn)(struct hn_node *node, struct hn_arena *a);

static const struct hn_node *edit_tree(const struct hn_node *node, edit_fn edit,
				       struct hn_arena *a)
{
	struct hn_node *copy = HN_NEW(a, struct hn_node);
	const struct hn_node **child =
		HN_NEW_ARRAY(a, const struct hn_node *, node->n_child);

	*copy = *node;
	for (uint32_t i = 0; i < node->n_child; i++) {
		child[i] = edit_tree(node->child[i], edit, a);
	}
	copy->child = child;
	if (node->init) {
		copy->init = edit_tree(node->init, edit, a);
	}
	edit(copy, a);
	return copy;
}

static inline void shorten_reduction(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE && n->extent > 2) {
		n->extent--;
	}
}

static inline void shorten_spatial(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_SPATIAL && n->extent > 2) {
		n->extent--;
	}
}

static inline void drop_init(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	n->init = NULL;
}

static inline void drop_guards(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	n->n_guard = 0;
}

/* Parts of a split that overlap by one. */
static inline void lengthen_spatial(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_SPATIAL && n->extent > 1) {
		n->extent++;
	}
}

/* A reduction's loop of one iteration runs twice: its points count twice. */
static inline void repeat_reduction(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->kind == HN_NODE_LOOP && n->iter_kind == HN_ITER_REDUCE && n->extent == 1) {
		n->extent = 2;
	}
}

/* Guards that end one iteration early. */
static inline void tighten_guards(struct hn_node *n, struct hn_arena *a)
{
	const struct hn_expr **guard = HN_NEW_ARRAY(a, const struct hn_expr *, n->n_guard);

	for (uint32_t i = 0; i < n->n_guard; i++) {
		const struct hn_expr *g = n->guard[i];
		bool ends = g->op == HN_EXPR_LT && g->arg[1]->op == HN_EXPR_INT;
		const struct hn_expr *arg[2] = { g->arg[0], NULL };

		if (ends) {
			arg[1] = hn_expr_int(g->arg[1]->u.i - 1, g->arg[1]->dtype, a);
		}
		guard[i] = ends ? hn_expr_with_args(g, arg, 2, a) : g;
	}
	n->guard = guard;
}

static inline void swap_children(struct hn_node *n, struct hn_arena *a)
{
	if (n->n_child >= 2) {
		const struct hn_node **child =
			HN_NEW_ARRAY(a, const struct hn_node *, n->n_child);

		for (uint32_t i = 0; i < n->n_child; i++) {
			child[i] = n->child[n->n_child - 1 - i];
		}
		n->child = child;
	}
}

#endif
