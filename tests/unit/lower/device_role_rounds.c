/* A block that makes several tiles by roles, one after the other: it is right in every order, and what is
 * wrong from one tile to the next is found by the verifier and by the interpreter, in whatever block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/role_case.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

/* Three tiles of 128 rows and 64 columns by two blocks, so that the second makes one; 4 turns of 64
 * terms, 3 stages. */
static const char text[] =
	"device/1\n"
	"global A bfloat16[27840] arg 0\n"
	"global B bfloat16[38976] arg 1\n"
	"global C float32[20160] arg 2\n"
	"shared A.shared bfloat16[24576]\n"
	"shared B.shared bfloat16[12288]\n"
	"shared full int64[3]\n"
	"shared empty int64[3]\n"
	"local C.local float32[32]\n"
	"map A.map of A size 120 232 stride 232 1 box 128 64 swizzle 128\n"
	"map B.map of B size 168 232 stride 232 1 box 64 64 swizzle 128\n"
	"kernel k grid 2 1 1 block 128 3 1 {\n"
	"  for v6 3 {\n"
	"    mbarrier full[v6] count 1\n"
	"    mbarrier empty[v6] count 8\n"
	"  }\n"
	"  fence\n"
	"  barrier\n"
	"  role producer registers 40 (thread.y >= 2) {\n"
	"    for v14 2 roll {\n"
	"      if ((block.x + (v14 * 2)) < 3) {\n"
	"        for v7 4 {\n"
	"          await empty[floormod(((v14 * 4) + v7), 3)] parity floormod((floordiv(((v14 * 4) + v7), 3) + 1), 2)\n"
	"          expect full[floormod(((v14 * 4) + v7), 3)] bytes 24576\n"
	"          bulk A.shared[(floormod(((v14 * 4) + v7), 3) * 8192)] from A.map[0, (v7 * 64)] on full[floormod(((v14 * 4) + v7), 3)]\n"
	"          bulk B.shared[(floormod(((v14 * 4) + v7), 3) * 4096)] from B.map[((block.x + (v14 * 2)) * 64), (v7 * 64)] on full[floormod(((v14 * 4) + v7), 3)]\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"  role consumer registers 232 (thread.y < 2) {\n"
	"    for v15 2 roll {\n"
	"      if ((block.x + (v15 * 2)) < 3) {\n"
	"        for v8 32 {\n"
	"          C.local[v8] = 0.0\n"
	"        }\n"
	"        for v9 4 {\n"
	"          await full[floormod(((v15 * 4) + v9), 3)] parity floormod(floordiv(((v15 * 4) + v9), 3), 2)\n"
	"          wgmma open wgmma_m64n8k16_bf16 columns 64 steps 4 C.local[0] A.shared[((floormod(((v15 * 4) + v9), 3) * 8192) + (thread.y * 4096))] along 128 B.shared[(floormod(((v15 * 4) + v9), 3) * 4096)] along 128\n"
	"          settle wgmma_m64n8k16_bf16 columns 64 but last C.local[0]\n"
	"          if (v9 > 0) {\n"
	"            arrive empty[floormod((((v15 * 4) + v9) + 2), 3)]\n"
	"          }\n"
	"        }\n"
	"        settle wgmma_m64n8k16_bf16 columns 64 C.local[0]\n"
	"        arrive empty[floormod(((v15 * 4) + 3), 3)]\n"
	"        for v10 8 {\n"
	"          for v11 4 {\n"
	"            if and((((((thread.y * 64) + (floordiv(thread.x, 32) * 16)) + floordiv(floormod(thread.x, 32), 4)) + (floordiv(v11, 2) * 8)) < 120), ((((((block.x + (v15 * 2)) * 64) + (v10 * 8)) + (floormod(thread.x, 4) * 2)) + floormod(v11, 2)) < 168)) {\n"
	"              C[((((((thread.y * 64) + (floordiv(thread.x, 32) * 16)) + floordiv(floormod(thread.x, 32), 4)) + (floordiv(v11, 2) * 8)) * 168) + (((((block.x + (v15 * 2)) * 64) + (v10 * 8)) + (floormod(thread.x, 4) * 2)) + floormod(v11, 2)))] = C.local[((v10 * 4) + v11)]\n"
	"            }\n"
	"          }\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";

static struct role_case product = { .text = text, .rows = 120, .columns = 168, .terms = 232 };

static void tiles_are_right_in_every_order(void **state)
{
	role_is_right_in_every_order(*state, &product);
}

static void planted_faults_are_found(void **state)
{
	static const struct bad bad[] = {
		/* the last stage of a tile is not given back, or another is */
		{ "        arrive empty[floormod(((v15 * 4) + 3), 3)]\n", "", "for ever" },
		{ "arrive empty[floormod(((v15 * 4) + 3), 3)]", "arrive empty[floormod(((v15 * 4) + 2), 3)]",
		  "before it knows that phase|more arrivals|may end before|for ever" },
		/* turns are counted anew: of stages, of phases, by either role */
		{ "await full[floormod(((v15 * 4) + v9), 3)]", "await full[floormod(v9, 3)]",
		  "before it knows that|may be over|for ever|which no bulk copy" },
		{ "parity floormod(floordiv(((v15 * 4) + v9), 3), 2)", "parity floormod(floordiv(v9, 3), 2)",
		  "before it knows that|may be over|may still read" },
		{ "parity floormod((floordiv(((v14 * 4) + v7), 3) + 1), 2)",
		  "parity floormod((floordiv(v7, 3) + 1), 2)",
		  "before it knows that|may be over|for ever|may still read|not expected" },
		{ "bulk B.shared[(floormod(((v14 * 4) + v7), 3) * 4096)]",
		  "bulk B.shared[(floormod(v7, 3) * 4096)]", "may still read it|filled again before|no bulk copy has filled|before it knows" },
		{ "A.shared[((floormod(((v15 * 4) + v9), 3) * 8192)", "A.shared[((floormod(v9, 3) * 8192)",
		  "before it knows that the bulk copy|no bulk copy has filled|may still read" },
		/* one role makes a tile that the other leaves out, which is so of one block alone */
		{ "if ((block.x + (v14 * 2)) < 3)", "if ((block.x + (v14 * 2)) < 4)",
		  "the block ends before a bulk copy|for ever" },
		{ "if ((block.x + (v15 * 2)) < 3)", "if ((block.x + (v15 * 2)) < 4)", "for ever" },
		{ "if ((block.x + (v15 * 2)) < 3)", "if (block.x < 1)",
		  "the block ends before a bulk copy|for ever" },
	};

	role_faults_are_found(*state, &product, bad, HN_COUNT_OF(bad));
}

static void damage_does_no_harm(void **state)
{
	role_damage_does_no_harm(*state, &product);
}

/* A condition of threads, or of what is in memory, stands around no word. */
static void other_conditions_are_refused(void **state)
{
	static const struct bad bad[] = {
		{ "if ((block.x + (v15 * 2)) < 3)", "if ((thread.y + (v15 * 2)) < 3)", "condition" },
		{ "if ((block.x + (v14 * 2)) < 3)", "if (thread.x < 3)", "condition" },
		{ "      if ((block.x + (v15 * 2)) < 3) {\n",
		  "      let v90 = thread.x\n      if (v90 < 3) {\n", "condition" },
		{ "if ((block.x + (v15 * 2)) < 3)", "if (A[block.x] < 3.0:bfloat16)", "condition" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_right_in_every_order),
		cmocka_unit_test(planted_faults_are_found),
		cmocka_unit_test(damage_does_no_harm),
		cmocka_unit_test(other_conditions_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
