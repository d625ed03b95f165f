/* Roles and bulk copies: a product of matrices with ends within boxes, by a producer and two consumers,
 * in every order; what is wrong with mbarriers is found by the verifier without numbers, and by the
 * interpreter; what is no such kernel is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_role.h"
#include "lower/device/device_verify.h"
#include "tests/lib/gpu_bed.h"

#define FUEL (INT64_C(1) << 28)

enum { ROWS = 120, COLUMNS = 104, TERMS = 232 };

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

/* 128 rows and 64 columns a block, 4 turns of 64 terms, 3 stages; products end in the next turn. */
static const char product[] =
	"device/1\n"
	"global A bfloat16[27840] arg 0\n"
	"global B bfloat16[24128] arg 1\n"
	"global C float32[12480] arg 2\n"
	"shared A.shared bfloat16[24576]\n"
	"shared B.shared bfloat16[12288]\n"
	"shared full int64[3]\n"
	"shared empty int64[3]\n"
	"local C.local float32[32]\n"
	"map A.map of A size 120 232 stride 232 1 box 128 64 swizzle 128\n"
	"map B.map of B size 104 232 stride 232 1 box 64 64 swizzle 128\n"
	"kernel k grid 1 2 1 block 128 3 1 {\n"
	"  for v6 3 {\n"
	"    mbarrier full[v6] count 1\n"
	"    mbarrier empty[v6] count 8\n"
	"  }\n"
	"  fence\n"
	"  barrier\n"
	"  role producer registers 40 (thread.y >= 2) {\n"
	"    for v7 4 {\n"
	"      await empty[floormod(v7, 3)] parity floormod((floordiv(v7, 3) + 1), 2)\n"
	"      expect full[floormod(v7, 3)] bytes 24576\n"
	"      bulk A.shared[(floormod(v7, 3) * 8192)] from A.map[0, (v7 * 64)] on full[floormod(v7, 3)]\n"
	"      bulk B.shared[(floormod(v7, 3) * 4096)] from B.map[(block.y * 64), (v7 * 64)] on full[floormod(v7, 3)]\n"
	"    }\n"
	"  }\n"
	"  role consumer registers 232 (thread.y < 2) {\n"
	"    for v8 32 {\n"
	"      C.local[v8] = 0.0\n"
	"    }\n"
	"    for v9 4 {\n"
	"      await full[floormod(v9, 3)] parity floormod(floordiv(v9, 3), 2)\n"
	"      wgmma open wgmma_m64n8k16_bf16 columns 64 steps 4 C.local[0] A.shared[((floormod(v9, 3) * 8192) + (thread.y * 4096))] along 128 B.shared[(floormod(v9, 3) * 4096)] along 128\n"
	"      settle wgmma_m64n8k16_bf16 columns 64 but last C.local[0]\n"
	"      if (v9 > 0) {\n"
	"        arrive empty[floormod((v9 + 2), 3)]\n"
	"      }\n"
	"    }\n"
	"    settle wgmma_m64n8k16_bf16 columns 64 C.local[0]\n"
	"    for v10 8 {\n"
	"      for v11 4 {\n"
	"        let v12 = ((((thread.y * 64) + (floordiv(thread.x, 32) * 16)) + floordiv(floormod(thread.x, 32), 4)) + (floordiv(v11, 2) * 8))\n"
	"        let v13 = ((((block.y * 64) + (v10 * 8)) + (floormod(thread.x, 4) * 2)) + floormod(v11, 2))\n"
	"        if and((((((thread.y * 64) + (floordiv(thread.x, 32) * 16)) + floordiv(floormod(thread.x, 32), 4)) + (floordiv(v11, 2) * 8)) < 120), (((((block.y * 64) + (v10 * 8)) + (floormod(thread.x, 4) * 2)) + floormod(v11, 2)) < 104)) {\n"
	"          C[((((((thread.y * 64) + (floordiv(thread.x, 32) * 16)) + floordiv(floormod(thread.x, 32), 4)) + (floordiv(v11, 2) * 8)) * 104) + ((((block.y * 64) + (v10 * 8)) + (floormod(thread.x, 4) * 2)) + floormod(v11, 2)))] = C.local[((v10 * 4) + v11)]\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";

/* Small integers, so that every sum is exact. */
static int number(int64_t i)
{
	return (int)(i * 7 % 11) - 5;
}

static uint16_t brain(int v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return (uint16_t)(u >> 16);
}

static uint16_t a[ROWS * TERMS], b[COLUMNS * TERMS];
static float c[ROWS * COLUMNS];

static void fill(void)
{
	for (int i = 0; i < ROWS * TERMS; i++) {
		a[i] = brain(number(i));
	}
	for (int i = 0; i < COLUMNS * TERMS; i++) {
		b[i] = brain(number(i + 3));
	}
	memset(c, 0xff, sizeof(c));
}

static bool is_right(void)
{
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < COLUMNS; j++) {
			int sum = 0;

			for (int k = 0; k < TERMS; k++) {
				sum += number(i * TERMS + k) * number(j * TERMS + k + 3);
			}
			if (c[i * COLUMNS + j] != (float)sum) {
				return false;
			}
		}
	}
	return true;
}

static int parse(struct bed *x, const char *text, const struct hn_device **d, struct hn_err *err)
{
	return hn_device_parse("t", text, strlen(text), &x->a, d, err);
}

static int interpret(const struct hn_device *d, uint32_t order, struct hn_err *err)
{
	void *const arg[] = { a, b, c };

	fill();
	return hn_device_interpret(d, arg, order, FUEL, err);
}

static void a_product_is_right_in_every_order(void **state)
{
	struct bed *x = *state;
	const struct hn_device *d;
	struct hn_err err = { 0 };
	struct hn_buf text;

	if (parse(x, product, &d, &err) != 0 || hn_device_verify(d, &x->gpu, 20000, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_init(&text);
	hn_device_print(d, &text);
	assert_string_equal(text.s, product);
	hn_buf_fini(&text);
	for (uint32_t order = 0; order < 6; order++) {
		if (interpret(d, order, &err) != 0) {
			fail_msg("order %u: %s", order, err.msg);
		}
		assert_true(is_right());
	}
}

/* The text with another in place of `from`, the first time or each. */
static char *with(const char *from, const char *to, bool all)
{
	struct hn_buf out;
	bool done = false;

	hn_buf_init(&out);
	for (const char *s = product; *s != '\0';) {
		if ((all || !done) && strncmp(s, from, strlen(from)) == 0) {
			hn_buf_puts(&out, to);
			s += strlen(from);
			done = true;
		} else {
			hn_buf_putc(&out, *s++);
		}
	}
	assert_true(done);
	return hn_buf_steal(&out);
}

struct bad {
	const char *from, *to, *why;
};

/* The verifier finds it, and so does the interpreter, in every order. */
static void planted_faults_are_found(void **state)
{
	static const struct bad bad[] = {
		/* nobody arrives; nobody waits */
		{ "        arrive empty[floormod((v9 + 2), 3)]\n", "", "for ever" },
		{ "      await empty[floormod(v7, 3)] parity floormod((floordiv(v7, 3) + 1), 2)\n", "",
		  "before it knows that phase|may still read it|not expected" },
		{ "      await full[floormod(v9, 3)] parity floormod(floordiv(v9, 3), 2)\n", "",
		  "before it knows that the bulk copy|which no bulk copy has filled" },
		/* parities */
		{ "floormod((floordiv(v7, 3) + 1), 2)", "floormod(floordiv(v7, 3), 2)", "for ever" },
		{ "parity floormod(floordiv(v9, 3), 2)", "parity floormod((floordiv(v9, 3) + 1), 2)",
		  "which no bulk copy has filled|before it knows that the bulk copy|may be over" },
		{ "parity floormod(floordiv(v9, 3), 2)", "parity 0", "before it knows that the bulk copy|may still read it|may be over" },
		{ "parity floormod(floordiv(v9, 3), 2)", "parity 2", "the parity of full" },
		/* bytes */
		{ "bytes 24576", "bytes 24574", "not expected, or for|more than are expected" },
		{ "bytes 24576", "bytes 16384", "not expected, or for|more than are expected" },
		{ "bytes 24576", "bytes 24578", "lacks 0 arrivals and 2 bytes" },
		/* counts */
		{ "empty[v6] count 8", "empty[v6] count 4", "more arrivals|before it knows|may end before|may still read" },
		{ "empty[v6] count 8", "empty[v6] count 9", "lacks 1 arrivals" },
		/* a stage is given back while its product is on its way: of this turn */
		{ "arrive empty[floormod((v9 + 2), 3)]", "arrive empty[floormod(v9, 3)]",
		  "may still read it|before it knows that phase|for ever" },
		/* one stage more than there are buffers; the wrong box */
		{ "bulk B.shared[(floormod(v7, 3) * 4096)]", "bulk B.shared[0]",
		  "may still read it|filled again before" },
		{ "B.shared[(floormod(v9, 3) * 4096)] along", "B.shared[0] along",
		  "may still read it|before it knows that the bulk copy" },
		{ "on full[floormod(v7, 3)]\n    }", "on full[0]\n    }", "not expected, or for|more than are expected" },
		/* copies that nobody waits for are there when the block has ended */
		{ "      expect full[floormod(v7, 3)] bytes 24576\n",
		  "      expect full[floormod(v7, 3)] bytes 24576\n      expect empty[floormod(v7, 3)] bytes 16\n",
		  "before it knows that phase|more arrivals|for ever" },
		{ "    mbarrier empty[v6] count 8\n", "", "is no mbarrier that was made" },
		{ "mbarrier empty[v6] count 8", "mbarrier empty[0] count 8", "is made an mbarrier twice" },
	};
	struct bed *x = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		char *text = with(bad[i].from, bad[i].to, false);
		const struct hn_device *d;
		struct hn_err err = { 0 };

		if (parse(x, text, &d, &err) != 0) {
			fail_msg("%zu: %s", i, err.msg);
		}
		for (int order = -1; order < 6; order++) {
			int rc = order < 0 ? hn_device_verify(d, &x->gpu, 20000, &err)
					   : interpret(d, (uint32_t)order, &err);
			char why[160];
			bool found = false;

			snprintf(why, sizeof(why), "%s", bad[i].why);
			for (char *w = strtok(why, "|"); w != NULL; w = strtok(NULL, "|")) {
				found = found || strstr(err.msg, w) != NULL;
			}
			if (rc == 0 || !found) {
				fail_msg("%zu, order %d: %d %s", i, order, rc, rc != 0 ? err.msg : "");
			}
		}
		free(text);
	}
}

/* What is filled is what hardware fills: another layout is other numbers. */
static void layouts_are_the_hardwares(void **state)
{
	struct bed *x = *state;
	char *text = with("swizzle 128", "swizzle 0", false);
	const struct hn_device *d;
	struct hn_err err = { 0 };

	assert_int_equal(parse(x, text, &d, &err), 0);
	assert_int_equal(hn_device_verify(d, &x->gpu, 20000, &err), 0);
	assert_int_equal(interpret(d, 0, &err), 0);
	assert_false(is_right());
	free(text);
}

/* The form of maps and kernels. */
static void what_is_none_is_refused(void **state)
{
	static const struct bad bad[] = {
		{ "stride 232 1 box 128", "stride 231 1 box 128", "multiples of 16 bytes" },
		{ "stride 232 1 box 128", "stride 232 2 box 128", "one element" },
		{ "size 120 232", "size 121 232", "past the end of its buffer" },
		{ "size 120 232", "size 120 9223372036854775807", "2^32 elements" },
		{ "stride 232 1 box 128", "stride 4611686018427387904 1 box 128", "multiples of 16" },
		{ "box 128 64 swizzle 128", "box 257 64 swizzle 128", "its box 1 to 256" },
		{ "box 128 64 swizzle 128", "box 128 60 swizzle 128", "multiples of 16 bytes" },
		{ "box 128 64 swizzle 128", "box 128 32 swizzle 128", "as long as chunks" },
		{ "box 128 64 swizzle 128", "box 128 64 swizzle 96", "32, 64 or 128 bytes" },
		{ "box 128 64 swizzle 128", "box 128 swizzle 128", "as many strides" },
		{ "map A.map of A ", "map A.map of A.shared ", "in global memory" },
		{ "map B.map", "map A.map", "two have it" },
		{ "from A.map[0, ", "from A.map[", "expected ','" },
		{ "from A.map[", "from none[", "there is no map" },
		{ "block 128 3 1", "block 128 4 1", "the last of its warpgroups" },
		{ "block 128 3 1", "block 128 3 2", "a block with roles" },
		{ "role producer registers 40", "role producer registers 20", "have 24, 32" },
		{ "role producer", "role other", "is no role" },
		{ "  role producer registers 40 (thread.y >= 2)", "  role consumer registers 40 (thread.y < 2)",
		  "expect and begin bulk copies" },
		{ "      expect full[floormod(v7, 3)] bytes 24576\n", "      arrive full[floormod(v7, 3)]\n",
		  "expect and begin bulk copies" },
		{ "  fence\n  barrier\n", "", "a barrier stands before the roles" },
		{ "    for v8 32 {\n", "    barrier\n    for v8 32 {\n", "no fence before it" },
		{ "    for v8 32 {\n", "    fence\n    barrier\n    for v8 32 {\n", "multiply and store" },
		{ "      C.local[v8] = 0.0\n", "      C.local[v8] = 0.0\n      A.shared[0] = A[0]\n",
		  "touch shared memory" },
		{ "      C.local[v8] = 0.0\n", "      C.local[v8] = 0.0\n      full[0] = 0:int64\n",
		  "touch shared memory" },
		{ "      C.local[v8] = 0.0\n", "      C.local[v8] = 0.0\n      A[thread.x] = A[0]\n",
		  "writes what its bulk copies read" },
		{ "bulk A.shared[(floormod(v7, 3) * 8192)]", "bulk A.shared[(floormod(v7, 3) * 8128)]",
		  "no multiple of 8 rows" },
		{ "bulk A.shared[(floormod(v7, 3) * 8192)]", "bulk A.shared[(thread.x * 8192)]",
		  "depends on the block, the thread" },
		{ "parity floormod(floordiv(v9, 3), 2)", "parity floormod(block.y, 2)",
		  "depends on the block" },
		{ "if (v9 > 0)", "if (thread.x > 0)", "depends on the thread, or a value" },
		{ "    for v7 4 {\n", "    for v7 4 {\n      C[0] = 0.0\n", "begins bulk copies alone" },
		{ "shared full int64[3]", "shared full int32[3]", "int64 in shared memory" },
		{ "shared full int64[3]", "shared full int64[300]", "128 mbarriers" },
		{ "  role producer", "  for v90 2 {\n  role producer", "" },
		{ "    mbarrier full[v6] count 1\n", "    mbarrier full[v6] count 0\n", "1 to 32 arrivals" },
		{ "bytes 24576", "bytes 0", "2^20" },
	};
	struct bed *x = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		char *text = with(bad[i].from, bad[i].to, false);
		const struct hn_device *d;
		struct hn_err err = { 0 };

		if (parse(x, text, &d, &err) == 0 || strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%zu: %s", i, err.msg);
		}
		free(text);
	}
}

/* Behind the arguments bytes are changed: what the verifier takes runs without a fault. */
static void damage_does_no_harm(void **state)
{
	static const char put[] = "0123456789+-*<>()[]., vCAB\n";
	struct bed *x = *state;
	struct hn_rng rng = hn_rng_stream(7, 0, 0, 0);
	const size_t from = (size_t)(strstr(product, "shared A.shared") - product);
	const size_t n = sizeof(product) - 1 - from;
	uint32_t read = 0, taken = 0;

	for (uint32_t i = 0; i < 60; i++) {
		char text[sizeof(product)];
		const struct hn_device *d;
		struct hn_err err = { 0 };
		size_t at = hn_rng_below(&rng, n);

		memcpy(text, product, sizeof(product));
		while (i % 3 > 0 && (text[from + at] < '0' || text[from + at] > '9')) {
			at = (at + 1) % n; /* mostly numbers */
		}
		text[from + at] = put[hn_rng_below(&rng, i % 3 > 0 ? 10 : sizeof(put) - 1)];
		if (parse(x, text, &d, &err) != 0) {
			continue;
		}
		read++;
		if (hn_device_verify(d, &x->gpu, 20000, &err) != 0) {
			continue;
		}
		taken++;
		if (interpret(d, i, &err) != 0) {
			fail_msg("%s\n%s", err.msg, text);
		}
	}
	print_message("%u read, %u of them verified and run\n", read, taken);
	assert_true(taken > 5 && taken < read);
}

/* Past the ends of stages: the verifier refuses, as of every index. */
static void bounds_are_proved(void **state)
{
	struct bed *x = *state;
	char *text = with("A.shared bfloat16[24576]", "A.shared bfloat16[20480]", false);
	const struct hn_device *d;
	struct hn_err err = { 0 };

	assert_int_equal(parse(x, text, &d, &err), 0);
	assert_int_not_equal(hn_device_verify(d, &x->gpu, 20000, &err), 0);
	assert_non_null(strstr(err.msg, "its index may be another"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_is_right_in_every_order),
		cmocka_unit_test(planted_faults_are_found),
		cmocka_unit_test(layouts_are_the_hardwares),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(bounds_are_proved),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
