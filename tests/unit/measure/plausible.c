/* measure_plausible.c -- the least time of a call, by the numbers of machines that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/cdefs.h"
#include "measure/board/plausible.h"

#define KB 1024.0
#define MB (1024 * KB)

/* Two cores of 100 GFLOP/s and 48 KB at 200, 2 MB at 80, a cache of 32 MB that the chase did
 * not find, and memory at 30 GB/s. */
static const struct hn_probe machine = {.fma_gflops_one = 100,
					.fma_gflops_all = 180,
					.memory_gb_s = 30,
					.n_level = 2,
					.level = {{48 * KB, 200}, {2 * MB, 80}},
					.cache_bytes = 32 * MB};

static double least(double flops, double read, double written)
{
	return hn_plausible_least_ns(&machine, 2, &(struct hn_need){flops, read, written});
}

static void near(double got, double want)
{
	if (fabs(got - want) > 1e-9 * fabs(want)) {
		fail_msg("%.9g, expected %.9g", got, want);
	}
}

static void each_set_has_the_roof_of_a_smaller_one(void **state)
{
	(void)state;
	near(least(0, 0, 0), 0);
	/* both cores at the rate of one: the looser of the two peaks */
	near(least(2e6, 0, 0), 1e4);
	/* nothing as small was probed */
	near(least(0, 47 * KB, 0), 0);
	near(least(0, 48 * KB, 0), 24 * KB / 200);
	near(least(0, 1 * MB, 0), 512 * KB / 200);
	/* 1 MB a core: not faster than half of L2, but for what L1 may hold */
	near(least(0, 2 * MB, 0), (1 * MB - 96 * KB) / 80);
	near(least(0, 200 * MB, 0), (100 * MB - 96 * KB) / 80);
	/* from 256 MB on memory's rate, but for what the caches may hold */
	near(least(0, 256 * MB, 0), fmax((256 * MB - 64 * MB) / 30, (128 * MB - 96 * KB) / 80));
	/* reads and writes may overlap; writing is no faster than reading */
	near(least(0, 1 * MB, 48 * KB), 512 * KB / 200);
	near(least(0, 48 * KB, 1 * MB), 512 * KB / 200);
	/* the larger of operations and bytes */
	near(least(2e6, 1 * MB, 0), 1e4);
	near(least(2e2, 1 * MB, 0), 512 * KB / 200);
}

static void what_was_not_probed_bounds_nothing(void **state)
{
	const struct hn_need need = {1e9, 1e9, 1e9};
	struct hn_probe p = {0};

	(void)state;
	near(hn_plausible_least_ns(&p, 4, &need), 0);
	p.memory_gb_s = 10;
	near(hn_plausible_least_ns(&p, 4, &need), 1e8);
	p.cache_bytes = 1e9; /* all of it may stay there */
	near(hn_plausible_least_ns(&p, 4, &need), 0);
}

/* No size has a smaller least time than a smaller one: a set is cut anywhere. */
static void the_bound_grows_with_the_bytes(void **state)
{
	double before = 0;

	(void)state;
	for (double bytes = 1 * KB; bytes < 4096 * MB; bytes *= 1.01) {
		double ns = least(0, bytes, 0);

		assert_true(ns >= before);
		before = ns;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_set_has_the_roof_of_a_smaller_one),
		cmocka_unit_test(what_was_not_probed_bounds_nothing),
		cmocka_unit_test(the_bound_grows_with_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
