/* measure/host/final.h -- the paired final: who is really faster, and who was lucky?
 *
 * A search ends with the smallest of many noisy medians, which is lucky by construction.  A final
 * runs the best ones against each other, in duels: holder and challenger take turns in one
 * process (A B, B A: pairs.h), each duel in a fresh one.  A duel's outcome is the median log ratio
 * of its pairs; processes differ too, so duels are what is counted.
 *
 * Entrant 0 holds the title.  Race: rounds of a few duels of every other entrant with the holder,
 * forwards and backwards; after each the slower half is out, until one is left.  When the best
 * is not faster than the holder, all is over.  It ends early when time is short
 * (hn_final_end_race): who is ahead then is the challenger.
 *
 * Match: holder and that challenger alone, judged by these duels only, which had no part in
 * choosing it.  It takes the title when the bootstrap interval of the median, at 99 % shared among
 * all looks (Bonferroni), shows it to be faster by more than HN_FINAL_MARGIN; else the holder keeps
 * it.  The match is looked at after 16, 32, 64 and 128 duels, and ends when the challenger has won,
 * or when its median gain is under half of HN_FINAL_GAIN (which costs the challenger something, and
 * the holder nothing).  Group-sequential testing with equal parts of the error for each look
 * (Pocock
 * 1977).
 *
 * So a final that is held again names a winner within about HN_FINAL_GAIN of the first: a
 * challenger that is faster by more is found.
 *
 * Only the rule is here: no clock, no process.  The caller measures whom `next` names.
 */
#ifndef HN_MEASURE_HOST_FINAL_H
#define HN_MEASURE_HOST_FINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/stats.h"

#define HN_FINAL_MAX_ENTRANT 10
#define HN_FINAL_ROUND 3 /* duels of each in a round of the race */
#define HN_FINAL_LOOK 16
#define HN_FINAL_LOOKS 4
#define HN_FINAL_MATCH (HN_FINAL_LOOK << (HN_FINAL_LOOKS - 1))
#define HN_FINAL_LEAST 12 /* when time is over; fewer decide nothing */
#define HN_FINAL_LOST 3	  /* duels lost to noise or the infrastructure end a final: the caller's part */
/* Where a machine's noise is well above the margin, the tail alone says how often the same
 * program entered twice wins; at most 1 in 100 is allowed. */
#define HN_FINAL_TAIL 0.005
#define HN_FINAL_GAIN 0.01    /* must be found */
#define HN_FINAL_MARGIN 0.002 /* less is no gain, however certain */

#define HN_FINAL_MAX_DUEL (4 * HN_FINAL_ROUND + HN_FINAL_MATCH)

/* What one entrant's duels with the holder told. */
struct hn_final_entrant {
	uint32_t n_duel;
	double log_ratio[HN_FINAL_MAX_DUEL]; /* of its time over the holder's */
	double median_ns[HN_FINAL_MAX_DUEL];
};

struct hn_final {
	uint32_t n; /* entrants; 0 is the holder */
	uint64_t seed;
	uint32_t n_left, left[HN_FINAL_MAX_ENTRANT]; /* challengers still racing */
	uint32_t step;	     /* duels told in this round, or in the match */
	uint32_t raced;	     /* duels of the challenger before the match */
	uint32_t challenger; /* 0 = still racing */
	bool beaten;	     /* the race showed no challenger faster than the holder */
	bool over;	     /* the match: a look has shown enough */
	uint32_t n_holder;
	double holder_ns[HN_STATS_MAX_SAMPLE]; /* its medians in all duels */
	struct hn_final_entrant entrant[HN_FINAL_MAX_ENTRANT]; /* [0] unused */
};

struct hn_final_result {
	bool decided; /* false: too few duels; the title stays, nothing was shown */
	uint32_t winner;
	uint32_t challenger;	 /* 0 = none came through the race */
	uint32_t n_duel;	 /* of the match */
	double gain_lo, gain_hi; /* of the challenger: 0.03 = takes 3 % less time */
	double median_ns;	 /* the winner's, the median of its duels' medians */
};

/* 2 <= n <= HN_FINAL_MAX_ENTRANT. */
void hn_final_init(struct hn_final *f, uint32_t n, uint64_t seed);

/* Whose duel with the holder is next; false when all is over. */
bool hn_final_next(const struct hn_final *f, uint32_t *ret_who);

/* The outcome of the duel that hn_final_next named: the median of log(its time / the holder's),
 * and the median time of each; > 0. */
void hn_final_tell(struct hn_final *f, double log_ratio, double holder_ns, double median_ns);

/* Whether it is still open who will be the challenger, if anybody. */
bool hn_final_racing(const struct hn_final *f);

/* There is time for the match and no more: the race ends here, by what was told so far.  Nothing
 * happens when it is over, or while somebody in it has had no duel. */
void hn_final_end_race(struct hn_final *f);

/* The judgement on what has been told so far. */
void hn_final_judge(const struct hn_final *f, struct hn_final_result *ret);

/* Duels of the race of n entrants when nobody is beaten, and what the challenger makes of them. */
uint32_t hn_final_race_duels(uint32_t n);

#endif
