/* costmodel/npu.c -- see npu.h.  A tile's time is that of its slowest pipe where the next tile is
 * loaded meanwhile, else the sum; cores take their tiles at the same time.
 */
#include "costmodel/npu.h"

#include <math.h>

#define REPEAT 256.0	/* bytes of a vector instruction's repeat */
#define REPEAT_CYCLES 2.0 /* of most instructions */
#define CUBE 16.0
#define SUM 4.0
#define HALF 2.0

struct tile {
	double points, share; /* of the widest op; of all its points */
	double n;	      /* tiles of a core */
};

static double extent_of(const struct hn_op *op, uint32_t i)
{
	return op->axis[i].extent > 0 ? (double)op->axis[i].extent : 1;
}

static double points_of(const struct hn_op *op)
{
	double n = 1;

	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		n *= extent_of(op, i);
	}
	return n;
}

static double elements_of(const struct hn_op *op)
{
	double n = 1;

	for (uint32_t i = 0; i < op->n_dim; i++) {
		n *= op->shape[i] > 0 ? (double)op->shape[i] : 1;
	}
	return n;
}

/* What is not cut goes to all cores, as much at a time as there is room for. */
static struct tile tile_of(const struct hn_dag *dag, const struct hn_op *op,
			   const struct hn_npu_tiles *t, const struct hn_npu_profile *m)
{
	struct tile ret = { .points = 1 };
	double all = points_of(op), n = 1;

	for (uint32_t i = 0; i < t->n_axis && t->op >= 0; i++) {
		double tile = t->axis[i].tile > 0 ? (double)t->axis[i].tile : 1;

		ret.points *= tile;
		n *= ceil(extent_of(op, i) / tile);
	}
	if (t->op < 0) {
		double room = (double)m->ub_bytes / (4 * (double)dag->n_op);

		ret.points = fmin(fmax(room, 1), ceil(all / (double)m->cores));
		n = ceil(all / ret.points);
	}
	ret.share = fmin(ret.points / all, 1);
	ret.n = ceil(n / (double)m->cores);
	return ret;
}

static double transfer(const struct hn_npu_profile *m, double bytes)
{
	return fmax((double)m->gm_latency + bytes / (double)m->gm_burst, bytes / (double)m->gm_rate);
}

static double rows(const struct hn_dag *dag, const struct hn_op *widest, const struct hn_npu_tiles *t,
		   const struct hn_npu_profile *m)
{
	struct tile tile = tile_of(dag, widest, t, m);
	double load = 0, store = 0, vector = 0, work, most;

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		double bytes = elements_of(op) * tile.share * (double)hn_dtype_bytes((enum hn_dtype)op->dtype[0]);

		*(i < dag->n_input ? &load : &store) += transfer(m, bytes);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (op->kind == HN_OP_COMPUTE) {
			double bytes = points_of(op) * tile.share *
				       (double)hn_dtype_bytes((enum hn_dtype)op->dtype[0]);

			vector += (double)(m->vector_start + m->vector_drain) +
				  ceil(bytes / REPEAT) * REPEAT_CYCLES;
		}
	}
	most = fmax(fmax(load, store), vector);
	work = t->slots > 1 ? tile.n * most + (load + store + vector - most)
			    : tile.n * (load + store + vector);
	return work;
}

/* A product's part: loads of L1, of L0, and the cube. */
static double product(const struct hn_op *op, const struct hn_npu_tiles *t,
		      const struct hn_npu_profile *m)
{
	double part[2] = { 1, 1 }, tile[2] = { CUBE, CUBE }, batch = 1, cores = 1;
	uint32_t last = t->n_axis - 1;
	double k = ceil(extent_of(op, last) / CUBE) * CUBE, k1, k0, tiles, load, fill, cube, out, most;

	for (uint32_t i = 0; i < last; i++) {
		const struct hn_npu_cut *c = &t->axis[i];

		if (c->parts == 0) {
			batch *= extent_of(op, i);
			continue;
		}
		part[i + 1 == last] = (double)(c->times * c->tile);
		tile[i + 1 == last] = (double)c->tile;
		cores *= (double)c->parts;
	}
	k0 = t->axis[last].tile > 0 ? fmin((double)t->axis[last].tile, k) : k;
	k1 = t->axis[last].times > 0 ? fmin(k0 * (double)t->axis[last].times, k) : k0;
	tiles = ceil(batch * cores / (double)m->cores) * ceil(part[0] / tile[0]) * ceil(part[1] / tile[1]);
	load = tiles * ceil(k / k1) *
	       (transfer(m, k1 * tile[0] * HALF) + transfer(m, k1 * tile[1] * HALF));
	fill = tiles * k / CUBE * (tile[0] / CUBE * (double)m->l0a_cycles + tile[1] / CUBE * (double)m->l0b_cycles);
	cube = tiles * (tile[0] * tile[1] * k / (CUBE * CUBE * CUBE) + ceil(k / k0) * (double)m->cube_start);
	out = tiles * tile[0] * tile[1] * SUM / (double)m->gm_rate;
	most = fmax(fmax(load, fill), fmax(cube, out));
	return t->slots > 1 ? most + (load + fill + cube + out - most) / tiles : load + fill + cube + out;
}

double hn_npu_cycles(const struct hn_dag *dag, const struct hn_npu_tiles *t,
		     const struct hn_npu_profile *m)
{
	int32_t widest = hn_npu_widest(dag);
	double work = 0;

	if (widest >= 0) {
		work = t->op >= 0 && t->product ? product(dag->op[widest], t, m)
						: rows(dag, dag->op[widest], t, m);
	}
	return work + (double)m->launch;
}
