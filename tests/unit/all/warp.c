/* Sums that a warp's instruction makes, from steps to code: the tree is legal, the device program
 * verified, reads back, and computes what the dag says, in any order of threads.  As PTX it holds
 * the matrices in registers; where NVIDIA's assembler is on this machine, it agrees.  What has no
 * such form is refused, and names the stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/gpu_case.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda");
}

/* Stages: A, A.shared, B, B.shared, C.local, C. A block's tile is 64 x 64, a warp's 32 x 32. */
#define RESULTS(ins, terms, per)                                                                 \
	"[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 128, [2, 2, 16], 1], [\"SP\", 3, 4, 128, [2, " \
	"4, 8], 1], [\"RE\", 3, [0, 4, 1, 5, 2, 6, 3, 7]], [\"FU\", 3, [2, 3]], [\"AN\", 3, 0, " \
	"7], [\"AN\", 3, 1, 5], [\"AN\", 3, 2, 8], [\"SP\", 2, 0, 128, [16], 1], [\"SP\", 2, 2, " \
	"128, [8], 1], [\"SP\", 2, 4, 64, [" per ", " terms "], 1], [\"RE\", 2, [4, 5, 0, 2, 1, " \
	"3, 6]], [\"CA\", 2, 3, 2], [\"TE\", 2, [4, 5, 6], \"" ins "\"]"
#define COPIES                                                                                   \
	", [\"CHR\", 0, \"shared\", [2]], [\"CHR\", 2, \"shared\", [3]], [\"CA\", 1, 4, 0], "     \
	"[\"CA\", 3, 4, 0]"
#define FETCH(stage, n)                                                                          \
	", [\"FU\", " stage ", [0, 1]], [\"SP\", " stage ", 0, 0, [4, 32, " n "], 1], [\"AN\", "    \
	stage ", 1, 8], [\"AN\", " stage ", 2, 6], [\"AN\", " stage ", 3, 2]"
#define TURN(stage, unit, bits, shift)                                                           \
	", [\"SW\", " stage ", 0, " unit ", " bits ", " shift "]"
#define AHEAD(stages) ", [\"PL\", 4, 0, " stages ", 2]"

#define BF16 "mma_m16n8k16_bf16"
#define F16 "mma_m16n8k16_f16"
#define S8 "mma_m16n8k32_s8"

static const struct {
	const char *text, *steps;
	const char *has[3]; /* in the program */
} row[] = {
	{ "f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "2") COPIES FETCH("1", "8") TURN("1", "3", "2", "1") FETCH("3", "8")
		  TURN("3", "3", "3", "0") AHEAD("2") "]",
	  { "ldmatrix x4 A.shared.part", "ldmatrix x4 trans B.shared.part", "async" } },
	/* the second matrix by columns; the first by columns; float16; no copy ahead */
	{ "f(bfloat16 A[128,64], bfloat16 B[128,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(BF16, "16", "2") COPIES FETCH("1", "8") TURN("1", "3", "2", "1") FETCH("3", "8")
		  TURN("3", "3", "2", "1") AHEAD("2") "]",
	  { "ldmatrix x4 A.shared.part", "ldmatrix x4 B.shared.part", "wait 0" } },
	{ "f(float16 A[64,128], float16 B[64,128]) -> C { C(i,j) +=! float32(A(k,i)) * "
	  "float32(B(k,j)) }",
	  RESULTS(F16, "16", "2") COPIES FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "3", "0") "]",
	  { "ldmatrix x4 trans A.shared.part", "ldmatrix x4 trans B.shared.part", "mma " F16 } },
	/* chunks too small for ldmatrix, and none: lanes fetch their own */
	{ "f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "2") COPIES FETCH("1", "8") TURN("1", "1", "2", "0") FETCH("3", "8")
		  "]",
	  { "A.shared.part[(", "ldmatrix x4 trans B.shared.part", "mma " BF16 } },
	{ "f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "2") "]",
	  { "A.part[(", "B.part[(", "mma " BF16 } },
	/* bytes */
	{ "f(int8 A[128,64], int8 B[128,64]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
	  RESULTS(S8, "32", "2") COPIES FETCH("1", "16") TURN("1", "4", "2", "1") FETCH("3", "16")
		  TURN("3", "4", "2", "1") AHEAD("2") "]",
	  { "ldmatrix x4 A.shared.part", "ldmatrix x4 B.shared.part", "mma " S8 } },
	{ "f(int8 A[128,64], int8 B[64,128]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  RESULTS(S8, "32", "2") COPIES FETCH("1", "16") FETCH("3", "16") "]",
	  { "ldmatrix x4 A.shared.part", "B.shared.part[(", "mma " S8 } },
	/* what follows is done on what lanes hold: the sum is computed in its reader */
	{ "f(bfloat16 A[128,64], bfloat16 B[64,128], float32 b[128]) -> D { C(i,j) +=! "
	  "float32(A(i,k)) * float32(B(k,j)) D(i,j) = bfloat16(max(C(i,j) + b(j), 0)) }",
	  "[[\"SP\", 4, 0, 128, [2, 2, 16], 1], [\"SP\", 4, 4, 128, [2, 4, 8], 1], [\"RE\", 4, "
	  "[0, 4, 1, 5, 2, 6, 3, 7]], [\"FU\", 4, [2, 3]], [\"AN\", 4, 0, 7], [\"AN\", 4, 1, 5], "
	  "[\"AN\", 4, 2, 8], [\"SP\", 3, 0, 128, [16], 1], [\"SP\", 3, 2, 128, [8], 1], "
	  "[\"SP\", 3, 4, 64, [2, 16], 1], [\"RE\", 3, [4, 5, 0, 2, 1, 3, 6]], [\"CA\", 3, 4, "
	  "2], [\"TE\", 3, [4, 5, 6], \"" BF16 "\"], [\"CHR\", 0, \"shared\", [3]], [\"CHR\", 2, "
	  "\"shared\", [4]], [\"CA\", 1, 5, 0], [\"CA\", 3, 5, 0]" FETCH("1", "8")
		  FETCH("3", "8") ", [\"PL\", 5, 0, 2, 2]]",
	  { "D[", "bfloat16(max(", "mma " BF16 } },
};

static void codes(size_t i, const struct hn_device *d, bool has_ptxas, struct hn_arena *a)
{
	static const char *const isa[] = { "sm_80", "sm_90a" };
	struct hn_gpu_module m;
	struct hn_err err = { 0 };

	for (size_t k = 0; k < HN_COUNT_OF(isa); k++) {
		if (gpu_case_print(d, HN_GPU_PTX, isa[k], a, &m, &err) != 0) {
			fail_msg("row %zu: %s", i, err.msg);
		}
		assert_non_null(strstr(m.code, "mma.sync.aligned.m16n8k"));
		assert_null(strstr(m.code, ".local"));
		if (has_ptxas && !gpu_case_assembles(&m, isa[k])) {
			fail_msg("row %zu: ptxas refuses it for %s, or it is not all in registers\n%s", i,
				 isa[k], (const char *)m.code);
		}
	}
	assert_int_equal(gpu_case_print(d, HN_GPU_CUDA, "sm_80", a, &m, &err), 0);
	assert_non_null(strstr(m.code, "mma.sync.aligned.m16n8k"));
	for (int k = 0; k < 2; k++) {
		assert_int_equal(gpu_case_print(d, k ? HN_GPU_PTX : HN_GPU_OPENCL, "sm_70", a, &m,
						&err),
				 -HONE_E_UNSUPPORTED);
		assert_non_null(strstr(err.msg, "products of matrices by warps have no form"));
	}
}

static void products_are_right(void **state)
{
	struct bed *b = *state;
	bool has_ptxas = gpu_case_has_ptxas();

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		const struct hn_device *d = gpu_case_place(b, row[i].text, row[i].steps, row[i].has,
							   HN_COUNT_OF(row[i].has), &dag);

		gpu_case_runs(row[i].text, dag, d, 3);
		gpu_case_runs_ptx(row[i].text, dag, d, "sm_80", 3);
		codes(i, d, has_ptxas, &b->a);
	}
}

static void what_has_no_form_is_refused(void **state)
{
	static const struct {
		const char *steps, *why;
	} bad[] = {
		/* the sum is the kernel's result, in global memory */
		{ "[[\"SP\", 2, 0, 128, [16], 1], [\"SP\", 2, 2, 128, [8], 1], [\"SP\", 2, 4, 64, "
		  "[16], 1], [\"RE\", 2, [0, 2, 4, 1, 3, 5]], [\"AN\", 2, 0, 5], [\"TE\", 2, [3, "
		  "4, 5], \"" BF16 "\"]]",
		  "stage 2 (C) is made by warps, and is no thread's own" },
		/* 64 threads in x */
		{ RESULTS(BF16, "16", "2") COPIES
		  ", [\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 0, [64], 1], [\"AN\", 1, 1, 6]]",
		  "64 threads in x are no warp" },
		/* its reader runs through 32 columns in one loop */
		{ "[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 128, [2, 16], 1], [\"SP\", 3, 3, 128, "
		  "[32], 1], [\"RE\", 3, [0, 3, 1, 2, 4]], [\"FU\", 3, [0, 1]], [\"AN\", 3, 0, 5], "
		  "[\"SP\", 2, 0, 128, [16], 1], [\"SP\", 2, 2, 128, [8], 1], [\"SP\", 2, 4, 64, "
		  "[16], 1], [\"RE\", 2, [4, 0, 2, 1, 3, 5]], [\"CA\", 2, 3, 0], [\"TE\", 2, [3, 4, "
		  "5], \"" BF16 "\"]]",
		  "in no loop of 8 through a tile" },
	};
	static const char text[] = "f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! "
				   "float32(A(i,k)) * float32(B(k,j)) }";
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_device *d;
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		int rc = hn_device_place(gpu_case_tree(text, bad[i].steps, &b->a, &dag), &b->a, &d,
					 &err);

		if (rc != -HONE_E_UNSUPPORTED || strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%d (%s), expected: %s", rc, err.msg, bad[i].why);
		}
	}
}

/* A loop of another length is not given to it. */
static void lengths_are_exact(void **state)
{
	static const char text[] = "f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! "
				   "float32(A(i,k)) * float32(B(k,j)) }";
	static const char steps[] = "[[\"SP\", 2, 0, 128, [8], 1], [\"SP\", 2, 2, 128, [8], 1], "
				    "[\"SP\", 2, 4, 64, [16], 1], [\"TE\", 2, [1, 3, 5], \"" BF16
				    "\"]]";
	struct bed *b = *state;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	assert_int_equal(hn_dag_from_text("t", text, strlen(text), 0, &b->a, &dag, &err), 0);
	assert_int_equal(hn_trace_parse("s", steps, strlen(steps), &b->a, &trace, &err), 0);
	assert_int_not_equal(hn_state_replay(dag, trace, &b->a, &s, &err), 0);
	assert_non_null(strstr(err.msg, BF16 " takes 16 rows, the loop has 8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(what_has_no_form_is_refused),
		cmocka_unit_test(lengths_are_exact),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
