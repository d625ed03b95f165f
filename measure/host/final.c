/* final.c -- the order of duels, and the judgement. */
#include "measure/host/final.h"

#include <math.h>
#include <string.h>

#include "base/cdefs.h"

void hn_final_init(struct hn_final *f, uint32_t n, uint64_t seed)
{
	hn_assert(n >= 2 && n <= HN_FINAL_MAX_ENTRANT);
	memset(f, 0, sizeof(*f));
	f->n = n;
	f->seed = seed;
	f->n_left = n - 1;
	for (uint32_t i = 0; i < f->n_left; i++) {
		f->left[i] = i + 1;
	}
	f->challenger = n == 2 ? 1 : 0; /* of two there is nobody to choose */
}

/* How many go on after a round. */
static uint32_t faster_half(uint32_t n)
{
	return (n + 1) / 2;
}

uint32_t hn_final_race_duels(uint32_t n)
{
	uint32_t duels = 0;

	for (uint32_t left = n - 1; left > 1; left = faster_half(left)) {
		duels += left * HN_FINAL_ROUND;
	}
	return duels;
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
		*ret_who = f->left[palindrome(f->step, f->n_left)];
		return true;
	}
	*ret_who = f->challenger;
	return f->step < HN_FINAL_MATCH;
}

static double raced_ratio(const struct hn_final *f, uint32_t who)
{
	const struct hn_final_entrant *e = &f->entrant[who];

	return hn_stats_median(e->log_ratio, e->n_duel);
}

/* Fastest first; of equal ones the earlier. */
static void rank(struct hn_final *f)
{
	for (uint32_t i = 1; i < f->n_left; i++) {
		uint32_t who = f->left[i], at = i;

		for (; at > 0 && raced_ratio(f, f->left[at - 1]) > raced_ratio(f, who); at--) {
			f->left[at] = f->left[at - 1];
		}
		f->left[at] = who;
	}
}

/* So many go on. */
static void end_round(struct hn_final *f, uint32_t n)
{
	rank(f);
	f->step = 0;
	f->beaten = raced_ratio(f, f->left[0]) >= 0;
	f->n_left = n;
	if (f->n_left == 1 && !f->beaten) {
		f->challenger = f->left[0];
		f->raced = f->entrant[f->challenger].n_duel;
	}
}

/* The match so far. */
static const double *match(const struct hn_final *f, uint32_t *ret_n)
{
	const struct hn_final_entrant *e = &f->entrant[f->challenger];

	*ret_n = f->challenger == 0 ? 0 : e->n_duel - f->raced;
	return e->log_ratio + f->raced;
}

/* Whether the match has come to a look that shows enough. */
static bool shows_enough(const struct hn_final *f)
{
	struct hn_final_result r;
	uint32_t look = HN_FINAL_LOOK, n;
	const double *ratio = match(f, &n);

	while (look < n) {
		look *= 2;
	}
	if (n != look) {
		return false;
	}
	hn_final_judge(f, &r);
	return r.winner != 0 || 1 - exp(hn_stats_median(ratio, n)) < HN_FINAL_GAIN / 2;
}

void hn_final_tell(struct hn_final *f, double log_ratio, double holder_ns, double median_ns)
{
	struct hn_final_entrant *e;
	uint32_t who;

	hn_assert(holder_ns > 0 && median_ns > 0 && hn_final_next(f, &who));
	e = &f->entrant[who];
	f->holder_ns[f->n_holder++] = holder_ns;
	e->log_ratio[e->n_duel] = log_ratio;
	e->median_ns[e->n_duel++] = median_ns;
	f->step++;
	if (f->challenger != 0) {
		f->over = shows_enough(f);
	} else if (f->step == f->n_left * HN_FINAL_ROUND) {
		end_round(f, faster_half(f->n_left));
	}
}

bool hn_final_racing(const struct hn_final *f)
{
	return f->challenger == 0 && !f->beaten;
}

void hn_final_end_race(struct hn_final *f)
{
	bool all = hn_final_racing(f);

	for (uint32_t i = 0; i < f->n_left; i++) {
		all = all && f->entrant[f->left[i]].n_duel > 0;
	}
	if (all) {
		end_round(f, 1);
	}
}

void hn_final_judge(const struct hn_final *f, struct hn_final_result *ret)
{
	const struct hn_final_entrant *e;
	uint32_t n;
	const double *ratio = match(f, &n);
	double lo, hi;

	memset(ret, 0, sizeof(*ret));
	ret->decided = f->beaten;
	ret->challenger = f->challenger;
	ret->n_duel = n;
	if (n > 0) {
		hn_stats_bootstrap(ratio, n, HN_FINAL_TAIL / HN_FINAL_LOOKS,
				   f->seed, &lo, &hi);
		ret->gain_lo = 1 - exp(hi);
		ret->gain_hi = 1 - exp(lo);
	}
	if (n >= HN_FINAL_LEAST) {
		ret->decided = true;
		ret->winner = ret->gain_lo > HN_FINAL_MARGIN ? f->challenger : 0;
	}
	e = &f->entrant[ret->winner];
	if (ret->winner == 0 && f->n_holder > 0) {
		ret->median_ns = hn_stats_median(f->holder_ns, f->n_holder);
	} else if (ret->winner > 0) {
		ret->median_ns = hn_stats_median(e->median_ns, e->n_duel);
	}
}
