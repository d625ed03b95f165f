/* sketch/pack.c -- the panels of a packed operand (step PK) follow the tiles of its
 * reader.
 *
 * What a plan holds for the hole of a PK is not block lengths but one number for each
 * dimension of the operand: how many parts of the tiling, counted from the innermost, make
 * up the block; 0 = blocks of one, one more than there are parts to choose = the whole
 * dimension.  So a packed program stays packed for its tiles when these are drawn again or
 * mutated.  The block lengths follow when the sketch is closed.
 *
 * Source of the layout: the packed panels of BLIS (Van Zee, van de Geijn 2015): as wide as
 * the register tile, the reduction running through each from end to end, so that the inner
 * loop reads one stream of whole cache lines and few pages.
 *
 * A constant operand is packed before the first call (hone/kernel.h, prepared data): the copy
 * costs nothing, so neither reuse nor far rows are asked for, and panels of other forms than
 * the inner loop's are drawn seldom.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/intrin.h"
#include "loopstate/dag/constant.h"
#include "sketch/sketch_int.h"

#define MAX_BYTES ((int64_t)64 << 20) /* of workspace for one packed operand */
#define MIN_REUSE 64 /* times that each element is read: fewer do not pay for its copy */
#define MIN_ROW_BYTES 2048  /* shorter rows share pages, and lie well enough unpacked */
#define PERCENT_ONE_TILE 65 /* panels as wide as the innermost tile, not wider */
#define PERCENT_WHOLE_DEPTH 60 /* panels through the whole of a reduction axis */
#define PERCENT_CONSTANT 90    /* either of these, of a constant operand */

int32_t hn_lane_axis(const struct hn_op *op)
{
	int32_t axis = -1;

	for (uint32_t i = 0; i < op->n_spatial; i++) {
		axis = op->axis[i].extent > 1 ? (int32_t)i : axis;
	}
	return axis;
}

/* Whether the loops of every axis of the stage were split, the lanes into several tiles. */
static bool tiled_whole(const struct hn_state *s, int32_t stage, int32_t lanes)
{
	const struct hn_op *op = hn_stage_op(s, stage);
	int32_t step[HN_DAG_MAX_ITERS];
	uint32_t before = hn_intrin_splits(s->stage[stage]);
	uint32_t n_axis = op->n_spatial + op->n_reduce + before;
	uint32_t n = hn_stage_split_steps(s, stage, step, HN_DAG_MAX_ITERS);

	return n == n_axis && n <= HN_DAG_MAX_ITERS &&
	       s->trace->step[step[n - 1 - before - (uint32_t)lanes]]->n_list > 1;
}

/* The only load of `stage` by `reader`, or NULL. */
static const struct hn_expr *only_load(const struct hn_state *s, int32_t stage,
				       int32_t reader)
{
	const struct hn_op_access *acc = &s->access->op[reader];
	const struct hn_expr *load = NULL;

	for (uint32_t i = 0; i < acc->n_read; i++) {
		if (acc->read[i].producer == stage) {
			if (load) {
				return NULL;
			}
			load = acc->read[i].load;
		}
	}
	return load;
}

/* The axis that alone moves index d, or -1. */
static int32_t axis_of(const struct hn_expr *load, uint32_t d)
{
	int32_t slot;
	int64_t shift;

	return hn_access_const_shift(load->arg[d], &slot, &shift) && shift == 0 ? slot
										: -1;
}

/* Of an operand packed in groups: dimension d counts the groups of an axis, and which. */
static int32_t grouped_axis(const struct hn_state *s, int32_t reader, const struct hn_expr *load,
			    uint32_t d)
{
	const struct hn_expr *e = load->arg[d];
	bool groups = s->stage[reader]->intrin != NULL && e->op == HN_EXPR_FLOORDIV &&
		      e->arg[0]->op == HN_EXPR_VAR && e->arg[1]->op == HN_EXPR_INT &&
		      e->arg[1]->u.i == hn_intrin_terms(s->stage[reader]->intrin);

	return groups ? e->arg[0]->ref : axis_of(load, d);
}

/* ... or runs within one. */
static bool is_group(const struct hn_state *s, int32_t reader, const struct hn_expr *load,
		     uint32_t d)
{
	return s->stage[reader]->intrin != NULL && load->arg[d]->op == HN_EXPR_FLOORMOD;
}

bool hn_stage_is_packed(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = s->trace ? s->trace->n_step : 0; i-- > 0;) {
		const struct hn_step *step = s->trace->step[i];

		if (hn_step_has(step, HN_MEANS_BLOCKS) && step->stage + 1 == stage) {
			return true;
		}
		stage = hn_stage_before(step, stage);
	}
	return false;
}

static void find_axis(const struct hn_expr *e, void *ctx)
{
	bool *used = ctx;

	if (e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < HN_DAG_MAX_ITERS) {
		used[e->ref] = true;
	}
}

/* How often the reader reads each element, at least. */
static int64_t reuse(const struct hn_op *reader, const struct hn_expr *load)
{
	bool used[HN_DAG_MAX_ITERS] = { false };
	int64_t n = 1;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		hn_expr_visit(load->arg[d], find_axis, used);
	}
	for (uint32_t i = 0; i < reader->n_spatial && i < HN_DAG_MAX_ITERS; i++) {
		n = used[i] ? n : hn_mul_sat(n, reader->axis[i].extent);
	}
	return n;
}

static int64_t bytes_of(const struct hn_op *op)
{
	int64_t n = hn_dtype_bytes((enum hn_dtype)op->dtype[0]);

	for (uint32_t d = 0; d < op->n_dim; d++) {
		n = hn_mul_sat(n, op->shape[d]);
	}
	return n;
}

static bool is_constant(const struct hn_state *s, int32_t stage)
{
	uint8_t *depends = malloc(s->dag->n_op);
	bool constant;

	hn_assert(depends);
	hn_dag_find_constant(s->dag, s->root_dag, depends);
	constant = depends[stage] == HN_CONSTANT;
	free(depends);
	return constant;
}

/* Whether a copy of the operand, each element of which is read so often, pays. */
static bool pays(const struct hn_state *s, int32_t stage, int32_t panel, int64_t n_read)
{
	const struct hn_op *op = hn_stage_op(s, stage);
	int64_t row =
		hn_mul_sat(op->shape[panel], hn_dtype_bytes((enum hn_dtype)op->dtype[0]));
	bool in_rows = panel + 1 == (int32_t)op->n_dim;

	return (n_read >= MIN_REUSE && (!in_rows || row >= MIN_ROW_BYTES)) ||
	       is_constant(s, stage);
}

bool hn_pack_pays(const struct hn_state *s, int32_t stage, const struct hn_op *op,
		  const struct hn_expr *load)
{
	return is_constant(s, stage) || reuse(op, load) >= MIN_REUSE;
}

int32_t hn_pack_panel(const struct hn_state *s, int32_t stage, int32_t *ret_reader)
{
	const struct hn_op *op = hn_stage_op(s, stage);
	int32_t reader, panel = -1;

	if (op->n_out != 1 || s->stage[stage]->at != HN_AT_ROOT ||
	    2 * op->n_dim > HN_DAG_MAX_RANK || bytes_of(op) > MAX_BYTES ||
	    hn_state_consumers(s, stage, &reader, 1) != 1 ||
	    !hn_stage_needs_tiling(s, reader)) {
		return -1;
	}
	int32_t lanes = hn_lane_axis(hn_stage_op(s, reader));
	const struct hn_expr *load = only_load(s, stage, reader);
	if (lanes < 0 || !load || !tiled_whole(s, reader, lanes)) {
		return -1;
	}
	for (uint32_t d = 0; d < load->n_arg; d++) {
		panel = axis_of(load, d) == lanes ? (int32_t)d : panel;
	}
	if (panel < 0 || op->shape[panel] < 2 ||
	    !pays(s, stage, panel, reuse(hn_stage_op(s, reader), load))) {
		return -1;
	}
	*ret_reader = reader;
	return panel;
}

const int64_t *hn_pack_provisional(const struct hn_state *s, int32_t stage,
				   struct hn_arena *a)
{
	const struct hn_op *op = hn_stage_op(s, stage);
	int64_t *len = HN_NEW_ARRAY(a, int64_t, op->n_dim);
	int32_t reader, panel = hn_pack_panel(s, stage, &reader);

	for (uint32_t d = 0; d < op->n_dim; d++) {
		bool whole = (int32_t)d == panel ||
			     is_group(s, reader, only_load(s, stage, reader), d);

		len[d] = whole ? op->shape[d] : 1;
	}
	return len;
}

/* The split hole of that axis of the stage, numbered as in the finished sketch, or -1. */
static int32_t tile_of(const struct hn_hole *hole, uint32_t n, int32_t stage,
		       int32_t axis)
{
	for (uint32_t i = 0; i < n && axis >= 0; i++) {
		if (hole[i].stage == stage && hole[i].axis == axis && !hole[i].pack) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* What one iteration of the loops that the tiling makes of the axis stands for. */
static int64_t unit_of(const struct hn_stage *st, int32_t axis)
{
	bool tiles = st->intrin != NULL && hn_intrin_is_tile(st->intrin) && axis >= 0;

	for (uint32_t d = 0; tiles && d < HN_INTRIN_TERMS; d++) {
		if (hn_intrin_axis(st, (enum hn_intrin_dim)d) == axis) {
			return st->intrin->most[d];
		}
	}
	return 1;
}

struct hn_hole hn_pack_hole(const struct hn_state *s, const struct hn_trace *t,
			    uint32_t i, const struct hn_hole *before, uint32_t n_before,
			    struct hn_arena *a)
{
	int32_t stage = t->step[i]->stage, reader = -1;
	int32_t panel = hn_pack_panel(s, stage, &reader);
	const struct hn_op *op = hn_stage_op(s, stage);
	int32_t *tile = HN_NEW_ARRAY(a, int32_t, op->n_dim);
	bool *whole = HN_NEW_ARRAY(a, bool, op->n_dim);
	int64_t *unit = HN_NEW_ARRAY(a, int64_t, op->n_dim);
	int64_t *extent = HN_NEW_ARRAY(a, int64_t, op->n_dim);
	struct hn_pack *pack = HN_NEW(a, struct hn_pack);

	hn_assert(panel >= 0); /* the rule asked the same question of the same state */
	const struct hn_expr *load = only_load(s, stage, reader);
	const struct hn_op *by = hn_stage_op(s, reader);
	int32_t final = hn_stage_final_id(t, i - 1, reader);
	for (uint32_t d = 0; d < op->n_dim; d++) {
		int32_t axis = grouped_axis(s, reader, load, d);

		whole[d] = is_group(s, reader, load, d);
		extent[d] = op->shape[d];
		unit[d] = unit_of(s->stage[reader], axis);
		bool wanted = (int32_t)d == panel ||
			      ((int32_t)d < panel && axis >= (int32_t)by->n_spatial);
		tile[d] = wanted ? tile_of(before, n_before, final, axis) : -1;
	}
	*pack = (struct hn_pack){ .constant = is_constant(s, stage),
				  .panel = panel,
				  .extent = extent,
				  .tile = tile,
				  .whole = whole,
				  .unit = unit };
	return (struct hn_hole){ .step = i,
				 .role = HN_HOLE_PACK,
				 .stage = hn_stage_final_id(t, i, stage + 1),
				 .axis = -1,
				 .n_len = op->n_dim,
				 .extent = 1,
				 .pack = pack };
}

void hn_pack_draw(const struct hn_hole *hole, const struct hn_hole *all,
		  struct hn_rng *rng, int64_t *ret)
{
	const struct hn_pack *p = hole->pack;

	for (uint32_t d = 0; d < hole->n_len; d++) {
		uint64_t percent = p->constant		   ? PERCENT_CONSTANT
				   : (int32_t)d == p->panel ? PERCENT_ONE_TILE
							    : PERCENT_WHOLE_DEPTH;
		bool common = hn_rng_below(rng, 100) < percent;
		ret[d] = 0;
		if (p->tile[d] < 0) {
			continue;
		}
		uint32_t n = all[p->tile[d]].n_len;
		if ((int32_t)d == p->panel) {
			ret[d] = common ? 1 : 1 + (int64_t)hn_rng_below(rng, n);
		} else {
			ret[d] = common ? n + 1 : 1 + (int64_t)hn_rng_below(rng, n);
		}
	}
}

/* The block that `parts` parts of the tiling of dimension d make up. */
static int64_t block(const struct hn_sketch *sk, const struct hn_pack *p, uint32_t d,
		     int64_t parts, const int64_t *const *len)
{
	int64_t most = p->extent[d], n = p->unit[d];

	if (p->whole[d]) {
		return most;
	}
	if (parts == 0 || p->tile[d] < 0) {
		return 1;
	}
	uint32_t n_len = sk->hole[p->tile[d]].n_len;
	if (parts > n_len) {
		return most;
	}
	for (int64_t k = 0; k < parts; k++) {
		n = hn_mul_sat(n, len[p->tile[d]][n_len - 1 - k]);
	}
	return n < most ? n : most;
}

const int64_t *hn_pack_blocks(const struct hn_sketch *sk, uint32_t h,
			      const int64_t *const *len, struct hn_arena *a)
{
	const struct hn_hole *hole = &sk->hole[h];
	const struct hn_pack *p = hole->pack;
	int64_t *out = HN_NEW_ARRAY(a, int64_t, hole->n_len);

	for (uint32_t d = 0; d < hole->n_len; d++) {
		out[d] = block(sk, p, d, len[h][d], len);
	}
	/* Tiles of length one make no panel: take more parts, in the end the dimension. */
	for (int64_t k = len[h][p->panel]; out[p->panel] == 1; k++) {
		out[p->panel] = block(sk, p, (uint32_t)p->panel, k + 1, len);
	}
	return out;
}

const int64_t *hn_pack_parts(const struct hn_sketch *sk, uint32_t h,
			     const int64_t *blocks, const int64_t *const *len,
			     struct hn_arena *a)
{
	const struct hn_hole *hole = &sk->hole[h];
	const struct hn_pack *p = hole->pack;
	int64_t *out = HN_NEW_ARRAY(a, int64_t, hole->n_len);

	for (uint32_t d = 0; d < hole->n_len; d++) {
		uint32_t most = p->tile[d] < 0 ? 0 : sk->hole[p->tile[d]].n_len + 1;
		out[d] = (int32_t)d == p->panel;
		while (out[d] <= most && block(sk, p, d, out[d], len) != blocks[d]) {
			out[d]++;
		}
		if (out[d] > most) {
			return NULL;
		}
	}
	return out;
}
