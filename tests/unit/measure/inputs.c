/* measure_inputs.c -- what the input sets hold, type by type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "measure/board/inputs.h"

#define ROWS 24
#define COLUMNS 101
#define N (ROWS * COLUMNS)

static const int64_t shape[] = {ROWS, COLUMNS};
static char bytes[N * 8];

static struct hn_tensor tensor(enum hn_dtype e)
{
	return (struct hn_tensor){.name = "A", .elem = e, .n_dim = 2, .shape = shape,
				  .n_elem = N, .bytes = N * hn_dtype_bytes(e)};
}

#define FLOAT_AT(name, ctype) hn_float_get(HN_##name, bytes, i)
#define SIGNED_AT(name, ctype) (double)((ctype *)(void *)bytes)[i]
#define UNSIGNED_AT SIGNED_AT
#define BOOL_AT SIGNED_AT

static double at(enum hn_dtype e, int64_t i)
{
	switch (e) {
#define DTYPE(name, text, n_byte, cls, ctype, ...)                                       \
	case HN_##name:                                                                  \
		return cls##_AT(name, ctype);
#include "base/dtypes.def"
#undef DTYPE
	default:
		return NAN;
	}
}

struct seen {
	double least, most, nearest; /* nearest to zero, of the others */
	int zero, minus_zero, negative, positive;
};

/* Subnormal numbers are drawn for float16 alone: of the others none comes up in a network. */
static double least_of(enum hn_dtype e)
{
	return e == HN_F16 ? 0x1p-24 : e == HN_F64 ? 0x1p-1022 : 0x1p-126;
}

static struct seen fill(enum hn_dtype e, struct hn_inputs in, uint32_t index)
{
	struct seen s = {INFINITY, -INFINITY, INFINITY, 0, 0, 0, 0};
	struct hn_tensor t = tensor(e);

	hn_inputs_fill(&in, &t, index, bytes);
	for (int64_t i = 0; i < N; i++) {
		double v = at(e, i);

		assert_true(isfinite(v));
		assert_true(v == 0 || fabs(v) >= least_of(e));
		s.least = fmin(s.least, v);
		s.most = fmax(s.most, v);
		s.nearest = v != 0 ? fmin(s.nearest, fabs(v)) : s.nearest;
		s.zero += v == 0;
		s.minus_zero += v == 0 && signbit(v);
		s.negative += v < 0;
		s.positive += v > 0;
	}
	return s;
}

static void ordinary_ones_are_as_ever(void **state)
{
	(void)state;
	for (int e = 0; e < HN_N_DTYPE; e++) {
		struct seen s = fill((enum hn_dtype)e, (struct hn_inputs){.kind = HN_INPUTS_PLAIN, .seed = 9}, 0);
		bool number = hn_dtype_class((enum hn_dtype)e) == HN_CLASS_FLOAT;

		assert_true(s.least >= (number ? -1 : -4));
		assert_true(s.most <= (number ? 1 : 8));
		assert_true(!number || s.zero == 0);
	}
}

static void zeros_are_strewn(void **state)
{
	(void)state;
	for (int e = HN_I8; e < HN_N_DTYPE; e++) {
		bool number = hn_dtype_class((enum hn_dtype)e) == HN_CLASS_FLOAT;
		struct seen s = fill((enum hn_dtype)e, (struct hn_inputs){.kind = HN_INPUTS_ZEROS, .seed = 9}, 0);

		assert_true(s.zero > N / 32 && (s.zero < N / 8 || !number));
		assert_true(!number || (s.minus_zero > 0 && s.minus_zero < s.zero));
	}
}

static void extremes_reach_what_the_type_holds(void **state)
{
	static const struct {
		enum hn_dtype e;
		int32_t magnitude;
		double least, most, nearest;
	} row[] = {
		{HN_F32, 1000, -0x1p120, 0x1p120, 0x1p-120},
		{HN_F32, 55, -0x1p55, 0x1p55, 0x1p-55},
		{HN_F32, 4, -16, 16, 0x1p-24},
		{HN_F32, 0, -1, 1, 0x1p-24},
		{HN_F64, 1000, -0x1p1000, 0x1p1000, 0x1p-1000},
		{HN_F16, 1000, -0x1p14, 0x1p14, 0x1p-24},
		{HN_F16, 0, -1, 1, 0x1p-24},
		{HN_BF16, 1000, -0x1p120, 0x1p120, 0x1p-120},
		{HN_I8, 1000, -128, 127, 1},
		{HN_I8, 5, -32, 32, 1},
		{HN_I8, 0, -4, 4, 1},
		{HN_U8, 1000, 0, 255, 1},
		{HN_U8, 0, 0, 8, 1},
		{HN_I16, 1000, -32768, 32767, 1},
		{HN_I32, 10, -1024, 1024, 1},
		{HN_I32, 1000, -0x1p31, 0x1p31 - 1, 1},
		{HN_I64, 1000, -0x1p63, 0x1p63, 1},
		{HN_U64, 1000, 0, 0x1p64, 1},
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		for (uint32_t index = 0; index < 2; index++) {
			struct seen s = fill(row[i].e,
					     (struct hn_inputs){.kind = HN_INPUTS_EXTREMES,
								.seed = 3,
								.magnitude = row[i].magnitude},
					     index);

			assert_true(s.least == row[i].least && s.most == row[i].most);
			assert_true(s.nearest == row[i].nearest);
			assert_true(s.zero > N / 10);
			assert_true(s.least == 0 || (s.negative > N / 8 && s.positive > N / 8));
		}
	}
}

/* A maximum that begins at zero is wrong for some row, and for some column. */
static void signs_last_over_rows_and_columns(void **state)
{
	struct hn_tensor t = tensor(HN_F32);
	const float *a = (const float *)(const void *)bytes;
	bool row = true, column = true;

	(void)state;
	hn_inputs_fill(&(struct hn_inputs){.kind = HN_INPUTS_EXTREMES, .seed = 3, .magnitude = 20}, &t, 0, bytes);
	for (int k = 0; k < COLUMNS; k++) {
		row &= a[k] <= -0x1p19;
	}
	for (int k = 0; k < ROWS; k++) {
		column &= a[k * COLUMNS] <= -0x1p19;
	}
	assert_true(row && column);
	assert_true(a[N - 1] >= 0);
}

/* Ends, zero, and bytes of every value; scales on both sides of 1. */
static void whole_ones_have_all_there_is(void **state)
{
	const struct hn_inputs in = {.kind = HN_INPUTS_WHOLE, .seed = 5};

	(void)state;
	for (int e = HN_I8; e < HN_N_DTYPE; e++) {
		struct seen s = fill((enum hn_dtype)e, in, 0);
		enum hn_dtype_class c = hn_dtype_class((enum hn_dtype)e);
		int bits = hn_dtype_bits((enum hn_dtype)e);

		if (c == HN_CLASS_FLOAT) {
			assert_true(s.nearest >= 0x1p-20 && s.nearest < 0x1p-18);
			assert_true(s.most > 1 && s.most <= 2 && s.least < -1);
		} else {
			assert_true(s.most >= ldexp(1, bits) - 1);
			assert_true(s.least == (c == HN_CLASS_SIGNED ? -ldexp(1, bits) : 0));
			assert_true(s.zero > N / 32);
		}
	}
}

/* Of what has 9 or 12 bits, a type of 8 or 11 can but round: half way. */
static void ties_are_ties(void **state)
{
	const struct hn_inputs in = {.kind = HN_INPUTS_TIES, .seed = 5};
	int n[2] = {0, 0}, halves = 0;

	(void)state;
	fill(HN_F32, in, 0);
	for (int64_t i = 0; i < N; i++) {
		double v = at(HN_F32, i), up, down;

		assert_true(fabs(v) <= 8);
		for (int k = 0; k < 2; k++) {
			enum hn_dtype t = k == 0 ? HN_BF16 : HN_F16;
			double unit = ldexp(1, ilogb(v == 0 ? 1 : v) + 1 - hn_dtype_bits(t));

			down = floor(v / unit) * unit;
			up = ceil(v / unit) * unit;
			n[k] += up - v == v - down && up > down;
		}
		halves += fabs(v - trunc(v)) == 0.5;
	}
	assert_true(n[0] > N / 16 && n[1] > N / 16 && halves > N / 16);
	struct seen s = fill(HN_I8, in, 0);

	assert_true(s.least == -4 && s.most == 4);
}

static void tiny_ones_are_as_small_as_is_asked(void **state)
{
	static const struct {
		enum hn_dtype e;
		bool subnormals;
		double nearest, most;
	} row[] = {
		{HN_F16, false, 0x1p-24, 0x1p-11},
		{HN_F16, true, 0x1p-24, 0x1p-11},
		{HN_BF16, false, 0x1p-63, 0x1p-60},
		{HN_BF16, true, 0x1p-133, 0x1p-123},
		{HN_F32, true, 0x1p-149, 0x1p-123},
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_tensor t = tensor(row[i].e);
		double nearest = INFINITY, most = 0;

		hn_inputs_fill(&(struct hn_inputs){.kind = HN_INPUTS_TINY, .seed = 5,
						   .subnormals = row[i].subnormals},
			       &t, 2, bytes);
		for (int64_t k = 0; k < N; k++) {
			nearest = fmin(nearest, fabs(at(row[i].e, k)));
			most = fmax(most, fabs(at(row[i].e, k)));
		}
		assert_true(nearest >= row[i].nearest && nearest < 4 * row[i].nearest);
		assert_true(most <= row[i].most && most > row[i].most / 2);
		hn_inputs_fill(&(struct hn_inputs){.kind = HN_INPUTS_TINY, .seed = 5}, &t, 1, bytes);
		assert_true(fabs(at(row[i].e, 0)) > 1e-6);
	}
}

/* Sets beyond the third are for narrow types. */
static void float32_is_compared_as_ever(void **state)
{
	struct hn_tensor t[2] = {tensor(HN_F32), tensor(HN_F32)};

	(void)state;
	t[1].output = true;
	for (int k = HN_INPUTS_PLAIN; k <= HN_INPUTS_TINY; k++) {
		assert_int_equal(hn_inputs_serve((enum hn_inputs_kind)k, 2, t),
				 k <= HN_INPUTS_EXTREMES);
	}
	t[1].elem = HN_I8;
	assert_false(hn_inputs_serve(HN_INPUTS_WHOLE, 2, t));
	assert_true(hn_inputs_serve(HN_INPUTS_TIES, 2, t));
	t[1].elem = HN_I32;
	assert_true(hn_inputs_serve(HN_INPUTS_TIES, 2, t));
	t[0].elem = HN_I32;
	assert_false(hn_inputs_serve(HN_INPUTS_TIES, 2, t));
	assert_true(hn_inputs_serve(HN_INPUTS_WHOLE, 2, t));
	t[0].elem = HN_BF16;
	assert_true(hn_inputs_serve(HN_INPUTS_TINY, 2, t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_ones_are_as_ever),
		cmocka_unit_test(zeros_are_strewn),
		cmocka_unit_test(extremes_reach_what_the_type_holds),
		cmocka_unit_test(signs_last_over_rows_and_columns),
		cmocka_unit_test(whole_ones_have_all_there_is),
		cmocka_unit_test(ties_are_ties),
		cmocka_unit_test(tiny_ones_are_as_small_as_is_asked),
		cmocka_unit_test(float32_is_compared_as_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
