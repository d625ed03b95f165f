/* Edges of register tiles: what lies beyond them is neither read nor written, and costs
 * nothing where the edge is one iteration's alone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/lower_schedules.h"

static void edges_compute_the_same(void **state)
{
	check_file(*state, HONE_SOURCE_DIR "/tests/data/schedules/edges.txt");
}

#if defined(LOWER_FORMS_X86)
static int setup_avx512(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512");
}

static int count(const char *text, const char *word)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, word)); at++) {
		n++;
	}
	return n;
}

static struct hn_artefact code_of(struct fixture *f, const char *text, const char *steps)
{
	struct hn_emit_options o = { .symbol = "k", .want_ir = true, .want_asm = true };
	struct hn_err err = { 0 };
	const struct hn_looptree *t;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_artefact ret;

	if (hn_dag_parse(text, text, strlen(text), 0, &f->arena, &dag, &err) ||
	    hn_trace_parse("steps", steps, strlen(steps), &f->arena, &trace, &err) ||
	    hn_state_replay(dag, trace, &f->arena, &s, &err) ||
	    hn_looptree_build(s, &f->arena, &t, &err) ||
	    hn_emit(f->em, t, &o, &f->arena, &ret, &err)) {
		fail_msg("%s", err.msg);
	}
	return ret;
}

/* 67 columns by 32: three are left for the last tile, whose second vector is beyond the
 * edge.  Broadcasts are read at the address they have, not at one chosen by lanes, and sums
 * need no mask. */
static void the_last_columns_are_known(void **state)
{
	struct hn_artefact code = code_of(
		*state,
		"m(float32 A[6,71], B[71,67]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		"[[\"SP\", 2, 1, 67, [32], 1], [\"RE\", 2, [1, 3, 0, 2]], "
		"[\"AN\", 2, 3, 2], [\"AN\", 2, 0, 3]]");

	/* 6 rows by two vectors, and by one */
	assert_int_equal(count(code.assembly, "vfmadd"), 6 * 2 + 6);
	assert_int_equal(count(code.assembly, "cmov"), 0);
	assert_int_equal(count(code.ir, "store <16 x float>"), 6 * 2);
	assert_int_equal(count(code.ir, "call void @llvm.masked.store"), 6);
}

/* Rows by 12, too: one is left, at full width and at the last columns. */
static void the_last_rows_are_known(void **state)
{
	struct hn_artefact code = code_of(
		*state,
		"m(float32 A[25,71], B[71,67]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		"[[\"SP\", 2, 0, 25, [12], 1], [\"SP\", 2, 2, 67, [32], 1], "
		"[\"RE\", 2, [2, 0, 4, 1, 3]], [\"AN\", 2, 4, 2], [\"AN\", 2, 0, 3]]");

	assert_int_equal(count(code.assembly, "cmov"), 0);
	assert_int_equal(count(code.ir, "store <16 x float>"), (12 + 1) * 2);
	assert_int_equal(count(code.ir, "call void @llvm.masked.store"), 12 + 1);
}

/* 17 columns in lanes: of the last register one lane is left.  Its element is stored as one:
 * LLVM 22 makes a masked store of one lane of a narrowed vector twice as wide (emit_masked.c). */
static void a_lone_lane_is_no_masked_store(void **state)
{
	struct hn_artefact code =
		code_of(*state, "t(int64 A[1,17]) -> B { B(i,j) = int32(A(i,j)) }",
			"[[\"SP\", 1, 1, 17, [2], 1]]");

	assert_int_equal(count(code.ir, "call void @llvm.masked.store"), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(edges_compute_the_same, setup, teardown),
#if defined(LOWER_FORMS_X86)
		cmocka_unit_test_setup_teardown(a_lone_lane_is_no_masked_store, setup_avx512,
						teardown),
		cmocka_unit_test_setup_teardown(the_last_columns_are_known, setup_avx512,
						teardown),
		cmocka_unit_test_setup_teardown(the_last_rows_are_known, setup_avx512,
						teardown),
#endif
	};

	return cmocka_run_group_tests_name("edges of tiles", tests, NULL, NULL);
}
