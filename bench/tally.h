/* bench/tally.h -- summaries over the cases of a run. */
#ifndef HN_BENCH_TALLY_H
#define HN_BENCH_TALLY_H

#include "bench/contest.h"

struct hn_tally_entry {
	const char *name;
	double ns;	  /* hone's */
	double ratio;	  /* to the best peer; infinity without one */
	const char *peer; /* its name; "" */
	double share;	  /* of the limit by reading */
	double roofline;  /* share of the roofline */
	double own;	  /* hone's time over its own by rule, when both ran; else 0 */
};

struct hn_tally {
	const char *own; /* the contender that entries' `own` is about */
	uint32_t n;
	struct hn_tally_entry *entry; /* malloc */
};

/* Median over the rounds of the limit's time over hone's, where the limit is the slowest of
 * the contest's limits named in the NULL-ended list; *ret_limit: which that was, without the
 * "limit-".  The contest's first contender is hone's. */
double hn_tally_share(const struct hn_contest *t, const struct hn_race_result *r,
		      const char *const *limits, const char **ret_limit);

/* What has to be computed, or reading the arguments once: the share of all releases. */
extern const char *const hn_tally_reading[];
/* What has to be computed, or moving the arguments' bytes at the speed measured for that. */
extern const char *const hn_tally_roofline[];

void hn_tally_add(struct hn_tally *t, const struct hn_tally_entry *entry);

/* A row for each class (the name up to its last dash), and one for all; for each pair of
 * cases odd-X and even-X, the former's share of its roofline over the latter's: what a
 * length that no vector divides costs for each operation. */
void hn_tally_summary(const struct hn_tally *t, const char *context);

#endif
