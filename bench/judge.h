/* bench/judge.h -- are the contenders' answers right?
 *
 * Relative norm of the difference, |got - want| / |want|: against the reference interpreter on
 * elements drawn at random (lower/interp/interp.h; the whole of a large convolution would take
 * minutes), and between contenders on all elements.  Programs of float32 alone may be off by
 * HN_JUDGE_LIMIT, those with narrower floats by the tolerance of boards
 * (loopstate/dag/tolerance.h), integers not at all.
 */
#ifndef HN_BENCH_JUDGE_H
#define HN_BENCH_JUDGE_H

#include "bench/contest.h"

#define HN_JUDGE_LIMIT 1e-5

struct hn_judge {
	double limit;
	uint32_t n; /* elements drawn */
	int64_t *at; /* counted through all outputs */
	double *want;
	void **first; /* each output of the first contender judged; NULL until then */
};

/* Draw elements and evaluate them, for about a second. */
void hn_judge_init(struct hn_judge *j, const struct hn_contest *t);
void hn_judge_fini(struct hn_judge *j, const struct hn_contest *t);

struct hn_judgement {
	double error;	/* against the reference */
	double differs; /* against the first contender judged; 0 for itself */
	double limit;	/* of the error; of what differs, twice this */
};

bool hn_judged_right(const struct hn_judgement *j);

/* Call it once over poisoned outputs and look. */
struct hn_judgement hn_judge(struct hn_judge *j, struct hn_contest *t,
			     const struct hn_contender *c);

/* Judge every contender, hone's first, and name on standard error those whose numbers are
 * wrong; whether hone's are right. */
bool hn_judge_all(struct hn_contest *t, struct hn_judgement *ret);

#endif
