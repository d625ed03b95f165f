/* The probe's tries against each other: no time is compared with a constant. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/probe.h"

#define BYTES ((size_t)1 << 20)

/* The operations of one call are those of each worker: a whole number of times as many. */
static void test_work_is_counted(void **state)
{
	struct hn_kernel_pool *one, *two;
	struct hn_err err;
	double single;

	(void)state;
	assert_int_equal(hn_kernel_pool_new(1, NULL, NULL, &one, &err), 0);
	single = hn_probe_fma_once(one, 1);
	hn_kernel_pool_free(one);
	assert_int_equal(hn_kernel_pool_new(2, NULL, NULL, &two, &err), 0);
	assert_true(hn_probe_fma_once(two, 2) == 2 * single);
	hn_kernel_pool_free(two);
	assert_true(single > 0);
}

/* Tries are finite and positive however small the memory, and however many share it. */
static void test_tries(void **state)
{
	struct hn_kernel_pool *pool;
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
		hn_kernel_pool_free(pool);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_is_counted),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
