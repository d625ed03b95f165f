/* sketch/guard/columns.c -- long sums over columns, neighbouring results from neighbouring
 * data: products of a transposed matrix with a vector, means of channels.
 *
 * Everything is read once, so memory is the limit, and it is fastest in long runs.  A core
 * takes a strip of columns as wide as can be and goes down it a few rows at a time, sums of
 * the strip in the first cache: each row is read along, and a vector of sums is loaded and
 * stored once for all of these rows.  A register tile that goes down all rows first, as
 * windows have it, reads a piece of each page and is fetched ahead by nothing: half as fast.
 */
#include "base/arith.h"
#include "sketch/guard/guard_int.h"

#define SHORT 64 /* a reduction that is no column */
#define ROWS 16  /* added at a time; 16 to 64 ran alike, 8 half as fast */
#define VECTORS 2
#define RUN_BYTES 2048 /* of a strip's row, that hardware fetches ahead */

static bool slides_at_all(const struct hn_guard_view *v)
{
	for (uint32_t i = 0; i < v->n_read; i++) {
		for (uint32_t a = 0; a < v->n_spatial; a++) {
			if (hn_guard_slides(v, &v->read[i], a)) {
				return true;
			}
		}
	}
	return false;
}

/* Strips that give every core one, and whose sums stay in the first cache. */
static int64_t strip_length(const struct hn_guard_job *g, const struct hn_guard_view *v,
			    uint32_t lane)
{
	int64_t e = v->extent[lane], tile = VECTORS * v->lanes;
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]);
	int64_t others = v->spatial / e, strips = 1;
	int64_t most = g->target->param[HN_PARAM_L1_BYTES] / (2 * bytes);

	if (hn_guard_threads(g, v)) {
		strips = hn_ceildiv(hn_guard_cores(g), others);
	}
	strips = hn_ceildiv(e, most) > strips ? hn_ceildiv(e, most) : strips;
	return hn_ceildiv(hn_ceildiv(e, strips), tile) * tile;
}

static bool fits(const struct hn_guard_job *g, const struct hn_guard_view *v)
{
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]);
	uint32_t lane;

	return v->op->reduce && v->op->reduce->n == 1 && v->reduce > SHORT &&
	       v->extent[v->n_axis - 1] >= ROWS && g->v.cut == HN_GUARD_CUT_NONE &&
	       g->v.tile == 0 && !hn_guard_has_remainders(v->op) &&
	       hn_guard_unit_lanes(v, &lane) && v->out_stride[lane] == 1 &&
	       !slides_at_all(v) && strip_length(g, v, lane) * bytes >= RUN_BYTES;
}

static void schedule(struct hn_guard_job *g, const struct hn_guard_view *v, int32_t host)
{
	struct hn_guard_nest n;

	hn_guard_nest_init(&n, v);
	hn_guard_unit_lanes(v, &n.lane_axis);
	n.threads = hn_guard_threads(g, v);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n.block[a] = n.tile[a] = 1;
	}
	n.tile[n.lane_axis] = VECTORS * v->lanes;
	n.block[n.lane_axis] = strip_length(g, v, n.lane_axis);
	n.cut = v->n_axis - 1;
	n.cut_length = ROWS;
	hn_guard_nest_build(g, v, host, &n);
}

extern const struct hn_guard_ops hn_guard_columns;
const struct hn_guard_ops hn_guard_columns = { "columns", fits, schedule, true };
