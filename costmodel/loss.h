/* costmodel/loss.h -- the loss that training minimises: how wrong the order of pairs of programs
 * of one task is.
 *
 * For two programs, d is the logarithm of the predicted speed ratio, with the program measured
 * faster on top. The loss of the pair is ln(1 + exp(-d / T)), T = HN_LOSS_MARGIN. It falls until
 * the order is right by a clear margin. A pair in the wrong order costs in proportion to its
 * error, not to the square. Pairs that were measured nearly equal count in proportion, up to
 * HN_LOSS_CLEAR, because the measurement does not say which of them is faster.
 *
 * Source: RankNet (Burges et al., ICML 2005).
 */
#ifndef HN_COSTMODEL_LOSS_H
#define HN_COSTMODEL_LOSS_H

#include "base/arena.h"

#define HN_LOSS_MARGIN 0.4 /* of a logarithm of times, as is */
#define HN_LOSS_CLEAR 0.05

struct hn_loss {
	uint32_t n, n_task;
	const double *weight; /* [n] 0: has no part; of a pair, the larger counts; borrowed */
	double *log_ns;	      /* [n] measured */
	double *log_time;     /* [n] predicted last */
	uint32_t *order;      /* [n] programs with a part in it, task by task */
	uint32_t *first;      /* [n_task + 1] a task's in `order` */
};

/* task[i]: the first program of program i's task (i's own when it is that); ns[i] > 0, finite where
 * weight[i] > 0.  All lives in `a`. */
void hn_loss_init(struct hn_loss *l, uint32_t n, const uint32_t *task, const double *ns,
		  const double *weight, struct hn_arena *a);

/* Of some of the pairs, as many for each program, drawn for that seed and round, when `time` is
 * predicted (in any unit): grad[i] and hess[i], the derivatives of their weighted loss by the logarithm
 * of time[i], scaled so that the second one of an undecided pair is its weight.  The loss so
 * scaled is added to *loss; NULL: nobody asks. */
void hn_loss(const struct hn_loss *l, const double *time, uint64_t seed, uint32_t round,
	     double *grad, double *hess, double *loss);

#endif
