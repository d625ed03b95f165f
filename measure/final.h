/* measure/final.h -- the paired final: who is really faster, and who was lucky?
 *
 * A search ends with the smallest of many noisy medians, which is lucky by construction.
 * A final runs the best ones against each other, each visit a fresh process, forwards and
 * backwards (A B B A), so that what drifts in a line does as much for one as for the other.
 *
 * Entrant 0 holds the title.  Race: three blocks of all entrants choose one challenger, the
 * best by the median ratio to the holder.  Duel: holder and challenger alone, in blocks
 * A B B A, judged by these visits only, which had no part in choosing the challenger.  It
 * takes the title when the bootstrap interval of the median ratio, at 99 % shared among all
 * challengers and looks (Bonferroni), shows a gain above 1 %; else the holder keeps it.
 * service.md 3.6, point 6.
 *
 * A duel has as many blocks as it takes: it is looked at after 12, 24, 48 and 96, and ends
 * when the challenger has won, or when its median gain is not even half of 1 % (which costs
 * the challenger something, and the holder nothing).  Group-sequential testing with equal
 * parts of the error for each look (Pocock 1977, by Bonferroni); 12 alone found a gain of 3 %
 * in one of three on a shared machine.
 *
 * Visits are compared by their least samples: noise only adds, and of two medians on a shared
 * machine each has its own noise (service.md 3.6: rank by p10 on shared boards; of ten samples
 * that is the least).  How long the winner takes is told by medians, as everywhere.
 *
 * Only the rule is here: no clock, no process.  The caller measures whom `next` names.
 */
#ifndef HN_MEASURE_FINAL_H
#define HN_MEASURE_FINAL_H

#include <stdbool.h>
#include <stdint.h>

#define HN_FINAL_MAX_ENTRANT 10
#define HN_FINAL_RACE_BLOCKS 3
#define HN_FINAL_LOOK_BLOCKS 12 /* the duel's first look; each next at twice as many */
#define HN_FINAL_LOOKS 4
#define HN_FINAL_DUEL_BLOCKS (HN_FINAL_LOOK_BLOCKS << (HN_FINAL_LOOKS - 1))
#define HN_FINAL_MIN_BLOCKS 5 /* when time is over; fewer decide nothing */
#define HN_FINAL_VISIT_SAMPLES 10
/* Where a machine's noise is well above HN_FINAL_GAIN, the tail alone says how often the same
 * program entered twice wins: 0.025 gave 1 in 66 here, and at most 1 in 100 is allowed. */
#define HN_FINAL_TAIL 0.005
#define HN_FINAL_GAIN 0.01 /* what is not faster by more keeps nobody from a title */

#define HN_FINAL_MAX_VISIT (2 * (HN_FINAL_RACE_BLOCKS + HN_FINAL_DUEL_BLOCKS))

struct hn_final {
	uint32_t n; /* entrants; 0 is the holder */
	uint64_t seed;
	uint32_t step;	     /* visits told in this phase */
	uint32_t challenger; /* 0 = still racing */
	bool beaten;	     /* the race showed no challenger faster than the holder */
	bool over;	     /* the duel: a look has shown enough */
	uint32_t n_visit[HN_FINAL_MAX_ENTRANT];
	double least_ns[HN_FINAL_MAX_ENTRANT][HN_FINAL_MAX_VISIT];
	double median_ns[HN_FINAL_MAX_ENTRANT][HN_FINAL_MAX_VISIT];
};

struct hn_final_result {
	bool decided; /* false: too few blocks; the title stays, nothing was shown */
	uint32_t winner;
	uint32_t challenger;	 /* 0 = none came through the race */
	uint32_t n_block;	 /* complete ones of the duel */
	double gain_lo, gain_hi; /* of the challenger: 0.03 = takes 3 % less time */
	double median_ns;	 /* the winner's, the median of its visits' medians */
};

/* 2 <= n <= HN_FINAL_MAX_ENTRANT. */
void hn_final_init(struct hn_final *f, uint32_t n, uint64_t seed);

/* Whose visit is next; false when all is over. */
bool hn_final_next(const struct hn_final *f, uint32_t *ret_who);

/* Least and median sample of the visit that hn_final_next named; > 0. */
void hn_final_tell(struct hn_final *f, double least_ns, double median_ns);

/* The judgement on what has been told so far. */
void hn_final_judge(const struct hn_final *f, struct hn_final_result *ret);

/* Visits each of n entrants makes at least before anything can be decided. */
uint32_t hn_final_min_visits(uint32_t n);

#endif
