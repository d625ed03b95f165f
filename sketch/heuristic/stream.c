/* sketch/heuristic/stream.c -- any nest, read and written once: cores share the outer loops,
 * the innermost runs over lanes. */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define SHARES 8 /* parts for each core */

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	(void)g;
	(void)v;
	return true;
}

/* The innermost axis, cut where the outer ones do not give the cores enough to share. */
static int64_t row_length(const struct hn_heuristic_job *g,
			  const struct hn_heuristic_view *v, uint32_t last)
{
	int64_t e = v->extent[last], want = SHARES * hn_heuristic_cores(g);
	int64_t parts = hn_ceildiv(want, v->spatial / e);
	int64_t vectors = hn_ceildiv(hn_ceildiv(e, parts), v->lanes);

	if (v->op->reduce && vectors > 4) {
		vectors = 4; /* sums that stay in registers */
	}
	return vectors * v->lanes < e ? vectors * v->lanes : e;
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		     int32_t host)
{
	struct hn_heuristic_nest n;
	uint32_t last = 0;

	hn_heuristic_nest_init(&n, v);
	n.threads = hn_heuristic_threads(g, v);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n.block[a] = n.tile[a] = 1;
		last = v->extent[a] > 1 ? a : last;
	}
	if (v->n_spatial > 0) {
		n.block[last] = n.tile[last] = row_length(g, v, last);
		n.lane_axis = last;
	}
	hn_heuristic_nest_build(g, v, host, &n);
}

extern const struct hn_heuristic_ops hn_heuristic_stream;
const struct hn_heuristic_ops hn_heuristic_stream = { "stream", fits, schedule, false };
