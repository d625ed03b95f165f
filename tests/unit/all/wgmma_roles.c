/* Products of warpgroups whose factors another warpgroup brings in by bulk copies (PL's kind 4), from
 * steps to code: the program is verified, reads back, and computes what the dag says in any order of
 * warpgroups, with ends within boxes, boxes in blocks, batches.  What has no such form is refused, and
 * what is spoiled shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/gpu_case.h"
#include "tests/lib/wgmma_steps.h"

#define BULK(stages) ", [\"PL\", 4, 0, " stages ", 4]"
#define SW128 TURN("1", "3", "3", "0")
#define AND128 TURN("3", "3", "3", "0")

/* RESULTS, but the fetch is inside of two loops over terms. */
#define IN_TWO                                                                                     \
	"[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 0, [2, 64], 1], [\"SP\", 3, 3, 0, [16, 8], 1], "     \
	"[\"RE\", 3, [0, 3, 1, 4, 2, 5]], [\"AN\", 3, 0, 7], [\"AN\", 3, 1, 5], [\"AN\", 3, 2, 8], "    \
	"[\"SP\", 2, 0, 0, [64], 1], [\"SP\", 2, 2, 0, [8], 1], [\"SP\", 2, 4, 0, [2, 4, 16], 1], "    \
	"[\"RE\", 2, [4, 5, 6, 0, 2, 1, 3, 7]], [\"CA\", 2, 3, 2], "                                 \
	"[\"TE\", 2, [5, 6, 7], \"" BF16 "\"], [\"CHR\", 0, \"shared\", [2]], "                       \
	"[\"CHR\", 2, \"shared\", [3]], [\"CA\", 1, 4, 1], [\"CA\", 3, 4, 1]"

/* Terms in nine. */
#define IN_NINE                                                                                    \
	"[[\"CHW\", 2, \"local\"], [\"SP\", 3, 0, 0, [2, 64], 1], [\"SP\", 3, 3, 0, [16, 8], 1], "     \
	"[\"RE\", 3, [0, 3, 1, 4, 2, 5]], [\"AN\", 3, 0, 7], [\"AN\", 3, 1, 5], [\"AN\", 3, 2, 8], "    \
	"[\"SP\", 2, 0, 0, [64], 1], [\"SP\", 2, 2, 0, [8], 1], "                                     \
	"[\"SP\", 2, 4, 0, [2, 2, 2, 2, 2, 2, 2, 2, 4, 16], 1], "                                     \
	"[\"RE\", 2, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 2, 1, 3, 14]], [\"CA\", 2, 3, 2], "        \
	"[\"TE\", 2, [12, 13, 14], \"" BF16 "\"], [\"CHR\", 0, \"shared\", [2]], "                    \
	"[\"CHR\", 2, \"shared\", [3]], [\"CA\", 1, 4, 8], [\"CA\", 3, 4, 8]"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

static const struct {
	const char *text, *steps;
	const char *has[3]; /* in the program */
} row[] = {
	/* both along terms, open to the next turn */
	{ "f(bfloat16 A[128,256], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("3") "]",
	  { "map A.map0 of A size 128 256 stride 256 1 box 128 64 swizzle 128", "bytes 32768",
	    "settle wgmma_m64n8k16_bf16 columns 128 but last C.local[0]" } },
	/* the second across, two boxes side by side; terms end within a box */
	{ "f(bfloat16 A[128,232], bfloat16 B[232,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("4") "]",
	  { "map B.map1 of B size 232 128 stride 128 1 box 64 64 swizzle 128",
	    "from B.map1[", "role consumer registers 232" } },
	/* rows of 64 bytes, of 32 */
	{ "f(float16 A[128,64], float16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(F16, "8", "2", "16") FETCH("1", "8") TURN("1", "3", "2", "1") FETCH("3", "8")
		  TURN("3", "3", "2", "1") BULK("2") "]",
	  { "box 128 32 swizzle 64", "columns 64 steps 2", " along 64" } },
	{ "f(float16 A[128,64], float16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(F16, "8", "2", "16") FETCH("1", "8") TURN("1", "3", "1", "2") FETCH("3", "8")
		  TURN("3", "3", "1", "2") BULK("2") "]",
	  { "box 128 16 swizzle 32", "columns 64 steps 1", "arrive empty[floormod(" } },
	/* bytes */
	{ "f(int8 A[128,256], int8 B[64,256]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
	  RESULTS(S8, "8", "4", "32") FETCH("1", "16") TURN("1", "4", "3", "0") FETCH("3", "16")
		  TURN("3", "4", "3", "0") BULK("2") "]",
	  { "map A.map0 of A size 128 256 stride 256 1 box 128 128 swizzle 128", "steps 4",
	    "role producer registers 40 (thread.y >= 2)" } },
	/* rows and columns that end within boxes */
	{ "f(bfloat16 A[200,128], bfloat16 B[72,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("2") "]",
	  { "size 200 128 stride 128 1 box 128 64", "size 72 128 stride 128 1 box 72 64",
	    "mbarrier empty[v" } },
	/* a block makes several tiles, one after the other: 9 by 4 blocks, turns and stages run on */
	{ "f(bfloat16 A[384,256], bfloat16 B[192,256]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  WAVES(BF16, "8", "4", "16", "4") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("3") "]",
	  { "for v21 3 roll", "if ((block.x + (v21 * 4)) < 9)",
	    "await empty[floormod(((v21 * 4) + v22), 3)] parity floormod((floordiv(((v21 * 4) + v22), 3)"
	    " + 1), 2)" } },
	/* terms in two loops, the inner one a pipeline: it is one over both */
	{ "f(bfloat16 A[128,256], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  IN_TWO FETCH("1", "8") SW128 FETCH("3", "8") AND128 ", [\"PL\", 4, 1, 2, 4]]",
	  { "2 roll", "role producer registers 40", "but last" } },
	/* as many by each; stages come round in a tile; the second across, ends within boxes */
	{ "f(bfloat16 A[328,232], bfloat16 B[232,136]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  WAVES(BF16, "8", "4", "16", "3") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("2") "]",
	  { "(thread.y < 2) {\n    for v6 3 roll {\n      for v7 8 unroll",
	    "grid 3 1 1", "size 328 232" } },
	/* as many turns as stages, and fewer of one tile than are ahead */
	{ "f(float16 A[256,64], float16 B[64,192]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  WAVES(F16, "8", "2", "16", "4") FETCH("1", "8") TURN("1", "3", "2", "1") FETCH("3", "8")
		  TURN("3", "3", "2", "1") BULK("4") "]",
	  { "box 128 32 swizzle 64", "< 6)", "roll" } },
	/* bytes; one tile more than blocks */
	{ "f(int8 A[128,512], int8 B[192,512]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
	  WAVES(S8, "8", "4", "32", "2") FETCH("1", "16") TURN("1", "4", "3", "0") FETCH("3", "16")
		  TURN("3", "4", "3", "0") BULK("3") "]",
	  { "for v21 2 roll", "< 3)", "steps 4" } },
	/* fewer tiles than blocks: each makes one, or none */
	{ "f(bfloat16 A[256,128], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  WAVES(BF16, "8", "4", "16", "5") FETCH("1", "8") SW128 FETCH("3", "8") AND128 BULK("2") "]",
	  { "grid 5 1 1", "if (block.x < 2)", "but last" } },
};

static const struct hn_device *placed(struct bed *b, size_t i, const struct hn_dag **dag)
{
	const struct hn_looptree *t = gpu_case_tree(row[i].text, row[i].steps, &b->a, dag);
	const struct hn_device *d;
	struct hn_err err = { 0 };

	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
	    hn_device_place(t, &b->a, &d, &err) != 0) {
		fail_msg("row %zu: %s", i, err.msg);
	}
	return d;
}

/* All turns of a consumer are one piece of assembly where a turn has one product; maps are parameters;
 * all is in registers. */
static void codes(size_t i, const struct hn_device *d, bool open, bool has_ptxas,
		  struct hn_arena *a)
{
	static const char *const has[] = {
		"mbarrier.try_wait.parity", "cp.async.bulk.tensor.2d.shared::cluster.global",
		"mbarrier.arrive.expect_tx", "setmaxnreg.dec.sync.aligned.u32 ", ".maxnreg ",
		"setmaxnreg.inc.sync.aligned.u32 ", ".param .align 64 .b8 k0_param_1[128]",
		"fence.proxy.async", "mbarrier.init.shared::cta.b64",
		"hn_turn_", "wgmma.wait_group.sync.aligned 1;" /* where products are open */
	};
	struct hn_gpu_module m;
	struct hn_err err = { 0 };

	if (gpu_case_print(d, HN_GPU_PTX, "sm_90a", a, &m, &err) != 0) {
		fail_msg("row %zu: %s", i, err.msg);
	}
	for (size_t k = 0; k < HN_COUNT_OF(has) - (open ? 0 : 2); k++) {
		if (strstr(m.code, has[k]) == NULL) {
			fail_msg("row %zu has no '%s'\n%s", i, has[k], (const char *)m.code);
		}
	}
	assert_null(strstr(m.code, ".local"));
	if (has_ptxas && !gpu_case_assembles(&m, "sm_90a")) {
		fail_msg("row %zu: ptxas refuses it, or it is not all in registers\n%s", i,
			 (const char *)m.code);
	}
	assert_int_equal(gpu_case_print(d, HN_GPU_PTX, "sm_90", a, &m, &err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "roles of warpgroups have no form"));
}

static void products_are_right(void **state)
{
	struct bed *b = *state;
	bool has_ptxas = gpu_case_has_ptxas();

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		const struct hn_device *d = placed(b, i, &dag), *again;
		struct hn_buf text, twice;
		struct hn_err err = { 0 };

		hn_buf_init(&text);
		hn_buf_init(&twice);
		hn_device_print(d, &text);
		if (hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0 ||
		    hn_device_parse("t", text.s, text.n, &b->a, &again, &err) != 0) {
			fail_msg("row %zu: %s\n%s", i, err.msg, text.s);
		}
		hn_device_print(again, &twice);
		assert_string_equal(text.s, twice.s);
		for (size_t k = 0; k < HN_COUNT_OF(row[i].has); k++) {
			if (strstr(text.s, row[i].has[k]) == NULL) {
				fail_msg("row %zu has no '%s'\n%s", i, row[i].has[k], text.s);
			}
		}
		gpu_case_runs(row[i].text, dag, d, 2);
		gpu_case_runs_ptx(row[i].text, dag, d, "sm_90a", 8);
		codes(i, d, strstr(text.s, "but last") != NULL, has_ptxas, &b->a);
		hn_buf_fini(&text);
		hn_buf_fini(&twice);
	}
}

/* A tile of one turn has nothing ahead: threads copy, tile after tile. */
static void one_turn_needs_no_roles(void **state)
{
	static const char text[] = "f(bfloat16 A[256,64], bfloat16 B[192,64]) -> C { C(i,j) +=! "
				   "float32(A(i,k)) * float32(B(j,k)) }";
	static const char steps[] = WAVES(BF16, "8", "4", "16", "4") FETCH("1", "8") SW128
		FETCH("3", "8") AND128 BULK("3") "]";
	struct bed *b = *state;
	const struct hn_dag *dag;
	const struct hn_looptree *t = gpu_case_tree(text, steps, &b->a, &dag);
	const struct hn_device *d;
	struct hn_err err = { 0 };

	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
	    hn_device_place(t, &b->a, &d, &err) != 0 ||
	    hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(d->n_map, 0);
	gpu_case_runs(text, dag, d, 2);
	gpu_case_runs_ptx(text, dag, d, "sm_90a", 4);
}

static void what_has_no_form_is_refused(void **state)
{
	static const struct {
		const char *text, *steps, *why;
	} bad[] = {
		/* rows of 250 bytes */
		{ "f(bfloat16 A[128,250], bfloat16 B[128,250]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(j,k)) }",
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "2") SW128 FETCH("3", "2") AND128
			  BULK("3") "]",
		  "stage 1 (A.shared) is to come by bulk copies (PL), and has rows that are no "
		  "multiple of 16 bytes" },
		{ row[0].text,
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") FETCH("3", "8") AND128 BULK("3") "]",
		  "is not laid out as a warpgroup reads it" },
		/* terms in nine loops, the innermost one is to be a pipeline */
		{ "f(bfloat16 A[128,32768], bfloat16 B[128,32768]) -> C { C(i,j) +=! "
		  "float32(A(i,k)) * float32(B(j,k)) }",
		  IN_NINE FETCH("1", "8") SW128 FETCH("3", "8") AND128 ", [\"PL\", 4, 8, 2, 4]]",
		  "stage 4 (C.local) is made by warpgroups, and more than loops stand around its bulk "
		  "copies, or more than seven" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_device *d;
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		int rc = hn_device_place(gpu_case_tree(bad[i].text, bad[i].steps, &b->a, &dag), &b->a, &d,
					 &err);

		if (rc != -HONE_E_UNSUPPORTED || strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%zu: %d (%s), expected: %s", i, rc, err.msg, bad[i].why);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(one_turn_needs_no_roles),
		cmocka_unit_test(what_has_no_form_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
