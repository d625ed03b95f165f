/* graph/net/fuse_int.h -- groups of nodes while they grow: what the files of fuse.h share. */
#ifndef HN_GRAPH_NET_FUSE_INT_H
#define HN_GRAPH_NET_FUSE_INT_H

#include "graph/net/fuse.h"

#define HN_FUSE_NONE UINT32_MAX /* no group */

struct hn_fuse {
	struct hn_graph *g;
	uint32_t *parent;    /* of a node: union-find; the root's number is the group's */
	uint32_t *size;	     /* of a root: nodes */
	uint8_t *heavy;	     /* of a root: the greatest class in it */
	uint32_t **reader;   /* of a value: nodes that read it */
	uint32_t *n_reader;
	bool *is_output;
	bool *is_alias;	     /* of a node */
	const struct hn_net_choice *choice; /* NULL: the rules */
	uint8_t *said;	    /* of a value: where the rule was not followed */
	bool shared;	    /* kernels may have values in common (hn_rival.shared) */
	uint32_t *next;	    /* of a node: another of its group, in a ring */
	uint32_t *list;	    /* for makes_circle: groups, */
	bool *seen;	    /* and whether one has been on it */
};

/* The node's group, by its root. */
static inline uint32_t hn_fuse_group(struct hn_fuse *w, uint32_t node)
{
	while (w->parent[node] != node) {
		w->parent[node] = w->parent[w->parent[node]];
		node = w->parent[node];
	}
	return node;
}

/* fuse_shared.c: whether one kernel of both groups would wait for itself: what is in front goes to the
 * one behind through a third, too. */
bool hn_fuse_makes_circle(struct hn_fuse *w, uint32_t front, uint32_t behind);

/* Whether all that nodes of the group read is computed by groups that have a number; of a value in
 * another's memory, that one. */
bool hn_fuse_is_ready(struct hn_fuse *w, uint32_t root, const uint32_t *number);

#endif
