/* lower/device/place_cores.c -- loops over cores on a machine that is reached as a grid.
 *
 * A driver of a processor's cores (OpenCL's) runs blocks on them, one thread after the other.  There
 * a block is one thread, and what goes over cores in the tree goes over blocks: of each nest the
 * outermost loop of them, if no other loop is around it.  Those further inside run in order.
 */
#include "lower/device/place_int.h"

const struct hn_node *hn_place_over_blocks(struct place *p, const struct hn_node *n)
{
	struct hn_node *copy;
	const struct hn_node **child;

	if (n->kind != HN_NODE_LOOP) {
		return n;
	}
	copy = HN_NEW(p->a, struct hn_node);
	*copy = *n;
	if (hn_place_runs(n) == HN_RUNS_CORES) {
		copy->ann = HN_ANN_BLOCK_X;
		p->over_cores = true;
	} else if (n->extent == 1 && n->n_child == 1) {
		child = HN_NEW_ARRAY(p->a, const struct hn_node *, 1);
		child[0] = hn_place_over_blocks(p, n->child[0]);
		copy->child = child;
	}
	return copy;
}
