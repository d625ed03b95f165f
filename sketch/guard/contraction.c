/* sketch/guard/contraction.c -- nests whose operands are each used again along an axis that
 * the other one has: matrix products, convolutions, capsules.
 *
 * One axis runs over lanes; operands that move along it ("panels") are loaded as vectors,
 * the others are broadcast.  A register tile is v vectors by m points of axes that only the
 * broadcast operands know: v * m independent sums hide the FMA latency and use each vector
 * m times and each broadcast v times.  All of the reduction runs inside, sums in registers.
 * Between the tiles, panels stay in the cache while the broadcast operands stream by, or a
 * block of those stays while panels stream by.  Low et al. 2016, section 4, without the
 * split of the reduction: a panel of v vectors is at most a fraction of a level 2 cache.
 */
#include "base/arith.h"
#include "sketch/guard/guard_int.h"

#define MAX_VECTORS 6	   /* of a register tile along the lanes */
#define PAGE 4096	   /* bytes; rows further apart cost a TLB entry each */
#define WORTH_PACKING 32   /* uses of a packed element that pay for packing it */
#define FEW_SUMS 8	   /* shorter reductions are windows */

struct plan {
	const struct hn_guard_view *v;
	int64_t registers, per_cycle, latency;
	uint32_t lane_axis;
	bool rows[HN_DAG_MAX_ITERS]; /* axes that only broadcast operands have */
	int64_t tile[HN_DAG_MAX_ITERS];
	int64_t vectors;
	double cycles; /* of all tiles, for one iteration of the reduction */
};

static bool uses(const struct hn_guard_read *r, uint32_t axis)
{
	return (r->uses >> axis & 1) != 0;
}

/* x has a spatial axis that y lacks. */
static bool has_own_axis(const struct hn_guard_view *v, const struct hn_guard_read *x,
			 const struct hn_guard_read *y)
{
	uint64_t spatial = (UINT64_C(1) << v->n_spatial) - 1;

	return (x->uses & ~y->uses & spatial) != 0;
}

static bool fits(const struct hn_guard_job *g, const struct hn_guard_view *v)
{
	(void)g;
	if (!v->op->reduce || v->op->reduce->n != 1 || v->reduce < FEW_SUMS ||
	    v->n_spatial >= 64) {
		return false;
	}
	for (uint32_t i = 0; i < v->n_read; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (has_own_axis(v, &v->read[i], &v->read[k]) &&
			    has_own_axis(v, &v->read[k], &v->read[i])) {
				return true;
			}
		}
	}
	return false;
}

/* The dimension of the read whose index is the axis itself; -1 = none. */
static int32_t dimension_of(const struct hn_guard_view *v, const struct hn_guard_read *r,
			    uint32_t axis)
{
	int32_t found = -1, slot;
	int64_t shift;

	for (uint32_t d = 0; d < r->load->n_arg; d++) {
		const struct hn_expr *x = r->load->arg[d];

		if (!hn_guard_uses(x, axis)) {
			continue;
		}
		if (found >= 0 || !hn_access_const_shift(x, &slot, &shift) || shift != 0) {
			return -1;
		}
		found = (int32_t)d;
	}
	(void)v;
	return found;
}

/* What the loads of a vector along the axis cost, in loads; 0 = cannot be the lanes. */
static double lane_cost(const struct hn_guard_view *v, uint32_t axis)
{
	int64_t e = v->extent[axis];
	double waste = (double)(hn_ceildiv(e, v->lanes) * v->lanes) / (double)e, cost = 0;
	bool broadcast = false, moves = false;

	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_guard_read *r = &v->read[i];

		if (r->stride[axis] == 0) {
			broadcast = true;
		} else {
			moves = true;
			cost += r->stride[axis] == 1		      ? 1
				: dimension_of(v, r, axis) >= 0	      ? 1.3
				: r->stride[axis] == HN_GUARD_ODD ? 16
								      : 8;
		}
	}
	if (!broadcast || !moves || e < 2) {
		return 0;
	}
	return cost * waste * (v->out_stride[axis] == 1 ? 1 : 1.2);
}

static bool choose_lanes(struct plan *p)
{
	const struct hn_guard_view *v = p->v;
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
			const struct hn_guard_read *r = &v->read[i];

			if (r->stride[p->lane_axis] != 0 && uses(r, a)) {
				p->rows[a] = false;
			}
		}
	}
	return best > 0;
}

/* Cycles of one iteration of the reduction for v vectors by m points. */
static double tile_cycles(const struct plan *p, int64_t v, int64_t m)
{
	double fma = (double)(v * m) / (double)p->per_cycle;
	double loads = (double)(v + m) / 2;
	double cycles = fma > loads ? fma : loads;

	return cycles > (double)p->latency ? cycles : (double)p->latency;
}

struct pick {
	uint32_t n, axis[3]; /* row axes that may be tiled, innermost first */
	int64_t tile[3];
	int64_t v;
	double tiles; /* so far */
};

static void try_rows(struct plan *p, struct pick *k, uint32_t i, int64_t m, double tiles)
{
	if (i == k->n) {
		double cycles = tiles * tile_cycles(p, k->v, m);

		if (p->cycles == 0 || cycles < p->cycles * 0.995) {
			p->cycles = cycles;
			p->vectors = k->v;
			for (uint32_t j = 0; j < k->n; j++) {
				p->tile[k->axis[j]] = k->tile[j];
			}
		}
		return;
	}
	int64_t e = p->v->extent[k->axis[i]];
	int64_t most = (p->registers - 1 - k->v) / (k->v * m);

	for (int64_t t = e < most ? e : most; t >= 1; t--) {
		/* a rest is a second, guarded form of the nest */
		double penalty = e % t == 0 ? 1 : 1.04;

		k->tile[i] = t;
		try_rows(p, k, i + 1, m * t, tiles * penalty * (double)hn_ceildiv(e, t));
	}
}

/* What an operand uses in steps (a group's channels) must not step within a tile. */
static bool in_step(const struct plan *p, int64_t vectors)
{
	int64_t len = vectors * p->v->lanes, e = p->v->extent[p->lane_axis];

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		int64_t run = p->v->read[i].run[p->lane_axis];

		if (run < e && run % len != 0) {
			return false;
		}
	}
	return true;
}

/* The best tile, of another number of vectors than `skip`. */
static void choose_tile(struct plan *p, int64_t skip)
{
	int64_t all = hn_ceildiv(p->v->extent[p->lane_axis], p->v->lanes);
	struct pick k = { .n = 0 };

	for (uint32_t a = p->v->n_spatial; a-- > 0 && k.n < 3;) {
		if (p->rows[a]) {
			k.axis[k.n++] = a;
		}
	}
	p->cycles = 0;
	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		p->tile[a] = 1;
	}
	for (k.v = all < MAX_VECTORS ? all : MAX_VECTORS; k.v >= 1; k.v--) {
		if (k.v == skip || 2 * k.v + 1 > p->registers || !in_step(p, k.v)) {
			continue;
		}
		try_rows(p, &k, 0, 1,
			 (double)hn_ceildiv(all, k.v) * (all % k.v ? 1.04 : 1));
	}
}

static int64_t lane_tile(const struct plan *p)
{
	int64_t e = p->v->extent[p->lane_axis], t = p->vectors * p->v->lanes;

	return t < e ? t : e;
}

static bool plan_make(const struct hn_guard_job *g, const struct hn_guard_view *v,
		      struct plan *p)
{
	*p = (struct plan){ .v = v,
			    .registers = g->target->param[HN_PARAM_VECTOR_REGISTERS],
			    .per_cycle = g->target->param[HN_PARAM_FMA_PER_CYCLE],
			    .latency = g->target->param[HN_PARAM_FMA_LATENCY] };
	if (!choose_lanes(p)) {
		return false;
	}
	choose_tile(p, 0);
	if (g->v.tile > 0 && p->cycles > 0) {
		choose_tile(p, p->vectors);
	}
	if (p->cycles == 0) {
		return false;
	}
	p->tile[p->lane_axis] = lane_tile(p);
	return true;
}

/* Blocks for hn_guard_pack so that the reduction walks through memory in order, `len`
 * neighbours along dimension `at` innermost: what stands before it and is reduced goes
 * inside, what stands behind it is in order already. */
static bool panel_blocks(const struct hn_guard_view *v, const struct hn_guard_read *r,
			 int32_t at, int64_t len, const struct hn_op *op, int64_t *block)
{
	bool any = false;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		bool reduced = false;

		for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
			reduced = reduced || hn_guard_uses(r->load->arg[d], a);
		}
		block[d] = (int32_t)d < at && reduced ? op->shape[d] : 1;
		if ((int32_t)d == at) {
			block[d] = len < op->shape[d] ? len : op->shape[d];
		}
		any = any || block[d] > 1;
	}
	return any;
}

/* Bytes between the rows that the reduction goes through one after the other. */
static int64_t row_bytes(const struct hn_guard_view *v, const struct hn_guard_read *r,
			 const struct hn_op *op)
{
	for (uint32_t a = v->n_axis; a-- > v->n_spatial;) {
		if (uses(r, a) && r->stride[a] != HN_GUARD_ODD) {
			return hn_mul_sat(r->stride[a],
					  hn_dtype_bytes((enum hn_dtype)op->dtype[0]));
		}
	}
	return 0;
}

static bool should_pack(const struct hn_guard_job *g, const struct plan *p,
			const struct hn_guard_read *r, const struct hn_op *op)
{
	int64_t reuse = 1;

	if (r->stride[p->lane_axis] != 1) {
		return true; /* loads lane by lane otherwise */
	}
	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		reuse = hn_mul_sat(reuse, uses(r, a) ? 1 : p->v->extent[a]);
	}
	bool far = row_bytes(p->v, r, op) >= PAGE / 4 && op->shape[op->n_dim - 1] >
					      lane_tile(p);

	if (g->v.cut) {
		return false;
	}
	return (far && reuse >= WORTH_PACKING * 4) != g->v.repack;
}

/* Pack the operands that are loaded as vectors, when that pays; returns by how many stages
 * those of the nest move up. */
static int32_t pack_operands(struct hn_guard_job *g, const struct plan *p)
{
	int32_t moved = 0;

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_guard_read *r = &p->v->read[i];
		int32_t at = dimension_of(p->v, r, p->lane_axis), producer = r->producer;
		int64_t block[HN_DAG_MAX_RANK];
		bool again = false;

		for (uint32_t k = 0; k < i; k++) {
			again = again || p->v->read[k].producer == producer;
		}
		const struct hn_op *op = hn_stage_op(g->c.s, producer + moved);

		if (again || r->stride[p->lane_axis] == 0 || at < 0 ||
		    g->c.s->stage[producer + moved]->at != HN_AT_ROOT ||
		    !should_pack(g, p, r, op) ||
		    !panel_blocks(p->v, r, at, lane_tile(p), op, block)) {
			continue;
		}
		hn_guard_pack(g, producer + moved, block);
		moved++;
	}
	return moved;
}

/* Axes in the order that keeps panels: those the panels use first. */
static void panels_first(const struct plan *p, uint32_t *order)
{
	uint32_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t a = 0; a < p->v->n_spatial; a++) {
			if (p->rows[a] == (pass == 1)) {
				order[n++] = a;
			}
		}
	}
}

/* Axes that both kinds of operands use, rows, then the panels' own. */
static void rows_first(const struct plan *p, uint32_t *order)
{
	uint32_t n = 0;

	for (int pass = 0; pass < 3; pass++) {
		for (uint32_t a = 0; a < p->v->n_spatial; a++) {
			bool shared = false;

			for (uint32_t i = 0; i < p->v->n_read; i++) {
				shared = shared || (p->v->read[i].stride[p->lane_axis] ==
							    0 &&
						    uses(&p->v->read[i], a));
			}
			int kind = p->rows[a] ? 1 : shared ? 0 : 2;

			if (kind == pass) {
				order[n++] = a;
			}
		}
	}
}

/* The longest reduction axis, and how much of it keeps a panel in half of the first cache. */
static void choose_cut(const struct hn_guard_job *g, const struct plan *p,
		       struct hn_guard_nest *n)
{
	const struct hn_guard_view *v = p->v;
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]);
	int64_t most = g->target->param[HN_PARAM_L1_BYTES] / 2 /
		       (bytes * n->tile[p->lane_axis]);

	n->cut = v->n_spatial;
	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		n->cut = v->extent[a] > v->extent[n->cut] ? a : n->cut;
	}
	if (v->extent[n->cut] >= 2 * FEW_SUMS && most >= FEW_SUMS) {
		int64_t parts = hn_ceildiv(v->extent[n->cut], most);

		n->cut_length = hn_ceildiv(v->extent[n->cut], parts);
	}
}

/* Blocks of results that stay in the second cache while the reduction's parts go by: the
 * panels cut for the cores, then the rows for the cache. */
static void block_results(const struct hn_guard_job *g, const struct plan *p,
			  struct hn_guard_nest *n)
{
	const struct hn_guard_view *v = p->v;
	int64_t room = g->target->param[HN_PARAM_L2_BYTES] / 4, cores = hn_guard_cores(g);
	int64_t bytes = hn_op_bytes(v->op, 0), blocks = 1;
	uint32_t lane = p->lane_axis;
	int64_t panels = hn_ceildiv(v->extent[lane], n->tile[lane]);

	if (panels >= cores) {
		n->block[lane] = n->tile[lane] * hn_ceildiv(panels, cores);
		blocks = hn_ceildiv(v->extent[lane], n->block[lane]);
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		int64_t e = v->extent[a], tiles = hn_ceildiv(e, n->tile[a]);

		if (!p->rows[a]) {
			blocks = a == lane ? blocks : hn_mul_sat(blocks, e);
			continue;
		}
		int64_t need = hn_ceildiv(bytes, hn_mul_sat(blocks, room));
		int64_t share = blocks < cores ? hn_ceildiv(cores, blocks) : 1;

		need = need > share ? need : share;
		need = need > tiles ? tiles : need;
		n->block[a] = n->tile[a] * hn_ceildiv(tiles, need);
		blocks = hn_mul_sat(blocks, hn_ceildiv(e, n->block[a]));
	}
}

static void make_nest(struct hn_guard_job *g, const struct plan *p, int32_t host)
{
	struct hn_guard_nest n;

	hn_guard_nest_init(&n, p->v);
	n.threads = hn_guard_threads(g, p->v);
	n.lane_axis = p->lane_axis;
	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		n.block[a] = n.tile[a] = p->tile[a];
	}
	panels_first(p, n.outer);
	panels_first(p, n.inner);
	if (g->v.cut) {
		choose_cut(g, p, &n);
	}
	if (n.cut_length > 0) {
		block_results(g, p, &n);
	} else if (g->v.place == HN_GUARD_ATTACH) {
		n.n_move = hn_guard_moves(g, p->v, n.move);
		rows_first(p, n.outer);
		/* panels' own axes run inside the block */
		for (uint32_t a = 0; a < p->v->n_spatial; a++) {
			bool shared = false;

			for (uint32_t i = 0; i < p->v->n_read; i++) {
				shared = shared || (p->v->read[i].stride[p->lane_axis] ==
							    0 &&
						    uses(&p->v->read[i], a));
			}
			if (!shared) {
				n.block[a] = p->v->extent[a];
			}
		}
		hn_guard_block_rows(g, p->v, p->rows, &n);
	}
	hn_guard_nest_build(g, p->v, host, &n);
}

static void schedule(struct hn_guard_job *g, const struct hn_guard_view *v, int32_t host)
{
	struct plan p;
	struct hn_guard_view again;

	if (!plan_make(g, v, &p)) {
		g->c.failed = true;
		return;
	}
	int32_t moved = pack_operands(g, &p);

	if (moved > 0 && hn_guard_view(g, v->stage + moved, &again)) {
		p.v = &again; /* the same axes, other producers */
	}
	if (!g->c.failed) {
		make_nest(g, &p, host + moved);
	}
}

extern const struct hn_guard_ops hn_guard_contraction;
const struct hn_guard_ops hn_guard_contraction = { "contraction", fits, schedule, true };
