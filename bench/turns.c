/* bench/turns.c -- see turns.h. */
#include "bench/turns.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"

#define TURN_NS 1e6	/* that a program is timed for in a round, */
#define LEAST_SAMPLES 3 /* or longer */
#define SAMPLE_NS 1e5	/* the least that one sample lasts */
#define PRUNE 4		/* rounds */
#define LEAST_LEFT 60	/* twice as many as `hone-bench model` asks for by name */

static double span(const struct hn_contender *c, int64_t n)
{
	int64_t begin = hn_clock_ns();

	for (int64_t i = 0; i < n; i++) {
		c->call(c->ctx);
	}
	return (double)(hn_clock_ns() - begin);
}

double hn_turns_once(const struct hn_contender *c)
{
	double one = fmax(span(c, 1), 1), best = INFINITY, spent = 0;
	int64_t n = (int64_t)ceil(SAMPLE_NS / one);

	for (int i = 0; i < LEAST_SAMPLES || spent < TURN_NS; i++) {
		double t = span(c, n);

		best = fmin(best, t / (double)n);
		spent += t;
	}
	return best;
}

static int by_best(const void *a, const void *b)
{
	const struct hn_turns *const *x = a, *const *y = b;

	return (*x)->best_ns < (*y)->best_ns ? -1 : (*x)->best_ns > (*y)->best_ns;
}

static void shuffle(struct hn_turns **p, uint32_t n, struct hn_rng *rng)
{
	for (; n > 1; n--) {
		uint32_t k = (uint32_t)hn_rng_below(rng, n);
		struct hn_turns *was = p[n - 1];

		p[n - 1] = p[k];
		p[k] = was;
	}
}

void hn_turns(struct hn_turns **program, uint32_t n, uint32_t rounds, uint64_t seed)
{
	struct hn_rng rng = hn_rng_stream(seed, 6, 0, 0);

	for (uint32_t i = 0; i < n; i++) {
		program[i]->best_ns = INFINITY;
		program[i]->n_round = 0;
	}
	for (uint32_t round = 0; round < rounds; round++) {
		if (round > 0 && round % PRUNE == 0 && n - n / 4 >= LEAST_LEFT) {
			qsort(program, n, sizeof(*program), by_best);
			n -= n / 4;
		}
		shuffle(program, n, &rng);
		for (uint32_t i = 0; i < n; i++) {
			struct hn_turns *p = program[i];
			double ns = hn_turns_once(p->kernel);

			p->ns[p->n_round++] = ns;
			p->best_ns = fmin(p->best_ns, ns);
		}
	}
}
