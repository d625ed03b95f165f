/* Floats of 16 bits: every one of them, and every float32 that lies on or beside a tie. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/dtype.h"

struct type {
	enum hn_dtype t;
	float (*to_float)(uint16_t h);
	uint16_t (*of_float)(float v);
	int bits,
		least; /* of the significand; exponent of the last place of subnormals */
	uint16_t infinity;
};

static const struct type types[] = {
	{ HN_F16, hn_half_to_float, hn_half_of_float, 11, -24, 0x7c00 },
	{ HN_BF16, hn_bfloat_to_float, hn_bfloat_of_float, 8, -133, 0x7f80 },
};

/* By its fields, in double. */
static double meaning(const struct type *t, uint16_t h)
{
	int stored = t->bits - 1, exponent = (h & 0x7fff) >> stored;
	double fraction = h & ((1 << stored) - 1), sign = h & 0x8000 ? -1 : 1;

	return exponent == 0
		       ? sign * ldexp(fraction, t->least)
		       : sign * ldexp(fraction + (1 << stored), t->least + exponent - 1);
}

static void every_one_is_its_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(types); i++) {
		const struct type *t = &types[i];

		for (uint32_t h = 0; h <= UINT16_MAX; h++) {
			float v = t->to_float((uint16_t)h);
			uint32_t size = h & 0x7fff;

			if (size > t->infinity) {
				assert_true(isnan(v));
				assert_true(isnan(t->to_float(t->of_float(v))));
				continue;
			}
			assert_true(size == t->infinity
					    ? isinf(v) != 0 && (v < 0) == (h != size)
					    : (double)v == meaning(t, (uint16_t)h));
			assert_int_equal(t->of_float(v), h); /* -0 too */
		}
	}
}

/* Between neighbours the middle goes to the even one, and what is beside it to the nearer. */
static void ties_go_to_the_even(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(types); i++) {
		const struct type *t = &types[i];

		for (uint16_t h = 0; h + 1 < t->infinity; h++) {
			double low = meaning(t, h), high = meaning(t, (uint16_t)(h + 1));
			float middle = (float)((low + high) / 2);
			uint16_t even = h % 2 == 0 ? h : (uint16_t)(h + 1);

			assert_int_equal(t->of_float(middle), even);
			assert_int_equal(t->of_float(-middle), even | 0x8000);
			assert_int_equal(t->of_float(nextafterf(middle, 0)), h);
			assert_int_equal(t->of_float(nextafterf(middle, INFINITY)),
					 h + 1);
			assert_true(hn_float_round(t->t, (double)middle) ==
				    meaning(t, even));
		}
	}
}

static void past_the_end_is_infinite(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(types); i++) {
		const struct type *t = &types[i];
		uint16_t last = (uint16_t)(t->infinity - 1);
		double end = hn_dtype_largest(t->t);
		double half = (end - meaning(t, (uint16_t)(last - 1))) / 2;

		assert_true(end == meaning(t, last));
		assert_int_equal(t->of_float((float)(end + half)), t->infinity);
		assert_int_equal(t->of_float(nextafterf((float)(end + half), 0)), last);
		assert_int_equal(t->of_float(-INFINITY), t->infinity | 0x8000);
		assert_int_equal(t->of_float(0x1p-149f), 0);
		assert_int_equal(t->of_float(-0x1p-149f), 0x8000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_one_is_its_number),
		cmocka_unit_test(ties_go_to_the_even),
		cmocka_unit_test(past_the_end_is_infinite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
