/* fill/tile_gpu.c -- lengths for the open splits of a GPU's tiles.
 *
 * Level 1 of the spatial axes becomes virtual threads, level 2 threads: their products
 * over all axes must suit the machine, so the axes of one stage are drawn together and
 * drawn again until they do.  What one thread computes stays within a register tile, what
 * a block reads at a time within a short piece of the reduction, and inside these the
 * levels are uniform over the ordered factorizations.  Where the divisors give no legal
 * block, a warp of threads is cut from the longest axis, dividing or not.  What a block
 * shares has room in the machine's memory: else lengths are drawn again, and then smaller
 * ones.  Source: TVM InitFillTileSize, whose uniform draws are mostly thrown away later.
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"

#define MAX_DIVISORS 128
#define TRIES 64
#define MOST_RESULTS 64 /* of one thread: they live in its registers */
#define MOST_REDUCED 64 /* iterations between two fetches to shared memory */
#define DRAWS 8		/* of one size, before smaller ones */
#define SMALLER 8	/* how often: threads alone are left then */

extern const struct hn_fill_ops hn_fill_thread_bind;

enum { LEN_VTHREAD, LEN_THREAD, LEN_REST }; /* places in a spatial hole's lengths */

struct block { /* products over the axes of a stage */
	int64_t threads, vthreads, results, total;
};

/* Limits are halved so many times. */
struct draw {
	const struct hn_fill_ctx *ctx;
	uint32_t smaller;
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

static int64_t at_most(const struct draw *d, int64_t n)
{
	return n >> d->smaller > 1 ? n >> d->smaller : 1;
}

static int64_t most_threads(const struct draw *d)
{
	int64_t n = d->ctx->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK] >> d->smaller / 2;
	int64_t warp = d->ctx->target->param[HN_PARAM_WARP_SIZE];

	return n > warp ? n : warp > 1 ? warp : 1;
}

/* A divisor of n within `most`, as n_len factors; returns it. */
static int64_t draw_inner(const struct draw *d, int64_t n, int64_t most,
			  int64_t *len, uint32_t n_len)
{
	int64_t inner = draw_divisor(n, most > 1 ? most : 1, d->ctx->rng);

	hn_factor_uniform(inner, n_len, d->ctx->rng, len);
	return inner;
}

static void draw_axis(const struct draw *d, const struct hn_hole *hole,
		      struct block *b, int64_t *len)
{
	int64_t most = most_threads(d), most_virtual = at_most(d, d->ctx->target->param[HN_PARAM_MAX_VTHREAD_EXTENT]);
	int64_t t = draw_divisor(hole->extent, most / b->threads, d->ctx->rng);
	int64_t rest = hole->extent / t;
	int64_t v = draw_divisor(rest, most_virtual / b->vthreads, d->ctx->rng);

	len[LEN_VTHREAD] = v;
	len[LEN_THREAD] = t;
	b->threads *= t;
	b->vthreads *= v;
	b->results *= v;
	b->results *= draw_inner(d, rest / v, at_most(d, MOST_RESULTS) / b->results, len + LEN_REST,
				 hole->n_len - LEN_REST);
	b->total = hn_mul_sat(b->total, hole->extent);
}

/* Any other split: of a reduction in the tiles' inner loops, or of a stage apart. */
static void draw_other(const struct draw *d, const struct hn_hole *hole,
		       int64_t *reduced, int64_t *len)
{
	if (hole->role == HN_HOLE_REDUCE && hole->n_len > 1) {
		*reduced *= draw_inner(d, hole->extent, at_most(d, MOST_REDUCED) / *reduced, len,
				       hole->n_len);
		return;
	}
	const int64_t *drawn =
		hn_tile_uniform(hole->extent, hole->n_len, d->ctx->rng, d->ctx->arena);
	for (uint32_t k = 0; k < hole->n_len; k++) {
		len[k] = drawn[k];
	}
}

/* A block may have few threads only where there is little to do. */
static bool enough_threads(const struct draw *d, const struct block *b)
{
	int64_t warp = d->ctx->target->param[HN_PARAM_WARP_SIZE];

	return b->threads >= warp || b->total <= 2 * warp;
}

static void one_warp(const struct draw *d, const struct hn_hole *hole,
		     uint32_t n, int64_t *const *len)
{
	int64_t warp = d->ctx->target->param[HN_PARAM_WARP_SIZE];
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

static void draw_stage(const struct draw *d, const struct hn_hole *hole,
		       uint32_t n, int64_t *const *len)
{
	struct block b;
	uint32_t first = (uint32_t)hn_rng_below(d->ctx->rng, n);
	int tries = 0;

	do {
		b = (struct block){ 1, 1, 1, 1 };
		for (uint32_t k = 0; k < n; k++) {
			uint32_t i = (first + k) % n;
			if (has_threads(&hole[i])) {
				draw_axis(d, &hole[i], &b, len[i]);
			}
		}
	} while (!enough_threads(d, &b) && ++tries < TRIES);
	if (!enough_threads(d, &b)) {
		one_warp(d, hole, n, len);
	}
	int64_t reduced = 1;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (first + k) % n;
		if (!has_threads(&hole[i])) {
			draw_other(d, &hole[i], &reduced, len[i]);
		}
	}
}

/* All holes of one stage; those that the plan has decided keep their lengths. */
static void fill_stage(const struct draw *d, const struct hn_hole *hole,
		       uint32_t n, const int64_t *const *decided, const int64_t **ret)
{
	int64_t *len[HN_DAG_MAX_ITERS];
	bool open = false;

	for (uint32_t i = 0; i < n; i++) {
		len[i] = HN_NEW_ARRAY(d->ctx->arena, int64_t, hole[i].n_len);
		open |= !decided[i];
	}
	if (open) {
		draw_stage(d, hole, n, len);
	}
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = decided[i] ? decided[i] : len[i];
	}
}

/* Lengths for all holes. */
static enum hn_verdict draw_all(const struct draw *d, const struct hn_state **ret)
{
	const struct hn_sketch *sk = d->ctx->sketch;
	const int64_t **len = HN_NEW_ARRAY(d->ctx->arena, const int64_t *, sk->n_hole);

	for (uint32_t i = 0, end; i < sk->n_hole; i = end) {
		for (end = i; end < sk->n_hole && end - i < HN_DAG_MAX_ITERS &&
			      sk->hole[end].stage == sk->hole[i].stage;
		     end++) {
		}
		fill_stage(d, &sk->hole[i], end - i, d->ctx->plan->len + i, len + i);
	}
	return hn_sketch_close(sk, len, d->ctx->arena, ret);
}

/* Whether a block has room for it, which shows when threads are bound. */
static bool has_room(const struct hn_fill_ctx *ctx, const struct hn_state *s)
{
	struct hn_fill_ctx trial = *ctx;
	struct hn_rng rng = *ctx->rng;
	const struct hn_state *bound;

	trial.rng = &rng;
	return hn_fill_thread_bind.fill(&trial, s, &bound) != HN_VERDICT_OK ||
	       hn_block_verdict(&trial, bound) != HN_VERDICT_OVER_LIMIT;
}

/* What is drawn has room in a block's memory.  Draws of one size are made again first, so that all that
 * have room stay as likely as each other. */
static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct draw d = { .ctx = ctx };
	enum hn_verdict v = HN_VERDICT_OK;

	*ret = s;
	for (uint32_t i = 0; i < DRAWS + SMALLER && ctx->sketch->n_hole > 0; i++) {
		d.smaller = i < DRAWS ? 0 : i - DRAWS + 1;
		v = draw_all(&d, ret);
		if (v != HN_VERDICT_OK || has_room(ctx, *ret)) {
			break;
		}
	}
	return v;
}

extern const struct hn_fill_ops hn_fill_tile_gpu;
const struct hn_fill_ops hn_fill_tile_gpu = { "tile_gpu", fill };
