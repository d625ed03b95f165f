/* mutate/tile.c -- move a factor of one split from one level to another.
 * Source: Ansor, section 5.1, "tile size mutation".  Where an extent has hardly any
 * factors, make one level a little longer or shorter instead: the last tile is partial. */
#include "base/arith.h"
#include "search/search_int.h"

#define MAX_DIVISORS 64

/* A divisor of n above 1, uniformly; 1 when there is none. */
static int64_t draw_divisor(int64_t n, struct hn_rng *rng)
{
	int64_t d[MAX_DIVISORS];
	uint32_t k = 0;

	for (int64_t i = 2; i <= n && k < MAX_DIVISORS && i < 4096; i++) {
		if (n % i == 0) {
			d[k++] = i;
		}
	}
	return k > 0 ? d[hn_rng_below(rng, k)] : 1;
}

/* Iterations of level 0: what the lengths leave of the extent, rounded up. */
static int64_t rest_of(const struct hn_hole *hole, const int64_t *len)
{
	int64_t rest = hole->extent;

	for (uint32_t i = 0; i < hole->n_len; i++) {
		rest = hn_ceildiv(rest, len[hole->n_len - 1 - i]);
	}
	return rest;
}

/* Level 0 is what the lengths leave: it takes and gives without being written down. */
static bool move_factor(const struct hn_hole *hole, int64_t *len, struct hn_rng *rng)
{
	uint32_t n = hole->n_len + 1;
	uint32_t src = (uint32_t)hn_rng_below(rng, n),
		 dst = (uint32_t)hn_rng_below(rng, n - 1);

	dst += dst >= src;
	int64_t f = draw_divisor(src > 0 ? len[src - 1] : rest_of(hole, len), rng);
	if (f == 1 || (dst == hole->n_len && len[dst - 1] * f > hole->longest)) {
		return false;
	}
	if (src > 0) {
		len[src - 1] /= f;
	}
	if (dst > 0) {
		len[dst - 1] *= f;
	}
	return true;
}

/* Another length at one level, if it runs at most a twentieth more than needed. */
static bool nudge(const struct hn_hole *hole, int64_t *len, struct hn_rng *rng)
{
	uint32_t k = (uint32_t)hn_rng_below(rng, hole->n_len);
	int64_t most = len[k] > 8 ? len[k] / 4 : 2;
	int64_t by = 1 + (int64_t)hn_rng_below(rng, (uint64_t)most);
	int64_t to = len[k] + (hn_rng_below(rng, 2) == 0 ? by : -by);

	if (to < 1 || to > hole->extent ||
	    (k + 1 == hole->n_len && to > hole->longest)) {
		return false;
	}
	len[k] = to;
	int64_t run = rest_of(hole, len);

	for (uint32_t i = 0; i < hole->n_len; i++) {
		run = hn_mul_sat(run, len[i]);
	}
	return run - hole->extent <= hole->extent / 20;
}

static const struct hn_plan *mutate(const struct hn_sketch *sketch,
				    const struct hn_plan *plan, struct hn_rng *rng,
				    struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;

	if (sketch->n_hole == 0) {
		return NULL;
	}
	struct hn_plan *p = hn_plan_copy(sketch, plan, &len, &stage, a);
	for (int tries = 0; tries < 16; tries++) {
		uint32_t h = (uint32_t)hn_rng_below(rng, sketch->n_hole);
		const struct hn_hole *hole = &sketch->hole[h];
		if (!len[h] || hole->extent < 2) {
			continue;
		}
		int64_t *edited = HN_NEW_ARRAY(a, int64_t, hole->n_len);
		for (uint32_t i = 0; i < hole->n_len; i++) {
			edited[i] = len[h][i];
		}
		bool poor = hn_divides_poorly(hole->extent) && hn_rng_below(rng, 2) == 0;
		if (poor ? nudge(hole, edited, rng) : move_factor(hole, edited, rng)) {
			len[h] = edited;
			return p;
		}
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_tile;
const struct hn_mutation_ops hn_mutation_tile = {
	.origin = "mutate:tile", .mutate = mutate
};
