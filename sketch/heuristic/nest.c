/* sketch/heuristic/nest.c -- a nest of tiles as steps: splits, one order, fused outer loops in
 * parallel, lanes, and what is computed inside. */
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/intrin.h"
#include "sketch/heuristic/heuristic_int.h"

#define THREADS_WORK 32768 /* operations and loads that pay for waking another core */
#define SHARES 8	   /* parts for each core that share out evenly enough */
#define MANY_BLOCKS 4	   /* blocks for each core when what is moved decides */
#define KEY "auto_scheduler_simplify_const_tensor_indices"

void hn_heuristic_inserted(struct hn_heuristic_job *g, int32_t at, int32_t like)
{
	int32_t n = (int32_t)g->c.s->n_stage;

	g->inlined = NULL;
	if (g->c.failed || n > HN_HEURISTIC_MAX_STAGES) {
		g->c.failed = true;
		return;
	}
	size_t behind = (size_t)(n - 1 - at);

	memmove(&g->done[at + 1], &g->done[at], behind * sizeof(g->done[0]));
	memmove(&g->pinned[at + 1], &g->pinned[at], behind * sizeof(g->pinned[0]));
	memmove(&g->depends[at + 1], &g->depends[at], behind * sizeof(g->depends[0]));
	g->done[at] = g->pinned[at] = false;
	g->depends[at] = g->depends[like];
}

void hn_heuristic_pack(struct hn_heuristic_job *g, int32_t stage, const int64_t *block)
{
	const struct hn_step step = {
		.kind = HN_STEP_pack,
		.stage = stage,
		.n_list = hn_stage_op(g->c.s, stage)->n_dim,
		.list = block,
	};

	if (!g->c.failed && hn_state_apply(g->c.s, &step, g->c.a, &g->c.s, NULL) < 0) {
		g->c.failed = true;
	}
	hn_heuristic_inserted(g, stage + 1, stage);
	g->pinned[stage + 1] = true;
}

void hn_heuristic_rfactor(struct hn_heuristic_job *g, int32_t stage, int32_t iter,
			  int32_t at)
{
	hn_chain_rfactor(&g->c, stage, iter, at);
	hn_heuristic_inserted(g, stage, stage + 1);
}

bool hn_heuristic_is_constant(const struct hn_heuristic_job *g, int32_t stage)
{
	return g->depends[stage] == HN_CONSTANT;
}

bool hn_heuristic_is_result(const struct hn_heuristic_job *g, int32_t stage)
{
	for (uint32_t i = 0; i < g->c.s->dag->n_arg; i++) {
		if (g->c.s->dag->arg[i] == stage) {
			return true;
		}
	}
	return false;
}

int64_t hn_heuristic_cores(const struct hn_heuristic_job *g)
{
	int64_t cores = g->target->param[HN_PARAM_NUM_CORES];

	return cores > 1 ? cores : 1;
}

bool hn_heuristic_threads(const struct hn_heuristic_job *g,
			  const struct hn_heuristic_view *v)
{
	int64_t work = hn_mul_sat(hn_mul_sat(v->spatial, v->reduce), 1 + v->n_read);

	bool unsure = work < 8 * THREADS_WORK && work >= THREADS_WORK / 8;

	return hn_heuristic_cores(g) > 1 &&
	       (work >= THREADS_WORK) != (g->v.recut && unsure);
}

uint32_t hn_heuristic_share(const struct hn_heuristic_job *g, const int64_t *length,
			    uint32_t n)
{
	int64_t cores = hn_heuristic_cores(g), product = 1;

	for (uint32_t i = 0; i < n; i++) {
		product = hn_mul_sat(product, length[i]);
		if (product >= SHARES * cores || (product > 1 && product % cores == 0)) {
			return i + 1;
		}
	}
	return product > 1 ? n : 0;
}

void hn_heuristic_nest_init(struct hn_heuristic_nest *n,
			    const struct hn_heuristic_view *v)
{
	*n = (struct hn_heuristic_nest){ .threads = false };
	for (uint32_t a = 0; a < v->n_axis; a++) {
		n->phase[a] = 1;
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n->block[a] = n->tile[a] = v->extent[a];
		n->outer[a] = n->inner[a] = a;
	}
	n->lane_axis = v->n_spatial > 0 ? v->n_spatial - 1 : 0;
}

uint32_t hn_heuristic_moves(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			    int32_t ret[HN_HEURISTIC_MOVES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_read; i++) {
		int32_t p = v->read[i].producer, reader;
		const struct hn_op *op = hn_stage_op(g->c.s, p);
		bool known = op->kind != HN_OP_COMPUTE || op->reduce || g->done[p] ||
			     g->pinned[p] || hn_heuristic_is_constant(g, p) ||
			     hn_heuristic_is_result(g, p);

		for (uint32_t k = 0; k < n; k++) {
			known = known || ret[k] == p;
		}
		if (!known && n < HN_HEURISTIC_MOVES &&
		    hn_heuristic_readers(g, p, &reader, 1) == 1) {
			ret[n++] = p;
		}
	}
	return n;
}

bool hn_heuristic_selects_constant(const struct hn_heuristic_job *g, int32_t stage,
				   uint32_t axis)
{
	return hn_stage_attr_names(g->c.s, stage, KEY,
				   hn_stage_op(g->c.s, stage)->axis[axis].name);
}

/* Bytes of the producers that the nest computes inside itself. */
static int64_t moved_bytes(const struct hn_heuristic_job *g,
			   const struct hn_heuristic_nest *n)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < n->n_move; i++) {
		bytes += hn_op_bytes(hn_stage_op(g->c.s, n->move[i]), 0);
	}
	return bytes;
}

void hn_heuristic_block_rows(const struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, const bool *rows,
			     struct hn_heuristic_nest *n)
{
	int64_t want = MANY_BLOCKS * hn_heuristic_cores(g), blocks = 1;
	int64_t bytes = moved_bytes(g, n), room = g->target->param[HN_PARAM_L2_BYTES] / 4;

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		blocks = hn_mul_sat(blocks,
				    rows[a] ? 1 : hn_ceildiv(v->extent[a], n->block[a]));
	}
	for (uint32_t i = 0; i < v->n_spatial; i++) {
		uint32_t a = n->outer[i];
		int64_t tiles = hn_ceildiv(v->extent[a], n->tile[a]);
		int64_t need = hn_ceildiv(want, blocks);
		int64_t fit = hn_ceildiv(bytes, hn_mul_sat(blocks, room));

		if (!rows[a]) {
			continue;
		}
		need = need > fit ? need : fit;
		need = need > tiles ? tiles : need < 1 ? 1 : need;
		n->block[a] = n->tile[a] * hn_ceildiv(tiles, need);
		blocks = hn_mul_sat(blocks, hn_ceildiv(v->extent[a], n->block[a]));
	}
}

enum { PART_BLOCK, PART_INNER, PART_TILE, PART_PHASE, N_PART };

struct parts {
	int64_t at[HN_DAG_MAX_ITERS][N_PART];	  /* position; -1 = none */
	int64_t length[HN_DAG_MAX_ITERS][N_PART]; /* iterations */
	uint32_t n_reduce; /* reduction loops but the cut one's inner part */
	int64_t reduce[2 * HN_DAG_MAX_ITERS]; /* their positions, */
	int64_t cut, cut_rest;		      /* and the cut one's two parts */
	int64_t group; /* the loop over an instruction's terms; -1 = none */
};

/* Split one axis, whose loop is at *at, into those of its parts that have iterations. */
static void split_axis(struct hn_heuristic_job *g, int32_t host, int64_t extent,
		       int64_t block, int64_t tile, int64_t phase, int64_t *position,
		       int64_t *length, int64_t *at)
{
	int64_t len[N_PART], first = *at;
	uint32_t n = 0;

	block = block > extent ? extent : block;
	tile = tile > block ? block : tile;
	length[PART_PHASE] = phase;
	length[PART_TILE] = tile;
	length[PART_INNER] = hn_ceildiv(block, tile);
	length[PART_BLOCK] = hn_ceildiv(extent, length[PART_INNER] * tile);
	for (int p = 0; p < N_PART; p++) {
		bool there =
			length[p] > 1 || (extent == 1 && phase == 1 && p == PART_BLOCK);

		position[p] = there ? (*at)++ : -1;
		if (there) {
			len[n++] = length[p];
		}
	}
	if (n > 1) { /* the outermost is what the others leave */
		hn_chain_split(&g->c, host, (int32_t)first, len + 1, n - 1);
	}
}

/* Reduction axes of v's stage, remainders first; at: the position of the first. */
static void split_reduction(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			    const struct hn_heuristic_nest *n, int64_t at,
			    struct parts *p)
{
	int64_t rest[HN_DAG_MAX_ITERS];
	uint32_t n_rest = 0;

	p->n_reduce = 0;
	p->group = -1;
	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		bool grouped = n->terms.in != NULL && a == n->terms.axis;
		int64_t terms = grouped ? hn_intrin_terms(n->terms.in) : 1;

		rest[n_rest++] = at++;
		if (n->cut_length > 0 && a == n->cut) {
			const int64_t len[] = { n->cut_length / terms, terms };

			hn_chain_split(&g->c, v->stage, (int32_t)at - 1, len,
				       grouped ? 2 : 1);
			p->cut_rest = at - 1;
			p->cut = at++;
			p->group = grouped ? at++ : p->group;
		} else if (grouped) {
			hn_chain_split(&g->c, v->stage, (int32_t)at - 1, &terms, 1);
			p->group = at++;
		} else if (n->phase[a] > 1) {
			hn_chain_split(&g->c, v->stage, (int32_t)at - 1, &n->phase[a], 1);
			p->reduce[p->n_reduce++] = at++;
		}
	}
	for (uint32_t i = 0; i < n_rest; i++) {
		p->reduce[p->n_reduce++] = rest[i];
	}
}

static void split_axes(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       int32_t stage, const int64_t *extent,
		       const struct hn_heuristic_nest *n, struct parts *p)
{
	int64_t at = 0;

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		split_axis(g, stage, extent[a], n->block[a], n->tile[a],
			   stage == v->stage ? n->phase[a] : 1, p->at[a], p->length[a],
			   &at);
	}
	p->n_reduce = 0;
	p->group = -1;
	if (stage == v->stage) {
		split_reduction(g, v, n, at, p);
	}
}

/* Loops over remainders, first in the order, and their lengths. */
static uint32_t add_phases(const struct hn_heuristic_view *v, const struct parts *p,
			   int64_t *order, int64_t *length)
{
	uint32_t k = 0;

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		if (p->at[a][PART_PHASE] >= 0) {
			length[k] = p->length[a][PART_PHASE];
			order[k++] = p->at[a][PART_PHASE];
		}
	}
	return k;
}

/* Tile loops in the op's order, lanes last. */
static uint32_t add_tiles(const struct hn_heuristic_view *v,
			  const struct hn_heuristic_nest *n, const struct parts *p,
			  int64_t *order, uint32_t k)
{
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		if (a != n->lane_axis && p->at[a][PART_TILE] >= 0) {
			order[k++] = p->at[a][PART_TILE];
		}
	}
	if (v->n_spatial > 0 && p->at[n->lane_axis][PART_TILE] >= 0) {
		order[k++] = p->at[n->lane_axis][PART_TILE];
	}
	return k;
}

static uint32_t add_inner(const struct hn_heuristic_view *v,
			  const struct hn_heuristic_nest *n, const struct parts *p,
			  int64_t *order, uint32_t k)
{
	for (uint32_t i = 0; i < v->n_spatial; i++) {
		if (p->at[n->inner[i]][PART_INNER] >= 0) {
			order[k++] = p->at[n->inner[i]][PART_INNER];
		}
	}
	return k;
}

/* Reduction loops outside of the loops over tiles. */
static uint32_t cut_loops(const struct hn_heuristic_view *v,
			  const struct hn_heuristic_nest *n)
{
	return n->cut_length == 0 ? 0 : n->others_inside ? 1 : v->n_axis - v->n_spatial;
}

/* Loops over tiles, the reduction, an instruction's terms, the tile; the cut reduction's outer
 * part before. */
static uint32_t add_inside(const struct hn_heuristic_view *v,
			   const struct hn_heuristic_nest *n, const struct parts *p,
			   int64_t *order, uint32_t k)
{
	bool cut = n->cut_length > 0 && p->n_reduce > 0;
	bool before = cut && !n->others_inside;

	if (cut && n->others_inside) {
		order[k++] = p->cut_rest;
	}
	k = before ? k : add_inner(v, n, p, order, k);
	for (uint32_t i = 0; i < p->n_reduce; i++) {
		if (!cut || before || p->reduce[i] != p->cut_rest) {
			order[k++] = p->reduce[i];
		}
	}
	k = before ? add_inner(v, n, p, order, k) : k;
	if (cut) {
		order[k++] = p->cut;
	}
	if (p->group >= 0) {
		order[k++] = p->group;
	}
	return add_tiles(v, n, p, order, k);
}

/* The order holds the loop of an instruction's terms: it is given to it. */
static void give_terms(struct hn_heuristic_job *g, int32_t stage,
		       const struct hn_heuristic_nest *n, const struct parts *p,
		       const int64_t *order, uint32_t n_order)
{
	for (uint32_t k = 0; k < n_order && p->group >= 0; k++) {
		if (order[k] == p->group) {
			const int64_t loop = k;

			hn_chain_tensorize(&g->c, stage, &loop, 1, n->terms.in->name);
		}
	}
}

/* The stage, computed inside its host.  `extent` is what one iteration there needs.  Returns
 * the number of loops outside of a cut reduction's inner part and the loops over tiles. */
static uint32_t order_attached(struct hn_heuristic_job *g,
			       const struct hn_heuristic_view *v, const int64_t *extent,
			       const struct hn_heuristic_nest *n)
{
	struct hn_heuristic_nest inside = *n;
	int64_t order[(N_PART + 1) * HN_DAG_MAX_ITERS], length[2 * HN_DAG_MAX_ITERS];
	struct parts p;

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		inside.block[a] = extent[a];
		inside.tile[a] = n->cut_length > 0 ? n->tile[a] : extent[a];
	}
	split_axes(g, v, v->stage, extent, &inside, &p);
	/* an axis of one point has its one loop among those over blocks */
	uint32_t k = add_phases(v, &p, order, length);

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		if (p.at[a][PART_BLOCK] >= 0) {
			order[k++] = p.at[a][PART_BLOCK];
		}
	}
	uint32_t outside = k + cut_loops(v, n);

	k = add_inside(v, &inside, &p, order, k);
	hn_chain_reorder(&g->c, v->stage, order, k);
	give_terms(g, v->stage, n, &p, order, k);
	return outside;
}

static void annotate_lanes(struct hn_heuristic_job *g, int32_t stage)
{
	int32_t last = (int32_t)g->c.s->stage[stage]->n_iter - 1;

	if (last > 0 && !g->c.failed &&
	    g->c.s->stage[stage]->iter[last].kind == HN_ITER_SPATIAL &&
	    g->c.s->stage[stage]->iter[last].extent != 1) {
		hn_chain_annotate(&g->c, stage, last, HN_ANN_VECTORIZE);
	}
}

/* Loops over tiles and of the reduction, `inner` and n_reduce of them from `first` on. */
static void unroll_constants(struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, int32_t stage,
			     uint32_t first, uint32_t inner)
{
	uint32_t n = inner + v->n_axis - v->n_spatial;

	for (uint32_t i = first; i < first + n; i++) {
		hn_chain_annotate(&g->c, stage, (int32_t)i, HN_ANN_UNROLL);
	}
}

static void attach(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		   int32_t host, const struct hn_heuristic_nest *n, int32_t blocks,
		   int32_t inner)
{
	int32_t last = blocks + inner - 1, holder = host, at = blocks - 1;

	if (n->cut_length > 0) { /* what is moved: only for this part of the reduction */
		at = blocks + (int32_t)cut_loops(v, n) - 1;
		holder = v->stage;
	}
	if (host != v->stage) {
		const int64_t *extent = n->cut_length > 0 ? n->block : n->tile;
		uint32_t outside = order_attached(g, v, extent, n);

		at = n->cut_length > 0 ? (int32_t)outside - 1 : at;
		if (last >= 0) {
			hn_chain_compute_at(&g->c, v->stage, host, last);
		}
	}
	for (uint32_t i = 0; i < n->n_move && at >= 0; i++) {
		hn_chain_compute_at(&g->c, n->move[i], holder, at);
		g->done[n->move[i]] = true;
	}
}

/* The host's loops in order; their numbers to *ret_blocks and *ret_inner, the lengths of
 * those over blocks to length[].  Loops over remainders count as such over blocks. */
static void order_host(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       int32_t host, const struct hn_heuristic_nest *n, int64_t *length,
		       uint32_t *ret_blocks, uint32_t *ret_inner)
{
	struct hn_heuristic_nest outside = *n;
	int64_t order[(N_PART + 1) * HN_DAG_MAX_ITERS];
	struct parts p;
	int64_t extent[HN_DAG_MAX_ITERS];

	for (uint32_t a = 0; a < v->n_spatial; a++) {
		int64_t phase = host != v->stage ? n->phase[a] : 1;

		/* what is cut has loops over tiles of its own */
		bool whole = host != v->stage && n->cut_length > 0;

		extent[a] = hn_mul_sat(v->extent[a], phase);
		outside.block[a] = hn_mul_sat(n->block[a], phase);
		outside.tile[a] = hn_mul_sat(whole ? n->block[a] : n->tile[a], phase);
	}
	split_axes(g, v, host, extent, &outside, &p);
	uint32_t k = add_phases(v, &p, order, length);

	for (uint32_t i = 0; i < v->n_spatial; i++) {
		if (p.at[n->outer[i]][PART_BLOCK] >= 0) {
			length[k] = p.length[n->outer[i]][PART_BLOCK];
			order[k++] = p.at[n->outer[i]][PART_BLOCK];
		}
	}
	*ret_blocks = k;
	*ret_inner = add_inner(v, n, &p, order, k) - k;
	k = add_inside(v, n, &p, order, k);
	if (k > 0) {
		hn_chain_reorder(&g->c, host, order, k);
	}
	give_terms(g, host, n, &p, order, k);
}

void hn_heuristic_nest_build(struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, int32_t host,
			     const struct hn_heuristic_nest *n)
{
	int64_t length[2 * HN_DAG_MAX_ITERS];
	uint32_t blocks, inner, fused;

	order_host(g, v, host, n, length, &blocks, &inner);
	annotate_lanes(g, host);
	if (n->constants && host == v->stage) {
		unroll_constants(g, v, host, blocks, inner);
	}
	fused = n->threads ? hn_heuristic_share(g, length, blocks) : 0;
	if (fused > 1) {
		hn_chain_fuse(&g->c, host, 0, fused);
		blocks -= fused - 1;
	}
	if (fused > 0) {
		hn_chain_annotate(&g->c, host, 0, HN_ANN_PARALLEL);
	}
	attach(g, v, host, n, (int32_t)blocks, (int32_t)inner);
	g->done[host] = g->done[v->stage] = true;
}
