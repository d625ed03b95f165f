/* measure/board/timing.h -- how long does a call take?
 *
 * A sample is the mean of enough calls in a row to last a millisecond (or 1,000 ticks of
 * the clock); one call when it lasts longer.  Samples are taken until the median is known
 * to 3 %, or 10 samples and 50 ms are spent, or half a second; at once when three looks at
 * the call say that it is hopelessly slower than the best known, after five when even the
 * least is 1.3 times as slow.  This is the screening, which has to find the few that may be best:
 * who of them is, a final decides (final.h).
 *
 * A sample in which the scheduler took a core from us, or the disk was waited for, is
 * disturbed: it is repeated.  When more were disturbed than not and the others do not
 * settle the median, the result is noisy: nothing may be decided by it.  One that is slower than
 * the best known by far even in its least sample needs no certainty.
 *
 * Answers are looked at between the samples, outside of the clock: what is planted in the outputs
 * before one has to be gone after it.
 *
 * With cold caches a sample is one call, and what empties the caches goes before it, outside of
 * the sample; all else is the same.
 */
#ifndef HN_MEASURE_BOARD_TIMING_H
#define HN_MEASURE_BOARD_TIMING_H

#include "measure/stats.h"

struct hn_timing {
	uint32_t n;
	double sample_ns[HN_STATS_MAX_SAMPLE];
	uint32_t n_taken;   /* samples in all */
	uint32_t n_dropped; /* disturbed samples; a few may serve where there is nothing else */
	bool noisy;
	bool ran;	 /* false: no call fitted the budget, and the sample is first_ns */
	double spent_ns; /* inside call, all samples and calibration together */
};

/* What is timed, and what goes before each sample; ctx is for both. */
struct hn_timed {
	void (*call)(void *ctx);
	void (*chill)(void *ctx); /* cold caches; NULL = as the last call left them */
	void (*plant)(void *ctx); /* before each sample, and before chill; NULL = nothing */
	void (*look)(void *ctx);  /* after each: at what the calls have left; NULL = do not */
	void *ctx;
	uint32_t n_thread; /* that a call runs on, 0 = 1: each is disturbed by itself */
	double aside_ns; /* in those three so far: begins at 0 */
	bool ran;	 /* it was called */
};

/* What else the machine did to this process, counted up: a sample during which it grows by
 * more than one in HN_TIMING_RARE_NS of each thread is disturbed. */
typedef uint64_t (*hn_disturbances_fn)(void);

/* By the kernel's counters, all threads together: involuntary context switches and major
 * page faults. */
uint64_t hn_timing_disturbances(void);

/* A long sample is never alone: builders at the lowest priority get a turn now and then. */
#define HN_TIMING_RARE_NS 1e8

#define HN_TIMING_SLOWER 1.3 /* than the best known: out, however uncertain */

struct hn_timing_plan {
	double first_ns;   /* what one call took, warm or not */
	double best_ns;	   /* the best known; 0 = never give up */
	double budget_ns;  /* no call is begun that, lasting first_ns, would end later */
	hn_disturbances_fn disturbances; /* NULL = hn_timing_disturbances */
	uint32_t n_thread;	  /* as in struct hn_timed */
	void (*chill)(void *ctx); /* before each sample; NULL = warm caches */
	void (*plant)(void *ctx); /* as in struct hn_timed */
	void (*look)(void *ctx);
};

/* Time call(ctx).  When not even one call fits the budget, first_ns is the sample. */
void hn_timing_run(void (*call)(void *ctx), void *ctx, const struct hn_timing_plan *plan,
		   struct hn_timing *ret);

/* Its parts, for pairs.h: how many calls a sample of at least sample_ns needs, by growing runs
 * (*ret_ns = what one call took in the last of them); and one sample of n calls, *ret_ns for
 * each, true when it was disturbed.  A sample of what has a chill is of one call. */
int64_t hn_timing_calibrate(struct hn_timed *w, double sample_ns, double *ret_ns);
bool hn_timing_sample(struct hn_timed *w, int64_t n, hn_disturbances_fn disturbances,
		      double *ret_ns);

#endif
