/* mutate/tile.c -- move a factor of one split from one level to another.
 * Source: Ansor, section 5.1, "tile size mutation". */
#include "base/arith.h"
#include "search/search_int.h"

#define MAX_INNERMOST 64
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

/* Level 0 is what the lengths leave: it takes and gives without being written down. */
static bool move_factor(const struct hn_hole *hole, int64_t *len, struct hn_rng *rng)
{
	uint32_t n = hole->n_len + 1;
	uint32_t src = (uint32_t)hn_rng_below(rng, n),
		 dst = (uint32_t)hn_rng_below(rng, n - 1);
	int64_t rest = hole->extent;

	dst += dst >= src;
	for (uint32_t i = 0; i < hole->n_len; i++) {
		rest = hn_ceildiv(rest, len[hole->n_len - 1 - i]);
	}
	int64_t f = draw_divisor(src > 0 ? len[src - 1] : rest, rng);
	if (f == 1 || (dst == hole->n_len && len[dst - 1] * f > MAX_INNERMOST)) {
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
		if (move_factor(hole, edited, rng)) {
			len[h] = edited;
			return p;
		}
	}
	return NULL;
}

extern const struct hn_mutation_ops hn_mutation_tile;
const struct hn_mutation_ops hn_mutation_tile = {"mutate:tile", mutate};
