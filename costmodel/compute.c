/* costmodel/compute.c -- how long the instructions of a statement take, data in L1.
 *
 * Models what the code generator does: some loop becomes lanes, whichever costs least;
 * the accumulators of the spatial loops inside one reduction loop stay in registers,
 * block by block when there are more of them than registers.  The unrolled body is then
 * bound by FMA units, by load ports, or by the latency of too few accumulators.
 */
#include "base/arith.h"
#include "costmodel/analytic_int.h"
#include "target/cpu/core.h"

#define LOOP_CYCLES HN_CORE_LOOP_CYCLES_MODEL
#define SKIP_CYCLES 1.0  /* testing whether a term is there, once for a block's points */
#define CALL_CYCLES 4.0	 /* one element through a mathematical function, in vectors */
#define GATHER_LOAD 1.5	 /* loads an element that is collected alone costs */
#define UNROLLED HN_CORE_UNROLLED_MODEL
#define MOST_ROWS 32 /* of a register block */
#define EXACT 0x1p52 /* doubles from here on are whole */

static double max2(double x, double y)
{
	return x > y ? x : y;
}

/* floor(x) for x >= 0, without a call. */
static double whole_of(double x)
{
	return x < EXACT ? (double)(int64_t)x : x;
}

static double ceil_of(double x)
{
	double whole = whole_of(x);

	return whole + (whole < x);
}

static int64_t width_of(const struct hn_view *v, const struct hn_target *t)
{
	int64_t lanes = t->param[HN_PARAM_VECTOR_UNIT_BYTES] /
			v->stream[v->n_stream - 1].elem_bytes;

	return lanes > 1 ? lanes : 1;
}

/* Iterations; a group's terms are one. */
static int64_t trips_of(const struct hn_view *v, uint32_t l)
{
	return (int32_t)l == v->group ? 1 : v->loop[l]->extent;
}

static bool own_spatial(const struct hn_view *v, uint32_t l)
{
	return v->loop[l]->stage == v->stmt->stage &&
	       v->loop[l]->iter_kind == HN_ITER_SPATIAL;
}

static bool own_reduce(const struct hn_view *v, uint32_t l)
{
	return v->loop[l]->stage == v->stmt->stage && v->loop[l]->extent > 1 &&
	       v->loop[l]->iter_kind != HN_ITER_SPATIAL && (int32_t)l != v->group;
}

/* Instructions per element when loop l runs over lanes. */
static double lane_cost(const struct hn_view *v, uint32_t l, int64_t width)
{
	int64_t extent = v->loop[l]->extent;
	double lanes = (double)(extent < width ? extent : width), cost = 1;
	bool reduce = own_reduce(v, l), update = v->stmt->stmt == HN_STMT_UPDATE;

	for (uint32_t i = 0; i < v->n_stream; i++) {
		const struct hn_stream *s = &v->stream[i];
		if (s->store && reduce) {
			continue;
		}
		double one = !s->moves[l]	 ? 0.1
			     : s->stride[l] == 1 ? 1
						 : GATHER_LOAD * lanes;
		cost += (s->store && update ? 0.25 : 1) * one;
	}
	if (reduce) {
		cost *= extent < 4 * width ? 1.5 : 1.2;
	} else if ((int32_t)l == v->vector) {
		cost *= 0.7;
	}
	return cost / lanes;
}

struct hn_lanes hn_view_lanes(const struct hn_view *v, const struct hn_target *t)
{
	struct hn_lanes out = {-1, false, 1};
	int64_t width = width_of(v, t);
	double best = 1 + 0.9 * (v->n_stream - 1);

	for (uint32_t l = v->n_loop; l-- > 0;) {
		bool reduce = own_reduce(v, l);
		if (v->loop[l]->extent < 2 || !(reduce || own_spatial(v, l)) ||
		    v->loop[l]->ann == HN_ANN_PARALLEL ||
		    (reduce && v->loop[l]->extent < width)) {
			continue;
		}
		double cost = lane_cost(v, l, width);
		if (cost < best) {
			best = cost;
			out = (struct hn_lanes){(int32_t)l, reduce, width};
		}
	}
	return out;
}

double hn_view_units(const struct hn_view *v, uint32_t l, const struct hn_lanes *w)
{
	int64_t e = trips_of(v, l);

	return (double)((int32_t)l == w->loop ? hn_ceildiv(e, w->width) : e);
}

/* Results held if those of the loops below position r are: in registers' worth. */
static double results_below(const struct hn_view *v, uint32_t r, const struct hn_lanes *w)
{
	double n = 1;

	for (uint32_t l = r + 1; l < v->n_loop; l++) {
		n *= own_spatial(v, l) ? hn_view_units(v, l, w) : 1;
	}
	return n;
}

/* The reduction loop that accumulators stay in registers for: the outermost whose results
 * fit, else the innermost; further out while it has few iterations. -1 = there is none.
 */
static int32_t accumulate_at(const struct hn_view *v, const struct hn_core *core,
			     const struct hn_lanes *w)
{
	double room = (double)hn_core_results(core, 1), trips = 1; /* the plan: up to 4 operands */
	int32_t at = -1;

	for (uint32_t l = 0; l < v->n_loop; l++) {
		if (own_reduce(v, l)) {
			at = (int32_t)l;
			if (results_below(v, l, w) <= room) {
				break;
			}
		}
	}
	for (uint32_t l = at < 0 ? v->n_loop : (uint32_t)at; l < v->n_loop; l++) {
		trips *= own_reduce(v, l) ? (double)v->loop[l]->extent : 1;
	}
	for (int32_t l = at - 1; l >= 0 && trips < HN_CORE_ENOUGH_TRIPS; l--) {
		if (own_reduce(v, (uint32_t)l)) {
			trips *= (double)v->loop[l]->extent;
			at = l;
		}
	}
	return at;
}

/* The block of a nest inside loop r, as the generator sees it. */
struct block {
	const struct hn_view *v;
	const struct hn_core *core;
	double rows, vecs;		      /* results: rows of vecs vectors */
	double loads[2][2]; /* of a body of one result; [1][.] with each row, [.][1] with each
			     * vector of a row */
	double operands;    /* vectors that each vector of a row keeps beside its results */
	double arith;	    /* instructions per result */
};

static struct block make_block(const struct hn_view *v, const struct hn_target *t,
			       const struct hn_core *core, const struct hn_lanes *w, int32_t r)
{
	bool fma = v->multiplies && (t->caps & HN_CAP_FMA);
	bool along_rows[HN_VIEW_MAX_STREAMS] = {false};
	struct block b = {.v = v, .core = core, .rows = 1, .vecs = 1};

	b.arith = v->n_arith + (fma ? 0 : 1) +
		  v->n_expensive * CALL_CYCLES * (double)w->width;
	for (uint32_t l = (uint32_t)(r + 1); l < v->n_loop; l++) {
		if (!own_spatial(v, l)) {
			continue;
		}
		if ((int32_t)l == w->loop) {
			b.vecs = hn_view_units(v, l, w);
			continue;
		}
		b.rows *= (double)v->loop[l]->extent;
		for (uint32_t i = 0; i < v->n_stream; i++) {
			along_rows[i] |= v->stream[i].moves[l];
		}
	}
	for (uint32_t i = 0; i + 1 < v->n_stream; i++) {
		const struct hn_stream *s = &v->stream[i];
		bool lanes = w->loop >= 0 && s->moves[w->loop];
		bool whole = !lanes || s->stride[w->loop] == 1;

		b.loads[along_rows[i]][lanes] += whole ? 1 : GATHER_LOAD * (double)w->width;
		b.operands += lanes;
	}
	return b;
}

/* Rows that meet padding at the ends of an axis of several tiles are tiles of their own
 * (lower/cpu/emit_nest.c), whose few sums wait for themselves.  Measured where an instruction makes
 * the terms: 14 of 56 columns by two vectors of a 3 x 3 window ran at 0.8 of what they do without
 * padding; 14 of 14 at 0.99.  Without such an instruction, of float32, 7 of 14 columns ran at 0.79
 * of what 14 of 14 do. */
static double border_cycles(const struct block *b)
{
	return b->v->border_tiles ? (double)b->core->fma_latency : 0;
}

/* Cycles of one body with k rows of n vectors. */
static double body_cycles(const struct block *b, double k, double n)
{
	double points = k * n, arith = points * b->arith;
	double loads = b->loads[0][0] + b->loads[1][0] * k + b->loads[0][1] * n +
		       b->loads[1][1] * points;
	double cycles = hn_core_cycles(b->core, arith, loads,
				       b->v->group >= 0 ? HN_CORE_TERM_LOADS
							: HN_CORE_LOADS);

	if (b->v->branches) {
		cycles = 1.5 * cycles + 2 * points;
	} else if (b->v->skips) {
		cycles += SKIP_CYCLES + border_cycles(b);
	}
	double unrolled = UNROLLED / points;

	return cycles + LOOP_CYCLES / (unrolled < 1 ? 1 : unrolled > 8 ? 8 : unrolled);
}

/* Cycles for all results of the block, once through one reduction iteration, with the
 * best register block, which *c is told of. */
static double block_cycles(const struct block *b, struct hn_compute *c)
{
	double room = (double)hn_core_results(b->core, 0), best = -1;

	for (double n = 1; n <= b->vecs && n <= 8; n++) {
		double most = (room - b->operands * n) / n;
		double strips = ceil_of(b->vecs / n);
		double body[MOST_ROWS + 1]; /* of so many rows */

		for (int k = 1; k == 1 || (k <= most && k <= b->rows && k <= MOST_ROWS);
		     k++) {
			double whole = whole_of(b->rows / k);
			int rest = b->rows < EXACT ? (int)(b->rows - whole * k) : 0;

			body[k] = body_cycles(b, k, n);
			double cost = strips * (whole * body[k] +
						(rest > 0 ? body[rest] + 1 : 0));
			if (best < 0 || cost < best) {
				best = cost;
				c->block_rows = k;
				c->block_vecs = n;
				c->blocks = strips * (whole + (rest > 0));
			}
		}
	}
	return best;
}

static double times(const struct hn_view *v, uint32_t from, uint32_t to)
{
	double n = 1;

	for (uint32_t l = from; l < to; l++) {
		n *= (double)trips_of(v, l);
	}
	return n;
}

/* Cycles of a reduction whose accumulators stay in registers for the loops from c->at on. */
static double update(const struct hn_view *v, const struct hn_target *t,
		     const struct hn_core *core, struct hn_compute *c)
{
	const struct hn_lanes *w = &c->lanes;
	uint32_t r = (uint32_t)c->at;
	struct block b = make_block(v, t, core, w, c->at);
	double inside = 1, outside = times(v, 0, r);

	for (uint32_t l = r; l < v->n_loop; l++) {
		c->trips *= own_reduce(v, l) ? hn_view_units(v, l, w) : 1;
		inside *= !own_reduce(v, l) && !own_spatial(v, l) ? (double)trips_of(v, l) : 1;
	}
	if (w->loop >= 0 && w->loop < c->at) {
		outside *=
			hn_view_units(v, (uint32_t)w->loop, w) / (double)v->loop[w->loop]->extent;
	}
	double body = block_cycles(&b, c);
	double ends = 1.5 * b.rows * b.vecs * (w->across ? 8 : 1) + 8 * c->blocks;

	c->rows = b.rows;
	c->vecs = b.vecs;
	c->registers = b.rows * b.vecs + b.operands * b.vecs + 1;
	return outside * inside * (c->trips * body * v->share + ends);
}

static double plain(const struct hn_view *v, const struct hn_core *core,
		    const struct hn_lanes *w)
{
	double runs = 1, loads = 0;

	for (uint32_t l = 0; l < v->n_loop; l++) {
		runs *= hn_view_units(v, l, w);
	}
	for (uint32_t i = 0; i < v->n_stream; i++) {
		const struct hn_stream *s = &v->stream[i];
		bool whole = w->loop < 0 || !s->moves[w->loop] || s->stride[w->loop] == 1;
		loads += whole ? 1 : GATHER_LOAD * (double)w->width;
	}
	double arith = v->n_arith + v->n_expensive * CALL_CYCLES * (double)w->width;
	double cycles = max2(arith / (double)core->fma_per_cycle, loads / HN_CORE_LOADS);

	cycles = max2(cycles, 1) + LOOP_CYCLES * 0.5;
	return runs * (v->branches ? 1.5 * cycles + 1 : cycles);
}

struct hn_compute hn_view_compute(const struct hn_view *v, const struct hn_target *t)
{
	struct hn_compute c = {.lanes = hn_view_lanes(v, t),
			       .at = -1,
			       .trips = 1,
			       .rows = 1,
			       .vecs = 1,
			       .registers = 1,
			       .block_rows = 1,
			       .block_vecs = 1,
			       .blocks = 1};
	struct hn_core core = hn_core_of(t);

	if (!hn_view_tiles(v, t, &c)) {
		c.at = v->stmt->stmt == HN_STMT_UPDATE ? accumulate_at(v, &core, &c.lanes) : -1;
		c.cycles = c.at >= 0 ? update(v, t, &core, &c) : plain(v, &core, &c.lanes);
	}
	if (v->guard_loop >= 0) {
		bool inside =
			v->guard_loop > c.at && v->guard_loop >= (int32_t)v->n_loop - 3;
		c.cycles *= inside ? 1.25 : 1.05;
	}
	return c;
}
