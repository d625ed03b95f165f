/* measure_verify.c -- comparing answers, filling inputs, reading arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "measure/board/inputs.h"
#include "measure/board/verify.h"

static const int64_t shape23[] = {2, 3};

static struct hn_tensor tensor(enum hn_dtype e)
{
	return (struct hn_tensor){.name = "C",
				  .elem = e,
				  .n_dim = 2,
				  .shape = shape23,
				  .output = true,
				  .n_elem = 6,
				  .bytes = 6 * hn_dtype_bytes(e)};
}

static void the_largest_error_is_a_share(void **state)
{
	struct hn_tensor t = tensor(HN_F32);
	float want[6] = { 1, -1, 2, INFINITY, 0, 8 }, got[6];

	(void)state;
	memcpy(got, want, sizeof got);
	assert_true(hn_verify_error(&t, got, want, 1) == 0);
	got[3] = 3;   /* no share of an infinity */
	got[5] = 8.5; /* a sixteenth of itself */
	assert_true(hn_verify_error(&t, got, want, 1) == 0.0625);
	got[4] = 0.25; /* of zero: a share of the scale */
	assert_true(hn_verify_error(&t, got, want, 1) == 0.25);
	assert_true(hn_verify_error(&t, got, want, 4) == 0.0625);
	t.elem = HN_I32;
	assert_true(hn_verify_error(&t, got, want, 1) == 0);
}

static void tolerance_is_relative_with_a_floor(void **state)
{
	struct hn_tensor t = tensor(HN_F32);
	float want[6] = {1, -1, 1, -1, 0, 100}, got[6];
	double scale = hn_verify_scale(&t, want);
	struct hn_mismatch m;
	char text[300];

	(void)state;
	assert_true(fabs(scale - sqrt(10004.0 / 6)) < 1e-9);
	memcpy(got, want, sizeof got);
	assert_true(hn_verify(&t, got, want, 0, scale, &m));
	got[4] = 4e-5f; /* near zero: judged by the RMS, about 41 */
	got[5] = 100.0001f;
	assert_true(hn_verify(&t, got, want, 1e-6, scale, &m));
	assert_false(hn_verify(&t, got, want, 1e-7, scale, &m));
	got[3] = 7;
	assert_false(hn_verify(&t, got, want, 1e-6, scale, &m));
	assert_int_equal(m.n, 1);
	assert_int_equal(m.first, 3);
	hn_mismatch_print(&t, got, want, &m, text, sizeof text);
	assert_string_equal(text, "C[1,0]: got 7, want -1; 1 of 6 elements differ");
}

static void specials_equal_only_themselves(void **state)
{
	struct hn_tensor t = tensor(HN_F64);
	double want[6] = {NAN, INFINITY, -INFINITY, 1, 2, 3}, got[6];
	struct hn_mismatch m;

	(void)state;
	memcpy(got, want, sizeof got);
	assert_true(hn_verify(&t, got, want, 1e-6, hn_verify_scale(&t, want), &m));
	got[0] = 1;
	got[1] = -INFINITY;
	got[2] = 1e308;
	got[3] = NAN;
	got[4] = INFINITY;
	assert_false(hn_verify(&t, got, want, 1, 1e300, &m));
	assert_int_equal(m.n, 5);
}

/* Of a type of 16 bits one unit down where numbers have few bits left, and no more. */
static void a_subnormal_unit_is_allowed(void **state)
{
	static const enum hn_dtype narrow[] = {HN_F16, HN_BF16};

	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(narrow); k++) {
		struct hn_tensor t = tensor(narrow[k]);
		double least = hn_dtype_least(narrow[k]);
		double want[6], got[6]; /* room for any type */
		struct hn_mismatch m;

		for (int i = 0; i < 6; i++) {
			hn_float_put(narrow[k], want, i, i * least);
			hn_float_put(narrow[k], got, i, (i + 1) * least);
		}
		assert_true(hn_verify(&t, got, want, 1e-3, 3 * least, &m));
		hn_float_put(narrow[k], got, 2, 4 * least);
		assert_false(hn_verify(&t, got, want, 1e-3, 3 * least, &m));
		assert_int_equal(m.n, 1);
		/* and none where bits are asked for */
		assert_false(hn_verify(&t, got, want, 0, 3 * least, &m));
		assert_int_equal(m.n, 6);
	}
}

static void integers_are_exact(void **state)
{
	struct hn_tensor t = tensor(HN_I8);
	int8_t want[6] = {1, 2, 3, 4, 5, 6}, got[6] = {1, 2, 3, 4, 5, -6};
	struct hn_mismatch m;
	char text[300];

	(void)state;
	assert_false(hn_verify(&t, got, want, 100, 100, &m));
	hn_mismatch_print(&t, got, want, &m, text, sizeof text);
	assert_string_equal(text, "C[1,2]: got -6, want 6; 1 of 6 elements differ");
	got[5] = 6;
	assert_true(hn_verify(&t, got, want, 0, 0, &m));
}

/* The quick look at whole blocks and the slow one at elements say the same, wherever the odd
 * one is. */
static void blocks_hide_nothing(void **state)
{
	static float want[2500], got[2500];
	int64_t shape[] = {2500};
	struct hn_tensor t = {.name = "C", .elem = HN_F32, .n_dim = 1, .shape = shape,
			      .output = true, .n_elem = 2500, .bytes = 10000};
	static const float odd[] = {NAN, INFINITY, -INFINITY, 1.01f, 0.0f, -1.0f};
	struct hn_mismatch m;

	(void)state;
	for (int i = 0; i < 2500; i++) {
		want[i] = got[i] = i == 77 ? INFINITY : i == 1500 ? NAN : 1.0f;
	}
	assert_true(hn_verify(&t, got, want, 1e-3, 1, &m));
	for (int i = 0; i < 2500; i += 7) {
		for (size_t k = 0; k < HN_COUNT_OF(odd); k++) {
			float kept = got[i];

			if (memcmp(&kept, &odd[k], 4) == 0 || (isnan(kept) && isnan(odd[k]))) {
				continue;
			}
			got[i] = odd[k];
			assert_false(hn_verify(&t, got, want, 1e-3, 1, &m));
			assert_int_equal(m.n, 1);
			assert_int_equal(m.first, i);
			got[i] = kept;
		}
	}
}

/* What is never written is found in every type by one of the two patterns. */
static void poison_never_passes(void **state)
{
	(void)state;
	for (int e = 0; e < HN_N_DTYPE; e++) {
		struct hn_tensor t = tensor((enum hn_dtype)e);
		struct hn_mismatch m;
		char want[48], got[48];
		bool first, second;

		for (uint64_t seed = 0; seed < 50; seed++) {
			double scale;

			hn_inputs_fill(&(struct hn_inputs){.kind = HN_INPUTS_PLAIN, .seed = seed}, &t, 0, want);
			scale = hn_verify_scale(&t, want);
			memset(got, HN_POISON_FIRST, sizeof got);
			first = hn_verify(&t, got, want, 1e-3, scale, &m);
			memset(got, HN_POISON_SECOND, sizeof got);
			second = hn_verify(&t, got, want, 1e-3, scale, &m);
			assert_false(first && second);
		}
	}
}

static void fills_are_in_range_and_repeat(void **state)
{
	const struct hn_inputs plain = {.kind = HN_INPUTS_PLAIN, .seed = 3};
	int64_t shape[] = {1009};
	float a[1009], b[1009];
	uint8_t u[1009];
	struct hn_tensor t = {.elem = HN_F32,
			      .n_dim = 1,
			      .shape = shape,
			      .n_elem = 1009,
			      .bytes = 4036};
	double sum = 0;

	(void)state;
	hn_inputs_fill(&plain, &t, 0, a);
	hn_inputs_fill(&plain, &t, 0, b);
	assert_memory_equal(a, b, sizeof a);
	hn_inputs_fill(&plain, &t, 1, b);
	assert_memory_not_equal(a, b, sizeof a);
	for (int i = 0; i < 1009; i++) {
		assert_true(a[i] >= -1 && a[i] <= 1);
		sum += a[i];
	}
	assert_true(fabs(sum / 1009) < 0.1);
	t.elem = HN_U8;
	t.bytes = 1009;
	hn_inputs_fill(&plain, &t, 1, u);
	for (int i = 0; i < 1009; i++) {
		assert_true(u[i] <= 8);
	}
}

static int64_t bytes_of(uint32_t n_dim, const int64_t *shape)
{
	const struct hn_frame_argument arg = {.name = "A",
					      .dtype = HN_F32,
					      .shape = {n_dim, shape}};
	struct hn_tensor *t;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	int64_t ret = hn_tensors_of(1, &arg, &a, &t, &err);

	ret = ret != 0 ? ret : t->bytes;
	hn_arena_fini(&a);
	return ret;
}

static void arguments_are_no_larger_than_memory(void **state)
{
	static const int64_t huge[] = {1099511627776, 1099511627776}, most[] = {1ll << 38, 1},
			     more[] = {1ll << 38, 2};

	(void)state;
	assert_int_equal(bytes_of(0, NULL), 4);
	assert_int_equal(bytes_of(2, most), HN_TENSOR_MAX_BYTES);
	assert_int_equal(bytes_of(2, more), -HONE_E_INVALID);
	assert_int_equal(bytes_of(2, huge), -HONE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_error_is_a_share),
		cmocka_unit_test(tolerance_is_relative_with_a_floor),
		cmocka_unit_test(specials_equal_only_themselves),
		cmocka_unit_test(a_subnormal_unit_is_allowed),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(blocks_hide_nothing),
		cmocka_unit_test(poison_never_passes),
		cmocka_unit_test(fills_are_in_range_and_repeat),
		cmocka_unit_test(arguments_are_no_larger_than_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
