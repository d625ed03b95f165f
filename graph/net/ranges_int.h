/* graph/net/ranges_int.h -- what the files share that find ranges. */
#ifndef HN_GRAPH_NET_RANGES_INT_H
#define HN_GRAPH_NET_RANGES_INT_H

#include "graph/net/lift.h"

struct hn_ranges_box;

struct hn_ranges_finder {
	const struct hn_net_size *size;
	uint32_t n_size;
	hn_net_at at;
	void *ctx;
	struct hn_arena *a;
	struct hn_ranges *ret;
	uint32_t cap, cap_box;
	struct hn_ranges_box *box; /* [ret->n] of the ranges */
	struct hn_err *err;
	bool other; /* the last failure was another program, not an error */
};

/* A range that is being looked at. */
struct hn_ranges_box {
	struct hn_net_range range;
	struct hn_lift *task; /* [n_task] */
	struct hn_lift_form **input, **output; /* [n][rank] */
};

/* Task i as a dag of the sizes of b->range. */
int hn_ranges_make_sized(struct hn_ranges_finder *f, struct hn_ranges_box *b, uint32_t i);

/* Ranges of one size whose tasks with weights are those of the first range have its kernels, which
 * are for these sizes, too, then. */
void hn_ranges_share_weights(struct hn_ranges_finder *f);

#endif
