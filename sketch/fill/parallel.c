/* fill/parallel.c -- outer spatial loops of every root nest are fused into one parallel
 * loop.
 *
 * Enough iterations to share out evenly, not more than 16 for each core when fewer will
 * do. Source: TVM InitParallel. */
#include "base/arith.h"
#include "sketch/sketch_int.h"

#define SMALL_WORK 16384 /* iterations below which waking the other cores may not pay */

struct outer { /* the leading loops that may run in parallel together */
	uint32_t n;
	int64_t iterations[HN_DAG_MAX_ITERS]; /* [k] = product of the first k + 1 */
	bool ends_at_children;
};

static void find_outer(const struct hn_state *s, int32_t stage, int64_t limit,
		       struct outer *o)
{
	const struct hn_stage *st = s->stage[stage];
	int64_t product = 1;

	*o = (struct outer){ 0 };
	for (uint32_t i = 0; i < st->n_iter && i < HN_DAG_MAX_ITERS; i++) {
		const struct hn_iter *it = &st->iter[i];
		if (it->kind != HN_ITER_SPATIAL || it->ann != HN_ANN_NONE) {
			break;
		}
		product = hn_mul_sat(product, it->extent > 1 ? it->extent : 1);
		o->iterations[o->n++] = product;
		if (hn_state_attached_at(s, stage, (int32_t)i)) {
			o->ends_at_children = true;
			break;
		}
		if (product > limit) {
			break;
		}
	}
}

/* How many loops: as many as found, or fewer that still share out well. */
static uint32_t draw_width(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			   int32_t stage, const struct outer *o)
{
	int64_t cores = ctx->target->param[HN_PARAM_NUM_CORES], spatial, reduce;
	int32_t want = ctx->plan->stage[stage].parallel;
	uint32_t good[HN_DAG_MAX_ITERS], n = 0;

	if (want >= 0) {
		return (uint32_t)want < o->n ? (uint32_t)want : o->n;
	}
	hn_stage_work(s, stage, &spatial, &reduce);
	if (!o->ends_at_children && hn_mul_sat(spatial, reduce) < SMALL_WORK &&
	    hn_rng_below(ctx->rng, 2) == 0) {
		return 0;
	}
	for (uint32_t k = 0; k < o->n; k++) {
		if (o->iterations[k] >= 8 * cores || o->iterations[k] % cores == 0) {
			good[n++] = k + 1;
		}
	}
	return n > 0 && hn_rng_below(ctx->rng, 10) < 3 ? good[hn_rng_below(ctx->rng, n)]
						       : o->n;
}

static void parallel_nest(const struct hn_fill_ctx *ctx, struct hn_chain *c,
			  int32_t stage, uint32_t depth)
{
	struct outer o;

	find_outer(c->s, stage, hn_parallel_limit(ctx->target), &o);
	if (o.n == 0) {
		return;
	}
	if (o.iterations[o.n - 1] == 1) {
		const struct hn_attached *at =
			hn_state_attached_at(c->s, stage, (int32_t)o.n - 1);
		for (uint32_t i = 0; at && depth > 0 && i < at->n; i++) {
			parallel_nest(ctx, c, at->child[i], depth - 1);
		}
		return;
	}
	uint32_t width = draw_width(ctx, c->s, stage, &o);
	if (width == 0 || o.iterations[width - 1] == 1) {
		return;
	}
	if (width > 1) {
		hn_chain_fuse(c, stage, 0, width);
	}
	hn_chain_annotate(c, stage, 0, HN_ANN_PARALLEL);
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	*ret = s;
	if (!(ctx->target->caps & HN_CAP_THREADS) ||
	    ctx->target->param[HN_PARAM_NUM_CORES] < 2) {
		return HN_VERDICT_OK;
	}
	for (int32_t i = 0; i < (int32_t)s->n_stage && !c.failed; i++) {
		if (hn_stage_op(c.s, i)->kind == HN_OP_COMPUTE &&
		    c.s->stage[i]->at == HN_AT_ROOT) {
			parallel_nest(ctx, &c, i, /* depth= */ 8);
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_parallel;
const struct hn_fill_ops hn_fill_parallel = { "parallel", fill };
