/* lower/build/restrict.h -- a nest of a loop tree whose loops run fewer iterations.
 *
 * Parts of programs are made of such nests: the parts that give its time (slice.h), and the
 * parts that compute a sample of its outputs (sample.h).
 */
#ifndef HN_LOWER_BUILD_RESTRICT_H
#define HN_LOWER_BUILD_RESTRICT_H

#include "loopstate/nest/looptree.h"

/* What loops run: loop i from first[i] on, extent[i] iterations, or all where that is 0. */
struct hn_restrict {
	int64_t *first, *extent; /* [n_loop] of the tree */
	struct hn_arena *a;
};

/* All loops of the tree as they are; in `a`. */
struct hn_restrict hn_restrict_none(const struct hn_looptree *t, struct hn_arena *a);

/* The nest, a child of t's root, restricted; in r's arena. */
const struct hn_node *hn_restrict(const struct hn_looptree *t, const struct hn_node *nest,
				  const struct hn_restrict *r);

/* A tree of these nests, else as t. */
const struct hn_looptree *hn_restrict_tree(const struct hn_looptree *t, uint32_t n,
					   const struct hn_node *const *nest, struct hn_arena *a);

/* Runs of statements under a node, what comes before its first iteration included. */
double hn_node_points(const struct hn_node *n);

#endif
