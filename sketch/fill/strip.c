/* fill/strip.c -- every stage gets an innermost loop that vectors can run.
 *
 * Two cases Ansor leaves scalar: a long innermost spatial loop is cut into strips, and in
 * a plain reduction over contiguous data (pooling with the channels last, for one) the
 * last spatial axis moves inside the reduction loops.
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"

uint32_t hn_strip_choices(const struct hn_state *s, int32_t stage,
			  const struct hn_target *target, int32_t ret[HN_STRIPS])
{
	int64_t f = hn_stage_lanes(s, stage, target);
	uint32_t n = 0;

	for (; n < HN_STRIPS && (f <= HN_MAX_INNERMOST || n == 0); f *= 2) {
		ret[n++] = (int32_t)f;
	}
	return n;
}

/* Any that divides, or the least waste. */
static int64_t draw_strip(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			  int32_t stage, int64_t extent)
{
	int32_t choice[HN_STRIPS];
	uint32_t n_choice = hn_strip_choices(s, stage, ctx->target, choice), n = 0;
	int64_t good[HN_STRIPS], least = choice[0], waste = INT64_MAX;

	for (uint32_t k = 0; k < n_choice; k++) {
		int64_t f = choice[k], w = hn_mul_sat(hn_ceildiv(extent, f), f) - extent;
		if (w == 0) {
			good[n++] = f;
		}
		if (w < waste) {
			waste = w;
			least = f;
		}
	}
	return n > 0 ? good[hn_rng_below(ctx->rng, n)] : least;
}

static bool has_children(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = 0; i < s->n_attached; i++) {
		if (s->attached[i].stage == stage && s->attached[i].n > 0) {
			return true;
		}
	}
	return false;
}

/* Whether loads step through memory one by one along that axis, or do not move. */
static bool contiguous_along(const struct hn_state *s, int32_t stage, int32_t axis)
{
	const struct hn_op_access *acc = &s->access->op[stage];
	bool any = false;

	for (uint32_t i = 0; i < acc->n_read; i++) {
		const struct hn_expr *load = acc->read[i].load;
		for (uint32_t d = 0; d < load->n_arg; d++) {
			int32_t slot = -1;
			int64_t shift;
			bool plain = hn_access_const_shift(load->arg[d], &slot, &shift);
			if (plain && slot == axis) {
				if (d + 1 < load->n_arg) {
					return false;
				}
				any = true;
			}
		}
	}
	return any;
}

/* The position of the last spatial loop of an untouched reduction worth turning, or -1.
 */
static int32_t turnable(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];
	const struct hn_op *op = hn_stage_op(s, stage);

	if (op->kind != HN_OP_COMPUTE || !op->reduce || op->n_spatial == 0 ||
	    op->reduce->kind == HN_COMBINE_GENERAL || st->n_iter > HN_DAG_MAX_ITERS ||
	    hn_state_stage_tiled(s, stage) || has_children(s, stage)) {
		return -1;
	}
	int32_t at = (int32_t)op->n_spatial - 1;
	for (uint32_t i = 0; i < st->n_iter; i++) {
		bool spatial = i < op->n_spatial;
		if (st->iter[i].ann != HN_ANN_NONE ||
		    (st->iter[i].kind == HN_ITER_SPATIAL) != spatial) {
			return -1;
		}
	}
	return st->iter[at].extent > 1 && contiguous_along(s, stage, at) ? at : -1;
}

static void turn(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage,
		 int32_t at)
{
	int64_t extent = c->s->stage[stage]->iter[at].extent;
	int64_t order[HN_DAG_MAX_ITERS + 1];
	int32_t want = ctx->plan->stage[stage].strip;
	uint32_t n = 0, n_iter;

	if (want == 0 || (want < 0 && hn_rng_below(ctx->rng, 8) == 0)) {
		return;
	}
	int64_t f = want > 0 ? want : draw_strip(ctx, c->s, stage, extent);
	f = f < extent ? f : extent;
	hn_chain_split(c, stage, at, &f, 1);
	n_iter = c->s->stage[stage]->n_iter;
	for (uint32_t i = 0; i < n_iter; i++) {
		if ((int32_t)i != at + 1) {
			order[n++] = i;
		}
	}
	order[n++] = at + 1;
	hn_chain_reorder(c, stage, order, n);
}

static void strip_stage(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage)
{
	int32_t want = ctx->plan->stage[stage].strip;
	int32_t at = turnable(c->s, stage);

	if (at >= 0) {
		turn(ctx, c, stage, at);
		return;
	}
	at = hn_vector_iter(c->s, stage);
	if (at < 0 || c->s->stage[stage]->iter[at].extent <= HN_MAX_INNERMOST) {
		return;
	}
	int64_t extent = c->s->stage[stage]->iter[at].extent;
	int64_t f = want > 0 ? want : draw_strip(ctx, c->s, stage, extent);
	hn_chain_split(c, stage, at, &f, 1);
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	for (int32_t i = 0; i < (int32_t)s->n_stage && !c.failed; i++) {
		if (hn_stage_op(c.s, i)->kind == HN_OP_COMPUTE &&
		    c.s->stage[i]->at != HN_AT_INLINED) {
			strip_stage(ctx, &c, i);
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_strip;
const struct hn_fill_ops hn_fill_strip = { "strip", fill };
