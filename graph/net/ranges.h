/* graph/net/ranges.h -- a network for ranges of sizes: one program for all sizes of a range.
 *
 * A network is read for numbers (graph/import).  It is read for the largest sizes of a range, and for
 * each one less: the numbers in its kernels' texts that differ become forms of the sizes, as
 * `2 * N0 + 1` (loopstate/dag/size.h).  Then it is read at every size of the range, and what the forms
 * give there must be the very texts, and the steps and weights the same.  So no operator knows of
 * sizes, and nothing is guessed.  Where a dimension of 1 makes another program, because it is broadcast
 * or its transpose moves nothing, 1 is a range of its own (the 0/1 specialization of torch.compile).
 */
#ifndef HN_GRAPH_NET_RANGES_H
#define HN_GRAPH_NET_RANGES_H

#include "graph/net/net.h"

#define HN_NET_MAX_SIZES 4
#define HN_NET_MAX_POINTS 4096 /* combinations of sizes, at each of which the model is read */
#define HN_NET_MAX_EACH 64     /* where each has kernels of its own */

struct hn_net_size {
	const char *name; /* as the user gave it */
	/* Sizes are counted in steps: the dimension is a size times its step, which is 1 mostly. */
	int64_t least, most, step;
};

struct hn_net_range {
	int64_t least[HN_NET_MAX_SIZES], most[HN_NET_MAX_SIZES];
	struct hn_net net; /* of the largest; tasks that depend on sizes are dags with all of them */
	/* [n_input][rank], [n_output][rank] of net.g: what sizes make of a dimension; NULL: a number */
	const char *const **input, *const **output;
};

struct hn_ranges {
	uint32_t n_size, n;
	const struct hn_net_size *size;
	struct hn_net_range *range; /* they share no sizes; the first has the largest */
};

/* The network for these numbers, into *ret, which is zeroed; all in `a`. */
typedef int (*hn_net_at)(void *ctx, const int64_t *size, struct hn_arena *a, struct hn_net *ret,
			 struct hn_err *err);

/* All in `a`.  HONE_E_UNSUPPORTED names the sizes at which, and the kernel that, has other forms;
 * HONE_E_QUOTA: too many combinations.  What `at` fails with is passed on. */
int hn_ranges_find(const struct hn_net_size *size, uint32_t n_size, hn_net_at at, void *ctx,
		   struct hn_arena *a, struct hn_ranges *ret, struct hn_err *err) HN_NODISCARD;

/* The same where kernels are for one size each, as a GPU's are: every combination of sizes is a range
 * of its own, its tasks have numbers, and no more than HN_NET_MAX_EACH are taken. */
int hn_ranges_each(const struct hn_net_size *size, uint32_t n_size, hn_net_at at, void *ctx,
		   struct hn_arena *a, struct hn_ranges *ret, struct hn_err *err) HN_NODISCARD;

#endif
