/* target/cpu/tile.c -- see tile.h.
 *
 * Given the lanes (tile_lanes.c), a small model of a core chooses how many neighbouring points
 * run together: FMA throughput and latency against loads an iteration.
 */
#include "target/cpu/tile.h"

#include <string.h>

#include "base/arith.h"
#include "target/cpu/core.h"

#define GAIN 0.999	/* of the cycles: a smaller block must spare so much */
#define ABREAST 4 /* registers that go through a function together */

struct blocks {
	uint32_t n;
	struct hn_tile_dim *dim[64];
	int64_t block[64];
};

struct model {
	const struct hn_tile *nest;
	struct hn_core core;
};

/* Operands of v vectors of lanes that are vectors themselves. */
static int64_t operand_vectors(const struct hn_tile *n, int64_t v)
{
	int64_t r = 0;

	for (uint32_t a = 1; n->n_chain && a <= n->n_load; a++) {
		r += n->chain[0]->stride[a] != 0 ? v : 0;
	}
	return r;
}

/* Moving along d changes vectors but no broadcast: such loops run fastest after the
 * lanes, so that one broadcast at a time is alive. */
static bool runs_fast(const struct hn_tile *n, const struct hn_tile_dim *d)
{
	bool vectors = false;

	for (uint32_t a = 1; n->n_chain && a <= n->n_load; a++) {
		if (n->chain[0]->stride[a] != 0) {
			vectors = vectors || d->stride[a] != 0;
		} else if (d->stride[a] != 0) {
			return false;
		}
	}
	return vectors;
}

static bool too_many(const struct model *m, const struct blocks *b, int64_t v)
{
	int64_t points = v, vectors = v;

	for (uint32_t i = 0; i < b->n; i++) {
		points *= b->block[i];
		vectors *= b->dim[i]->fast ? b->block[i] : 1;
	}
	return points > 1 &&
	       points > hn_core_results(&m->core, operand_vectors(m->nest, vectors));
}

/* Cycles of one reduction iteration of a block. */
static double block_cycles(const struct model *m, const struct blocks *b, int64_t v)
{
	const struct hn_tile *n = m->nest;
	double points = (double)v, loads = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		points *= (double)b->block[i];
	}
	for (uint32_t a = 1; a <= n->n_load; a++) {
		int64_t along = n->n_chain ? n->chain[0]->stride[a] : 0;
		double count = along == 0   ? 1
			       : along == 1 ? (double)v
					    : (double)v * n->width;

		for (uint32_t i = 0; i < b->n; i++) {
			count *= b->dim[i]->stride[a] != 0 ? (double)b->block[i] : 1;
		}
		loads += count;
	}
	return HN_CORE_LOOP_CYCLES +
	       hn_core_cycles(&m->core, points, loads,
			      n->terms ? HN_CORE_TERM_LOADS : HN_CORE_LOADS);
}

/* The same for all blocks of the nest, remainders included. */
static double all_cycles(const struct model *m, struct blocks *b, uint32_t i, int64_t v,
			 int64_t total_v)
{
	if (i == b->n) {
		int64_t rest = total_v % v;

		return (double)(total_v / v) * block_cycles(m, b, v) +
		       (rest ? block_cycles(m, b, rest) : 0);
	}
	int64_t k = b->block[i], extent = b->dim[i]->extent;
	double sum = (double)(extent / k) * all_cycles(m, b, i + 1, v, total_v);

	if (extent % k) {
		b->block[i] = extent % k;
		sum += all_cycles(m, b, i + 1, v, total_v);
		b->block[i] = k;
	}
	return sum;
}

#define MODEL_LOOPS 3 /* loops whose blocks are searched together */

struct best {
	double cycles;
	int64_t v;
	int64_t block[64];
};

/* Try every block of loops i.. that fits the registers, the largest inner ones first. */
static void try_blocks(const struct model *m, struct blocks *b, uint32_t i, int64_t v,
		       int64_t total_v, struct best *best)
{
	if (i == b->n || i == MODEL_LOOPS) {
		uint32_t n = b->n;

		b->n = i;
		double cycles = all_cycles(m, b, 0, v, total_v);

		b->n = n;
		if (best->cycles == 0 || cycles < best->cycles * GAIN) {
			best->cycles = cycles;
			best->v = v;
			memcpy(best->block, b->block, sizeof(b->block));
		}
		return;
	}
	int64_t k = b->dim[i]->extent;

	/* rows of panels stay whole: parts of several at once would be streams of short pieces */
	k = m->nest->terms && b->dim[i]->fast && v < total_v ? 1 : k;
	for (k = k > m->core.registers ? m->core.registers : k; k >= 1; k--) {
		b->block[i] = k;
		if (!too_many(m, b, v)) {
			try_blocks(m, b, i + 1, v, total_v, best);
		}
	}
	b->block[i] = 1;
}

/* Vectors the loops inside dim t make when held whole. */
static int64_t vectors_inside(const struct hn_tile *n, uint32_t t)
{
	int64_t lanes = 1, other = 1;

	for (uint32_t i = t; i < n->n_dim; i++) {
		const struct hn_tile_dim *d = &n->dim[i];

		if (!d->reduce && d->chain) {
			lanes = hn_mul_sat(lanes, d->extent);
		} else if (!d->reduce) {
			other = hn_mul_sat(other, d->extent);
		}
	}
	return hn_mul_sat(hn_ceildiv(lanes, n->width), other);
}

static bool real_reduction(const struct hn_tile_dim *d)
{
	return d->reduce && d->extent > 1;
}

/* The reduction loop that starts the tile. */
static uint32_t choose_level(const struct hn_core *core, const struct hn_tile *n)
{
	uint32_t chosen = n->n_dim, inner = n->n_dim;

	for (uint32_t i = 0; i < n->n_dim && chosen == n->n_dim; i++) {
		if (real_reduction(&n->dim[i])) {
			inner = i;
			int64_t v = n->n_chain ? hn_ceildiv(n->chain[0]->extent, n->width)
					       : 1;

			v = v > 4 ? 4 : v;
			if (vectors_inside(n, i) <= hn_core_results(core, operand_vectors(n, v))) {
				chosen = i;
			}
		}
	}
	if (chosen == n->n_dim) {
		chosen = inner;
	}
	/* few iterations inside do not pay for loading and storing the accumulators */
	int64_t trips = 1;

	for (uint32_t i = chosen; i < n->n_dim; i++) {
		trips = hn_mul_sat(trips,
				   real_reduction(&n->dim[i]) ? n->dim[i].extent : 1);
	}
	for (uint32_t i = chosen; i-- > 0 && trips < HN_CORE_ENOUGH_TRIPS;) {
		if (real_reduction(&n->dim[i])) {
			trips = hn_mul_sat(trips, n->dim[i].extent);
			chosen = i;
		}
	}
	return chosen;
}

/* Loops whose iterations may be held together, innermost first; not the lanes. */
static void block_loops(const struct hn_tile *n, struct blocks *b)
{
	b->n = 0;
	for (uint32_t i = n->n_dim; i-- > 0 && b->n < 64;) {
		struct hn_tile_dim *d = &n->dim[i];

		if (i < n->tile && real_reduction(d)) {
			return;
		}
		if (!d->reduce && !d->chain && d->extent > 1 &&
		    !d->by_tiles) {
			b->dim[b->n++] = d;
		}
	}
}

static void set_lanes(struct hn_tile *n, int64_t vectors)
{
	int64_t lanes = vectors * n->width;

	for (uint32_t i = 0; i < n->n_chain; i++) {
		struct hn_tile_dim *d = n->chain[i];

		d->block = lanes < 1 ? 1 : lanes > d->extent ? d->extent : lanes;
		lanes /= d->extent;
	}
}

/* The first real reduction loop inside d that is outside the tile, n_dim when there is
 * none. */
static uint32_t reduction_between(const struct hn_tile *n, const struct hn_tile_dim *d)
{
	for (uint32_t i = (uint32_t)(d - n->dim) + 1; i < n->tile; i++) {
		if (real_reduction(&n->dim[i])) {
			return i;
		}
	}
	return n->n_dim;
}

/* Lanes and tile must agree: no reduction loop outside the tile may separate them, or the
 * tile would not be what that loop's iterations need initialised. Returns the lanes. */
static int64_t settle_lanes(struct hn_tile *n)
{
	int64_t total = 1;
	uint32_t kept = 0;

	if (n->across && n->across < n->dim + n->tile) {
		n->tile = (uint32_t)(n->across - n->dim);
	}
	if (n->n_chain && reduction_between(n, n->chain[0]) < n->n_dim) {
		n->tile = reduction_between(n, n->chain[0]);
	}
	while (kept < n->n_chain && reduction_between(n, n->chain[kept]) == n->n_dim &&
	       (kept == 0 || !n->chain[kept]->by_tiles)) {
		total = hn_mul_sat(total, n->chain[kept++]->extent);
	}
	for (uint32_t i = kept; i < n->n_chain; i++) {
		n->chain[i]->chain = false;
	}
	n->n_chain = kept;
	if (!n->across && total < n->width) {
		n->width = hn_pow2_ceil(total);
	}
	return total;
}

static void plan_update(const struct hn_target *target, struct hn_tile *n)
{
	struct model m = { n, hn_core_of(target) };
	struct blocks b;
	int64_t total_v, best_v, points;
	struct best best = { .cycles = 0, .v = 1 };

	n->tile = choose_level(&m.core, n);
	total_v = hn_ceildiv(settle_lanes(n), n->width);
	block_loops(n, &b);
	for (uint32_t i = 0; i < b.n; i++) {
		b.block[i] = best.block[i] = 1;
		b.dim[i]->fast = runs_fast(n, b.dim[i]);
	}
	for (int64_t v = total_v < m.core.registers ? total_v : m.core.registers; v >= 1; v--) {
		if (!too_many(&m, &b, v)) {
			try_blocks(&m, &b, 0, v, total_v, &best);
		}
	}
	best_v = points = best.v;
	for (uint32_t i = 0; i < b.n; i++) {
		b.dim[i]->block = best.block[i];
		points *= best.block[i];
	}
	set_lanes(n, best_v);
	if (n->across) {
		int64_t want = m.core.fma_latency * m.core.fma_per_cycle / points;
		int64_t most = n->across->extent / n->width;

		want = want > most ? most : want;
		n->n_across = want < 1 ? 1 : (uint32_t)want;
	}
	int64_t budget = HN_CORE_UNROLLED;

	for (uint32_t i = n->n_dim; i-- > n->tile;) {
		struct hn_tile_dim *d = &n->dim[i];
		int64_t room = d->unroll ? 2 * budget : budget;

		if (!real_reduction(d) || d == n->across) {
			continue;
		}
		room = n->across || n->calls ? 1 : room / points;
		d->block = d->extent;
		while (d->block > 1 && (d->block > room || d->extent % d->block)) {
			d->block--;
		}
		if (d->block < d->extent) {
			break;
		}
		budget /= d->block;
	}
	n->points = points;
}

/* A function is a long chain of instructions that wait for each other, and a core's
 * scheduler sees a few vectors of it at a time: half of its units idle.  So a vector of
 * ABREAST registers goes through, which LLVM takes apart instruction by instruction. */
static void widen_functions(struct hn_tile *n, int64_t total)
{
	int64_t wide = (int64_t)n->width * ABREAST;
	bool widen = n->calls && n->may_widen && n->n_chain > 0 && n->width > 1 &&
		     total >= wide && wide <= HN_TILE_MAX_LANES;

	for (uint32_t a = 0; a <= n->n_load && n->n_chain > 0; a++) {
		int64_t s = n->chain[0]->stride[a];

		widen = widen && (s == 0 || s == 1);
	}
	if (widen) {
		n->width = (uint32_t)wide;
	}
}

static void plan_pointwise(struct hn_tile *n, int64_t total)
{
	widen_functions(n, total);
	int64_t total_v = hn_ceildiv(total, n->width);
	int64_t v = n->calls ? 1 : total_v > 4 ? 4 : total_v;
	struct blocks b;

	n->tile = n->n_dim;
	n->turn = hn_tile_find_turn(n);
	if (n->turn) {
		set_lanes(n, 1);
		n->turn->block = n->turn->extent < n->width ? n->turn->extent : n->width;
		return;
	}
	set_lanes(n, v);
	block_loops(n, &b);
	for (uint32_t i = 0; i < b.n && !n->calls && v >= total_v; i++) {
		if (v * b.dim[i]->extent > 8) {
			break;
		}
		b.dim[i]->block = b.dim[i]->extent;
		v *= b.dim[i]->extent;
	}
}

/* The initial values may be set in registers: nothing runs between them and the tile. */
static bool starts_from_identity(const struct hn_tile *n)
{
	bool seen = false;

	for (uint32_t i = 0; i < n->tile; i++) {
		seen = seen || n->dim[i].init;
		if (seen && real_reduction(&n->dim[i])) {
			return false;
		}
	}
	for (uint32_t i = n->tile; i < n->n_dim; i++) {
		seen = seen || n->dim[i].init;
	}
	return seen || n->init;
}

void hn_tile_choose(struct hn_tile *n, const struct hn_target *target)
{
	for (uint32_t i = 0; i < n->n_dim; i++) {
		n->dim[i].block = 1;
	}
	n->width = 1;
	n->n_across = 1;
	n->tile = n->n_dim;
	if (n->n_dim > 0) {
		int64_t total = hn_tile_choose_lanes(n, target);

		if (n->update) {
			plan_update(target, n);
		} else {
			plan_pointwise(n, total);
		}
	}
	n->from_identity = n->update && starts_from_identity(n);
}
