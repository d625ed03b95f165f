/* graph/net/fuse_shared.c -- groups with values in common: what may be merged, and when a group can run.
 *
 * Along values that one group alone reads a merge makes no circle.  Along others it does when a third
 * group reads what is in front, and the one behind reads what that makes.
 */
#include <string.h>

#include "graph/net/fuse_int.h"

/* What the node computes is read by others than the two groups: these are on the list, once each. */
static bool note_readers(struct hn_fuse *w, uint32_t node, uint32_t front, uint32_t behind, bool *seen,
			 uint32_t *list, uint32_t *n)
{
	const struct hn_gnode *it = &w->g->node[node];
	bool meets = false;

	for (uint32_t k = 0; k < it->n_out; k++) {
		for (uint32_t r = 0; r < w->n_reader[it->out[k]]; r++) {
			uint32_t group = hn_fuse_group(w, w->reader[it->out[k]][r]);

			meets = meets || group == behind;
			if (group != front && group != behind && !seen[group]) {
				seen[group] = true;
				list[(*n)++] = group;
			}
		}
	}
	return meets;
}

bool hn_fuse_makes_circle(struct hn_fuse *w, uint32_t front, uint32_t behind)
{
	uint32_t *list = w->list, n = 0, node = front;
	bool circle = false;

	memset(w->seen, 0, w->g->n_node * sizeof(bool));
	do {
		note_readers(w, node, front, behind, w->seen, list, &n);
		node = w->next[node];
	} while (node != front);
	while (n > 0 && !circle) {
		uint32_t group = node = list[--n];

		do {
			circle = circle || note_readers(w, node, front, behind, w->seen, list, &n);
			node = w->next[node];
		} while (node != group);
	}
	return circle;
}

bool hn_fuse_is_ready(struct hn_fuse *w, uint32_t root, const uint32_t *number)
{
	uint32_t node = root;

	do {
		const struct hn_gnode *n = &w->g->node[node];

		for (uint32_t k = 0; k < n->n_in; k++) {
			int32_t v = n->in[k], maker = v >= 0 ? w->g->value[v].node : -1;

			while (maker >= 0 && w->is_alias[maker] && w->g->node[maker].n_in == 1) {
				maker = w->g->value[w->g->node[maker].in[0]].node;
			}
			if (maker >= 0 && !w->is_alias[maker] && hn_fuse_group(w, (uint32_t)maker) != root &&
			    number[hn_fuse_group(w, (uint32_t)maker)] == HN_FUSE_NONE) {
				return false;
			}
		}
		node = w->next[node];
	} while (node != root);
	return true;
}
