/* fill/tile_gpu.c -- lengths for the open splits of a GPU's tiles.
 *
 * Level 1 of the spatial axes becomes virtual threads, level 2 threads: their products
 * over all axes must suit the machine, so the axes of one stage are drawn together and
 * drawn again until they do.  What one thread computes stays within a register tile, what
 * a block reads at a time within a short piece of the reduction, and inside these the
 * levels are uniform over the ordered factorizations.  Where the divisors give no legal
 * block, a warp of threads is cut from the longest axis, dividing or not.  Source: TVM
 * InitFillTileSize, whose uniform draws are mostly thrown away later, for their threads
 * or their shared memory.
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"

#define MAX_DIVISORS 128
#define TRIES 64
#define MOST_RESULTS 64 /* of one thread: they live in its registers */
#define MOST_REDUCED 64 /* iterations between two fetches to shared memory */

enum { LEN_VTHREAD, LEN_THREAD, LEN_REST }; /* places in a spatial hole's lengths */

struct block { /* products over the axes of a stage */
	int64_t threads, vthreads, results, total;
};

static bool has_threads(const struct hn_hole *hole)
{
	return hole->role == HN_HOLE_SPATIAL && hole->n_len > LEN_REST;
}

static int64_t draw_divisor(int64_t n, int64_t most, struct hn_rng *rng)
{
	int64_t d[MAX_DIVISORS];
	uint32_t k = hn_divisors(n, most, d, MAX_DIVISORS);

	return k > 0 ? d[hn_rng_below(rng, k)] : 1;
}

/* A divisor of n within `most`, as n_len factors; returns it. */
static int64_t draw_inner(const struct hn_fill_ctx *ctx, int64_t n, int64_t most,
			  int64_t *len, uint32_t n_len)
{
	int64_t inner = draw_divisor(n, most > 1 ? most : 1, ctx->rng);

	hn_factor_uniform(inner, n_len, ctx->rng, len);
	return inner;
}

static void draw_axis(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		      struct block *b, int64_t *len)
{
	int64_t most = ctx->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK];
	int64_t most_virtual = ctx->target->param[HN_PARAM_MAX_VTHREAD_EXTENT];
	int64_t t = draw_divisor(hole->extent, most / b->threads, ctx->rng);
	int64_t rest = hole->extent / t;
	int64_t v = draw_divisor(rest, most_virtual / b->vthreads, ctx->rng);

	len[LEN_VTHREAD] = v;
	len[LEN_THREAD] = t;
	b->threads *= t;
	b->vthreads *= v;
	b->results *= v;
	b->results *= draw_inner(ctx, rest / v, MOST_RESULTS / b->results, len + LEN_REST,
				 hole->n_len - LEN_REST);
	b->total = hn_mul_sat(b->total, hole->extent);
}

/* Any other split: of a reduction in the tiles' inner loops, or of a stage apart. */
static void draw_other(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		       int64_t *reduced, int64_t *len)
{
	if (hole->role == HN_HOLE_REDUCE && hole->n_len > 1) {
		*reduced *= draw_inner(ctx, hole->extent, MOST_REDUCED / *reduced, len,
				       hole->n_len);
		return;
	}
	const int64_t *drawn =
		hn_tile_uniform(hole->extent, hole->n_len, ctx->rng, ctx->arena);
	for (uint32_t k = 0; k < hole->n_len; k++) {
		len[k] = drawn[k];
	}
}

/* A block may have few threads only where there is little to do. */
static bool enough_threads(const struct hn_fill_ctx *ctx, const struct block *b)
{
	int64_t warp = ctx->target->param[HN_PARAM_WARP_SIZE];

	return b->threads >= warp || b->total <= 2 * warp;
}

static void one_warp(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		     uint32_t n, int64_t *const *len)
{
	int64_t warp = ctx->target->param[HN_PARAM_WARP_SIZE];
	uint32_t longest = 0;

	for (uint32_t i = 1; i < n; i++) {
		bool better =
			has_threads(&hole[i]) && (!has_threads(&hole[longest]) ||
						  hole[i].extent >= hole[longest].extent);
		longest = better ? i : longest;
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; has_threads(&hole[i]) && k < hole[i].n_len; k++) {
			bool cut = i == longest && k == LEN_THREAD;
			len[i][k] = cut ? warp : 1;
		}
	}
}

static void draw_stage(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		       uint32_t n, int64_t *const *len)
{
	struct block b;
	uint32_t first = (uint32_t)hn_rng_below(ctx->rng, n);
	int tries = 0;

	do {
		b = (struct block){ 1, 1, 1, 1 };
		for (uint32_t k = 0; k < n; k++) {
			uint32_t i = (first + k) % n;
			if (has_threads(&hole[i])) {
				draw_axis(ctx, &hole[i], &b, len[i]);
			}
		}
	} while (!enough_threads(ctx, &b) && ++tries < TRIES);
	if (!enough_threads(ctx, &b)) {
		one_warp(ctx, hole, n, len);
	}
	int64_t reduced = 1;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (first + k) % n;
		if (!has_threads(&hole[i])) {
			draw_other(ctx, &hole[i], &reduced, len[i]);
		}
	}
}

/* All holes of one stage; those that the plan has decided keep their lengths. */
static void fill_stage(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		       uint32_t n, const int64_t *const *decided, const int64_t **ret)
{
	int64_t *len[HN_DAG_MAX_ITERS];
	bool open = false;

	for (uint32_t i = 0; i < n; i++) {
		len[i] = HN_NEW_ARRAY(ctx->arena, int64_t, hole[i].n_len);
		open |= !decided[i];
	}
	if (open) {
		draw_stage(ctx, hole, n, len);
	}
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = decided[i] ? decided[i] : len[i];
	}
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	const struct hn_sketch *sk = ctx->sketch;
	const int64_t **len = HN_NEW_ARRAY(ctx->arena, const int64_t *, sk->n_hole);

	*ret = s;
	for (uint32_t i = 0, end; i < sk->n_hole; i = end) {
		for (end = i; end < sk->n_hole && end - i < HN_DAG_MAX_ITERS &&
			      sk->hole[end].stage == sk->hole[i].stage;
		     end++) {
		}
		fill_stage(ctx, &sk->hole[i], end - i, ctx->plan->len + i, len + i);
	}
	return sk->n_hole > 0 ? hn_sketch_close(sk, len, ctx->arena, ret) : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_tile_gpu;
const struct hn_fill_ops hn_fill_tile_gpu = { "tile_gpu", fill };
