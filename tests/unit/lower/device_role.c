/* Roles and bulk copies: a product of matrices with ends within boxes, by a producer and two consumers,
 * in every order; what is wrong with mbarriers is found by the verifier without numbers, and by the
 * interpreter; what is no such kernel is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device_role.h"

#include "tests/lib/role_case.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

/* 128 rows and 64 columns a block, 4 turns of 64 terms, 3 stages; products end in the next turn. */
static const char text[] =
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

static struct role_case product = { .text = text, .rows = 120, .columns = 104, .terms = 232 };

static void a_product_is_right_in_every_order(void **state)
{
	role_is_right_in_every_order(*state, &product);
}

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
	role_faults_are_found(*state, &product, bad, HN_COUNT_OF(bad));
}

/* What is filled is what hardware fills: another layout is other numbers. */
static void layouts_are_the_hardwares(void **state)
{
	struct bed *x = *state;
	char *spoiled = with(&product, "swizzle 128", "swizzle 0");
	const struct hn_device *d;
	struct hn_err err = { 0 };

	assert_int_equal(parse(x, spoiled, &d, &err), 0);
	assert_int_equal(hn_device_verify(d, &x->gpu, 20000, &err), 0);
	assert_int_equal(interpret(&product, d, 0, &err), 0);
	assert_false(is_right(&product));
	free(spoiled);
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
		char *spoiled = with(&product, bad[i].from, bad[i].to);
		const struct hn_device *d;
		struct hn_err err = { 0 };

		if (parse(x, spoiled, &d, &err) == 0 || strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%zu: %s", i, err.msg);
		}
		free(spoiled);
	}
}

static void damage_does_no_harm(void **state)
{
	role_damage_does_no_harm(*state, &product);
}

/* Past the ends of stages: the verifier refuses, as of every index. */
static void bounds_are_proved(void **state)
{
	struct bed *x = *state;
	char *spoiled = with(&product, "A.shared bfloat16[24576]", "A.shared bfloat16[20480]");
	const struct hn_device *d;
	struct hn_err err = { 0 };

	assert_int_equal(parse(x, spoiled, &d, &err), 0);
	assert_int_not_equal(hn_device_verify(d, &x->gpu, 20000, &err), 0);
	assert_non_null(strstr(err.msg, "its index may be another"));
	free(spoiled);
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
