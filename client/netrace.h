/* client/netrace.h -- networks timed as they run, in turn, by hone-board (measure/board/network.h);
 * and what follows from such times. */
#ifndef HN_CLIENT_NETRACE_H
#define HN_CLIENT_NETRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/net/net.h"
#include "target/target.h"

/* A network that runs: each kernel is of one of the libraries; and how long it took.  Round i of all
 * of a race was at one time. */
struct hn_netrun {
	const uint32_t *from; /* [n_kernel of net] */
	const struct hn_net *net;
	uint32_t n_round;
	const double *ns;	/* [n_round], of a run */
	const double **step_ns; /* [n_step][n_round] */
};

struct hn_netrace {
	const char *verb, *name; /* for messages; of the network */
	uint32_t n_library;
	const char *const *dir; /* of the libraries */
	double seconds;
	const struct hn_target *target; /* that they are for */
};

/* How they are timed: on all cores by the wall clock; on a busy machine, where a thread that is waited
 * for may not run for long, on one by its time on a processor.  0: on a device, by the wall clock; by
 * the time on processors where they are the device, and busy. */
uint32_t hn_netrace_threads(const struct hn_target *target);

/* Fill in the times of all runs.  HONE_E_INTERNAL when one could not run, and why. */
int hn_netrace_run(const struct hn_netrace *race, uint32_t n_run, struct hn_netrun *run,
		   struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

/* By how much y is slower than x, of times taken in turn: the median of the ratios' logarithms. */
double hn_netrace_slower(const double *x, const double *y, uint32_t n_round);

/* The same, but what is so in three of four rounds: y is at most so much slower there. */
double hn_netrace_surely(const double *x, const double *y, uint32_t n_round);

double hn_netrace_median(const double *ns, uint32_t n_round);

/* Of all steps of a task, in each round; in a. */
const double *hn_netrace_task(const struct hn_netrun *run, uint32_t task, struct hn_arena *a);

/* For each task that is `open`, 1 where run 1's kernels are faster, else 0.  Both run the same net.
 * True: the mixture is neither of the two. */
bool hn_netrace_mix(const struct hn_netrun run[2], const bool *open, struct hn_arena *a,
		    uint32_t *ret_which);

/* Who of them is the fastest as a whole.  The first stays where nobody is faster in three of four
 * rounds. */
uint32_t hn_netrace_best(const struct hn_netrun *run, uint32_t n_run);

#endif
