/* sketch/heuristic/window.c -- reductions whose neighbouring results read neighbouring data:
 * pooling, depthwise convolution, short sums over columns, transforms by constant matrices.
 *
 * Results run over lanes; a few neighbours are held together so that the loads that their
 * windows share are done once.  Bound by memory, so padding is best made a block of rows at
 * a time, in the cache.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define SUMS 8	 /* independent sums that hide the latency of an addition */
#define MORE 32	 /* windows that are left to the registers to cut */
#define BLOCK 8	 /* windows of a small block each way */
#define SHORT 64 /* a reduction that can be unrolled in full */

/* The axis's neighbours are neighbours in every operand that moves along it, and some do; with g,
 * constants once they are packed. */
static bool is_unit(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v, uint32_t a)
{
	bool fine = v->extent[a] > 1, moves = false;

	for (uint32_t i = 0; i < v->n_read; i++) {
		int64_t s = v->read[i].stride[a];

		fine = fine && (s == 0 || s == 1 ||
				(g != NULL && hn_heuristic_turns(g, &v->read[i], a)));
		moves = moves || s == 1;
	}
	return fine && moves;
}

static bool find_lanes(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       uint32_t *ret)
{
	for (uint32_t a = v->n_spatial; a-- > 0;) {
		if (is_unit(g, v, a)) {
			*ret = a;
			return true;
		}
	}
	return false;
}

bool hn_heuristic_unit_lanes(const struct hn_heuristic_view *v, uint32_t *ret)
{
	return find_lanes(NULL, v, ret);
}

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	uint32_t lanes;

	return v->op->reduce && v->n_spatial < 64 && find_lanes(g, v, &lanes) &&
	       (v->reduce <= SHORT || v->spatial >= v->lanes * hn_heuristic_cores(g));
}

/* The reduction axis that shares an index of the read with spatial axis a: the window's along a;
 * -1 = there is none. */
static int32_t window_axis(const struct hn_heuristic_view *v, const struct hn_heuristic_read *r,
			   uint32_t a)
{
	for (uint32_t k = v->n_spatial; k < v->n_axis && v->extent[a] > 1; k++) {
		for (uint32_t d = 0; d < r->load->n_arg; d++) {
			if (hn_heuristic_uses(r->load->arg[d], a) &&
			    hn_heuristic_uses(r->load->arg[d], k)) {
				return (int32_t)k;
			}
		}
	}
	return -1;
}

/* The window's length along a; 1 = there is none. */
static int64_t window_along(const struct hn_heuristic_view *v, const struct hn_heuristic_read *r,
			    uint32_t a)
{
	int32_t k = window_axis(v, r, a);

	return k < 0 ? 1 : v->extent[k];
}

bool hn_heuristic_slides(const struct hn_heuristic_view *v, const struct hn_heuristic_read *r,
		     uint32_t a)
{
	return window_along(v, r, a) > 1;
}

/* The innermost axis along which the windows of neighbours overlap: they are less apart than the
 * window is long; -1 = none. */
static int32_t overlapping(const struct hn_heuristic_view *v, uint32_t lane_axis)
{
	for (uint32_t a = v->n_spatial; a-- > 0;) {
		for (uint32_t i = 0; a != lane_axis && i < v->n_read; i++) {
			const struct hn_heuristic_read *r = &v->read[i];
			int32_t k = window_axis(v, r, a);

			if (k >= 0 && r->stride[a] > 0 && r->stride[k] > 0 &&
			    r->stride[a] < hn_mul_sat(r->stride[k], v->extent[k])) {
				return (int32_t)a;
			}
		}
	}
	return -1;
}

static int64_t divisor_up_to(int64_t n, int64_t most)
{
	int64_t d = most < n ? most : n;

	while (d > 1 && n % d != 0) {
		d--;
	}
	return d;
}

/* Neighbours whose windows overlap, to be held together: none left over, `want` of them or a
 * few less; else more, of which the registers hold a part at a time. */
static int64_t neighbours(int64_t extent, int64_t want)
{
	int64_t few = divisor_up_to(extent, want), more = want + 1;

	if (2 * few > want) {
		return few;
	}
	while (more < extent && extent % more != 0) {
		more++;
	}
	return more < extent && more <= MORE ? more : extent <= SHORT ? extent : want;
}

static void choose_tile(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			struct hn_heuristic_nest *n)
{
	int32_t shared = overlapping(v, n->lane_axis);
	int64_t all = hn_ceildiv(v->extent[n->lane_axis], v->lanes), together = 1;
	bool overlap = shared >= 0 && g->v.tile == 0;
	int64_t vectors = v->reduce > SHORT ? SUMS
			  : g->v.tile > 0   ? 4
			  : all > 1	    ? 2
					    : 1;

	/* of an odd length, one at a time leaves the least over */
	if (overlap && v->reduce <= SHORT && v->extent[n->lane_axis] % (2 * v->lanes)) {
		vectors = 1;
	}
	if (overlap) {
		together = neighbours(v->extent[shared], hn_ceildiv(SUMS, vectors));
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n->tile[a] = 1;
	}
	n->tile[n->lane_axis] = vectors * v->lanes;
	if (vectors * v->lanes > v->extent[n->lane_axis]) {
		n->tile[n->lane_axis] = v->extent[n->lane_axis];
	}
	if (shared >= 0) {
		n->tile[shared] = together;
	}
}

/* Blocks of a few windows each way, so that what they read stays in the first cache. */
static void small_blocks(const struct hn_heuristic_view *v, struct hn_heuristic_nest *n,
			 bool *rows)
{
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n->block[a] = n->tile[a] > 1 ? n->tile[a] : 1;
		for (uint32_t i = 0; a != n->lane_axis && i < v->n_read; i++) {
			if (hn_heuristic_slides(v, &v->read[i], a)) {
				n->block[a] = divisor_up_to(v->extent[a], BLOCK);
			}
		}
		if (a == n->lane_axis && 4 * n->tile[a] <= v->extent[a]) {
			n->block[a] = 4 * n->tile[a];
		}
		rows[a] = false;
	}
}

/* The rows of a window do not stay in the first cache while a row of results is made: tiles
 * of a strip come one below the other instead. */
static void by_strips(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		      struct hn_heuristic_nest *n)
{
	int64_t room = g->target->param[HN_PARAM_L1_BYTES] * 2 / 3;
	int64_t unit = g->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / v->lanes;
	int32_t shared = overlapping(v, n->lane_axis);
	bool far = false;

	for (int32_t a = 0; a < shared; a++) {
		for (uint32_t i = 0; i < v->n_read; i++) {
			const struct hn_heuristic_read *r = &v->read[i];
			int64_t rows = window_along(v, r, (uint32_t)a);

			far = far || (rows > 1 && r->stride[a] != HN_HEURISTIC_ODD &&
				      hn_mul_sat(hn_mul_sat(rows, r->stride[a]), unit) >
					      room);
		}
	}
	for (int32_t a = 0; far && a <= shared; a++) {
		n->inner[a] = (uint32_t)(a == 0 ? shared : a - 1);
	}
}

static void make_nest(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host,
		      struct hn_heuristic_nest *n)
{
	bool rows[HN_DAG_MAX_ITERS];

	n->threads = hn_heuristic_threads(g, v);
	if (g->v.place == HN_HEURISTIC_ATTACH) {
		n->n_move = hn_heuristic_moves(g, v, n->move);
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		bool constant = hn_heuristic_selects_constant(g, v->stage, a);

		n->block[a] = v->extent[a];
		rows[a] = !constant;
		n->tile[a] = constant ? 1 : n->tile[a];
		n->constants = n->constants || constant;
	}
	for (uint32_t a = 0; n->constants && a < v->n_spatial; a++) {
		n->tile[a] = a == n->lane_axis ? n->tile[a] : 1;
		n->block[a] = rows[a] ? n->tile[a] : v->extent[a];
		rows[a] = false;
	}
	if (g->v.cut && !n->constants) {
		small_blocks(v, n, rows);
	} else if (!n->constants) {
		by_strips(g, v, n);
	}
	hn_heuristic_block_rows(g, v, rows, n);
	hn_heuristic_nest_build(g, v, host, n);
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *whole,
		     int32_t host)
{
	struct hn_heuristic_view part, again;
	struct hn_heuristic_nest n;
	int32_t moved;

	hn_heuristic_one_phase(whole, &part);
	hn_heuristic_nest_init(&n, &part);
	hn_heuristic_nest_phases(&n, &part);
	find_lanes(g, &part, &n.lane_axis);
	choose_tile(g, &part, &n);
	moved = hn_heuristic_turn(g, whole, n.lane_axis, n.tile[n.lane_axis]);
	if (moved > 0 && hn_heuristic_view(g, whole->stage + moved, &again)) {
		hn_heuristic_one_phase(&again, &part); /* the same axes, other producers */
	}
	if (!g->c.failed) {
		make_nest(g, &part, host + moved, &n);
	}
}

extern const struct hn_heuristic_ops hn_heuristic_window;
const struct hn_heuristic_ops hn_heuristic_window = { "window", fits, schedule, true };
