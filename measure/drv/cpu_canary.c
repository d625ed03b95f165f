/* cpu_canary.c -- whether this machine's clock holds still, and what others take of it.
 *
 * The canary is a chain of multiplications that each wait for the one before: its time is
 * the core's clock and nothing else, whatever lies in the caches.  The least of a few
 * slices, each far shorter than a turn of the scheduler, so that other programs do not
 * make it longer (samples have gates of their own for that, timing.h); of the cores that
 * kernels run on the slowest.
 *
 * On a machine whose clock follows its neighbours' load it steps by some percent many times
 * a second.  How far is read off the canary itself: twice its ordinary step.
 */
#include "measure/drv/cpu_int.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define LINKS 20000 /* of a slice: some 20 us */
#define SLICES 8
#define MAX_CORES 16
#define LEARN 24	       /* steps before the first answer, ... */
#define LEARN_EVERY_NS 8000000 /* ... so far apart */
#define ORDINARY 0.9	       /* so many steps are no longer */
#define STILL 0.001	       /* a step that is none */

static double slice(void)
{
	uint64_t x = 1;
	int64_t begin = hn_clock_ns();

	for (int i = 0; i < LINKS; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return (double)(hn_clock_ns() - begin);
}

static double least_slice(void)
{
	double least = INFINITY;

	for (int i = 0; i < SLICES; i++) {
		least = fmin(least, slice());
	}
	return least;
}

/* The slowest core of those this process may use. */
static double slowest_core(void)
{
	cpu_set_t all, one;
	double ns = 0;
	int n = 0;

	if (sched_getaffinity(0, sizeof all, &all) != 0) {
		return least_slice();
	}
	for (int c = 0; c < CPU_SETSIZE && n < MAX_CORES; c++) {
		if (!CPU_ISSET(c, &all)) {
			continue;
		}
		CPU_ZERO(&one);
		CPU_SET(c, &one);
		if (sched_setaffinity(0, sizeof one, &one) == 0) {
			ns = fmax(ns, least_slice());
			n++;
		}
	}
	sched_setaffinity(0, sizeof all, &all);
	return n > 0 ? ns : least_slice();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double hn_cpu_wander(const struct cpu_canary *c)
{
	uint32_t n = c->n < CPU_STEPS ? c->n : CPU_STEPS;
	double sorted[CPU_STEPS];

	if (n == 0) {
		return STILL;
	}
	memcpy(sorted, c->step, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value);
	return fmax(2 * sorted[(uint32_t)(ORDINARY * (n - 1))], STILL);
}

void hn_cpu_canary_note(struct cpu_canary *c, double ns)
{
	if (c->last_ns > 0) {
		c->step[c->n++ % CPU_STEPS] = fabs(ns / c->last_ns - 1);
	}
	c->last_ns = ns;
}

struct hn_canary hn_cpu_canary(struct cpu_canary *c)
{
	struct hn_canary ret;

	while (c->n < LEARN) {
		int64_t until = hn_clock_ns() + LEARN_EVERY_NS;

		hn_cpu_canary_note(c, slowest_core());
		while (hn_clock_ns() < until) {
			slice();
		}
	}
	/* judged by what was ordinary before it */
	ret.wander = hn_cpu_wander(c);
	ret.ns = slowest_core();
	hn_cpu_canary_note(c, ret.ns);
	return ret;
}
