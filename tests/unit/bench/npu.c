/* The simulated NPU beside published times: how lists of times are compared, and that the machine
 * puts them in order and is near them, with its constants as published and as fitted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cdefs.h"
#include "bench/npu_case.h"

static void ranks_are_compared(void **state)
{
	static const double x[] = { 1, 2, 3, 4 }, alike[] = { 10, 20, 400, 4000 }, back[] = { 4, 3, 2, 1 };
	static const double one_off[] = { 1, 2, 4, 3 }, same[] = { 5, 5, 5, 5 };

	(void)state;
	assert_float_equal(hn_npu_spearman(x, alike, 4), 1, 1e-12);
	assert_float_equal(hn_npu_spearman(x, back, 4), -1, 1e-12);
	/* 1 - 6 (0 + 0 + 1 + 1) / (4 (16 - 1)) */
	assert_float_equal(hn_npu_spearman(x, one_off, 4), 0.8, 1e-12);
	assert_float_equal(hn_npu_spearman(x, same, 4), 0, 1e-12);
}

static void the_middle_distance_has_no_sign(void **state)
{
	static const double x[] = { 1, 8, 2, 3 }, y[] = { 2, 1, 2, 12 };

	(void)state;
	/* 1, 3, 0, 2 */
	assert_float_equal(hn_npu_median_off(x, y, 3), 1, 1e-12);
	assert_float_equal(hn_npu_median_off(x, y, 4), 1.5, 1e-12);
	assert_float_equal(hn_npu_median_off(x, y, 0), 0, 1e-12);
}

/* The programs are those made for dv910, whose vectors are faster than what was published. */
static void are_near(const struct hn_npu_case *c, size_t n, const char *profile, double off)
{
	static const double rank[] = { [HN_NPU_FUSED] = 0.9, [HN_NPU_CONVOLUTION] = 0.85 };
	struct hn_npu_profile m;
	struct hn_err err = { 0 };

	assert_int_equal(hn_npu_profile_of(profile, &m, &err), 0);
	for (int class = 0; class < HN_NPU_N_CLASS; class++) {
		double x[HN_NPU_MOST_CASES], y[HN_NPU_MOST_CASES];
		size_t k = 0;

		for (size_t i = 0; i < n; i++) {
			if (c[i].class == class) {
				assert_int_equal(hn_npu_case_cycles(&c[i], c[i].p, &m, &x[k], &err), 0);
				y[k++] = c[i].published;
			}
		}
		assert_true(k >= 20);
		assert_true(hn_npu_spearman(x, y, k) >= rank[class]);
		assert_true(hn_npu_median_off(x, y, k) <= off);
	}
}

static void published_times_are_near(void **state)
{
	struct hn_npu_case c[HN_NPU_MOST_CASES];
	struct hn_npu_profile m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	size_t n;

	(void)state;
	hn_arena_init(&a, 0);
	if (hn_npu_profile_of("dv910", &m, &err) != 0 || hn_npu_cases(&m, &a, c, &n, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	are_near(c, n, "dv910", 1);
	are_near(c, n, "dv910fit", 0.6);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_compared),
		cmocka_unit_test(the_middle_distance_has_no_sign),
		cmocka_unit_test(published_times_are_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
