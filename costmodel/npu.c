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

/* Of the axes of one role: points of all, of a tile, and how many parts there are. */
struct side {
	double all, tile, times, parts;
};

static struct side side_of(const struct hn_op *op, const struct hn_npu_tiles *t, const uint8_t *role,
			   enum hn_npu_role want)
{
	struct side s = { 1, 1, 1, 1 };

	for (uint32_t i = 0; i < t->n_axis; i++) {
		const struct hn_npu_cut *c = &t->axis[i];

		if (role[i] == want) {
			s.all *= extent_of(op, i);
			s.tile *= c->tile > 0 ? (double)c->tile : 1;
			s.times *= c->times > 0 ? (double)c->times : 1;
			s.parts *= c->parts > 0 ? (double)c->parts : 1;
		}
	}
	s.tile = ceil(s.tile / CUBE) * CUBE;
	return s;
}

/* A product's part: loads of L1, of L0, and the cube. */
static double product(const struct hn_op *op, const struct hn_npu_tiles *t, const uint8_t *role,
		      const struct hn_npu_profile *m)
{
	struct side rows = side_of(op, t, role, HN_NPU_ROLE_ROW), columns = side_of(op, t, role, HN_NPU_ROLE_COLUMN);
	struct side terms = side_of(op, t, role, HN_NPU_ROLE_TERM), batch = side_of(op, t, role, HN_NPU_ROLE_BATCH);
	double k = ceil(terms.all / CUBE) * CUBE, k0 = fmin(terms.tile, k), k1 = fmin(k0 * terms.times, k);
	double tiles = ceil(batch.all * rows.parts * columns.parts / (double)m->cores) * rows.times * columns.times;
	double load = tiles * ceil(k / k1) *
		      (transfer(m, k1 * rows.tile * HALF) + transfer(m, k1 * columns.tile * HALF));
	double fill = tiles * k / CUBE * (rows.tile / CUBE * (double)m->l0a_cycles +
					  columns.tile / CUBE * (double)m->l0b_cycles);
	double cube = tiles * (rows.tile * columns.tile * k / (CUBE * CUBE * CUBE) +
			       ceil(k / k0) * (double)m->cube_start);
	double out = tiles * rows.tile * columns.tile * SUM / (double)m->gm_rate;
	double sum = load + fill + cube + out, most = fmax(fmax(load, fill), fmax(cube, out));

	return t->slots > 1 ? most + (sum - most) / tiles : sum;
}

double hn_npu_cycles(const struct hn_dag *dag, const struct hn_npu_tiles *t,
		     const struct hn_npu_profile *m)
{
	int32_t widest = hn_npu_widest(dag);
	uint8_t role[HN_DAG_MAX_ITERS];
	double work = 0;

	if (widest >= 0) {
		work = t->op >= 0 && hn_npu_roles(dag->op[widest], role)
			       ? product(dag->op[widest], t, role, m) : rows(dag, dag->op[widest], t, m);
	}
	return work + (double)m->launch;
}
