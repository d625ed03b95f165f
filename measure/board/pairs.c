/* pairs.c -- two calls in turn. */
#include "measure/board/pairs.h"

#include <math.h>

#include "base/clock.h"

#define LONG_ENOUGH_NS 2e8 /* of pairs, where one call is long */
#define LONG_NS 2e7	   /* a call that warms its own caches */
#define ENOUGH 3	   /* of them then */

struct side {
	struct hn_timed timed;
	int64_t n_call;
	double one_ns;
};

/* Whose turn is first in a pair: A B, B A. */
static int first_of(uint32_t pair)
{
	return (int)(pair % 2);
}

/* Calls of its own that go before a sample of s when the other ran last. */
static int64_t warming(const struct side *s)
{
	return s->timed.chill == NULL && s->one_ns < LONG_NS;
}

static double sample_ns(const struct side *s)
{
	return (double)(s->n_call + warming(s)) * s->one_ns;
}

/* One pair; *warm = who ran last.  False when it was disturbed. */
static bool run_pair(struct side *s, int first, int *warm, hn_disturbances_fn disturbances,
		     double *ret_ns)
{
	bool disturbed = false;

	for (int i = 0; i < 2; i++) {
		int who = i == 0 ? first : 1 - first;

		if (*warm != who && warming(&s[who])) {
			s[who].timed.call(s[who].timed.ctx);
		}
		disturbed |= hn_timing_sample(&s[who].timed, s[who].n_call, disturbances,
					      &ret_ns[who]);
		*warm = who;
	}
	return !disturbed;
}

static bool enough(const struct hn_pairs *p, double spent_ns)
{
	return p->n >= HN_PAIRS || p->n_dropped > 2 * HN_PAIRS ||
	       (spent_ns >= LONG_ENOUGH_NS && p->n >= ENOUGH && p->n >= p->n_dropped);
}

void hn_pairs_run(void (*call)(void *ctx), void *const ctx[2], const struct hn_pairs_plan *plan,
		  struct hn_pairs *ret)
{
	hn_disturbances_fn disturbances =
		plan->disturbances != NULL ? plan->disturbances : hn_timing_disturbances;
	int64_t begin = hn_clock_ns();
	struct side side[2];
	int warm = 1;

	*ret = (struct hn_pairs){.n = 0};
	for (int i = 0; i < 2; i++) {
		side[i] = (struct side){{.call = call, .chill = plan->chill,
					 .plant = plan->plant, .look = plan->look,
					 .ctx = ctx[i], .n_thread = plan->n_thread},
					1, plan->first_ns[i]};
		if (plan->chill == NULL && plan->first_ns[i] < HN_PAIRS_SAMPLE_NS) {
			side[i].n_call = hn_timing_calibrate(
				&side[i].timed, HN_PAIRS_SAMPLE_NS, &side[i].one_ns);
		}
	}
	for (double spent = (double)(hn_clock_ns() - begin);
	     !enough(ret, spent) && spent + sample_ns(&side[0]) + sample_ns(&side[1]) < plan->budget_ns;
	     spent = (double)(hn_clock_ns() - begin)) {
		double ns[2];

		if (run_pair(side, first_of(ret->n), &warm, disturbances, ns)) {
			ret->ns[0][ret->n] = ns[0];
			ret->ns[1][ret->n++] = ns[1];
		} else {
			ret->n_dropped++;
		}
	}
	ret->noisy = ret->n_dropped > ret->n;
	ret->ran = side[0].timed.ran || side[1].timed.ran;
	if (ret->n == 0) {
		ret->n = 1;
		ret->ns[0][0] = side[0].one_ns;
		ret->ns[1][0] = side[1].one_ns;
	}
	ret->spent_ns = (double)(hn_clock_ns() - begin) - side[0].timed.aside_ns -
			side[1].timed.aside_ns;
}
