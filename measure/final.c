/* final.c -- the order of visits, and the judgement. */
#include "measure/final.h"

#include <math.h>
#include <string.h>

#include "base/cdefs.h"
#include "measure/stats.h"

void hn_final_init(struct hn_final *f, uint32_t n, uint64_t seed)
{
	hn_assert(n >= 2 && n <= HN_FINAL_MAX_ENTRANT);
	memset(f, 0, sizeof(*f));
	f->n = n;
	f->seed = seed;
	f->challenger = n == 2 ? 1 : 0; /* of two there is nobody to choose */
}

uint32_t hn_final_min_visits(uint32_t n)
{
	return n == 2 ? 2 * HN_FINAL_MIN_BLOCKS
		      : 2 * (HN_FINAL_RACE_BLOCKS + HN_FINAL_MIN_BLOCKS);
}

/* Forwards, backwards: 0 1 2 2 1 0. */
static uint32_t palindrome(uint32_t step, uint32_t n)
{
	uint32_t at = step % (2 * n);

	return at < n ? at : 2 * n - 1 - at;
}

bool hn_final_next(const struct hn_final *f, uint32_t *ret_who)
{
	if (f->beaten || f->over) {
		return false;
	}
	if (f->challenger == 0) {
		*ret_who = palindrome(f->step, f->n);
		return true;
	}
	*ret_who = palindrome(f->step, 2) == 0 ? 0 : f->challenger;
	return f->step < 4 * HN_FINAL_DUEL_BLOCKS;
}

/* log of the time of `who` over the holder's in their visit number v. */
static double log_ratio(const struct hn_final *f, uint32_t who, uint32_t v)
{
	return log(f->least_ns[who][v] / f->least_ns[0][v]);
}

static void choose_challenger(struct hn_final *f)
{
	double best = INFINITY;

	for (uint32_t who = 1; who < f->n; who++) {
		double ratio[2 * HN_FINAL_RACE_BLOCKS], median;

		for (uint32_t v = 0; v < HN_COUNT_OF(ratio); v++) {
			ratio[v] = log_ratio(f, who, v);
		}
		median = hn_stats_median(ratio, HN_COUNT_OF(ratio));
		if (median < best) {
			best = median;
			f->challenger = who;
		}
	}
	f->beaten = best >= 0;
	f->step = 0;
}

/* The duel's complete blocks, two ratios each: holder and challenger side by side, in one
 * order and in the other.  Not their mean: a spike would then spoil two pairs, not one. */
static uint32_t duel_ratios(const struct hn_final *f, double *ratio)
{
	uint32_t first = f->n == 2 ? 0 : 2 * HN_FINAL_RACE_BLOCKS;
	uint32_t n = f->beaten || f->challenger == 0 ? 0 : 2 * (f->step / 4);

	for (uint32_t i = 0; i < n; i++) {
		ratio[i] = log_ratio(f, f->challenger, first + i);
	}
	return n;
}

/* Whether the duel has come to a look that shows enough. */
static bool shows_enough(const struct hn_final *f)
{
	double ratio[2 * HN_FINAL_DUEL_BLOCKS];
	struct hn_final_result r;
	uint32_t look = HN_FINAL_LOOK_BLOCKS, n;

	while (4 * look < f->step) {
		look *= 2;
	}
	if (f->challenger == 0 || f->step != 4 * look) {
		return false;
	}
	n = duel_ratios(f, ratio);
	hn_final_judge(f, &r);
	return r.winner != 0 || 1 - exp(hn_stats_median(ratio, n)) < HN_FINAL_GAIN / 2;
}

void hn_final_tell(struct hn_final *f, double least_ns, double median_ns)
{
	uint32_t who;

	hn_assert(least_ns > 0 && median_ns > 0 && hn_final_next(f, &who));
	f->least_ns[who][f->n_visit[who]] = least_ns;
	f->median_ns[who][f->n_visit[who]++] = median_ns;
	f->step++;
	if (f->challenger == 0 && f->step == 2 * f->n * HN_FINAL_RACE_BLOCKS) {
		choose_challenger(f);
	} else {
		f->over = shows_enough(f);
	}
}

void hn_final_judge(const struct hn_final *f, struct hn_final_result *ret)
{
	double ratio[2 * HN_FINAL_DUEL_BLOCKS], lo, hi;
	uint32_t n;

	memset(ret, 0, sizeof(*ret));
	ret->decided = f->beaten;
	ret->challenger = f->beaten ? 0 : f->challenger;
	n = duel_ratios(f, ratio);
	ret->n_block = n / 2;
	if (n > 0) {
		hn_stats_bootstrap(ratio, n, HN_FINAL_TAIL / HN_FINAL_LOOKS / (f->n - 1),
				   f->seed, &lo, &hi);
		ret->gain_lo = 1 - exp(hi);
		ret->gain_hi = 1 - exp(lo);
	}
	if (ret->n_block >= HN_FINAL_MIN_BLOCKS) {
		ret->decided = true;
		ret->winner = ret->gain_lo > HN_FINAL_GAIN ? f->challenger : 0;
	}
	if (f->n_visit[ret->winner] > 0) {
		ret->median_ns = hn_stats_median(f->median_ns[ret->winner],
						 f->n_visit[ret->winner]);
	}
}
