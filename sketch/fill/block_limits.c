/* fill/block_limits.c -- drop what no block of the machine can run: more threads, or more
 * shared or local memory, than it has, or loops that disagree about how many threads run.
 *
 * Where a driver runs blocks on a processor's cores, a block is one thread: what is computed inside
 * loops is that thread's own, and so are the tiles in which its sums are held.
 *
 * It decides nothing; it stands last, when all extents are known.  Lengths of tiles and places of
 * stages are drawn within the same limits (tile_gpu.c, tile.c, location.c).
 * Source: TVM's GPU code verifier (VerifyGPUCode). */
#include "base/arith.h"
#include "loopstate/nest/bounds.h"
#include "loopstate/nest/memory.h"
#include "sketch/sketch_int.h"

struct block {		       /* of one nest at root */
	int64_t threads;       /* 0 = not known yet */
	int64_t shared, local; /* bytes */
};

static int32_t root_of(const struct hn_state *s, int32_t stage)
{
	while (s->stage[stage]->at == HN_AT_ITER) {
		stage = s->stage[stage]->at_stage;
	}
	return stage;
}

static int64_t bytes_of(const struct hn_op *op, const struct hn_stage_bounds *b)
{
	int64_t n = 1, size = 0;

	for (uint32_t i = 0; i < op->n_spatial; i++) {
		n = hn_mul_sat(n, b->axis[i].extent);
	}
	for (uint32_t i = 0; i < op->n_out; i++) {
		size += hn_dtype_bytes(op->dtype[i]);
	}
	return hn_mul_sat(n, size);
}

/* False when two thread loops of the nest have different lengths, or the memory of one
 * nest is to be read by another. */
static bool add_stage(const struct hn_state *s, int32_t stage,
		      const struct hn_stage_bounds *b, struct block *block)
{
	const struct hn_stage *st = s->stage[stage];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].ann != HN_ANN_THREAD_X) {
			continue;
		}
		if (block->threads != 0 && block->threads != b->iter_extent[i]) {
			return false;
		}
		block->threads = b->iter_extent[i];
	}
	if (st->scope && st->at == HN_AT_ROOT) {
		return false;
	}
	if (st->scope) {
		int64_t *into =
			hn_memory_of_scope(st->scope) == HN_MEMORY_SHARED ? &block->shared
									  : &block->local;
		int64_t bytes = bytes_of(hn_stage_op(s, stage), b);
		*into = hn_add_sat(*into, bytes);
	}
	return true;
}

/* The same of a block that is one thread. */
static void add_stage_of_core(const struct hn_state *s, int32_t stage,
			      const struct hn_stage_bounds *b, const int64_t *param,
			      struct block *block)
{
	const struct hn_op *op = hn_stage_op(s, stage);

	if (s->stage[stage]->at == HN_AT_ITER) {
		block->local = hn_add_sat(block->local, bytes_of(op, b));
	}
	if (op->reduce != NULL) {
		/* lower/device/device_hold.h */
		block->local = hn_add_sat(block->local, param[HN_PARAM_VECTOR_REGISTERS] *
								param[HN_PARAM_VECTOR_UNIT_BYTES]);
	}
}

bool hn_block_is_core(const struct hn_target *target)
{
	return (target->caps & (HN_CAP_MODULES | HN_CAP_GPU_THREADS)) == HN_CAP_MODULES;
}

enum hn_verdict hn_block_verdict(const struct hn_fill_ctx *ctx, const struct hn_state *s)
{
	const int64_t *param = ctx->target->param;
	struct block *block = HN_NEW_ARRAY(ctx->arena, struct block, s->n_stage);
	bool is_core = hn_block_is_core(ctx->target);
	const struct hn_bounds *b;

	if (!is_core && (ctx->target->caps & HN_CAP_GPU_THREADS) == 0) {
		return HN_VERDICT_OK; /* no driver's */
	}
	if (hn_bounds_infer(s, ctx->arena, &b, NULL) < 0) {
		return HN_VERDICT_ILLEGAL;
	}
	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		if (hn_stage_op(s, i)->kind != HN_OP_COMPUTE ||
		    s->stage[i]->at == HN_AT_INLINED) {
			continue;
		}
		if (is_core) {
			add_stage_of_core(s, i, &b->stage[i], param, &block[root_of(s, i)]);
		} else if (!add_stage(s, i, &b->stage[i], &block[root_of(s, i)])) {
			return HN_VERDICT_ILLEGAL;
		}
	}
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (block[i].threads > param[HN_PARAM_MAX_THREADS_PER_BLOCK] ||
		    block[i].shared > param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] ||
		    block[i].local > param[HN_PARAM_MAX_LOCAL_MEMORY_PER_BLOCK]) {
			return HN_VERDICT_OVER_LIMIT;
		}
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	*ret = s;
	return hn_block_verdict(ctx, s);
}

extern const struct hn_fill_ops hn_fill_block_limits;
const struct hn_fill_ops hn_fill_block_limits = { "block_limits", fill };
