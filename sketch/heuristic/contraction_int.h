/* sketch/heuristic/contraction_int.h -- what a contraction's nest is made from, between the choice
 * of its register tile (contraction_tile.c) and its loops (contraction.c). */
#ifndef HN_SKETCH_HEURISTIC_CONTRACTION_INT_H
#define HN_SKETCH_HEURISTIC_CONTRACTION_INT_H

#include "sketch/heuristic/heuristic_int.h"
#include "target/cpu/core.h"

struct hn_contraction {
	const struct hn_heuristic_view *v;
	struct hn_core core;
	uint32_t lane_axis;
	bool rows[HN_DAG_MAX_ITERS]; /* axes that only broadcast operands have */
	int64_t tile[HN_DAG_MAX_ITERS];
	int64_t vectors, lanes;
	bool along;    /* lanes run over the reduction: nothing is packed for them */
	bool phased;   /* v is one remainder of some axes */
	struct hn_heuristic_terms terms;
	double cycles; /* of all tiles, for one iteration of the reduction */
};

static inline bool hn_contraction_uses(const struct hn_heuristic_read *r, uint32_t axis)
{
	return (r->uses >> axis & 1) != 0;
}

/* The axis of the lanes, and those that are rows; false: no axis can be the lanes. */
bool hn_contraction_lanes(struct hn_contraction *p);

/* The best tile, of another number of vectors than `skip`; p->cycles is 0 where there is none. */
void hn_contraction_tile(const struct hn_heuristic_job *g, struct hn_contraction *p, int64_t skip);

#endif
