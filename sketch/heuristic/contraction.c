/* sketch/heuristic/contraction.c -- nests whose operands are each used again along an axis that
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
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/intrin.h"
#include "sketch/heuristic/contraction_int.h"

#define FEW_SUMS 8 /* shorter reductions are windows */
#define PANELS_EACH 4 /* panels for each core that share out evenly enough */

/* x moves along a spatial axis that y stands still on, for a vector's length at least (a
 * group's channels). */
static bool has_own_axis(const struct hn_heuristic_view *v, const struct hn_heuristic_read *x,
			 const struct hn_heuristic_read *y)
{
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		if (x->stride[a] != 0 && y->stride[a] == 0) {
			return true;
		}
	}
	return false;
}

/* A product with one row: panels of weights that an instruction takes are one stream, and the
 * sums of a tile stay in registers (columns.c goes down a few rows at a time). */
static bool one_row_of_terms(const struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v)
{
	int32_t lanes = hn_lane_axis(v->op);
	struct hn_heuristic_terms terms;

	return lanes >= 0 && hn_heuristic_find_terms(g, v, (uint32_t)lanes, &terms);
}

/* The same of weights of any type: packed before the first call they are one stream, too, at twice
 * the speed of rows that are far apart. */
static bool one_row_of_weights(const struct hn_heuristic_job *g,
			       const struct hn_heuristic_view *v)
{
	int32_t lanes = hn_lane_axis(v->op);
	bool weights = false, row = false;

	for (uint32_t i = 0; i < v->n_read && lanes >= 0; i++) {
		const struct hn_heuristic_read *r = &v->read[i];

		if (r->stride[lanes] == 0) {
			row = true;
		} else {
			weights = hn_heuristic_is_constant(g, r->producer);
		}
	}
	return weights && row && v->n_read == 2 && v->extent[lanes] >= 4 * v->lanes;
}

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
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
	return one_row_of_terms(g, v) || one_row_of_weights(g, v);
}

static int64_t lane_tile(const struct hn_contraction *p)
{
	int64_t e = p->v->extent[p->lane_axis], t = p->vectors * p->lanes;

	return t < e ? t : e;
}

/* Vectors along the panels' axis would have to be packed, but all operands lie in order
 * along the innermost reduction. */
static bool reduces_in_order(const struct hn_contraction *p)
{
	const struct hn_heuristic_view *v = p->v;
	bool scattered = false;

	for (uint32_t i = 0; i < v->n_read; i++) {
		int64_t s = v->read[i].stride[v->n_axis - 1];

		scattered = scattered || (v->read[i].stride[p->lane_axis] != 0 &&
					  v->read[i].stride[p->lane_axis] != 1);
		if (s != 0 && s != 1) {
			return false;
		}
	}
	return scattered && v->extent[v->n_axis - 1] >= 4 * v->lanes;
}

static bool plan_make(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		      struct hn_contraction *p)
{
	*p = (struct hn_contraction){ .v = v, .core = hn_core_of(g->target), .lanes = v->lanes };
	if (!hn_contraction_lanes(p)) {
		return false;
	}
	if (g->v.repack && reduces_in_order(p)) {
		p->along = true;
		p->lanes = 1;
		p->core.registers -= p->core.registers / 8; /* both operands are vectors */
	}
	if (p->along || !hn_heuristic_find_terms(g, v, p->lane_axis, &p->terms)) {
		p->terms.in = NULL;
	}
	hn_contraction_tile(g, p, 0);
	if (g->v.tile > 0 && p->cycles > 0) {
		hn_contraction_tile(g, p, p->vectors);
	}
	if (p->cycles == 0) {
		return false;
	}
	p->tile[p->lane_axis] = lane_tile(p);
	return true;
}

static int32_t pack_panels(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			   const struct hn_contraction *p)
{
	if (p->along) {
		return 0;
	}
	return p->terms.in ? hn_heuristic_term_panels(g, v, p->lane_axis, lane_tile(p),
						      &p->terms)
			   : hn_heuristic_panels(g, v, p->lane_axis, lane_tile(p));
}

/* Axes in the order that keeps panels: those the panels use first. */
static void panels_first(const struct hn_contraction *p, uint32_t *order)
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

/* Whether an operand that is broadcast over the lanes moves along the axis. */
static bool broadcast_uses(const struct hn_contraction *p, uint32_t axis)
{
	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];

		if (r->stride[p->lane_axis] == 0 && hn_contraction_uses(r, axis)) {
			return true;
		}
	}
	return false;
}

/* The same; a group's channels stand still. */
static bool broadcast_moves(const struct hn_contraction *p, uint32_t axis)
{
	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];

		if (r->stride[p->lane_axis] == 0 && r->stride[axis] != 0) {
			return true;
		}
	}
	return false;
}

/* Axes that both kinds of operands use, as `shared` says, rows, then the panels' own. */
static void rows_first(const struct hn_contraction *p,
		       bool (*shared)(const struct hn_contraction *, uint32_t),
		       uint32_t *order)
{
	uint32_t n = 0;

	for (int pass = 0; pass < 3; pass++) {
		for (uint32_t a = 0; a < p->v->n_spatial; a++) {
			int kind = p->rows[a] ? 1 : shared(p, a) ? 0 : 2;

			if (kind == pass) {
				order[n++] = a;
			}
		}
	}
}

/* The largest divisor of n up to `most`, or a length that leaves little over when those are
 * all short. */
static int64_t part_length(int64_t n, int64_t most)
{
	int64_t d = most < n ? most : n;

	while (n % d != 0) {
		d--;
	}
	return 3 * d >= most ? d : hn_ceildiv(n, hn_ceildiv(n, most));
}

/* The longest reduction axis, and how much of it leaves a panel a small part of a cache,
 * beside the rows: of the first, or with all of the other axes of the second. */
static void choose_cut(const struct hn_heuristic_job *g, const struct hn_contraction *p,
		       struct hn_heuristic_nest *n)
{
	const struct hn_heuristic_view *v = p->v;
	const struct hn_intrin *in = p->terms.in;
	int64_t bytes = hn_dtype_bytes(in ? in->right : (enum hn_dtype)v->op->dtype[0]);
	int64_t terms = in ? hn_intrin_terms(in) : 1;
	bool deep = g->v.cut == HN_HEURISTIC_CUT_DEEP;
	int64_t room = deep ? g->target->param[HN_PARAM_L2_BYTES] / 24
			    : g->target->param[HN_PARAM_L1_BYTES] / 6;
	int64_t most = room / (bytes * n->tile[p->lane_axis]);

	n->cut = v->n_spatial;
	n->others_inside = deep;
	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		n->cut = v->extent[a] > v->extent[n->cut] ? a : n->cut;
	}
	most = deep ? most / (v->reduce / v->extent[n->cut]) : most;
	if (v->extent[n->cut] >= 2 * FEW_SUMS && most >= FEW_SUMS &&
	    !(deep && most >= v->extent[n->cut])) {
		terms = in && n->cut == p->terms.axis ? terms : 1;
		n->cut_length = terms * part_length(hn_ceildiv(v->extent[n->cut], terms),
						    hn_ceildiv(most, terms));
	}
}

/* Blocks of results that stay in the second cache while the reduction's parts go by: the
 * panels cut for the cores, then the rows for the cache. */
static void block_results(const struct hn_heuristic_job *g, const struct hn_contraction *p,
			  struct hn_heuristic_nest *n)
{
	const struct hn_heuristic_view *v = p->v;
	int64_t room = g->target->param[HN_PARAM_L2_BYTES] / 4, cores = hn_heuristic_cores(g);
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

/* What is broadcast stays in the second cache while the panels, which do not, stream by
 * once: blocks of rows would read them again and again. */
static bool panels_stream(const struct hn_heuristic_job *g, const struct hn_contraction *p)
{
	int64_t cache = g->target->param[HN_PARAM_L2_BYTES], panels = 0, rest = 0;

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];
		int64_t bytes = hn_op_bytes(hn_stage_op(g->c.s, r->producer), 0);

		*(r->stride[p->lane_axis] != 0 ? &panels : &rest) += bytes;
	}
	return panels > cache && rest <= cache / 2;
}

/* Where the loops over panels alone share out evenly, each panel is packed in its iteration:
 * by the core that uses it, into memory that its cache still holds from the last, and
 * without another loop's fork and join.  The rows' loops are inside then. */
static void pack_in_turn(struct hn_heuristic_job *g, const struct hn_contraction *p,
			 struct hn_heuristic_nest *n)
{
	int64_t cores = hn_heuristic_cores(g), panels = 1;

	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		panels = hn_mul_sat(
			panels, p->rows[a] ? 1 : hn_ceildiv(p->v->extent[a], n->tile[a]));
	}
	if (n->threads && panels % cores != 0 && panels < PANELS_EACH * cores) {
		return;
	}
	n->n_move = hn_heuristic_own_panels(g, p->v, p->lane_axis, n->move);
	for (uint32_t a = 0; a < p->v->n_spatial && n->n_move > 0; a++) {
		n->block[a] = p->rows[a] ? p->v->extent[a] : n->block[a];
	}
}

/* All panels stay in the first cache, or in the second one while results go by that do not: what
 * is broadcast, and the results, go by once and in the order in which they lie. */
static bool panels_stay(const struct hn_heuristic_job *g, const struct hn_contraction *p)
{
	int64_t panels = 0;

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];

		if (r->stride[p->lane_axis] != 0) {
			panels += hn_op_bytes(hn_stage_op(g->c.s, r->producer), 0);
		}
	}
	int64_t l2 = g->target->param[HN_PARAM_L2_BYTES];

	return panels <= g->target->param[HN_PARAM_L1_BYTES] / 3 ||
	       (panels <= l2 / 4 && hn_op_bytes(p->v->op, 0) > l2);
}

/* Bytes of what is broadcast, if going through them again for each panel costs more than
 * going through the panels again for each block of them that stays in the second cache;
 * else 0. */
static int64_t bytes_to_block(const struct hn_heuristic_job *g, const struct hn_contraction *p)
{
	int64_t room = g->target->param[HN_PARAM_L2_BYTES] / 4, panels = 0, gain = 0, most = 0;

	for (uint32_t i = 0; i < p->v->n_read; i++) {
		const struct hn_heuristic_read *r = &p->v->read[i];
		struct hn_heuristic_stream s;

		hn_heuristic_stream_of(g, p->v, r, p->rows, p->tile, &s);
		if (r->stride[p->lane_axis] != 0) {
			panels = hn_add_sat(
				panels, hn_op_bytes(hn_stage_op(g->c.s, r->producer), 0));
		} else if (!s.stays) {
			gain = hn_add_sat(gain, s.bytes / s.passes * (s.passes - 1));
			most = s.again > most ? s.again : most;
		}
	}
	return gain > hn_mul_sat(panels, most / room) ? most : 0;
}

/* Rows cut into at least `need` blocks, if there are so many tiles; returns how many there are,
 * of what panels and rows have in common and of rows. */
static int64_t cut_rows(const struct hn_contraction *p, int64_t need, int64_t *block)
{
	const struct hn_heuristic_view *v = p->v;
	int64_t blocks = 1;

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		int64_t tiles = hn_ceildiv(v->extent[a], p->tile[a]), len = 1;

		if (p->rows[a]) {
			len = part_length(tiles, need >= tiles ? 1 : tiles / need);
			need = hn_ceildiv(need, hn_ceildiv(tiles, len));
		} else if (!broadcast_moves(p, a)) {
			len = tiles;
		}
		block[a] = p->tile[a] * len;
		blocks = hn_mul_sat(blocks, hn_ceildiv(tiles, len));
	}
	return blocks;
}

/* Blocks of rows that stay in the second cache while all panels go by; false = that is no
 * gain, or the blocks do not share out evenly enough. */
static bool block_stream(const struct hn_heuristic_job *g, const struct hn_contraction *p,
			 struct hn_heuristic_nest *n)
{
	int64_t bytes = bytes_to_block(g, p), cores = hn_heuristic_cores(g);
	int64_t block[HN_DAG_MAX_ITERS], blocks;

	if (bytes == 0) {
		return false;
	}
	blocks = cut_rows(p, hn_ceildiv(bytes, g->target->param[HN_PARAM_L2_BYTES] / 4),
			  block);
	if (n->threads && blocks % cores != 0 && blocks < PANELS_EACH * cores) {
		return false;
	}
	memcpy(n->block, block, p->v->n_spatial * sizeof(block[0]));
	rows_first(p, broadcast_moves, n->outer);
	return true;
}

static void make_nest(struct hn_heuristic_job *g, const struct hn_contraction *p, int32_t host)
{
	struct hn_heuristic_nest n;

	hn_heuristic_nest_init(&n, p->v);
	hn_heuristic_nest_phases(&n, p->v);
	n.threads = hn_heuristic_threads(g, p->v);
	n.terms = p->terms;
	n.lane_axis = p->lane_axis;
	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		n.block[a] = n.tile[a] = p->tile[a];
	}
	bool stay = panels_stay(g, p);

	if (!stay) {
		panels_first(p, n.outer);
		panels_first(p, n.inner);
	}
	if (g->v.cut != HN_HEURISTIC_CUT_NONE && !p->phased) {
		choose_cut(g, p, &n);
	}
	bool attach = g->v.place == HN_HEURISTIC_ATTACH && !panels_stream(g, p);

	if (n.cut_length > 0) {
		block_results(g, p, &n);
		if (g->v.place == HN_HEURISTIC_ATTACH) {
			n.n_move = hn_heuristic_moves(g, p->v, n.move);
		}
	} else if (attach) {
		n.n_move = hn_heuristic_moves(g, p->v, n.move);
		rows_first(p, broadcast_uses, n.outer);
		/* panels' own axes run inside the block */
		for (uint32_t a = 0; a < p->v->n_spatial; a++) {
			if (!broadcast_uses(p, a)) {
				n.block[a] = p->v->extent[a];
			}
		}
		hn_heuristic_block_rows(g, p->v, p->rows, &n);
	} else if (!p->phased && !stay && !block_stream(g, p, &n)) {
		pack_in_turn(g, p, &n);
	}
	hn_heuristic_nest_build(g, p->v, host, &n);
}

bool hn_heuristic_is_contraction(const struct hn_heuristic_job *g,
				 const struct hn_heuristic_view *v)
{
	struct hn_contraction p;

	return fits(g, v) && plan_make(g, v, &p) && !p.along;
}

int32_t hn_heuristic_contraction_pack(struct hn_heuristic_job *g,
				      const struct hn_heuristic_view *v)
{
	struct hn_contraction p;

	return plan_make(g, v, &p) ? pack_panels(g, v, &p) : 0;
}

void hn_heuristic_contraction_nest(struct hn_heuristic_job *g,
				   const struct hn_heuristic_view *whole,
				   const struct hn_heuristic_view *block,
				   const int32_t *move, uint32_t n_move)
{
	struct hn_heuristic_nest n;
	struct hn_contraction p;

	if (!plan_make(g, block, &p)) {
		g->c.failed = true;
		return;
	}
	hn_heuristic_nest_init(&n, whole);
	n.terms = p.terms;
	n.lane_axis = p.lane_axis;
	panels_first(&p, n.inner);
	for (uint32_t a = 0; a < whole->n_spatial; a++) {
		n.tile[a] = p.tile[a];
		n.block[a] = block->extent[a];
	}
	n.threads = n_move > 0 && hn_heuristic_threads(g, whole);
	for (; n.n_move < n_move; n.n_move++) {
		n.move[n.n_move] = move[n.n_move];
	}
	hn_heuristic_nest_build(g, whole, whole->stage, &n);
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	struct hn_contraction p;
	struct hn_heuristic_view part, again;
	bool phased = hn_heuristic_one_phase(v, &part);

	if (g->v.chain && !phased && host == v->stage && hn_heuristic_chain(g, v)) {
		return;
	}
	if (!plan_make(g, &part, &p)) {
		g->c.failed = true;
		return;
	}
	p.phased = phased;
	p.terms.in = phased ? NULL : p.terms.in;
	int32_t moved = pack_panels(g, v, &p);

	if (moved > 0 && hn_heuristic_view(g, v->stage + moved, &again)) {
		hn_heuristic_one_phase(&again, &part); /* the same axes, other producers */
	}
	if (!g->c.failed) {
		make_nest(g, &p, host + moved);
		hn_heuristic_fetch_behind(g, p.v->stage, host + moved);
		if (!p.terms.in) { /* an instruction's are a copy in order */
			hn_heuristic_fetch_panels(g, p.v, p.lane_axis);
		}
		if (!phased) {
			hn_heuristic_fetch_pieces(g, p.v, p.lane_axis, p.rows, p.tile);
		}
	}
}

extern const struct hn_heuristic_ops hn_heuristic_contraction;
const struct hn_heuristic_ops hn_heuristic_contraction = { "contraction", fits, schedule, true };
