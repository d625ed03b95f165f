/* bench/turns.h -- programs timed in turn, so that the machine's drift falls on all alike.
 *
 * All of them once a round, in an order that each round draws anew.  What a search records is
 * timed once, while the speed of a shared machine drifts by a fifth within seconds.  Other work
 * only ever makes a program slower, so what a program takes is what it took in its fastest round.
 * Every so many rounds the slowest quarter leaves, until few are left, so that the fast ones,
 * which are hardest to tell apart, are timed most.
 */
#ifndef HN_BENCH_TURNS_H
#define HN_BENCH_TURNS_H

#include "bench/race.h"

#define HN_TURNS_MOST_ROUNDS 64

struct hn_turns {
	const struct hn_contender *kernel;
	double best_ns; /* of its rounds */
	uint32_t n_round;
	double ns[HN_TURNS_MOST_ROUNDS]; /* of one call */
};

/* Nanoseconds of one call: the best of a few samples, the first call not among them. */
double hn_turns_once(const struct hn_contender *c);

/* Time the n programs for so many rounds (at most HN_TURNS_MOST_ROUNDS), from the beginning;
 * `program` comes back in another order. */
void hn_turns(struct hn_turns **program, uint32_t n, uint32_t rounds, uint64_t seed);

#endif
