/* search/answer.h -- the answer when nothing may be measured: the first automatic schedule
 * (search/auto.h) that the quick check shows to be legal.
 *
 * The analytic model orders the schedules. The trained model (docs/model.md) and sampled
 * programs are not used, because they gave worse answers. With whole workloads held back, the
 * heuristic that the trained model prefers ran at 0.94 of the analytic model's in the mean of 24
 * workloads, and at 0.49 at worst. The best of a hundred samples by it ran at 0.86 and 0.24.
 * Following it only when it promises 1.1 to 3 times the speed left no gain.
 *
 * Time is bounded by counts: a handful of alternatives (fewer for a long dag,
 * sketch/heuristic/heuristic.c), each examined once.
 */
#ifndef HN_SEARCH_ANSWER_H
#define HN_SEARCH_ANSWER_H

#include "search/auto.h"

struct hn_answer {
	const struct hn_trace *trace;
	uint32_t place; /* its place in hn_auto's order, from 0 on */
	bool shown;	/* legal, by the quick check (loopstate/nest/quick.h) */
	double predicted_ns; /* by the analytic model; 0 = it knows none */
};

struct hn_answers {
	uint32_t n;	   /* 0 only for targets that have no heuristics */
	struct hn_answer at[HN_AUTO_MAX]; /* the answer first, then what to fall back on */
};

/* Traces lie in `a`.  Pure. */
void hn_answers_find(const struct hn_dag *dag, const struct hn_target *target, struct hn_arena *a,
		     struct hn_answers *ret);

/* Puts first what promises at least a tenth more where operands lie in caches: for small kernels that
 * read what other kernels have just written.  The order above is for operands in memory. */
void hn_answers_prefer_warm(struct hn_answers *all);

#endif
