/* sketch/heuristic/panels.c -- operands of a contraction rewritten so that what is loaded as
 * vectors lies in a row, in the order in which the reduction takes it.
 *
 * Needed where neighbouring lanes are not neighbours in memory, and worth it where each row
 * of a tile is another page and the packed elements are used often.  Constant operands are
 * packed before the first call, so wherever the tile is not the whole row: the reduction then
 * reads one stream.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define PAGE 4096	  /* bytes; rows further apart cost a TLB entry each */
#define WORTH_PACKING 128 /* uses of a packed element that pay for packing it */

/* What stands before dimension `at` and is reduced goes inside, what stands behind it is in
 * order already. */
bool hn_heuristic_panel_blocks(const struct hn_heuristic_view *v,
			       const struct hn_heuristic_read *r, int32_t at, int64_t len,
			       const struct hn_op *op, int64_t *block)
{
	bool any = false;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		bool reduced = false;

		for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
			reduced = reduced || hn_heuristic_uses(r->load->arg[d], a);
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
static int64_t row_bytes(const struct hn_heuristic_view *v,
			 const struct hn_heuristic_read *r, const struct hn_op *op)
{
	for (uint32_t a = v->n_axis; a-- > v->n_spatial;) {
		if ((r->uses >> a & 1) != 0 && r->stride[a] > 0) {
			return hn_mul_sat(r->stride[a],
					  hn_dtype_bytes((enum hn_dtype)op->dtype[0]));
		}
	}
	return 0;
}

bool hn_heuristic_rows_far(const struct hn_heuristic_job *g,
			   const struct hn_heuristic_view *v,
			   const struct hn_heuristic_read *r)
{
	return row_bytes(v, r, hn_stage_op(g->c.s, r->producer)) >= PAGE / 4;
}

static bool should_pack(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			uint32_t lane_axis, int64_t tile,
			const struct hn_heuristic_read *r, int32_t stage)
{
	const struct hn_op *op = hn_stage_op(g->c.s, stage);
	int64_t reuse = 1;

	if (r->stride[lane_axis] != 1) {
		return true; /* loads lane by lane otherwise */
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		reuse = hn_mul_sat(reuse, (r->uses >> a & 1) ? 1 : v->extent[a]);
	}
	bool wide = op->shape[op->n_dim - 1] > tile;
	bool far = row_bytes(v, r, op) >= PAGE / 4 && wide;

	if (hn_heuristic_is_constant(g, stage)) {
		return wide != g->v.repack;
	}
	if (g->v.cut) {
		return false;
	}
	return (far && reuse >= WORTH_PACKING) != g->v.repack;
}

/* Pack the operands that move along lane_axis and of which `should` says so. */
static int32_t pack_where(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			  uint32_t lane_axis, int64_t tile,
			  bool (*should)(struct hn_heuristic_job *,
					 const struct hn_heuristic_view *, uint32_t, int64_t,
					 const struct hn_heuristic_read *, int32_t))
{
	int32_t packed[HN_HEURISTIC_MOVES], moved = 0;

	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		int32_t at = hn_heuristic_dimension(r, lane_axis), now = r->producer;
		int64_t block[HN_DAG_MAX_RANK];
		bool again = false;

		for (int32_t k = 0; k < moved; k++) {
			again = again || packed[k] == r->producer;
			now += packed[k] < r->producer;
		}
		const struct hn_op *op = hn_stage_op(g->c.s, now);

		if (again || r->stride[lane_axis] == 0 || at < 0 ||
		    moved == HN_HEURISTIC_MOVES || g->c.s->stage[now]->at != HN_AT_ROOT ||
		    !should(g, v, lane_axis, tile, r, now) ||
		    !hn_heuristic_panel_blocks(v, r, at, tile, op, block)) {
			continue;
		}
		hn_heuristic_pack(g, now, block);
		packed[moved++] = r->producer;
	}
	return moved;
}

int32_t hn_heuristic_panels(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			    uint32_t lane_axis, int64_t tile)
{
	return pack_where(g, v, lane_axis, tile, should_pack);
}

bool hn_heuristic_turns(const struct hn_heuristic_job *g, const struct hn_heuristic_read *r,
			uint32_t axis)
{
	return hn_heuristic_is_constant(g, r->producer) && r->stride[axis] != 1 &&
	       hn_heuristic_dimension(r, axis) >= 0;
}

static bool should_turn(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			uint32_t lane_axis, int64_t tile,
			const struct hn_heuristic_read *r, int32_t stage)
{
	(void)v;
	(void)tile;
	return r->stride[lane_axis] != 1 && hn_heuristic_is_constant(g, stage);
}

int32_t hn_heuristic_turn(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			  uint32_t lane_axis, int64_t tile)
{
	return pack_where(g, v, lane_axis, tile, should_turn);
}

/* The stage copies rows as they lie, once a call, for one reader. */
static bool copies_rows(struct hn_heuristic_job *g, int32_t stage)
{
	struct hn_heuristic_view v;
	int32_t reader;

	return hn_stage_op(g->c.s, stage)->kind == HN_OP_COMPUTE && g->pinned[stage] &&
	       !g->done[stage] && !hn_heuristic_is_constant(g, stage) &&
	       hn_heuristic_readers(g, stage, &reader, 1) == 1 &&
	       hn_heuristic_view(g, stage, &v) && v.n_read == 1 &&
	       v.read[0].stride[v.n_spatial - 1] == 1;
}

uint32_t hn_heuristic_own_panels(struct hn_heuristic_job *g,
				 const struct hn_heuristic_view *v, uint32_t lane_axis,
				 int32_t ret[HN_HEURISTIC_MOVES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		bool again = false;

		for (uint32_t k = 0; k < n; k++) {
			again = again || ret[k] == r->producer;
		}
		if (!again && n < HN_HEURISTIC_MOVES && (r->uses >> lane_axis & 1) &&
		    copies_rows(g, r->producer)) {
			ret[n++] = r->producer;
		}
	}
	return n;
}
