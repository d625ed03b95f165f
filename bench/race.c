/* bench/race.c -- rounds, turns, samples.  See race.h. */
#include "bench/race.h"

#include <math.h>
#include <time.h>

#include "base/cdefs.h"
#include "base/clock.h"
#include "measure/stats.h"

#define WARM_NS 2e6   /* calls before a turn's samples */
#define TURN_NS 8e6   /* samples of a turn */
#define SAMPLE_NS 2e5 /* the least that one sample lasts */
#define COLD_CALLS 5
#define IDLE_NS 2000000

void hn_contender_range(struct hn_contender *c, const void *at, size_t bytes)
{
	hn_assert(c->n_range < HN_CONTENDER_MAX_RANGE);
	c->range[c->n_range++] = (struct hn_flush_range){ at, bytes };
}

static int64_t clock_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t process_ns(void)
{
	return clock_time(CLOCK_PROCESS_CPUTIME_ID);
}

void hn_race_settle(void)
{
	for (int i = 0; i < 100; i++) {
		struct timespec nap = { .tv_nsec = IDLE_NS };
		int64_t before = process_ns();

		nanosleep(&nap, NULL);
		if (process_ns() - before < IDLE_NS / 10) {
			return;
		}
	}
}

static int64_t now(uint32_t how)
{
	return how & HN_RACE_OWN_TIME ? clock_time(CLOCK_THREAD_CPUTIME_ID)
				      : hn_clock_ns();
}

static double span(const struct hn_contender *c, int64_t n, uint32_t how)
{
	int64_t begin = now(how);

	for (int64_t i = 0; i < n; i++) {
		c->call(c->ctx);
	}
	return (double)(now(how) - begin);
}

/* One contender's turn when its data is in the caches: nanoseconds of the best sample. */
static double warm_turn(const struct hn_contender *c, uint32_t how)
{
	double one = span(c, 1, how), spent, best = INFINITY;
	int64_t n;

	for (spent = one; spent < WARM_NS; spent += one) {
		one = span(c, 1, how);
	}
	n = (int64_t)ceil(SAMPLE_NS / fmax(one, 1));
	for (spent = 0; spent < TURN_NS;) {
		double t = span(c, n, how);

		best = fmin(best, t / (double)n);
		spent += t;
	}
	return best;
}

/* The threads and the code are warm, the data is not: median of a few calls. */
static double cold_turn(const struct hn_contender *c, uint32_t how)
{
	double t[COLD_CALLS];

	span(c, 1, how);
	for (int i = 0; i < COLD_CALLS; i++) {
		hn_flush(c->range, c->n_range);
		t[i] = span(c, 1, how);
	}
	return hn_stats_median(t, COLD_CALLS);
}

void hn_race(const struct hn_contender *c, uint32_t n, uint32_t how, double budget_s,
	     struct hn_race_result *ret)
{
	int64_t begin = hn_clock_ns();

	for (uint32_t i = 0; i < n; i++) {
		ret[i].n_round = 0;
	}
	for (uint32_t round = 0; round < HN_RACE_MAX_ROUND; round++) {
		if (round >= 3 && (double)(hn_clock_ns() - begin) > budget_s * 1e9) {
			break;
		}
		for (uint32_t i = 0; i < n; i++) {
			hn_race_settle();
			ret[i].ns[round] = how & HN_RACE_COLD ? cold_turn(&c[i], how)
							      : warm_turn(&c[i], how);
			ret[i].n_round++;
		}
	}
}

double hn_race_ns(const struct hn_race_result *r)
{
	return hn_stats_median(r->ns, r->n_round);
}

double hn_race_ratio(const struct hn_race_result *r, const struct hn_race_result *other)
{
	double q[HN_RACE_MAX_ROUND];

	for (uint32_t i = 0; i < r->n_round; i++) {
		q[i] = other->ns[i] / r->ns[i];
	}
	return hn_stats_median(q, r->n_round);
}
