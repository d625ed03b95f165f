/* Convolutions on the NPU's cube: numbers against plain loops, with strides, padding, tiles that do
 * not divide, and weights by both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"
#include "tests/lib/npu_spoiled.h"

static const struct hn_npu_conv cases[] = {
	/* channels, height, width, results, window, stride, pad; cuts */
	{ 16, 8, 8, 16, 1, 1, 0, 8, 16, 64, 16, 16, false, HN_NPU_FLAGS },
	{ 32, 9, 7, 32, 3, 1, 1, 9, 32, 32, 32, 16, false, HN_NPU_FLAGS },
	{ 32, 9, 7, 32, 3, 2, 1, 5, 16, 10, 48, 16, true, HN_NPU_FLAGS },
	{ 3, 20, 18, 48, 7, 2, 3, 13, 32, 24, 32, 32, false, HN_NPU_FLAGS },
	{ 64, 6, 6, 64, 1, 2, 0, 3, 64, 9, 48, 64, true, HN_NPU_BARRIERS },
	{ 16, 12, 12, 16, 5, 3, 2, 7, 16, 7, 16, 16, false, HN_NPU_BARRIERS },
};

static float value(int64_t i, int64_t by)
{
	return (float)(i * by % 9 - 4) / 4;
}

static float wanted(const struct hn_npu_conv *c, const uint16_t *x, const uint16_t *w, int64_t co,
		    int64_t oy, int64_t ox)
{
	float sum = 0;

	for (int64_t ch = 0; ch < (c->channels + 15) / 16 * 16; ch++) {
		for (int64_t k = 0; k < c->window * c->window; k++) {
			int64_t y = oy * c->stride - c->pad + k / c->window;
			int64_t xx = ox * c->stride - c->pad + k % c->window;
			int64_t point = ch / 16 * c->window * c->window + k;

			if (y >= 0 && y < c->height && xx >= 0 && xx < c->width) {
				sum += hn_half_to_float(x[((ch / 16 * c->height + y) * c->width + xx) * 16 + ch % 16]) *
				       hn_half_to_float(w[(point * (c->results / 16) + co / 16) * 256 +
							  co % 16 * 16 + ch % 16]);
			}
		}
	}
	return hn_half_to_float(hn_half_of_float(sum));
}

static void one(const struct hn_npu_conv *c)
{
	int64_t high = (c->height + 2 * c->pad - c->window) / c->stride + 1;
	int64_t wide = (c->width + 2 * c->pad - c->window) / c->stride + 1;
	const struct hn_npu_program *p;
	struct hn_npu_options o = { .judge = true };
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct hn_err err = { 0 };
	struct hn_arena a;
	void *gm[3];

	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	if (hn_npu_conv(c, &m, &a, &p, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	for (int i = 0; i < 3; i++) {
		gm[i] = hn_arena_alloc(&a, (size_t)p->buffer[i].bytes);
		for (int64_t k = 0; k < p->buffer[i].n_elem; k++) {
			((uint16_t *)gm[i])[k] = hn_half_of_float(value(k, i + 2));
		}
	}
	o.gm = gm;
	if (hn_npu_run(p, &m, &o, &a, &r, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	if (c->order == HN_NPU_FLAGS) {
		assert_true(npu_each_flag_is_needed(p, &m) > 2);
	}
	for (int64_t i = 0; i < c->results * high * wide; i++) {
		int64_t co = i / (high * wide), at = i % (high * wide);
		float got = hn_half_to_float(((uint16_t *)gm[2])[(co / 16 * high * wide + at) * 16 + co % 16]);
		float want = wanted(c, gm[0], gm[1], co, at / wide, at % wide);

		if (got != want) {
			fail_msg("case %td, result %lld of %lld, %lld: %g, not %g", c - cases, (long long)co,
				 (long long)(at / wide), (long long)(at % wide), (double)got, (double)want);
		}
	}
	hn_arena_fini(&a);
}

static void numbers_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		one(&cases[i]);
	}
}

static int64_t cycles_with(const struct hn_npu_conv *c, int64_t l1)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	m.l1_bytes = l1;
	assert_int_equal(hn_npu_conv(c, &m, &a, &p, &err), 0);
	assert_int_equal(hn_npu_run(p, &m, &o, &a, &r, &err), 0);
	hn_arena_fini(&a);
	return r.core_cycles;
}

/* Tiles of the image are 20 KiB and weights 36; or 2 KiB, and eight tiles of weights of 36. */
static void what_comes_next_is_loaded_ahead(void **state)
{
	static const struct hn_npu_conv images = { 32, 64, 32, 64, 3, 1, 1, 10, 64, 64, 32, 64, false, HN_NPU_FLAGS };
	static const struct hn_npu_conv weights = { 32, 4, 4, 512, 3, 1, 1, 4, 64, 16, 32, 64, false, HN_NPU_FLAGS };

	(void)state;
	assert_true(cycles_with(&images, 113 << 10) * 5 < cycles_with(&images, 60 << 10) * 4);
	assert_true(cycles_with(&weights, 75 << 10) * 6 < cycles_with(&weights, 60 << 10) * 5);
}

static void what_does_not_fit_is_told(void **state)
{
	const struct hn_npu_program *p;
	struct hn_npu_conv c = cases[0];
	struct hn_npu_profile m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	c.cut_m = 4000;
	assert_int_equal(hn_npu_conv(&c, &m, &a, &p, &err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "do not fit into the buffers of tiny"));
	c = cases[0];
	c.cut_k = 8;
	assert_int_equal(hn_npu_conv(&c, &m, &a, &p, &err), -HONE_E_INVALID);
	c = cases[0];
	c.height = INT64_MAX;
	assert_int_equal(hn_npu_conv(&c, &m, &a, &p, &err), -HONE_E_UNSUPPORTED);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_right),
		cmocka_unit_test(what_comes_next_is_loaded_ahead),
		cmocka_unit_test(what_does_not_fit_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
