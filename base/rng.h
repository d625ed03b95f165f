/* base/rng.h -- counter-based random numbers.
 *
 * A draw is named by (seed, stream, index), not by its place in a sequence, so the same
 * seed gives the same bits at any thread count.  Source of the idea: Salmon et al.,
 * "Parallel random numbers: as easy as 1, 2, 3" (SC'11); the mixer is splitmix64's.
 */
#ifndef HN_BASE_RNG_H
#define HN_BASE_RNG_H

#include <stdint.h>

struct hn_rng {
	uint64_t key;
	uint64_t counter;
};

/* The stream named by these numbers, from its beginning. */
struct hn_rng hn_rng_stream(uint64_t seed, uint64_t job, uint64_t round, uint64_t index);

uint64_t hn_rng_u64(struct hn_rng *r);

/* Uniform in [0, n); n > 0 (a bug otherwise).  Unbiased. */
uint64_t hn_rng_below(struct hn_rng *r, uint64_t n);

/* Uniform in [0, 1). */
double hn_rng_unit(struct hn_rng *r);

#endif
