/* graph/net/family.h -- several kernels for a range of sizes.
 *
 * A kernel's schedule is that of the largest sizes.  Where what lies in the lanes of vectors, or is
 * summed up, has the extent that a size gives, a small size wants another: it would fill a part of
 * the vectors, and pack panels for few reads.  So a range is cut where small sizes end, and each part
 * has kernels of its own of this kind.  All others, and all that read weights, whose layout depends
 * on the schedule, are one kernel for all parts.
 */
#ifndef HN_GRAPH_NET_FAMILY_H
#define HN_GRAPH_NET_FAMILY_H

#include "graph/net/ranges.h"

/* The largest size of the part that has `size`, of a range whose largest is `most`. */
int64_t hn_family_end(int64_t size, int64_t most);

/* Whether kernels of the dag differ from part to part along size k. */
bool hn_family_differs(const struct hn_dag *dag, uint32_t k);

/* Whether it reads weights that a schedule may lay out anew. */
bool hn_family_has_weights(const struct hn_dag *dag);

/* Cuts the ranges: the first still has the largest sizes.  All in `a`. */
int hn_family_cut(struct hn_ranges *r, struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

#endif
