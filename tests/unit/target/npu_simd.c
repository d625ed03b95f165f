/* The simulator's loops over numbers: each level that this processor has gives the bits of plain C. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/rng.h"
#include "target/npu/npu.h"
#include "target/npu/npu_simd.h"

enum { MANY = 1 << 16 };

static void each_half_becomes_its_float(void **state)
{
	uint16_t *h = malloc(MANY * sizeof(*h));
	float *f = malloc(MANY * sizeof(*f));

	(void)state;
	for (int i = 0; i < MANY; i++) {
		h[i] = (uint16_t)i;
	}
	for (int level = 0; npu_simd_level(level) != NULL; level++) {
		npu_simd_level(level)->widen(f, h, MANY);
		for (int i = 0; i < MANY; i++) {
			assert_int_equal(hn_float_bits(f[i]), hn_float_bits(hn_half_to_float(h[i])));
		}
	}
	free(h);
	free(f);
}

/* Floats around each half, its neighbours' middles among them, and drawn bits. */
static void floats_are_rounded(void **state)
{
	struct hn_rng rng = hn_rng_stream(1, 0, 0, 0);
	uint16_t *h = malloc(MANY * sizeof(*h));
	float *f = malloc(MANY * sizeof(*f));

	(void)state;
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < MANY; i++) {
			uint32_t bits = hn_float_bits(hn_half_to_float((uint16_t)i));

			f[i] = hn_float_of_bits(round == 5 ? (uint32_t)hn_rng_u64(&rng)
							   : bits + 0xffe + (uint32_t)round);
		}
		for (int level = 0; npu_simd_level(level) != NULL; level++) {
			npu_simd_level(level)->narrow(h, f, MANY);
			for (int i = 0; i < MANY; i++) {
				assert_int_equal(h[i], hn_half_of_float(f[i]));
			}
		}
	}
	free(h);
	free(f);
}

/* Three fractals onto sums, both factors drawn; the right one has a fractal between each two. */
static void products_are_summed_term_by_term(void **state)
{
	struct hn_rng rng = hn_rng_stream(2, 0, 0, 0);
	static float left[768], right[1536], got[256], want[256];
	uint16_t x[768], y[1536];

	(void)state;
	for (int i = 0; i < 1536; i++) {
		x[i / 2] = hn_half_of_float((float)hn_rng_unit(&rng) * 40 - 20);
		y[i] = hn_half_of_float((float)hn_rng_unit(&rng) * 4 - 2);
	}
	for (int level = 0; npu_simd_level(level) != NULL; level++) {
		for (int i = 0; i < 3; i++) {
			npu_simd_level(level)->fractal(left + i * 256, x + i * 256, false);
		}
		for (int i = 0; i < 6; i++) {
			npu_simd_level(level)->fractal(right + i * 256, y + i * 256, true);
		}
		for (int i = 0; i < 256; i++) {
			want[i] = got[i] = (float)i / 7;
			for (int k = 0; k < 48; k++) {
				want[i] += hn_half_to_float(x[k / 16 * 256 + i / 16 * 16 + k % 16]) *
					   hn_half_to_float(y[k / 16 * 512 + i % 16 * 16 + k % 16]);
			}
		}
		npu_simd_level(level)->product(got, left, right, 3, 512);
		assert_memory_equal(got, want, sizeof(want));
	}
}

static void sums_of_bytes_wrap(void **state)
{
	int32_t got[256];
	int8_t x[1024], y[1024];

	(void)state;
	for (int i = 0; i < 1024; i++) {
		x[i] = (int8_t)(i * 37);
		y[i] = (int8_t)(i * 91 + i / 7);
	}
	for (int level = 0; npu_simd_level(level) != NULL; level++) {
		for (int i = 0; i < 256; i++) {
			got[i] = INT32_MAX - 3;
		}
		npu_simd_level(level)->bytes(got, x, y, 2, 512);
		for (int i = 0; i < 256; i++) {
			uint32_t sum = INT32_MAX - 3;

			for (int k = 0; k < 64; k++) {
				sum += (uint32_t)(x[k / 32 * 512 + i / 16 * 32 + k % 32] *
						  y[k / 32 * 512 + i % 16 * 32 + k % 32]);
			}
			assert_int_equal(got[i], (int32_t)sum);
		}
	}
}

static float plain(uint8_t op, float x, float y)
{
	switch (op) {
	case HN_NPU_I_ADD:
		return x + y;
	case HN_NPU_I_SUB:
		return x - y;
	case HN_NPU_I_MUL:
		return x * y;
	case HN_NPU_I_DIV:
		return x / y;
	case HN_NPU_I_MAX:
		return x > y ? x : y;
	case HN_NPU_I_MIN:
		return x < y ? x : y;
	case HN_NPU_I_ABS:
		return fabsf(x);
	case HN_NPU_I_REC:
		return 1 / x;
	case HN_NPU_I_RELU:
		return x < 0 ? 0 : x;
	case HN_NPU_I_DUP:
		return y;
	default:
		return x;
	}
}

static int32_t plain_int(uint8_t op, int32_t x, int32_t y)
{
	switch (op) {
	case HN_NPU_I_ADD:
		return (int32_t)((uint32_t)x + (uint32_t)y);
	case HN_NPU_I_SUB:
		return (int32_t)((uint32_t)x - (uint32_t)y);
	case HN_NPU_I_MUL:
		return (int32_t)((uint32_t)x * (uint32_t)y);
	case HN_NPU_I_MAX:
		return x > y ? x : y;
	case HN_NPU_I_MIN:
		return x < y ? x : y;
	case HN_NPU_I_RELU:
		return x < 0 ? 0 : x;
	default:
		return op == HN_NPU_I_DUP ? y : x;
	}
}

/* NaN, both zeros and both infinities meet each other and drawn numbers. */
static void operations_are_plain_ones(void **state)
{
	static const uint8_t ops[] = { HN_NPU_I_ADD, HN_NPU_I_SUB, HN_NPU_I_MUL, HN_NPU_I_MAX, HN_NPU_I_MIN,
				       HN_NPU_I_RELU, HN_NPU_I_DUP, HN_NPU_I_COPY, HN_NPU_I_ABS, HN_NPU_I_REC,
				       HN_NPU_I_DIV };
	static const float special[] = { NAN, 0, -0.0f, INFINITY, -INFINITY, 1, -1, 1e-40f };
	struct hn_rng rng = hn_rng_stream(3, 0, 0, 0);

	(void)state;
	for (int level = 0; npu_simd_level(level) != NULL; level++) {
		const struct npu_simd *simd = npu_simd_level(level);

		for (size_t o = 0; o < sizeof(ops); o++) {
			float x[128], y[128], f[128];
			int32_t n[128], m[128], was[128];

			for (int i = 0; i < 128; i++) {
				x[i] = f[i] = i < 64 ? special[i / 8] : (float)hn_rng_unit(&rng) - 0.5f;
				y[i] = i < 64 ? special[i % 8] : (float)hn_rng_unit(&rng) - 0.5f;
				n[i] = was[i] = (int32_t)hn_rng_u64(&rng);
				m[i] = (int32_t)hn_rng_u64(&rng);
			}
			assert_true(simd->numbers(ops[o], f, y, 128));
			assert_true(o > 7 || simd->integers(ops[o], n, m, 128));
			for (int i = 0; i < 128; i++) {
				float want = plain(ops[o], x[i], y[i]);

				assert_true(hn_float_bits(want) == hn_float_bits(f[i]) ||
					    (isnan(want) && isnan(f[i])));
				assert_true(o > 7 || n[i] == plain_int(ops[o], was[i], m[i]));
			}
		}
		assert_false(simd->numbers(HN_NPU_I_EXP, (float[16]){ 0 }, (float[16]){ 0 }, 16));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_half_becomes_its_float),
		cmocka_unit_test(floats_are_rounded),
		cmocka_unit_test(products_are_summed_term_by_term),
		cmocka_unit_test(sums_of_bytes_wrap),
		cmocka_unit_test(operations_are_plain_ones),
	};

	return cmocka_run_group_tests_name("numbers of the NPU", tests, NULL, NULL);
}
