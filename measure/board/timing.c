/* timing.c -- calibrated repetition with a stopping rule. */
#include "measure/board/timing.h"

#include <math.h>
#include <sys/resource.h>

#include "base/cdefs.h"
#include "base/clock.h"

#define MIN_SAMPLE_NS 1e6
#define HOPELESS 3.0
#define LOOKS 3 /* at a call that seems hopeless: one may have been disturbed */
#define LEAST 3 /* samples that say anything */
#define SCREEN_NS 5e7
#define SCREEN 5 /* samples that show who is slower by far */
#define CAP_NS 5e8
#define WANTED 0.03
#define LONG_NS                                                                          \
	1e8 /* a call of this length needs no calibration and is never repeated idly */
#define MAX_CALLS 10000000

static double clock_tick_ns(void)
{
	double tick = 1e9;

	for (int i = 0; i < 32; i++) {
		int64_t a = hn_clock_ns(), b = a;

		while (b == a) {
			b = hn_clock_ns();
		}
		tick = fmin(tick, (double)(b - a));
	}
	return tick;
}

static double span(struct hn_timed *w, int64_t n)
{
	int64_t begin = hn_clock_ns();

	for (int64_t i = 0; i < n; i++) {
		w->call(w->ctx);
	}
	double t = (double)(hn_clock_ns() - begin);

	w->ran = true;
	return t;
}

/* Outside of the clock. */
static void aside(struct hn_timed *w, void (*what)(void *ctx))
{
	int64_t begin = hn_clock_ns();

	if (what != NULL) {
		what(w->ctx);
		w->aside_ns += (double)(hn_clock_ns() - begin);
	}
}

/* What is measured next finds the outputs and the caches as they shall be. */
static void get_ready(struct hn_timed *w)
{
	aside(w, w->plant);
	aside(w, w->chill);
}

uint64_t hn_timing_disturbances(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)(u.ru_nivcsw + u.ru_majflt)
					       : 0;
}

int64_t hn_timing_calibrate(struct hn_timed *w, double sample_ns, double *ret_ns)
{
	double floor_ns = fmax(sample_ns, 1000 * clock_tick_ns());
	int64_t n = 1;

	for (;;) {
		double t;

		aside(w, w->plant);
		t = fmax(span(w, n), 1);
		aside(w, w->look);
		*ret_ns = t / (double)n;
		if (t >= 0.5 * floor_ns || n >= MAX_CALLS) {
			double want = ceil(floor_ns / *ret_ns);

			return want < 1		  ? 1
			       : want > MAX_CALLS ? MAX_CALLS
						  : (int64_t)want;
		}
		n = (int64_t)fmin(fmin(ceil((double)n * floor_ns / t), 10.0 * (double)n),
				  MAX_CALLS);
		n = n < 2 ? 2 : n;
	}
}

static bool slower_by_far(const struct hn_timing *t, double best_ns)
{
	return best_ns > 0 && t->n >= SCREEN &&
	       hn_stats_least(t->sample_ns, t->n) > HN_TIMING_SLOWER * best_ns;
}

static bool enough(const struct hn_timing *t, const struct hn_timing_plan *plan,
		   double spent_ns, double cap_ns)
{
	if (t->n >= HN_STATS_MAX_SAMPLE || (spent_ns >= cap_ns && t->n > 0)) {
		return true;
	}
	return (t->n >= 10 && spent_ns >= SCREEN_NS) || slower_by_far(t, plan->best_ns) ||
	       hn_stats_uncertainty(t->sample_ns, t->n > 0 ? t->n : 1) <= WANTED;
}

/* Judged by the samples that were not disturbed, ret->n of them so far. */
static bool noisy(const struct hn_timing *t, const double *dropped, double best_ns)
{
	double least;

	if (t->n_dropped <= t->n || hn_stats_uncertainty(t->sample_ns, t->n) <= WANTED) {
		return false;
	}
	least = fmin(hn_stats_least(t->sample_ns, t->n),
		     hn_stats_least(dropped, t->n_dropped));
	return best_ns <= 0 || least <= HN_TIMING_SLOWER * best_ns;
}

bool hn_timing_sample(struct hn_timed *w, int64_t n, hn_disturbances_fn disturbances,
		      double *ret_ns)
{
	uint64_t before;
	double t;

	bool disturbed;

	hn_assert(w->chill == NULL || n == 1);
	get_ready(w);
	before = disturbances();
	t = span(w, n);
	*ret_ns = t / (double)n;
	t *= w->n_thread > 0 ? w->n_thread : 1;
	disturbed = disturbances() > before + (uint64_t)(t / HN_TIMING_RARE_NS);
	aside(w, w->look);
	return disturbed;
}

/* The least of a few looks at what seems hopelessly slow, one_ns the first of them. */
static double look_again(struct hn_timed *w, int64_t n, double one_ns, double best_ns,
			 double budget_ns)
{
	int64_t begin = hn_clock_ns();

	for (int i = 1; i < LOOKS && best_ns > 0 && one_ns > HOPELESS * best_ns; i++) {
		double sample_ns = one_ns * (double)n;

		if ((double)(hn_clock_ns() - begin) + sample_ns >= budget_ns) {
			break;
		}
		get_ready(w);
		one_ns = fmin(one_ns, fmax(span(w, n), 1) / (double)n);
		aside(w, w->look);
	}
	return one_ns;
}

static void collect(struct hn_timed *w, int64_t n, const struct hn_timing_plan *plan,
		    double cap_ns, struct hn_timing *ret)
{
	double dropped[HN_STATS_MAX_SAMPLE], t;
	int64_t begin = hn_clock_ns();
	hn_disturbances_fn disturbances =
		plan->disturbances != NULL ? plan->disturbances : hn_timing_disturbances;

	while (!enough(ret, plan, (double)(hn_clock_ns() - begin), cap_ns)) {
		if (!hn_timing_sample(w, n, disturbances, &t)) {
			ret->sample_ns[ret->n++] = t;
		} else if (ret->n_dropped < HN_STATS_MAX_SAMPLE) {
			dropped[ret->n_dropped++] = t;
		} else {
			break;
		}
		if (ret->n == 0 && (double)(hn_clock_ns() - begin) >= cap_ns) {
			break;
		}
	}
	ret->n_taken = ret->n + ret->n_dropped;
	ret->noisy = noisy(ret, dropped, plan->best_ns);
	/* better a disturbed figure than none */
	for (uint32_t i = 0; ret->n < LEAST && i < ret->n_dropped; i++) {
		ret->sample_ns[ret->n++] = dropped[i];
	}
}

void hn_timing_run(void (*call)(void *ctx), void *ctx, const struct hn_timing_plan *plan,
		   struct hn_timing *ret)
{
	struct hn_timed w = {.call = call, .chill = plan->chill, .plant = plan->plant,
			     .look = plan->look, .ctx = ctx, .n_thread = plan->n_thread};
	int64_t begin = hn_clock_ns(), n = 1;
	double one_ns = plan->first_ns, left_ns;

	*ret = (struct hn_timing){ 0 };
	if (plan->first_ns < LONG_NS && 4 * plan->first_ns < plan->budget_ns) {
		if (plan->chill == NULL) {
			n = hn_timing_calibrate(&w, MIN_SAMPLE_NS, &one_ns);
		}
		one_ns = look_again(&w, n, one_ns, plan->best_ns,
				    plan->budget_ns - (double)(hn_clock_ns() - begin));
	}
	/* a sample is about max(one call, 1 ms) long: start none that would not end in
	 * time */
	left_ns = plan->budget_ns - (double)(hn_clock_ns() - begin) -
		  fmax(fmax(one_ns, plan->first_ns), 2 * MIN_SAMPLE_NS);
	if (left_ns > 0 && (plan->best_ns <= 0 || one_ns <= HOPELESS * plan->best_ns)) {
		collect(&w, n, plan, fmin(left_ns, CAP_NS), ret);
	}
	/* all but the loops around the calls, which cost a thousandth of a sample */
	ret->spent_ns = (double)(hn_clock_ns() - begin) - w.aside_ns;
	ret->ran = w.ran;
	if (ret->n == 0) {
		ret->n = 1;
		ret->sample_ns[0] = one_ns;
	}
}
