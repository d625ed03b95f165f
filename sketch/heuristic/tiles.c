/* sketch/heuristic/tiles.c -- heuristics of sums that an instruction on tiles makes: sketches of
 * the search, closed by rule.
 *
 * The block of tiles is the largest that the extents fill, with as many rows as columns where they
 * do; the whole reduction runs inside, so that results leave the registers once; panels are as wide
 * as the block and as deep as the reduction; a consumer works on a block at a time.  The rest of
 * rows and columns is what the cores share.  Source: the blocks and loads for each sum of Intel's
 * Optimization Reference Manual, chapter 20.
 */
#include "loopstate/state/intrin.h"
#include "sketch/heuristic/heuristic_int.h"

#define MOST_OPS                                                                         \
	12 /* of a dag: sketches grow with the product of their stages' choices */

/* The stage that is given to tiles; -1 = none is. */
static int32_t tiled_stage(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->intrin != NULL &&
		    hn_intrin_is_tile(s->stage[i]->intrin)) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* Panels, beside the groups alone: two packs in one history. */
static bool has_panels(const struct hn_state *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->trace->n_step; i++) {
		n += hn_step_has(s->trace->step[i], HN_MEANS_BLOCKS);
	}
	return n > 1;
}

/* Results of the sum are the kernel's, or the consumer that there is takes them from a block at a
 * time, not one made to copy them.  These sketches come first. */
static bool stores_once(const struct hn_state *s)
{
	int32_t stage = tiled_stage(s);

	return s->access->op[stage].output ||
	       (s->stage[stage]->at == HN_AT_ITER && !hn_stage_has_cache_write(s, stage));
}

/* Tiles along rows and columns, of which there are so many. */
static void choose_block(int64_t rows, int64_t columns, int64_t ret[2])
{
	ret[0] = rows < 2 ? 1 : columns < 2 ? (rows < 4 ? rows : 4) : 2;
	ret[1] = columns < 2 ? 1 : rows < 2 ? (columns < 4 ? columns : 4) : 2;
}

static const int64_t *lengths(const struct hn_sketch *sk, const struct hn_hole *h,
			      int32_t stage, const int64_t block[2], struct hn_arena *a)
{
	const struct hn_stage *st = sk->state->stage[stage];
	int64_t *len = HN_NEW_ARRAY(a, int64_t, h->n_len);

	for (uint32_t k = 0; k < h->n_len; k++) {
		len[k] = 1;
		if (h->pack) { /* parts of the tiling, not lengths */
			bool deep = h->pack->tile[k] >= 0 && (int32_t)k != h->pack->panel;

			len[k] = deep ? sk->hole[h->pack->tile[k]].n_len + 1
				      : (int32_t)k == h->pack->panel;
		}
	}
	if (h->pack || h->stage != stage) {
		return h->pack ? len : NULL;
	}
	if (h->role == HN_HOLE_REDUCE) {
		len[h->n_len - 1] = h->extent;
	}
	for (int d = 0; d < 2 && h->role == HN_HOLE_SPATIAL; d++) {
		if (h->axis == hn_intrin_axis(st, d ? HN_INTRIN_N : HN_INTRIN_M)) {
			len[h->n_len - 1] = block[d];
		}
	}
	return len;
}

static const struct hn_state *close_by_rule(const struct hn_sketch *sk,
					    const struct hn_target *target,
					    struct hn_arena *a)
{
	int32_t stage = tiled_stage(sk->state);
	struct hn_rng rng = hn_rng_stream(0, 0, 0, 0); /* for what no rule decides */
	const struct hn_stage *st = sk->state->stage[stage];
	int64_t have[2] = { 1, 1 }, block[2];
	const struct hn_state *ret = NULL;
	struct hn_plan_stage *each;
	const int64_t **len;

	for (uint32_t h = 0; h < sk->n_hole; h++) {
		const struct hn_hole *x = &sk->hole[h];

		for (int d = 0; d < 2 && x->stage == stage && x->role == HN_HOLE_SPATIAL;
		     d++) {
			bool mine = x->axis ==
				    hn_intrin_axis(st, d ? HN_INTRIN_N : HN_INTRIN_M);

			have[d] = mine ? x->extent : have[d];
		}
	}
	choose_block(have[0], have[1], block);
	struct hn_plan *plan = hn_plan_copy(sk, hn_plan_open(sk, a), &len, &each, a);

	for (uint32_t h = 0; h < sk->n_hole; h++) {
		len[h] = lengths(sk, &sk->hole[h], stage, block, a);
	}
	for (uint32_t i = 0; i < sk->state->n_stage; i++) {
		each[i].at = HN_AT_ROOT;
		each[i].parallel = HN_DAG_MAX_ITERS;
		each[i].unroll = each[i].fetch = 0;
	}
	return hn_sketch_rebuild(sk, plan, target, &rng, a, &ret) == HN_VERDICT_OK ? ret
										   : NULL;
}

uint32_t hn_heuristic_tiles(const struct hn_dag *dag, const struct hn_target *target,
			    struct hn_arena *a, const struct hn_state **ret,
			    uint32_t most)
{
	struct hn_sketches s;
	bool any = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < hn_intrin_count(); i++) {
		any = any || (hn_intrin_is_tile(hn_intrin_at(i)) &&
			      hn_target_has_intrin(target, hn_intrin_at(i)));
	}
	if (!any || dag->n_op > MOST_OPS ||
	    hn_sketch_generate_own(dag, target, a, &s, NULL) < 0) {
		return 0;
	}
	for (uint32_t i = 0; i < 2 * s.n && n < most; i++) {
		const struct hn_state *sk = s.sketch[i % s.n].state, *made;

		if (tiled_stage(sk) < 0 || !has_panels(sk) ||
		    stores_once(sk) != (i < s.n)) {
			continue;
		}
		made = close_by_rule(&s.sketch[i % s.n], target, a);
		if (made != NULL) {
			ret[n++] = made;
		}
	}
	return n;
}
