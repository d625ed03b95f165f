/* base/rng.c -- see rng.h: draw i of a stream is splitmix64's mixer at key + i * gamma.
 */
#include "base/rng.h"

#include "base/cdefs.h"

#define RNG_GAMMA 0x9e3779b97f4a7c15U

static uint64_t rng_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
	x = (x ^ x >> 27) * 0x94d049bb133111ebU;
	return x ^ x >> 31;
}

struct hn_rng hn_rng_stream(uint64_t seed, uint64_t job, uint64_t round, uint64_t index)
{
	const uint64_t part[] = {job, round, index};
	uint64_t key = rng_mix(seed + RNG_GAMMA);

	for (unsigned i = 0; i < HN_COUNT_OF(part); i++) {
		key = rng_mix(key ^ rng_mix(part[i] + RNG_GAMMA * (i + 2)));
	}
	return (struct hn_rng){.key = key, .counter = 0};
}

uint64_t hn_rng_u64(struct hn_rng *r)
{
	r->counter++;
	return rng_mix(r->key + r->counter * RNG_GAMMA);
}

/* Lemire, "Fast random integer generation in an interval" (2019). */
uint64_t hn_rng_below(struct hn_rng *r, uint64_t n)
{
	unsigned __int128 product;
	uint64_t reject;

	hn_assert(n > 0);
	reject = (0 - n) % n;
	do {
		product = (unsigned __int128)hn_rng_u64(r) * n;
	} while ((uint64_t)product < reject);
	return (uint64_t)(product >> 64);
}

double hn_rng_unit(struct hn_rng *r)
{
	return (double)(hn_rng_u64(r) >> 11) * 0x1p-53;
}
