/* graph/net/ranges_int.h -- what the files share that find ranges. */
#ifndef HN_GRAPH_NET_RANGES_INT_H
#define HN_GRAPH_NET_RANGES_INT_H

#include "graph/net/lift.h"

struct hn_ranges_box;

/* Where a constant of smaller sizes lies in that of the largest. */
enum hn_ranges_lies {
	HN_RANGES_UNKNOWN,
	HN_RANGES_BEGINNING, /* its elements are the first in memory: a part of a table of positions */
	HN_RANGES_CORNER     /* at the same indices: a part of a mask, which kernels read in the whole */
};

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
	uint8_t *lies; /* [n_value] enum hn_ranges_lies, of constants */
};

/* Task i as a dag of the sizes of b->range. */
int hn_ranges_make_sized(struct hn_ranges_finder *f, struct hn_ranges_box *b, uint32_t i);

/* Whether the steps of x are those of y, on larger values.  lies: [n_value of x]; what is unknown is
 * chosen where it is met. */
bool hn_ranges_same(const struct hn_net *x, const struct hn_net *y, uint8_t *lies);

/* Ranges of one size whose tasks with weights are those of the first range have its kernels, which
 * are for these sizes, too, then. */
void hn_ranges_share_weights(struct hn_ranges_finder *f);

#endif
