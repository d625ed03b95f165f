/* bench/limit.h -- what the machine can do at most, as contenders.
 *
 * A limit runs in the same rounds as the kernels, at the clock they had.  A call of it does
 * a fixed amount of one resource's work; hn_contender.amount says how many calls' worth the
 * case needs.  A case's roofline is the largest over the resources of amount x time:
 * multiply-adds, exponentials, and moving the arguments' bytes (Williams, Waterman and
 * Patterson, "Roofline", CACM 2009, with the bandwidth of the level that holds the data).
 */
#ifndef HN_BENCH_LIMIT_H
#define HN_BENCH_LIMIT_H

#include "bench/contest.h"

/* All that follow, as the contest's last contenders:
 *   limit-fma     multiply-adds on all threads (measure/board/probe.h)
 *   limit-read    reading as many bytes as the arguments have
 *   limit-stream  limit_stream.c
 *   limit-exp     limit_exp.c; only where the case has exponentials */
void hn_contest_limits(struct hn_contest *t);

/* Reads as many bytes as the inputs have and writes as many as the outputs have, in
 * proportion, by the fastest of several loops: ordinary or non-temporal stores, one or more
 * streams, one thread or all. */
void hn_limit_stream(struct hn_contest *t);

/* exp of as many elements as the case has, in registers' reach: nothing is moved. */
void hn_limit_exp(struct hn_contest *t);

/* Sums of narrow products, by the fastest instruction that the machine has for the types of the
 * row; tiles: by AMX, too.  False, and nothing is added, where it has none. */
bool hn_limit_dot(struct hn_contest *t, bool tiles);

/* How many exponentials the dag states: each reduced or stored point that calls exp. */
double hn_limit_count_exp(const struct hn_dag *dag);

#endif
