/* costmodel/loss.c -- see loss.h. */
#include "costmodel/loss.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

#define PASSES 32 /* in each, a program has two partners */

void hn_loss_init(struct hn_loss *l, uint32_t n, const uint32_t *task, const double *ns,
		  const double *weight, struct hn_arena *a)
{
	uint32_t *count = HN_NEW_ARRAY(a, uint32_t, n + 1), *at = HN_NEW_ARRAY(a, uint32_t, n + 1);
	uint32_t sum = 0;

	*l = (struct hn_loss){.n = n, .weight = weight};
	l->log_ns = HN_NEW_ARRAY(a, double, n + 1);
	l->log_time = HN_NEW_ARRAY(a, double, n + 1);
	l->order = HN_NEW_ARRAY(a, uint32_t, n + 1);
	l->first = HN_NEW_ARRAY(a, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		count[task[i]] += weight[i] > 0;
		l->log_ns[i] = log(ns[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (task[i] == i) {
			l->first[l->n_task++] = at[i] = sum;
			sum += count[i];
		}
		if (weight[i] > 0) {
			l->order[at[task[i]]++] = i;
		}
	}
	l->first[l->n_task] = sum;
}

/* Add the pair's part to the derivatives, and to the loss when that is asked for. */
static void pair(const struct hn_loss *l, uint32_t i, uint32_t k, double *grad, double *hess,
		 double *loss)
{
	double faster = l->log_ns[k] - l->log_ns[i];
	double sign = (faster > 0) - (faster < 0);
	double d = sign * (l->log_time[k] - l->log_time[i]) / HN_LOSS_MARGIN;
	double wrong = 1 / (1 + exp(d)); /* how sure it is of the wrong order */
	double clear = fmin(fabs(faster) / HN_LOSS_CLEAR, 1);
	double weight = fmax(l->weight[i], l->weight[k]) * clear / PASSES;
	double slope = 4 * HN_LOSS_MARGIN * weight * sign * wrong;
	double bend = 4 * weight * wrong * (1 - wrong);

	grad[i] += slope;
	grad[k] -= slope;
	hess[i] += bend;
	hess[k] += bend;
	if (loss) {
		*loss += 4 * HN_LOSS_MARGIN * HN_LOSS_MARGIN * weight *
			 (d > 0 ? log1p(exp(-d)) : log1p(exp(d)) - d);
	}
}

void hn_loss(const struct hn_loss *l, const double *time, uint64_t seed, uint32_t round,
	     double *grad, double *hess, double *loss)
{
	struct hn_rng rng = hn_rng_stream(seed, 7, round, 0);

	memset(grad, 0, l->n * sizeof *grad);
	memset(hess, 0, l->n * sizeof *hess);
	for (uint32_t i = 0; i < l->n; i++) {
		l->log_time[i] = log(time[i]);
	}
	for (uint32_t t = 0; t < l->n_task; t++) {
		const uint32_t *of = l->order + l->first[t];
		uint32_t n = l->first[t + 1] - l->first[t];

		for (uint32_t pass = 0; pass < PASSES && n > 1; pass++) {
			uint32_t on = 1 + (uint32_t)hn_rng_below(&rng, n - 1);

			for (uint32_t i = 0; i < n; i++) {
				pair(l, of[i], of[(i + on) % n], grad, hess, loss);
			}
		}
	}
}
