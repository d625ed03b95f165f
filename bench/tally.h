/* bench/tally.h -- what the cases of a run say together. */
#ifndef HN_BENCH_TALLY_H
#define HN_BENCH_TALLY_H

#include "bench/contest.h"

struct hn_tally_entry {
	const char *name;
	double ns;	  /* hone's */
	double ratio;	  /* to the best peer; infinity without one */
	const char *peer; /* its name; "" */
	double share;	  /* of the machine's limit */
};

struct hn_tally {
	uint32_t n;
	struct hn_tally_entry *entry; /* malloc */
};

/* Median over the rounds of limit time over hone's time, where the limit is the slower of
 * the useful multiply-adds at the measured peak and reading the arguments once.  The
 * contest's first contender is hone's, the limits are its last two. */
double hn_tally_share(const struct hn_contest *t, const struct hn_race_result *r,
		      double flops, double fma_flops, const char **ret_limit);

void hn_tally_add(struct hn_tally *t, const struct hn_tally_entry *entry);

/* A row for each class (the name up to its last dash), and one for all. */
void hn_tally_summary(const struct hn_tally *t, const char *context);

#endif
