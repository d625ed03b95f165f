/* probe_levels.c -- see probe_levels.h. */
#include "measure/board/probe_levels.h"

#include <math.h>

#include "base/clock.h"

#define LINE 64
#define FIRST_BYTES ((size_t)8 << 10)
#define MAX_SIZES 40
#define CHASES 4
#define LOADS 30000
#define SWEEPS 2 /* through all sizes: what disturbs one for a moment is elsewhere in the next */
#define RISE 2 /* over the plateau: beyond the level */
#define FLAT 1.15 /* from one size to the next: a plateau again */
#define TRIES 2000

uint32_t hn_probe_find_levels(uint32_t n, const size_t *bytes, const double *ns,
			      size_t ret[HN_PROBE_LEVELS])
{
	uint32_t found = 0, i = 1;
	double floor_ns = n > 0 ? ns[0] : 0;

	while (i + 1 < n && found < HN_PROBE_LEVELS) {
		if (ns[i] <= RISE * floor_ns || ns[i + 1] <= RISE * floor_ns) {
			floor_ns = fmin(floor_ns, ns[i]);
			i++;
			continue;
		}
		ret[found++] = bytes[i - 1];
		while (i + 1 < n && ns[i + 1] > FLAT * ns[i]) {
			i++;
		}
		floor_ns = ns[i++];
	}
	return found;
}

/* One cycle through the lines of memory[0..bytes), in an order no prefetcher guesses
 * (Sattolo's shuffle); each line's first word is the next one's number. */
static void make_chain(uint8_t *memory, size_t bytes)
{
	size_t n = bytes / LINE;
	uint64_t random = 88172645463325252u;

	for (size_t i = 0; i < n; i++) {
		*(uint64_t *)(void *)(memory + i * LINE) = i;
	}
	for (size_t i = n - 1; i > 0; i--) {
		uint64_t *x = (uint64_t *)(void *)(memory + i * LINE), *y, t;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		y = (uint64_t *)(void *)(memory + random % i * LINE);
		t = *x;
		*x = *y;
		*y = t;
	}
}

/* Time of one load, the least of some chases. */
static double chase(const uint8_t *memory)
{
	double best = INFINITY;
	uint64_t at = 0;

	for (int k = 0; k < CHASES; k++) {
		int64_t begin = hn_clock_ns();

		for (int i = 0; i < LOADS; i++) {
			at = *(const volatile uint64_t *)(const void *)(memory + at * LINE);
		}
		best = fmin(best, (double)(hn_clock_ns() - begin) / LOADS);
	}
	return best;
}

uint32_t hn_probe_chase_levels(void *memory, size_t bytes, size_t ret[HN_PROBE_LEVELS])
{
	size_t size[MAX_SIZES];
	double ns[MAX_SIZES];
	uint32_t n = 0;

	for (size_t s = FIRST_BYTES; s <= bytes && n + 2 <= MAX_SIZES; s *= 2) {
		size[n++] = s;
		if (s + s / 2 <= bytes) {
			size[n++] = s + s / 2;
		}
	}
	for (uint32_t i = 0; i < SWEEPS * n; i++) {
		make_chain(memory, size[i % n]);
		ns[i % n] = i < n ? chase(memory) : fmin(ns[i % n], chase(memory));
	}
	return hn_probe_find_levels(n, size, ns, ret);
}

static void nothing(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	(void)closure;
	(void)begin;
	(void)end;
	(void)worker;
}

double hn_probe_fork_join(struct hone_pool *pool, int32_t n_workers)
{
	double best = INFINITY;

	for (int i = 0; i < TRIES; i++) {
		int64_t begin = hn_clock_ns();

		hone_pool_run(pool, nothing, NULL, n_workers);
		best = fmin(best, (double)(hn_clock_ns() - begin));
	}
	return best;
}

double hn_probe_timer(void)
{
	int64_t best = INT64_MAX, last = hn_clock_ns();

	for (int i = 0; i < TRIES; i++) {
		int64_t now = hn_clock_ns();

		best = now > last && now - last < best ? now - last : best;
		last = now;
	}
	return best != INT64_MAX ? (double)best : 0;
}
