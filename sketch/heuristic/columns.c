/* sketch/heuristic/columns.c -- long sums over columns, neighbouring results from neighbouring
 * data: products of a transposed matrix with a vector, means of channels.
 *
 * Everything is read once, so memory is the limit, and it is fastest in long runs.  A core
 * takes a strip of columns as wide as can be and goes down it a few rows at a time, sums of
 * the strip in the first cache: each row is read along, and a vector of sums is loaded and
 * stored once for all of these rows.  A register tile that goes down all rows first, as
 * windows have it, reads a piece of each page and is fetched ahead by nothing: half as fast.
 *
 * Where a factor of each row is itself a sum over the same row (y = A' (A x)), both sums are
 * taken while the row is there: cores share out the rows, and each adds into sums of its own
 * (rfactor), which are added in the end.
 */
#include "base/arith.h"
#include "loopstate/dag/liberty.h"
#include "sketch/heuristic/heuristic_int.h"

#define SHORT 64 /* a reduction that is no column */
#define ROWS 16  /* added at a time; 16 to 64 ran alike, 8 half as fast */
#define VECTORS 2
#define RUN_BYTES 2048 /* of a strip's row, that hardware fetches ahead */

static bool slides_at_all(const struct hn_heuristic_view *v)
{
	for (uint32_t i = 0; i < v->n_read; i++) {
		for (uint32_t a = 0; a < v->n_spatial; a++) {
			if (hn_heuristic_slides(v, &v->read[i], a)) {
				return true;
			}
		}
	}
	return false;
}

/* Strips that give every core one, and whose sums stay in the first cache. */
static int64_t strip_length(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			    uint32_t lane)
{
	int64_t e = v->extent[lane], tile = VECTORS * v->lanes;
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]);
	int64_t others = v->spatial / e, strips = 1;
	int64_t most = g->target->param[HN_PARAM_L1_BYTES] / (2 * bytes);

	if (hn_heuristic_threads(g, v)) {
		strips = hn_ceildiv(hn_heuristic_cores(g), others);
	}
	strips = hn_ceildiv(e, most) > strips ? hn_ceildiv(e, most) : strips;
	return hn_ceildiv(hn_ceildiv(e, strips), tile) * tile;
}

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]);
	uint32_t lane;

	return v->op->reduce && v->op->reduce->n == 1 && v->reduce > SHORT &&
	       v->extent[v->n_axis - 1] >= ROWS && g->v.cut == HN_HEURISTIC_CUT_NONE &&
	       g->v.tile == 0 && !hn_heuristic_has_remainders(v->op) &&
	       hn_heuristic_unit_lanes(v, &lane) && v->out_stride[lane] == 1 &&
	       !slides_at_all(v) && strip_length(g, v, lane) * bytes >= RUN_BYTES;
}

/* Both go down the rows of a tensor that is too large for the second cache: v along its
 * reduction axis, p along its one spatial axis. */
static bool share_rows(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       const struct hn_heuristic_view *p)
{
	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		int64_t bytes = hn_op_bytes(hn_stage_op(g->c.s, r->producer), 0);

		for (uint32_t k = 0; k < p->n_read; k++) {
			if (p->read[k].producer == r->producer &&
			    p->read[k].stride[0] == r->stride[v->n_spatial] &&
			    bytes > g->target->param[HN_PARAM_L2_BYTES]) {
				return true;
			}
		}
	}
	return false;
}

/* The producer that sums over the rows v reads, one number a row for v alone; -1 = none. */
static int32_t find_row_sums(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		struct hn_heuristic_view p;
		int32_t reader;

		if (r->uses == (uint64_t)1 << v->n_spatial && r->stride[v->n_spatial] == 1 &&
		    hn_stage_op(g->c.s, r->producer)->kind == HN_OP_COMPUTE &&
		    !g->done[r->producer] && !hn_heuristic_is_result(g, r->producer) &&
		    !hn_heuristic_is_constant(g, r->producer) &&
		    hn_heuristic_view(g, r->producer, &p) && p.op->reduce &&
		    p.n_spatial == 1 && p.extent[0] == v->reduce && share_rows(g, v, &p) &&
		    hn_heuristic_readers(g, r->producer, &reader, 1) == 1) {
			return r->producer;
		}
	}
	return -1;
}

static void strips(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host,
		   int32_t row_sums)
{
	struct hn_heuristic_nest n;

	hn_heuristic_nest_init(&n, v);
	hn_heuristic_unit_lanes(v, &n.lane_axis);
	n.threads = hn_heuristic_threads(g, v);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n.block[a] = n.tile[a] = 1;
	}
	n.tile[n.lane_axis] = VECTORS * v->lanes;
	n.block[n.lane_axis] = row_sums < 0 ? strip_length(g, v, n.lane_axis)
					    : v->extent[n.lane_axis];
	n.cut = v->n_axis - 1;
	n.cut_length = ROWS;
	if (row_sums >= 0) {
		n.move[n.n_move++] = row_sums;
	}
	hn_heuristic_nest_build(g, v, host, &n);
}

/* The sums of all columns stay in the first cache, a core has rows enough, and nobody minds
 * their order. */
static bool may_share_rows_out(const struct hn_heuristic_job *g,
			       const struct hn_heuristic_view *v)
{
	int64_t sums = hn_mul_sat(v->spatial, hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]));

	return v->n_axis == v->n_spatial + 1 && g->v.place != HN_HEURISTIC_ROOT &&
	       sums <= g->target->param[HN_PARAM_L1_BYTES] / 2 &&
	       v->reduce >= 2 * ROWS * hn_heuristic_cores(g) &&
	       !hn_against_parts(g->c.s->root_dag, v->op);
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	int32_t row_sums = host == v->stage && may_share_rows_out(g, v) ? find_row_sums(g, v)
									: -1;
	int64_t part = hn_ceildiv(v->reduce, hn_heuristic_cores(g));
	struct hn_heuristic_view partial = *v;

	if (row_sums >= 0 && part < v->reduce) {
		int32_t axis = (int32_t)v->n_spatial;

		hn_chain_split(&g->c, v->stage, axis, &part, 1);
		hn_heuristic_rfactor(g, v->stage, axis, 0);
		if (g->c.failed || !hn_heuristic_view(g, v->stage, &partial)) {
			return;
		}
	}
	strips(g, &partial, row_sums < 0 ? host : partial.stage, row_sums);
}

extern const struct hn_heuristic_ops hn_heuristic_columns;
const struct hn_heuristic_ops hn_heuristic_columns = { "columns", fits, schedule, true };
