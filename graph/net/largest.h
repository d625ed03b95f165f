/* graph/net/largest.h -- the network of a range at its largest sizes, with numbers for the sizes.
 *
 * A kernel for a range has the schedule of the largest sizes, so these are the tasks that are tuned
 * for it, as any others are: their records are found again (client/kernel.c).
 */
#ifndef HN_GRAPH_NET_LARGEST_H
#define HN_GRAPH_NET_LARGEST_H

#include "graph/net/ranges.h"

/* Tasks, kernels and steps of r->net; all in `a`. */
int hn_range_largest(const struct hn_net_range *r, struct hn_arena *a, struct hn_net *ret,
		     struct hn_err *err) HN_NODISCARD;

/* Whether kernels of task i of range k are those of an earlier range. */
bool hn_range_has_other(const struct hn_ranges *all, uint32_t k, uint32_t i);

#endif
