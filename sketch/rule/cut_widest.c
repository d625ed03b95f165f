/* rule/cut_widest.c -- the loops of the widest op are cut into tiles, for a machine whose programs
 * fill and empty buffers (target/npu/npu_tiles.h): all other ops are made of the same tiles.
 *
 * Two sketches: one tile after the other, and the next one loaded while one is worked on.  In the
 * second the op's operands are copied for each tile, and the copies run ahead.  A sum of products has
 * three levels of loops: parts for cores, tiles of a part, and a tile; terms likewise, of L1, L0 and
 * the cube.  Source: AKG (PLDI 2021), tiles of the whole fused operator.
 */
#include <string.h>

#include "sketch/sketch_int.h"
#include "target/npu/npu_tiles.h"

#define BUFFER "local" /* a core's own memory (loopstate/nest/memories.def) */

static bool is_widest(const struct hn_state *s, int32_t stage)
{
	int32_t op = hn_npu_widest(s->root_dag);

	return op >= 0 && strcmp(s->root_dag->op[op]->id, hn_stage_op(s, stage)->id) == 0 &&
	       s->stage[stage]->n_rel == 0;
}

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	(void)ctx;
	return is_widest(s, stage) ? HN_RULE_APPLY_AND_STOP : HN_RULE_SKIP;
}

struct cuts {
	uint32_t n;	/* axes that iterate */
	struct {
		int64_t first; /* position of the outermost part */
		uint32_t n_part;
		bool reduce;
	} axis[HN_DAG_MAX_ITERS];
	uint32_t n_whole;
	int64_t whole[HN_DAG_MAX_ITERS]; /* positions of those of one iteration */
};

static void split(struct hn_chain *c, int32_t stage, struct cuts *cuts)
{
	static const int64_t open[] = { HN_HOLE, HN_HOLE };
	const struct hn_stage *st = c->s->stage[stage];
	const struct hn_op *op = hn_stage_op(c->s, stage);
	uint8_t role[HN_DAG_MAX_ITERS];
	bool product = hn_npu_roles(op, role);
	int64_t at = 0;

	for (uint32_t i = 0; i < st->n_iter; i++) {
		bool reduce = i >= op->n_spatial;
		uint32_t n_len = product && role[i] != HN_NPU_ROLE_BATCH ? 2 : 1;

		if (st->iter[i].extent == 1) {
			cuts->whole[cuts->n_whole++] = at++;
			continue;
		}
		hn_chain_split(c, stage, (int32_t)at, open, n_len);
		cuts->axis[cuts->n].first = at;
		cuts->axis[cuts->n].n_part = n_len + 1;
		cuts->axis[cuts->n++].reduce = reduce;
		at += n_len + 1;
	}
}

/* Loops over tiles: parts of spatial axes, those between, then the outer ones of terms; then the
 * tile.  Returns how many are outside of the tile. */
static uint32_t order(struct hn_chain *c, int32_t stage, const struct cuts *cuts)
{
	int64_t to[HN_DAG_MAX_ITERS * HN_NPU_PARTS];
	uint32_t n = 0, outer;

	for (uint32_t i = 0; i < cuts->n_whole; i++) {
		to[n++] = cuts->whole[i];
	}
	for (uint32_t from = HN_NPU_PARTS; from >= 2; from--) {
		for (uint32_t i = 0; i < cuts->n; i++) {
			if (!cuts->axis[i].reduce && cuts->axis[i].n_part >= from) {
				to[n++] = cuts->axis[i].first + cuts->axis[i].n_part - from;
			}
		}
	}
	for (uint32_t i = 0; i < cuts->n; i++) {
		if (cuts->axis[i].reduce) {
			to[n++] = cuts->axis[i].first;
		}
	}
	outer = n;
	for (uint32_t i = 0; i < cuts->n; i++) {
		if (cuts->axis[i].reduce && cuts->axis[i].n_part == HN_NPU_PARTS) {
			to[n++] = cuts->axis[i].first + 1;
		}
	}
	for (uint32_t i = 0; i < cuts->n; i++) {
		to[n++] = cuts->axis[i].first + cuts->axis[i].n_part - 1;
	}
	hn_chain_reorder(c, stage, to, n);
	return outer;
}

/* Copies of all that the stage reads, computed ahead in its loop `at`. */
static void ahead(struct hn_chain *c, int32_t stage, int32_t at)
{
	const struct hn_op_access acc = c->s->access->op[stage];

	for (uint32_t i = 0; i < acc.n_producer && !c->failed; i++) {
		int32_t from = acc.producer[i];

		for (uint32_t k = 0; k < i; k++) { /* copies stand behind what they copy */
			from += acc.producer[k] < acc.producer[i];
		}
		hn_chain_cache_read(c, from, BUFFER, stage++);
		hn_chain_compute_at(c, from + 1, stage, at);
	}
	hn_chain_pipeline(c, stage, at, 2, HN_PIPELINE_NONE);
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };
	struct cuts cuts = { 0 };
	uint32_t outer;

	split(&c, stage, &cuts);
	if (cuts.n == 0) {
		hn_chain_result(&c, -1, ret);
		return;
	}
	outer = order(&c, stage, &cuts);
	hn_chain_result(&c, -1, ret);
	if (!c.failed && s->access->op[stage].n_producer > 0) {
		ahead(&c, stage, (int32_t)outer - 1);
		hn_chain_result(&c, -1, ret);
	}
}

extern const struct hn_rule_ops hn_rule_cut_widest;
const struct hn_rule_ops hn_rule_cut_widest = { "cut_widest", meets, derive };
