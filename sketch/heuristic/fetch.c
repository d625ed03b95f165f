/* sketch/heuristic/fetch.c -- what a contraction's nest fetches ahead because no hardware does.
 *
 * Hardware follows lines that lie in a row, within a page.  Two kinds of operands are not read so:
 * panels in place whose rows lie far apart, and what tiles broadcast in short pieces, many at a
 * time, from beyond the second cache.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define ROWS_AHEAD 8	 /* of panels in place: a cache's latency in iterations */
#define PIECE_BYTES 2048 /* shorter runs end before hardware has begun to fetch ahead */
#define STREAM 4 /* second caches' worth: of less, hardware fetches well what follows */
#define SUMS_A_LINE 128 /* vectors of them that hide the wait for a line */
#define LEAST_TILES 4	/* of a loop: for the last of them nothing is fetched */

static bool uses(const struct hn_heuristic_read *r, uint32_t axis)
{
	return (r->uses >> axis & 1) != 0;
}

static void fetch(struct hn_heuristic_job *g, int32_t stage, int32_t loop,
		  int32_t operand, int32_t distance)
{
	struct hn_step step = { .kind = HN_STEP_prefetch, .stage = stage };

	step.a[HN_PF_ITER] = loop;
	step.a[HN_PF_OPERAND] = operand;
	step.a[HN_PF_DISTANCE] = distance;
	if (loop >= 0) {
		/* *ret is written on success alone */
		(void)!hn_state_apply(g->c.s, &step, g->c.a, &g->c.s, NULL);
	}
}

/* The innermost loop of the reduction. */
static int32_t reduction_loop(const struct hn_stage *st)
{
	int32_t loop = -1;

	for (uint32_t i = 0; i < st->n_iter; i++) {
		/* a stage inside another one has lengths not known yet */
		bool reduces =
			st->iter[i].kind == HN_ITER_REDUCE && st->iter[i].extent != 1;

		loop = reduces ? (int32_t)i : loop;
	}
	return loop;
}

void hn_heuristic_fetch_panels(struct hn_heuristic_job *g,
			       const struct hn_heuristic_view *v, uint32_t lane_axis)
{
	for (uint32_t i = 0; i < v->n_read && !g->c.failed; i++) {
		const struct hn_heuristic_read *r = &v->read[i];

		if (r->stride[lane_axis] != 0 && hn_heuristic_rows_far(g, v, r)) {
			fetch(g, v->stage, reduction_loop(g->c.s->stage[v->stage]),
			      r->producer, ROWS_AHEAD);
		}
	}
}

/* The innermost of the loops over tiles that are many and go through the operand. */
static int32_t tiles_loop(const struct hn_stage *st, const struct hn_heuristic_read *r)
{
	int32_t loop = -1;

	for (uint32_t i = 0; i < st->n_iter && st->iter[i].kind == HN_ITER_SPATIAL; i++) {
		int32_t axis = hn_iter_axis(st, (int32_t)i);

		if (axis >= 0 && uses(r, (uint32_t)axis) &&
		    st->iter[i].extent >= LEAST_TILES) {
			loop = (int32_t)i;
		}
	}
	return loop;
}

/* Bytes in a row that the reduction reads of the operand for one result. */
static int64_t run_bytes(const struct hn_heuristic_view *v,
			 const struct hn_heuristic_read *r, int64_t unit)
{
	int64_t run = unit;

	for (bool grows = true; grows;) {
		grows = false;
		for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
			int64_t step = hn_mul_sat(r->stride[a], unit);
			int64_t all = hn_mul_sat(step, v->extent[a]);

			if (step > 0 && step <= run && all > run) {
				run = all;
				grows = true;
			}
		}
	}
	return run;
}

static bool has_odd_stride(const struct hn_heuristic_view *v,
			   const struct hn_heuristic_read *r)
{
	for (uint32_t a = 0; a < v->n_axis; a++) {
		if (r->stride[a] == HN_HEURISTIC_ODD) {
			return true;
		}
	}
	return false;
}

/* Neighbours along the axis that read the same: all of them, those of a group's channels, one. */
static int64_t points_alike(const struct hn_heuristic_view *v,
			    const struct hn_heuristic_read *r, uint32_t axis)
{
	if (!uses(r, axis)) {
		return v->extent[axis];
	}
	return r->stride[axis] == 0 && r->run[axis] > 1 ? r->run[axis] : 1;
}

void hn_heuristic_stream_of(const struct hn_heuristic_job *g,
			    const struct hn_heuristic_view *v,
			    const struct hn_heuristic_read *r, const bool *rows,
			    const int64_t *tile, struct hn_heuristic_stream *ret)
{
	const struct hn_op *op = hn_stage_op(g->c.s, r->producer);
	int64_t bytes = hn_op_bytes(op, 0), slices = 1, groups = 1;
	int64_t used = hn_dtype_bytes((enum hn_dtype)op->dtype[0]);

	ret->passes = 1;
	for (uint32_t a = 0; a < v->n_axis; a++) {
		int64_t same = points_alike(v, r, a);

		used = hn_mul_sat(used, v->extent[a] / same);
		if (a >= v->n_spatial || rows[a]) {
			continue;
		}
		if (same > 1) {
			ret->passes = hn_mul_sat(ret->passes, hn_ceildiv(same, tile[a]));
			groups = hn_mul_sat(groups, v->extent[a] / same);
		} else {
			slices = hn_mul_sat(slices, v->extent[a]);
		}
	}
	bytes = bytes < used ? bytes : used;
	ret->again = bytes / slices / groups;
	ret->bytes = hn_mul_sat(bytes, ret->passes);
	ret->stays = bytes / slices < STREAM * g->target->param[HN_PARAM_L2_BYTES];
}

/* Whether the read is in short pieces, with few sums to each line. */
static bool waits_for_lines(const struct hn_heuristic_job *g,
			    const struct hn_heuristic_view *v,
			    const struct hn_heuristic_read *r,
			    const struct hn_heuristic_stream *s)
{
	const struct hn_op *op = hn_stage_op(g->c.s, r->producer);
	int64_t unit = hn_dtype_bytes((enum hn_dtype)op->dtype[0]);
	double lines = (double)s->bytes /
		       (double)g->target->param[HN_PARAM_CACHE_LINE_BYTES];
	double sums = (double)v->spatial * (double)v->reduce / (double)v->lanes;

	return !s->stays && !has_odd_stride(v, r) && run_bytes(v, r, unit) < PIECE_BYTES &&
	       lines * SUMS_A_LINE > sums;
}

void hn_heuristic_fetch_pieces(struct hn_heuristic_job *g,
			       const struct hn_heuristic_view *v, uint32_t lane_axis,
			       const bool *rows, const int64_t *tile)
{
	for (uint32_t i = 0; i < v->n_read && !g->c.failed; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		struct hn_heuristic_stream s;

		hn_heuristic_stream_of(g, v, r, rows, tile, &s);
		if (r->stride[lane_axis] == 0 && waits_for_lines(g, v, r, &s)) {
			fetch(g, v->stage, tiles_loop(g->c.s->stage[v->stage], r),
			      r->producer, 1);
		}
	}
}

/* Whether the operand lies as the results do, element for element. */
static bool lies_alike(const struct hn_heuristic_view *v, const struct hn_heuristic_read *r)
{
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		if (v->extent[a] > 1 && r->stride[a] != v->out_stride[a]) {
			return false;
		}
	}
	return true;
}

void hn_heuristic_fetch_behind(struct hn_heuristic_job *g, int32_t sums, int32_t host)
{
	const struct hn_stage *inner = g->c.s->stage[sums];
	struct hn_heuristic_view v;

	if (inner->at != HN_AT_ITER || inner->at_stage != host ||
	    !hn_heuristic_view(g, host, &v)) {
		return;
	}
	for (uint32_t i = 0; i < v.n_read && !g->c.failed; i++) {
		if (v.read[i].producer != sums && lies_alike(&v, &v.read[i])) {
			fetch(g, host, inner->at_iter, v.read[i].producer, 1);
		}
	}
}
