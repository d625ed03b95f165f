/* fill/location.c -- where stages that no rule placed are computed: at root, or inside a
 * loop of whoever reads them.
 *
 * Such a stage (padding, for one) stays at root in half of the draws: computing it far
 * inside puts its branches into inner loops.  Source: Ansor, section 4.2; TVM
 * InitChangeComputeLocation and GetComputeLocationCandidates.
 */
#include <string.h>

#include "loopstate/nest/bounds.h"
#include "sketch/sketch_int.h"

#define MAX_PLACES 64

struct place {
	int32_t stage, iter;
};

struct places {
	uint32_t n;
	struct place item[MAX_PLACES];
};

static void add(struct places *p, int32_t stage, int32_t iter)
{
	if (p->n < MAX_PLACES) {
		p->item[p->n++] = (struct place){ stage, iter };
	}
}

/* A loop that is part 0 of an axis: "i.0". */
static bool outermost_part(const struct hn_iter *it)
{
	size_t n = strlen(it->name);

	return it->kind == HN_ITER_SPATIAL && n >= 2 &&
	       strcmp(it->name + n - 2, ".0") == 0;
}

/* Loops of the reader t itself, outermost first. */
static void add_loops_of_reader(const struct hn_state *s, int32_t t, struct places *p)
{
	const struct hn_stage *st = s->stage[t];
	bool tiled = hn_state_stage_tiled(s, t), seen_reduce = false;

	for (uint32_t i = 0; i < st->n_iter; i++) {
		const struct hn_iter *it = &st->iter[i];
		if (it->kind != HN_ITER_SPATIAL) {
			seen_reduce = true;
			if (!tiled) {
				break;
			}
		} else if (seen_reduce) {
			break;
		}
		if (it->ann == HN_ANN_UNROLL) {
			break;
		}
		if (it->extent == 1 || (st->at == HN_AT_ITER && outermost_part(it))) {
			continue;
		}
		add(p, t, (int32_t)i);
		if (hn_state_attached_at(s, t, (int32_t)i)) {
			break;
		}
	}
}

/* Loops of the stage the reader is attached to, down to where it is attached. */
static void add_loops_of_host(const struct hn_state *s, int32_t reader, struct places *p)
{
	const struct hn_stage *st = s->stage[reader];
	const struct hn_stage *host = s->stage[st->at_stage];

	for (uint32_t i = 0; i < host->n_iter && (int32_t)i <= st->at_iter; i++) {
		const struct hn_iter *it = &host->iter[i];
		if (it->kind != HN_ITER_SPATIAL || it->ann == HN_ANN_UNROLL) {
			break;
		}
		if (it->extent != 1) {
			add(p, st->at_stage, (int32_t)i);
		}
		if (hn_state_attached_at(s, st->at_stage, (int32_t)i)) {
			break;
		}
	}
}

/* The stage whose nest holds all consumers: the only one, or the root of all of them. */
static int32_t common_host(const struct hn_state *s, int32_t stage)
{
	int32_t c[HN_DAG_MAX_ITERS];
	uint32_t n = hn_state_consumers(s, stage, c, HN_DAG_MAX_ITERS);

	if (n == 0 || n > HN_DAG_MAX_ITERS) {
		return -1;
	}
	if (n == 1) {
		return c[0];
	}
	for (uint32_t i = 0; i < n; i++) {
		while (s->stage[c[i]]->at == HN_AT_ITER) {
			c[i] = s->stage[c[i]]->at_stage;
		}
		if (c[i] != c[0]) {
			return -1;
		}
	}
	return c[0];
}

/* A result is stored whole, also where another stage reads it. */
static bool is_result(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		if (s->dag->arg[i] == stage) {
			return true;
		}
	}
	return false;
}

static bool may_move(const struct hn_state *s, int32_t stage)
{
	return hn_stage_op(s, stage)->kind == HN_OP_COMPUTE && !is_result(s, stage) &&
	       s->stage[stage]->at != HN_AT_INLINED && !hn_state_stage_tiled(s, stage) &&
	       !hn_stage_needs_tiling(s, stage);
}

static bool offered(const struct places *p, int32_t stage, int32_t iter)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->item[i].stage == stage && p->item[i].iter == iter) {
			return true;
		}
	}
	return false;
}

static void stay(struct hn_chain *c, int32_t stage)
{
	if (c->s->stage[stage]->at != HN_AT_ROOT) {
		hn_chain_root(c, stage);
	}
}

/* False where a block has no room for it. */
static bool move(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage, struct place to)
{
	const struct hn_state *before = c->s;

	hn_chain_compute_at(c, stage, to.stage, to.iter);
	if (!c->failed && hn_block_verdict(ctx, c->s) == HN_VERDICT_OVER_LIMIT) {
		c->s = before;
		return false;
	}
	return true;
}

static void place_one(const struct hn_fill_ctx *ctx, struct hn_chain *c, int32_t stage)
{
	const struct hn_plan_stage *want = &ctx->plan->stage[stage];
	int32_t reader = common_host(c->s, stage);
	struct places p = { 0 };
	struct place to = { -1, -1 };

	if (reader >= 0) {
		add_loops_of_reader(c->s, reader, &p);
		if (c->s->stage[reader]->at == HN_AT_ITER) {
			add_loops_of_host(c->s, reader, &p);
		}
	}
	if (want->at == HN_AT_ITER && offered(&p, want->at_stage, want->at_iter)) {
		to = (struct place){ want->at_stage, want->at_iter };
	} else if (want->at < 0 && p.n > 0 && hn_rng_below(ctx->rng, 2) == 0) {
		to = p.item[hn_rng_below(ctx->rng, p.n)];
	}
	if (to.stage < 0 || !move(ctx, c, stage, to)) {
		stay(c, stage);
	}
}

/* Ends with bounds' extents, so that the fills after this one know every extent. */
static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	for (int32_t i = (int32_t)s->n_stage - 1; i >= 0 && !c.failed; i--) {
		if (may_move(c.s, i)) {
			place_one(ctx, &c, i);
		}
	}
	return c.failed || hn_bounds_extents(c.s, ctx->arena, ret, NULL) < 0
		       ? HN_VERDICT_ILLEGAL
		       : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_location;
const struct hn_fill_ops hn_fill_location = { "location", fill };
