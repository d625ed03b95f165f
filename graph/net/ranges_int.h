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

/* The ranges as they are asked for, of no more than `limit` combinations of sizes. */
int hn_ranges_begin(struct hn_ranges_finder *f, int64_t limit, int64_t *least, int64_t *most);

/* ranges_point.c: the network at these sizes, the next sizes in a range, the networks at the largest
 * with one or two sizes one less. */
int hn_ranges_read(struct hn_ranges_finder *f, const int64_t *size, struct hn_arena *a,
		   struct hn_net *ret);
bool hn_ranges_next(const struct hn_ranges_finder *f, const int64_t *least, const int64_t *most,
		    int64_t *size);
int hn_ranges_read_below(struct hn_ranges_finder *f, const int64_t *least, const int64_t *most,
			 int64_t (*size)[HN_NET_MAX_SIZES], struct hn_arena *a,
			 struct hn_net *below);

/* Fails: `what` differs from what it is at the largest sizes in more than numbers. */
int hn_ranges_other(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const int64_t *size,
		    const char *what);

/* A range more, whose names no other has. */
void hn_ranges_add(struct hn_ranges_finder *f, const struct hn_ranges_box *b);

/* ranges_shape.c: forms of the dimensions of inputs, or outputs, [n][rank]; whether they hold at
 * these sizes; and as text. */
struct hn_lift_form **hn_ranges_shapes(const struct hn_ranges_finder *f, const int64_t *most,
				       const struct hn_graph *g, bool outputs,
				       const struct hn_net *below);
bool hn_ranges_have_shapes(const struct hn_ranges_finder *f, struct hn_lift_form *const *form,
			   const struct hn_graph *g, bool outputs, const int64_t *size);
const char *const **hn_ranges_shape_texts(const struct hn_ranges_finder *f,
					  struct hn_lift_form *const *form,
					  const struct hn_graph *g, bool outputs);

/* Task i as a dag of the sizes of b->range. */
int hn_ranges_make_sized(struct hn_ranges_finder *f, struct hn_ranges_box *b, uint32_t i);

/* Whether the steps of x are those of y, on larger values.  lies: [n_value of x]; what is unknown is
 * chosen where it is met. */
bool hn_ranges_same(const struct hn_net *x, const struct hn_net *y, uint8_t *lies);

/* Ranges of one size whose tasks with weights are those of the first range have its kernels, which
 * are for these sizes, too, then. */
void hn_ranges_share_weights(struct hn_ranges_finder *f);

#endif
