/* measure/board/pairs.h -- how long does one call take beside another?
 *
 * Two calls in turn, A B, B A, A B, ...: what changes the machine's speed for longer than a
 * few milliseconds does as much to one as to the other, and the ratio of a pair is free of it.
 * Each sample is of enough calls to last HN_PAIRS_SAMPLE_NS; when the other has run in between,
 * one call goes before it that is not timed, so that both are timed with warm caches.  With cold
 * caches a sample is one call, and what empties them goes before each.
 *
 * A pair in which the scheduler took a core from us is disturbed, and made again; when more
 * pairs were disturbed than not, what is left is noisy.
 */
#ifndef HN_MEASURE_BOARD_PAIRS_H
#define HN_MEASURE_BOARD_PAIRS_H

#include "measure/board/timing.h"

#define HN_PAIRS 12 /* that a run is for */
#define HN_PAIRS_SAMPLE_NS 3e5

struct hn_pairs {
	uint32_t n; /* at least one: where none fits the budget, of the calls' first times */
	double ns[2][HN_PAIRS]; /* of a call of A, of one of B */
	uint32_t n_dropped;
	bool noisy;
	bool ran; /* false: no call fitted the budget */
	double spent_ns; /* inside the calls, calibration too */
};

struct hn_pairs_plan {
	double first_ns[2]; /* what one call took, warm or not */
	double budget_ns;   /* no pair is begun that would end later */
	hn_disturbances_fn disturbances; /* NULL = hn_timing_disturbances */
	uint32_t n_thread;	  /* as in struct hn_timed */
	void (*chill)(void *ctx); /* before each sample; NULL = warm caches */
	void (*plant)(void *ctx); /* as in struct hn_timed: with the ctx of whose sample it is */
	void (*look)(void *ctx);
};

void hn_pairs_run(void (*call)(void *ctx), void *const ctx[2], const struct hn_pairs_plan *plan,
		  struct hn_pairs *ret);

#endif
