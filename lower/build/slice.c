/* lower/build/slice.c -- see slice.h. */
#include "lower/build/slice.h"

#include "lower/build/restrict.h"

/* Fewer iterations: of the outermost loop, and when one of these is too long yet and is a loop
 * alone, of that.  They are those in the middle, which borders and paddings do not make cheaper
 * than the others. */
static void cut(const struct hn_restrict *r, const struct hn_node *n, double most)
{
	double points = hn_node_points(n), each;
	int64_t extent;

	if (n->kind != HN_NODE_LOOP || points <= most) {
		return;
	}
	each = points / (double)n->extent;
	extent = each < most ? (int64_t)(most / each) : 1;
	r->extent[n->loop] = extent;
	r->first[n->loop] = (n->extent - extent) / 2;
	if (each > most && n->n_child == 1) {
		cut(r, n->child[0], most);
	}
}

static struct hn_slice slice_of(const struct hn_looptree *t, uint32_t n,
				const struct hn_node *const *nest, double of, struct hn_arena *a)
{
	const struct hn_looptree *tree = hn_restrict_tree(t, n, nest, a);

	return (struct hn_slice){ .tree = tree, .points = hn_node_points(tree->root), .of = of };
}

uint32_t hn_slice(const struct hn_looptree *t, double most, struct hn_arena *a,
		  struct hn_slice ret[HN_SLICE_MAX])
{
	const struct hn_node *root = t->root;
	const struct hn_node **rest = HN_NEW_ARRAY(a, const struct hn_node *, root->n_child + 1);
	double of_rest = 0;
	uint32_t n = 0, n_rest = 0;

	for (uint32_t i = 0; i < root->n_child; i++) {
		double points = hn_node_points(root->child[i]);

		if (points > most && n + 1 < HN_SLICE_MAX) {
			struct hn_restrict r = hn_restrict_none(t, a);

			cut(&r, root->child[i], most);
			const struct hn_node *part = hn_restrict(t, root->child[i], &r);

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
