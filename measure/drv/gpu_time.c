/* gpu_time.c -- how long a call takes on a device, by the device's clock.
 *
 * A sample is the mean of enough calls in a row to last MIN_SAMPLE_NS, enqueued behind something
 * that is not timed, so that the time of a launch from this machine does not count.  With cold
 * caches a sample is one call, and caches are emptied before.  When to stop is as in timing.h: at
 * 3 % of uncertainty, or after 10 samples and 50 ms, or after half a second; at once for who is
 * hopelessly slower than the best known.
 *
 * In a duel the two take turns, A B, B A.
 *
 * Where the device is this machine's cores, a sample in which the scheduler took one of them is
 * dropped, as timing.h does.
 */
#include "measure/drv/gpu_int.h"

#include <math.h>

#include "base/clock.h"
#include "measure/board/timing.h"

#define MIN_SAMPLE_NS 1e6
#define MOST_CALLS 1000
#define LEAD_NS 1e7 /* of a call: a longer one needs none before it */
#define HOPELESS 3.0
#define LEAST 5
#define SCREEN 10
#define SCREEN_NS 5e7
#define CAP_NS 5e8
#define PAIRS_NS 1e9
#define PAIRS_LEAST 3
#define WANTED 0.03
#define NOISY 0.15

struct timed {
	struct gpu_run *run;
	void *program;
	bool cold;
	uint32_t n; /* calls of a sample */
	double one_ns;
};

/* *disturbed: other programs had a core meanwhile. */
static enum hn_verdict sample(struct timed *t, double *ret_ns, bool *disturbed)
{
	struct gpu_run *run = t->run;
	bool lead = !t->cold && t->one_ns < LEAD_NS, host = run->facts->host;
	uint64_t before = host ? hn_timing_disturbances() : 0;
	enum hn_verdict v = run->ops->run(run->dev, t->program, t->n, lead, t->cold, ret_ns,
					  &run->err);
	double cores_ns = *ret_ns * (double)run->facts->cores;

	*disturbed = host &&
		     hn_timing_disturbances() > before + (uint64_t)(cores_ns / HN_TIMING_RARE_NS);
	*ret_ns = fmax(*ret_ns, 1);
	run->report->body.kernel_ns += (int64_t)*ret_ns;
	*ret_ns /= t->n;
	return v;
}

/* How many calls a sample has, by growing runs; t->one_ns is one of them. */
static enum hn_verdict calibrate(struct timed *t, double first_ns)
{
	enum hn_verdict v = HN_VERDICT_OK;
	bool disturbed;

	t->n = 1;
	t->one_ns = first_ns;
	while (v == HN_VERDICT_OK && !t->cold && t->one_ns * t->n < 0.7 * MIN_SAMPLE_NS &&
	       t->n < MOST_CALLS) {
		double want = fmin(ceil(MIN_SAMPLE_NS / t->one_ns), 10.0 * t->n);

		t->n = want < MOST_CALLS ? (uint32_t)fmax(want, t->n + 1.0) : MOST_CALLS;
		v = sample(t, &t->one_ns, &disturbed);
	}
	return v;
}

static bool enough(const double *x, uint32_t n, double best_ns, double spent_ns, double cap_ns)
{
	if (n >= HN_STATS_MAX_SAMPLE || (spent_ns >= cap_ns && n > 0)) {
		return true;
	}
	if (best_ns > 0 && n >= LEAST && hn_stats_least(x, n) > HN_TIMING_SLOWER * best_ns) {
		return true;
	}
	return (n >= SCREEN && spent_ns >= SCREEN_NS) ||
	       (n > 0 && hn_stats_uncertainty(x, n) <= WANTED);
}

/* What the clock has said so far. */
struct taken {
	double *x;	 /* undisturbed */
	uint32_t *n, n_dropped;
	double dropped[HN_STATS_MAX_SAMPLE];
};

/* Better a disturbed figure than none. */
static bool judge(struct taken *k, double one_ns, double best_ns)
{
	bool few = *k->n < LEAST;
	double least;

	for (uint32_t i = 0; few && i < k->n_dropped && *k->n < HN_STATS_MAX_SAMPLE; i++) {
		k->x[(*k->n)++] = k->dropped[i];
	}
	if (*k->n == 0) {
		k->x[(*k->n)++] = one_ns;
	}
	least = hn_stats_least(k->x, *k->n);
	return *k->n > LEAST && hn_stats_uncertainty(k->x, *k->n) > NOISY &&
	       (best_ns <= 0 || least <= HN_TIMING_SLOWER * best_ns);
}

static enum hn_verdict time_one(struct gpu_run *run, double budget_ns, bool *noisy)
{
	struct timed t = {.run = run, .program = run->side[0].program, .cold = run->w->cold};
	struct taken k = {.x = run->report->body.sample_ns, .n = &run->report->body.n_sample};
	double cap_ns = fmin(budget_ns, CAP_NS), ns = 0;
	int64_t begin = hn_clock_ns();
	enum hn_verdict v = calibrate(&t, run->side[0].first_ns);
	bool disturbed;

	*k.n = 0;
	while (v == HN_VERDICT_OK && t.one_ns < budget_ns && k.n_dropped < HN_STATS_MAX_SAMPLE &&
	       !(run->best_ns > 0 && t.one_ns > HOPELESS * run->best_ns &&
		 *k.n + k.n_dropped > 0) &&
	       !enough(k.x, *k.n, run->best_ns, (double)(hn_clock_ns() - begin), cap_ns) &&
	       (*k.n > 0 || (double)(hn_clock_ns() - begin) < cap_ns)) {
		v = sample(&t, &ns, &disturbed);
		if (v == HN_VERDICT_OK && disturbed) {
			k.dropped[k.n_dropped++] = ns;
		} else if (v == HN_VERDICT_OK) {
			k.x[(*k.n)++] = ns;
		}
	}
	*noisy = v == HN_VERDICT_OK && judge(&k, t.one_ns, run->best_ns);
	return v;
}

static enum hn_verdict time_two(struct gpu_run *run, double budget_ns)
{
	double *x[2] = {run->report->body.sample_ns, run->report->body.rival_ns};
	uint32_t *n = &run->report->body.n_sample;
	int64_t begin = hn_clock_ns();
	enum hn_verdict v = HN_VERDICT_OK;
	bool disturbed[2] = {false, false};
	uint32_t dropped = 0;
	struct timed t[2];

	for (int i = 0; i < 2 && v == HN_VERDICT_OK; i++) {
		t[i] = (struct timed){.run = run, .program = run->side[i].program,
				      .cold = run->w->cold};
		run->report->side = (uint32_t)i;
		v = calibrate(&t[i], run->side[i].first_ns);
	}
	*n = 0;
	while (*n < HN_PAIRS && v == HN_VERDICT_OK) {
		double spent = (double)(hn_clock_ns() - begin);

		if (*n > 0 && (spent > budget_ns || (spent > PAIRS_NS && *n >= PAIRS_LEAST))) {
			break;
		}
		for (uint32_t k = 0; k < 2 && v == HN_VERDICT_OK; k++) {
			uint32_t who = (k + *n) % 2;

			run->report->side = who;
			v = sample(&t[who], &x[who][*n], &disturbed[k]);
		}
		/* a disturbed pair is made again */
		*n += v == HN_VERDICT_OK &&
		      !((disturbed[0] || disturbed[1]) && dropped++ < 2 * HN_PAIRS);
	}
	return v;
}

enum hn_verdict gpu_time(struct gpu_run *run, double budget_ns, bool *noisy)
{
	*noisy = false;
	return run->n_side == 2 ? time_two(run, budget_ns) : time_one(run, budget_ns, noisy);
}
