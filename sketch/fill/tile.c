/* fill/tile.c -- lengths for the open splits, and the panels of packed operands.
 *
 * Ansor draws every axis alone and uniformly, so that most draws are hopeless: no whole
 * vectors, or a register tile that spills.  Here the innermost parts of a tiled stage are
 * drawn together, within what vector width and register file allow, and the outer parts
 * uniformly over the ordered factorizations of what is left.  Extents without useful
 * divisors also get lengths that do not divide, when little work is wasted: full tiles and
 * a partial one at the end (docs/trace.md).
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"
#include "target/cpu/core.h"

#define MAX_CHOICES 128
#define DRAWS 32 /* until a block has room */

struct choices {
	uint32_t n;
	int64_t value[MAX_CHOICES];
};

static void offer(struct choices *c, int64_t v)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->value[i] == v) {
			return;
		}
	}
	if (c->n < MAX_CHOICES) {
		c->value[c->n++] = v;
	}
}

static int64_t choose(const struct choices *c, struct hn_rng *rng)
{
	return c->n > 0 ? c->value[hn_rng_below(rng, c->n)] : 1;
}

static bool chance(struct hn_rng *rng, uint32_t percent)
{
	return hn_rng_below(rng, 100) < percent;
}

/* Whether tiles of length f run at most `percent` of the extent more than needed. */
static bool wastes_little(int64_t extent, int64_t f, int64_t percent)
{
	int64_t run = hn_mul_sat(hn_ceildiv(extent, f), f);

	return run - extent <= extent / 100 * percent + extent % 100 * percent / 100;
}

/* The innermost loop: whole vectors where the extent has them. */
static int64_t draw_vector(int64_t extent, int64_t lanes, struct hn_rng *rng)
{
	int64_t divisor[HN_MAX_INNERMOST];
	uint32_t n = hn_divisors(extent, HN_MAX_INNERMOST, divisor, HN_MAX_INNERMOST);
	struct choices whole = { 0 }, other = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		offer(divisor[i] % lanes == 0 ? &whole : &other, divisor[i]);
	}
	if (whole.n > 0 && !chance(rng, 4)) {
		int64_t f = choose(&whole, rng);
		bool usual = f >= 2 * lanes && f <= 4 * lanes;
		return usual || chance(rng, 50) ? f : choose(&whole, rng);
	}
	for (int64_t f = lanes; f <= 4 * lanes && f < extent && whole.n == 0;
	     f += lanes) {
		if (f <= HN_MAX_INNERMOST && wastes_little(extent, f, 35)) {
			offer(&other, f);
		}
	}
	for (uint32_t i = 0; i < other.n && !chance(rng, 5); i++) {
		bool small = 2 * other.value[i] < lanes && 2 * other.value[i] < extent;
		if (small && other.n > 1) {
			other.value[i--] = other.value[--other.n];
		}
	}
	return choose(&other, rng);
}

/* How much longer a register tile of `rows` rows and `vecs` vectors may become. */
static int64_t room_in_registers(int64_t rows, int64_t vecs, const struct hn_core *core)
{
	int64_t r = 1;

	while (r < HN_MAX_INNERMOST) {
		int64_t all = rows * (r + 1);

		if (all * vecs > hn_core_results(core, vecs < all ? vecs : all)) {
			break;
		}
		r++;
	}
	return r;
}

/* Rows of a register tile: a divisor of the extent, or little wasted. */
static int64_t draw_rows(int64_t extent, int64_t most, struct hn_rng *rng)
{
	struct choices c = { 0 };
	int64_t largest;

	c.n = hn_divisors(extent, most < HN_MAX_INNERMOST ? most : HN_MAX_INNERMOST,
			  c.value, MAX_CHOICES);
	largest = c.value[c.n - 1];
	bool poor = 2 * largest <= most && largest < extent;
	if (poor || chance(rng, 10)) {
		for (int64_t f = 2; f <= most && f < extent; f++) {
			if (wastes_little(extent, f, poor ? 12 : 4)) {
				offer(&c, f);
				largest = f > largest ? f : largest;
			}
		}
	}
	return chance(rng, 50) ? largest : choose(&c, rng);
}

/* Innermost parts of all spatial axes of one stage. */
static void draw_register_tile(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
			       uint32_t n, int64_t lanes, int64_t *inner)
{
	struct hn_core core = hn_core_of(ctx->target);
	int64_t rows = 1, vecs = 1;
	uint32_t order[HN_DAG_MAX_ITERS], n_order = 0;

	for (uint32_t i = 0; i < n; i++) {
		inner[i] = 1;
		if (hole[i].role != HN_HOLE_SPATIAL) {
			continue;
		}
		if (hole[i].innermost) {
			inner[i] = draw_vector(hole[i].extent, lanes, ctx->rng);
			vecs = hn_ceildiv(inner[i], lanes);
		} else if (hole[i].extent > 1) {
			order[n_order++] = i;
		}
	}
	core.registers *= chance(ctx->rng, 5) ? 2 : 1;
	for (uint32_t left = n_order; left > 0; left--) {
		uint32_t k = (uint32_t)hn_rng_below(ctx->rng, left), i = order[k];
		order[k] = order[left - 1];
		inner[i] = draw_rows(hole[i].extent,
				     room_in_registers(rows, vecs, &core), ctx->rng);
		rows *= inner[i];
	}
}

/* Blocks of tiles that an instruction's registers hold, the factors' beside the results'. */
static const int64_t blocks[][2] = { { 2, 2 }, { 2, 3 }, { 3, 2 }, { 1, 4 }, { 4, 1 }, { 1, 3 }, { 3, 1 }, { 1, 2 },
				     { 2, 1 }, { 1, 5 }, { 5, 1 }, { 1, 6 }, { 6, 1 }, { 1, 1 } };

/* Innermost parts where tiles do the sum: so many of these along rows and columns, the first
 * that fits in half of the draws. */
static void draw_block(const struct hn_fill_ctx *ctx, const struct hn_stage *st,
		       const struct hn_hole *hole, uint32_t n, int64_t *inner)
{
	int64_t *part[2] = { NULL, NULL }, have[2] = { 1, 1 };
	uint32_t fit[HN_COUNT_OF(blocks)], n_fit = 0;

	for (uint32_t i = 0; i < n; i++) {
		inner[i] = 1;
		for (int d = 0; d < 2 && hole[i].role == HN_HOLE_SPATIAL; d++) {
			if (hole[i].axis == hn_intrin_axis(st, d ? HN_INTRIN_N : HN_INTRIN_M)) {
				part[d] = &inner[i];
				have[d] = hole[i].extent;
			}
		}
	}
	for (uint32_t b = 0; b < HN_COUNT_OF(blocks); b++) {
		bool fits = true;

		for (int d = 0; d < 2; d++) {
			fits = fits && blocks[b][d] <= have[d] &&
			       (have[d] % blocks[b][d] == 0 ||
				wastes_little(have[d], blocks[b][d], 12));
		}
		if (fits) {
			fit[n_fit++] = b;
		}
	}
	uint32_t b = fit[chance(ctx->rng, 50) ? 0 : hn_rng_below(ctx->rng, n_fit)];

	for (int d = 0; d < 2; d++) {
		if (part[d] != NULL) {
			*part[d] = blocks[b][d];
		}
	}
}

/* How many inner parts the outer ones share out: what is needed, or a little more when
 * that has no divisors. */
static int64_t draw_count(int64_t need, struct hn_rng *rng)
{
	int64_t more = need / 20;

	return hn_divides_poorly(need) && more > 0 && chance(rng, 50)
		       ? need + 1 + (int64_t)hn_rng_below(rng, (uint64_t)more)
		       : need;
}

/* Outer parts: uniform, drawn again a few times when they leave cores idle. */
static void draw_outer(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		       uint32_t n, const int64_t *inner, int64_t *const *len)
{
	int64_t cores = ctx->target->param[HN_PARAM_NUM_CORES];

	for (int tries = 0; tries < 8; tries++) {
		int64_t outer = 1;
		for (uint32_t i = 0; i < n; i++) {
			int64_t part[HN_DAG_MAX_RANK];
			uint32_t n_len = hole[i].n_len;
			if (hole[i].role != HN_HOLE_SPATIAL || n_len >= HN_DAG_MAX_RANK) {
				continue;
			}
			int64_t need = hn_ceildiv(hole[i].extent, inner[i]);
			hn_factor_uniform(draw_count(need, ctx->rng), n_len, ctx->rng,
					  part);
			for (uint32_t k = 1; k < n_len; k++) {
				len[i][k - 1] = part[k];
			}
			len[i][n_len - 1] = inner[i];
			outer = hn_mul_sat(outer, hn_mul_sat(part[0], part[n_len > 1]));
		}
		if (outer >= cores) {
			return;
		}
	}
}

/* A tile of an extent that has no good divisor. */
static int64_t draw_uneven(int64_t extent, struct hn_rng *rng)
{
	struct choices c = { 0 };

	for (int64_t f = 4; f <= HN_MAX_INNERMOST && f < extent; f++) {
		if (wastes_little(extent, f, 3)) {
			offer(&c, f);
		}
	}
	return choose(&c, rng);
}

static void draw_one(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		     int64_t lanes, int64_t *len)
{
	const int64_t *drawn;

	if (hole->pack) {
		hn_pack_draw(hole, ctx->sketch->hole, ctx->rng, len);
		return;
	}
	if (hole->n_len == 1 && (hole->innermost || hole->role == HN_HOLE_RFACTOR) &&
	    chance(ctx->rng, 70)) {
		len[0] = draw_vector(hole->extent, lanes, ctx->rng);
		return;
	}
	if (hole->n_len == 1 && hole->role == HN_HOLE_REDUCE &&
	    hn_divides_poorly(hole->extent) && chance(ctx->rng, 60)) {
		len[0] = draw_uneven(hole->extent, ctx->rng);
		return;
	}
	drawn = hn_tile_uniform(hole->extent, hole->n_len, ctx->rng, ctx->arena);
	for (uint32_t k = 0; k < hole->n_len; k++) {
		len[k] = drawn[k];
	}
}

/* All holes of one stage. */
static void draw_stage(const struct hn_fill_ctx *ctx, const struct hn_hole *hole,
		       uint32_t n, const int64_t *const *decided, const int64_t **ret)
{
	const struct hn_stage *st = ctx->sketch->state->stage[hole[0].stage];
	int64_t lanes = hn_stage_lanes(ctx->sketch->state, hole[0].stage, ctx->target);
	int64_t inner[HN_DAG_MAX_ITERS];
	int64_t *len[HN_DAG_MAX_ITERS];

	for (uint32_t i = 0; i < n; i++) {
		len[i] = HN_NEW_ARRAY(ctx->arena, int64_t, hole[i].n_len);
	}
	if (st->intrin != NULL && hn_intrin_is_tile(st->intrin)) {
		draw_block(ctx, st, hole, n, inner);
	} else {
		draw_register_tile(ctx, hole, n, lanes, inner);
	}
	draw_outer(ctx, hole, n, inner, len);
	for (uint32_t i = 0; i < n; i++) {
		if (hole[i].role != HN_HOLE_SPATIAL) {
			draw_one(ctx, &hole[i], lanes, len[i]);
		}
		ret[i] = decided[i] ? decided[i] : len[i];
	}
}

/* Lengths for all holes; *ret_open: some of them were drawn. */
static enum hn_verdict draw_all(const struct hn_fill_ctx *ctx, const struct hn_state **ret,
				bool *ret_open)
{
	const struct hn_sketch *sk = ctx->sketch;
	const int64_t **len = HN_NEW_ARRAY(ctx->arena, const int64_t *, sk->n_hole);

	*ret_open = false;
	for (uint32_t i = 0, end; i < sk->n_hole; i = end) {
		bool open = false;
		for (end = i; end < sk->n_hole && end - i < HN_DAG_MAX_ITERS &&
			      sk->hole[end].stage == sk->hole[i].stage;
		     end++) {
			len[end] = ctx->plan->len[end];
			open |= !len[end];
		}
		if (open) {
			draw_stage(ctx, &sk->hole[i], end - i, ctx->plan->len + i,
				   len + i);
		}
		*ret_open |= open;
	}
	return hn_sketch_close(sk, len, ctx->arena, ret);
}

/* What a block has no room for is drawn again. */
static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	enum hn_verdict v = HN_VERDICT_OK;
	bool again = ctx->sketch->n_hole > 0;

	*ret = s;
	for (uint32_t i = 0; i < DRAWS && again; i++) {
		v = draw_all(ctx, ret, &again);
		again = again && v == HN_VERDICT_OK &&
			hn_block_verdict(ctx, *ret) == HN_VERDICT_OVER_LIMIT;
	}
	return v;
}

extern const struct hn_fill_ops hn_fill_tile;
const struct hn_fill_ops hn_fill_tile = { "tile", fill };
