/* Where a warpgroup's product looks for its factors, and what its threads hold: as published, each
 * layout told in another way here.  What is no such product is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "lower/device/device_verify.h"
#include "lower/device/device_wgmma.h"
#include "tests/lib/gpu_bed.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a");
}

/* As layouts of shapes and strides in elements, then Swizzle<bits, 4, 3> of the bytes: bits 7, 8, 9
 * are XORed to bits 4, 5, 6, as many as there are. */
static int64_t swizzled(int64_t at, int64_t bits)
{
	int64_t mask = ((INT64_C(1) << bits) - 1) << 7;

	return at ^ (at & mask) >> 3;
}

/* K-major: ((8, m), (T, 2k)) : ((2^bits T, SBO), (1, T)), of T elements in 16 bytes. */
static int64_t major_k(int64_t bits, int64_t bytes, int64_t side, int64_t term)
{
	int64_t t = 16 / bytes, sbo = 8 * t << bits;
	int64_t at = side % 8 * (t << bits) + side / 8 * sbo + term % t + term / t * t;

	return swizzled(at * bytes, bits);
}

/* MN-major: ((T, 2^bits, m), (8, k)) : ((1, T, LBO), (2^bits T, SBO)). */
static int64_t major_mn(int64_t bits, int64_t bytes, int64_t lbo, int64_t side, int64_t term)
{
	int64_t t = 16 / bytes, many = INT64_C(1) << bits, sbo = 8 * t << bits;
	int64_t at = side % t + side / t % many * t + side / t / many * (lbo / bytes) +
		     term % 8 * (t << bits) + term / 8 * sbo;

	return swizzled(at * bytes, bits);
}

static void elements_lie_where_published(void **state)
{
	(void)state;
	for (int64_t bits = 1; bits <= 3; bits++) {
		struct hn_device_matrix along = { .width = INT64_C(16) << bits };
		struct hn_device_matrix across = { .width = along.width, .across = true,
						   .next = 5 * 8 * along.width };

		for (int64_t i = 0; i < 256 * 64; i++) {
			int64_t side = i / 64, term = i % 64;

			for (int64_t bytes = 1; bytes <= 2 && term * bytes < along.width; bytes++) {
				assert_int_equal(hn_wgmma_place(&along, bytes, side, term),
						 major_k(bits, bytes, side, term));
			}
			assert_int_equal(hn_wgmma_place(&across, 2, side, term % 40),
					 major_mn(bits, 2, across.next, side, term % 40));
		}
	}
}

/* Bits 16 to 29, 32 to 45: offsets in 16 bytes; 62 and 63: 1 is 128 bytes, 2 is 64, 3 is 32. */
static void descriptors_are_as_published(void **state)
{
	const struct hn_device_matrix m[] = { { .width = 128 }, { .width = 64 }, { .width = 32 },
					      { .width = 128, .across = true, .next = 8192 } };
	const uint64_t want[] = { UINT64_C(0x4000004000010000), UINT64_C(0x8000002000010000),
				  UINT64_C(0xc000001000010000), UINT64_C(0x4000004002000000) };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(m); i++) {
		assert_true(hn_wgmma_descriptor(&m[i]) == want[i]);
	}
	/* a step of 16 terms of 2 bytes: in the row; 16 rows */
	const struct hn_intrin *in = hn_intrin_of("wgmma_m64n8k16_bf16");

	assert_int_equal(hn_wgmma_step(&m[0], in), 32);
	assert_int_equal(hn_wgmma_step(&m[3], in), 2048);
}

/* d[i] of the ISA's figure: row 16 warp + lane / 4 + 8 (i / 2 mod 2), column lane mod 4 * 2 + i mod 2 +
 * 8 (i / 4). */
static void threads_hold_what_is_published(void **state)
{
	const struct hn_intrin *in = hn_intrin_of("wgmma_m64n8k16_f16");

	(void)state;
	assert_int_equal(hn_warp_elements(in, HN_FRAGMENT_SUM), 4);
	for (int64_t t = 0; t < HN_WARPGROUP; t++) {
		for (int64_t i = 0; i < 4; i++) {
			int64_t row, column;

			hn_warp_element(in, HN_FRAGMENT_SUM, t, i, &row, &column);
			assert_int_equal(row, t / 32 * 16 + t % 32 / 4 + (i & 2 ? 8 : 0));
			assert_int_equal(column, t % 4 * 2 + (i & 1));
		}
	}
}

/* A whole product, in parts that can be replaced. */
struct part {
	const char *a_memory, *block, *before, *product;
};

static int judge(struct bed *b, const struct part *p, struct hn_err *err)
{
	const struct hn_device *d;
	char text[1500];
	int n = snprintf(text, sizeof(text),
			 "device/1\nglobal A bfloat16[4096] arg 0\n%s S bfloat16[4096]\nshared T "
			 "bfloat16[4096]\nlocal C float32[32]\nlocal H float16[32]\nkernel k grid 1 1 1 block %s {\n"
			 "for v6 32 {\nS[((v6 * 128) + thread.x)] = A[((v6 * 128) + thread.x)]\n"
			 "T[((v6 * 128) + thread.x)] = A[((v6 * 128) + thread.x)]\nC[v6] = 0.0\n}\n%s\n%s\n}\n",
			 p->a_memory, p->block, p->before, p->product);
	int rc = hn_device_parse("t", text, (size_t)n, &b->a, &d, err);

	return rc != 0 ? rc : hn_device_verify(d, &b->gpu, 20000, err);
}

static void what_is_none_is_refused(void **state)
{
#define GOOD "wgmma wgmma_m64n8k16_bf16 columns 64 steps 4 C[0] S[0] along 128 T[0] across 128 next 0"
#define OF(columns, steps, c, s, t)                                                                 \
	"wgmma wgmma_m64n8k16_bf16 columns " columns " steps " steps " " c " " s " " t
#define OPEN                                                                                       \
	"wgmma open wgmma_m64n8k16_bf16 columns 64 steps 4 C[0] S[0] along 128 T[0] along 128"
#define LAST "settle wgmma_m64n8k16_bf16 columns 64 but last C[0]"
#define TURN(before, behind) "for v7 4 {\n" before "\n" OPEN "\n" LAST "\n" behind "\n}\n"
#define SETTLE "settle wgmma_m64n8k16_bf16 columns 64 C[0]"
#define B "fence\nbarrier"
	static const struct {
		struct part p;
		const char *why; /* NULL: it is taken */
	} row[] = {
		{ { "shared", "128 1 1", B, GOOD }, NULL },
		{ { "shared", "64 2 1", B, GOOD }, "no whole warpgroups" },
		{ { "shared", "128 1 1", "barrier", GOOD }, "no fence before it" },
		{ { "shared", "128 1 1", "fence", GOOD }, "no barrier between" },
		{ { "shared", "128 1 1", B, "if (thread.y < 1) {\n" GOOD "\n}" },
		  "stands under a condition" },
		{ { "shared", "128 1 1", B "\nif (thread.x < 64) {\nfence\n}", GOOD },
		  "a fence stands under a condition" },
		{ { "local", "128 1 1", B, GOOD }, "takes its factors from shared memory" },
		{ { "shared", "128 1 1", B, OF("0", "4", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "8, 16, ... or 256 columns" },
		{ { "shared", "128 1 1", B, OF("12", "4", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "8, 16, ... or 256 columns" },
		{ { "shared", "128 1 1", B,
		    OF("264", "4", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "8, 16, ... or 256 columns" },
		{ { "shared", "128 1 1", B, OF("64", "0", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "1 to 16 times" },
		{ { "shared", "128 1 1", B, OF("64", "5", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "more terms than its factor's rows have" },
		{ { "shared", "128 1 1", B, OF("64", "4", "C[0]", "S[0] along 96", "T[0] along 128") },
		  "32, 64 or 128 bytes" },
		{ { "shared", "128 1 1", B,
		    OF("64", "4", "C[0]", "S[0] along 128", "T[0] across 128 next 100") },
		  "has no form" },
		{ { "shared", "128 1 1", B,
		    OF("64", "4", "C[0]", "S[0] along 128", "T[0] across 128 next -1024") },
		  "has no form" },
		{ { "shared", "128 1 1", B,
		    OF("64", "4", "C[0]", "S[0] along 128", "T[0] across 128 next 4611686018427387904") },
		  "has no form" },
		{ { "shared", "128 1 1", B, OF("64", "4", "C[0]", "S[64] along 128", "T[0] along 128") },
		  "no multiple of 8 rows" },
		{ { "shared", "128 1 1", B,
		    OF("64", "4", "C[0]", "S[(thread.x * 8)] along 128", "T[0] along 128") },
		  "no multiple of 8 rows" },
		/* past the ends: 128 columns of 64 rows there are; 72 columns of 32 elements */
		{ { "shared", "128 1 1", B,
		    OF("128", "4", "C[0]", "S[0] along 128", "T[0] along 128") },
		  "its index may be another" },
		{ { "shared", "128 1 1", B,
		    OF("64", "4", "C[0]", "S[512] along 128", "T[0] along 128") },
		  "its index may be another" },
		{ { "shared", "128 1 1", B,
		    OF("72", "4", "C[0]", "S[0] along 128", "T[0] across 128 next 8192") },
		  "its index may be another" },
		{ { "shared", "128 1 1", B, OF("64", "4", "C[8]", "S[0] along 128", "T[0] along 128") },
		  "its index may be another" },
		{ { "shared", "128 1 1", B, OF("64", "4", "H[0]", "S[0] along 128", "T[0] along 128") },
		  "operands of other types" },
		{ { "shared", "128 1 1", B, OF("64", "4", "T[0]", "S[0] along 128", "T[0] along 128") },
		  "operands of other types" },
		{ { "shared", "128 1 1", B,
		    "wgmma mma_m16n8k16_bf16 columns 64 steps 4 C[0] S[0] along 128 T[0] along 128" },
		  "no instruction of a warpgroup's" },
		{ { "shared", "128 1 1", B, "mma wgmma_m64n8k16_bf16 C[0] S[0] T[0]" },
		  "names no instruction of a warp's" },
		/* what stands between an open product and its settling */
		{ { "shared", "128 1 1", B, OPEN "\ncommit\n" SETTLE }, NULL },
		{ { "shared", "128 1 1", B, OPEN }, "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\n" B "\n" SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\nC[0] = 0.0\n" SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\nif (C[0] < 0.0) {\nT[thread.x] = A[0]\n}\n" SETTLE },
		  "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\nwait 0\n" SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\nsettle wgmma_m64n8k16_bf16 columns 56 C[0]" },
		  "is not settled before" },
		/* open to the next turn, in a loop that does nothing else */
		{ { "shared", "128 1 1", B, TURN("fence\nbarrier", "commit") SETTLE }, NULL },
		{ { "shared", "128 1 1", B, TURN("fence\nbarrier", "commit") }, "is not settled before" },
		{ { "shared", "128 1 1", B, TURN("fence\nbarrier", "commit") "wait 0\n" SETTLE },
		  "is not settled before" },
		{ { "shared", "128 1 1", B, TURN("C[0] = 0.0", "commit") SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, TURN("commit", "fence\nbarrier") SETTLE },
		  "is not settled before" },
		{ { "shared", "128 1 1", B, TURN("commit", GOOD) SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, OPEN "\n" LAST "\n" SETTLE }, "is not settled before" },
		{ { "shared", "128 1 1", B, LAST }, "is no open product" },
		/* it still reads what is written behind a barrier of the next turn */
		{ { "shared", "128 1 1", B, TURN("fence\nbarrier", "S[thread.x] = A[0]") SETTLE },
		  "no barrier between" },
		{ { "shared", "128 1 1", B, GOOD "\n" SETTLE }, "is no open product" },
		{ { "shared", "128 1 1", B, SETTLE }, "is no open product" },
		{ { "shared", "128 1 1", B, "settle wgmma_m64n8k16_bf16 columns 0 C[0]" },
		  "8, 16, ... or 256 columns" },
		{ { "shared", "128 1 1", B, "settle mma_m16n8k16_bf16 columns 64 C[0]" },
		  "no instruction of a warpgroup's" },
		{ { "shared", "128 1 1", B, "wgmma x columns 64 steps 4 C[0] S[0] along 128 T[0] along 128" },
		  "there is no instruction 'x'" },
		{ { "shared", "128 1 1", B, OF("64", "4", "C[0]", "S[0] beside 128", "T[0] along 128") },
		  "along" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_err err = { 0 };
		int rc = judge(b, &row[i].p, &err);

		if (row[i].why == NULL ? rc != 0
				       : rc == 0 || strstr(err.msg, row[i].why) == NULL) {
			fail_msg("row %zu: %d (%s), expected: %s", i, rc, err.msg,
				 row[i].why != NULL ? row[i].why : "taken");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_lie_where_published),
		cmocka_unit_test(descriptors_are_as_published),
		cmocka_unit_test(threads_hold_what_is_published),
		cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
