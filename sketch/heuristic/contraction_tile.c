/* sketch/heuristic/contraction_tile.c -- the lanes and the register tile of a contraction: those of
 * the fewest cycles, counted by what a core can do and by what the tile reads, loses and writes. */
#include "base/arith.h"
#include "sketch/heuristic/contraction_int.h"

#define MAX_VECTORS 4 /* of a register tile along the lanes: of 6, unrolled, some go to the stack */
#define VECTOR_CYCLES 0.25 /* of a panel, more than a load: it comes from the second cache */
#define STREAMS 16	   /* rows whose next lines hardware fetches ahead; */
#define STREAM_CYCLES 0.1  /* of one more, more than a load */
#define GAIN 0.995	   /* of the cycles: a smaller tile must spare so much */
#define LOST_CYCLES 1.0	   /* of a line that the first cache lost: out of the second */
#define RUN_CYCLES 30.0	   /* of a run of results: nothing has fetched its first line */
#define REST 1.04	   /* a rest is a second, guarded form of the nest */

/* What the loads of a vector along the axis cost, in loads; 0 = cannot be the lanes. */
static double lane_cost(const struct hn_heuristic_view *v, uint32_t axis)
{
	int64_t e = v->extent[axis];
	double waste = (double)(hn_ceildiv(e, v->lanes) * v->lanes) / (double)e, cost = 0;
	bool broadcast = false, moves = false;

	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];

		if (r->stride[axis] == 0) {
			broadcast = true;
		} else {
			moves = true;
			cost += r->stride[axis] == 1		   ? 1
				: hn_heuristic_dimension(r, axis) >= 0 ? 1.3
				: r->stride[axis] == HN_HEURISTIC_ODD  ? 16
								   : 8;
		}
	}
	if (!broadcast || !moves || e < 2) {
		return 0;
	}
	return cost * waste * (v->out_stride[axis] == 1 ? 1 : 1.2);
}

bool hn_contraction_lanes(struct hn_contraction *p)
{
	const struct hn_heuristic_view *v = p->v;
	double best = 0;

	for (uint32_t a = v->n_spatial; a-- > 0;) {
		double cost = lane_cost(v, a);

		if (cost > 0 && (best == 0 || cost < best)) {
			best = cost;
			p->lane_axis = a;
		}
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		p->rows[a] = a != p->lane_axis && v->extent[a] > 1;
		for (uint32_t i = 0; i < v->n_read; i++) {
			const struct hn_heuristic_read *r = &v->read[i];

			if (r->stride[p->lane_axis] != 0 && hn_contraction_uses(r, a)) {
				p->rows[a] = false;
			}
		}
	}
	return best > 0;
}

/* Cycles of one iteration of the reduction for v vectors by m points. */
static double tile_cycles(const struct hn_contraction *p, int64_t v, int64_t m)
{
	return hn_core_cycles(&p->core, (double)(v * m), (double)(v + m),
			      p->terms.in ? HN_CORE_TERM_LOADS : HN_CORE_PANEL_LOADS) +
	       HN_CORE_LOOP_CYCLES + VECTOR_CYCLES * (double)v +
	       (m > STREAMS ? STREAM_CYCLES * (double)(m - STREAMS) : 0);
}

struct pick {
	int32_t padded; /* which of them meets padding; -1 = none */
	const struct hn_heuristic_job *g;
	uint32_t n, axis[3]; /* row axes that may be tiled, innermost first */
	int64_t tile[3];
	int64_t v;
	double tiles; /* so far */
};

/* Cycles for lines of the broadcast operands that a tile loses. */
static double lost_cycles(const struct hn_contraction *p, const struct pick *k)
{
	int64_t lost = 0;

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];

		if (r->stride[p->lane_axis] == 0) {
			lost += hn_heuristic_lost_lines(k->g, r, k->n, k->axis, k->tile);
		}
	}
	return LOST_CYCLES * (double)lost;
}

/* Cycles of a tile of k->v vectors by m points.  Where it is a part of a row whose ends are pads,
 * its two outer points are tiles of their own: few sums, which wait for themselves. */
static double point_cycles(const struct hn_contraction *p, const struct pick *k, int64_t m)
{
	int32_t i = k->padded;
	bool whole = i < 0 || k->tile[i] >= p->v->extent[k->axis[i]] || k->tile[i] < 2;
	int64_t ends = whole ? 0 : 2 * (m / k->tile[i]);

	double cycles = (double)ends * tile_cycles(p, k->v, 1);

	return m > ends ? cycles + tile_cycles(p, k->v, m - ends) : cycles;
}

/* Cycles for the runs of neighbours in memory that a tile's results are, where the second cache
 * does not hold all results, for one iteration of the reduction: a vector wide they are as many as
 * the points, and a short reduction waits for them.  64 channels to 256 of 56 x 56 pixels with a
 * residual, out of memory: 4 vectors by 4 points take 0.72 of the time of 1 by 28. */
static double run_cycles(const struct hn_contraction *p, const struct pick *k, int64_t m)
{
	int64_t all = hn_ceildiv(p->v->extent[p->lane_axis], p->lanes);
	int64_t runs = k->v >= all && k->n > 0 ? m / k->tile[0] : m;
	bool far = hn_op_bytes(p->v->op, 0) > k->g->target->param[HN_PARAM_L2_BYTES] / 2;

	return far ? RUN_CYCLES * (double)runs / (double)p->v->reduce : 0;
}

static void try_rows(struct hn_contraction *p, struct pick *k, uint32_t i, int64_t m, double tiles)
{
	if (i == k->n) {
		double cycles = tiles * (point_cycles(p, k, m) + lost_cycles(p, k) +
					 run_cycles(p, k, m));

		if (p->cycles == 0 || cycles < p->cycles * GAIN) {
			p->cycles = cycles;
			p->vectors = k->v;
			for (uint32_t j = 0; j < k->n; j++) {
				p->tile[k->axis[j]] = k->tile[j];
			}
		}
		return;
	}
	hn_assert(i < HN_COUNT_OF(k->axis));
	int64_t e = p->v->extent[k->axis[i]];
	int64_t most = hn_core_results(&p->core, k->v) / (k->v * m);

	for (int64_t t = e < most ? e : most; t >= 1; t--) {
		double penalty = e % t == 0 ? 1 : REST;

		k->tile[i] = t;
		try_rows(p, k, i + 1, m * t, tiles * penalty * (double)hn_ceildiv(e, t));
	}
}

/* What an operand uses in steps (a group's channels) must not step within a tile. */
static bool in_step(const struct hn_contraction *p, int64_t vectors)
{
	int64_t len = vectors * p->lanes, e = p->v->extent[p->lane_axis];

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		int64_t run = p->v->read[i].run[p->lane_axis];

		if (run < e && run % len != 0) {
			return false;
		}
	}
	return true;
}

/* Row axes that may be tiled: of those that meet padding the innermost, and none outside of it,
 * whose neighbours are an image apart.  Of an axis split by
 * remainders each is a nest of its own, whose conditions are others (phase.c). */
static void find_axes(const struct hn_contraction *p, struct pick *k)
{
	bool padded = false;

	for (uint32_t a = p->v->n_spatial; a-- > 0 && k->n < HN_COUNT_OF(k->axis);) {
		bool pads = p->rows[a] && p->v->phase[a] == 1 &&
			    hn_heuristic_meets_pads(p->v, a);

		if (p->rows[a] && !padded) {
			k->padded = pads ? (int32_t)k->n : k->padded;
			k->axis[k->n++] = a;
		}
		padded = padded || pads;
	}
}

/* The best tile, of another number of vectors than `skip`. */
void hn_contraction_tile(const struct hn_heuristic_job *g, struct hn_contraction *p, int64_t skip)
{
	int64_t all = hn_ceildiv(p->v->extent[p->lane_axis], p->lanes);
	struct pick k = { .g = g, .padded = -1 };

	find_axes(p, &k);
	p->cycles = 0;
	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		p->tile[a] = 1;
	}
	for (k.v = all < MAX_VECTORS ? all : MAX_VECTORS; k.v >= 1; k.v--) {
		if (k.v == skip || k.v > hn_core_results(&p->core, k.v) || !in_step(p, k.v)) {
			continue;
		}
		try_rows(p, &k, 0, 1,
			 (double)hn_ceildiv(all, k.v) * (all % k.v ? REST : 1));
	}
}
