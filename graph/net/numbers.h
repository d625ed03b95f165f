/* graph/net/numbers.h -- whether layouts and fusion keep the numbers of a network, by the reference
 * interpreter on random inputs.
 *
 * Every node is computed by itself, all values row-major, as the model says it.  Then every step is
 * computed as its kernel would be told to: from the same operands, in the layouts and by the memory
 * that were chosen for them.  So a difference arises in the step that it is told of.
 *
 * In a large network the steps of least work are computed.  What others make is drawn at random.
 */
#ifndef HN_GRAPH_NET_NUMBERS_H
#define HN_GRAPH_NET_NUMBERS_H

#include "graph/net/net.h"

/* The most that is done: expressions and bytes as hn_graph_work counts them, half a minute at 15 ns
 * each; and the memory of all values. */
#define HN_NUMBERS_WORK ((int64_t)1 << 31)
#define HN_NUMBERS_BYTES ((int64_t)1 << 30)

struct hn_step_numbers {
	bool computed;	/* else all below is 0 */
	double error;	/* largest difference, as a share of the value or, where that is larger, of
			 * the root mean square of its tensor; infinite where one is no number */
	double allowed; /* what a kernel of the step may differ by (loopstate/dag/tolerance.h) */
	int32_t value;	/* of the graph: where the largest is, ... */
	int64_t at;	/* ... and at which element of it, row-major */
	double got, want;
};

/* Of all steps, [n_step], in net's arena.  *ret is NULL where the values would take too much memory;
 * *ret_why says then why. */
int hn_net_numbers(struct hn_net *net, const struct hn_step_numbers **ret, const char **ret_why,
		   struct hn_err *err) HN_NODISCARD;

#endif
