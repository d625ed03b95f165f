/* The probe's tries against each other: no time is compared with a constant. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/board/probe_levels.h"

#define BYTES ((size_t)1 << 20)

/* The operations of one call are those of each worker: a whole number of times as many. */
static void test_work_is_counted(void **state)
{
	struct hone_pool *one, *two;
	struct hn_err err;
	double single;

	(void)state;
	assert_int_equal(hn_kernel_pool_new(1, NULL, NULL, &one, &err), 0);
	single = hn_probe_fma_once(one, 1);
	hone_pool_destroy(one);
	assert_int_equal(hn_kernel_pool_new(2, NULL, NULL, &two, &err), 0);
	assert_true(hn_probe_fma_once(two, 2) == 2 * single);
	hone_pool_destroy(two);
	assert_true(single > 0);
}

/* Tries are finite and positive however small the memory, and however many share it. */
static void test_tries(void **state)
{
	struct hone_pool *pool;
	struct hn_err err;
	void *memory = NULL;

	(void)state;
	assert_int_equal(posix_memalign(&memory, 64, BYTES), 0);
	memset(memory, 1, BYTES);
	for (int32_t n = 1; n <= 3; n++) {
		assert_int_equal(hn_kernel_pool_new(n, NULL, NULL, &pool, &err), 0);
		for (size_t bytes = 1024; bytes <= BYTES; bytes *= 32) {
			double v = hn_probe_read_try(pool, n, memory, bytes);

			assert_true(v > 0 && isfinite(v));
			hn_probe_read_once(pool, n, memory, bytes);
		}
		assert_true(hn_probe_fma_try(pool, n) > 0);
		hone_pool_destroy(pool);
	}
	free(memory);
}

/* Every figure is filled in. */
static void test_run(void **state)
{
	struct hn_probe p;
	struct hn_err err;

	(void)state;
	assert_int_equal(hn_probe_run(1, &p, &err), 0);
	assert_true(p.fma_gflops_one > 0 && p.memory_gb_s > 0);
	assert_true(p.fma_gflops_all > 0);
	assert_true(p.fork_join_ns > 0 && p.timer_ns > 0 && p.n_level <= HN_PROBE_LEVELS);
	for (uint32_t i = 0; i < p.n_level; i++) {
		assert_true(p.level[i].gb_s > 0);
		assert_true(p.level[i].bytes > (i > 0 ? p.level[i - 1].bytes : 0));
	}
}

/* Plateaus of three caches and memory, with some noise; and curves that have none. */
static void test_levels(void **state)
{
	size_t bytes[30], got[HN_PROBE_LEVELS];
	double ns[30], flat[30], two[30];

	(void)state;
	for (int i = 0; i < 30; i++) {
		double s = 8192 * pow(2, i / 2) * (i % 2 ? 1.5 : 1);

		bytes[i] = (size_t)s;
		ns[i] = s <= 49152 ? 1.2 : s <= 2097152 ? 4 : s <= 33554432 ? 20 : 90;
		ns[i] *= i % 3 ? 1 : 1.08;
		flat[i] = 5;
		two[i] = s <= 32768 ? 1 : 1 + s / 32768;
	}
	assert_int_equal(hn_probe_find_levels(30, bytes, ns, got), 3);
	assert_int_equal(got[0], 49152);
	assert_int_equal(got[1], 2097152);
	assert_int_equal(got[2], 33554432);
	assert_int_equal(hn_probe_find_levels(30, bytes, flat, got), 0);
	assert_int_equal(hn_probe_find_levels(0, bytes, flat, got), 0);
	assert_int_equal(hn_probe_find_levels(30, bytes, two, got), 1); /* no second plateau */
	assert_int_equal(got[0], 32768);
}

/* A single size that is slow is no level, the plateau's least time is its floor, and there is
 * no more room than for HN_PROBE_LEVELS. */
static void test_odd_curves(void **state)
{
	size_t bytes[60], got[HN_PROBE_LEVELS + 1];
	double spike[60], uneven[60], stairs[60];

	(void)state;
	for (int i = 0; i < 60; i++) {
		bytes[i] = (size_t)(i + 1) * 8192;
		spike[i] = i == 20 ? 9 : 1;
		uneven[i] = i == 0 ? 1.3 : i < 30 ? 1 : 2.2;
		stairs[i] = pow(4, i / 4);
	}
	assert_int_equal(hn_probe_find_levels(60, bytes, spike, got), 0);
	assert_int_equal(hn_probe_find_levels(60, bytes, uneven, got), 1);
	assert_int_equal(got[0], bytes[29]);
	got[HN_PROBE_LEVELS] = 77;
	assert_int_equal(hn_probe_find_levels(60, bytes, stairs, got), HN_PROBE_LEVELS);
	assert_int_equal(got[HN_PROBE_LEVELS], 77);
}

/* What is chased is one cycle through all lines: a shorter one would stay in a cache. */
static void test_chain(void **state)
{
	size_t got[HN_PROBE_LEVELS], n = BYTES / 64, at = 0, steps = 0;
	void *memory = NULL;

	(void)state;
	assert_int_equal(posix_memalign(&memory, 64, BYTES), 0);
	hn_probe_chase_levels(memory, BYTES, got); /* the last size was all of it */
	do {
		at = *(const uint64_t *)(const void *)((char *)memory + at * 64);
		assert_true(at < n);
		steps++;
	} while (at != 0 && steps <= n);
	assert_int_equal(steps, n);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_is_counted),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_odd_curves),
		cmocka_unit_test(test_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
