/* Register tiles stay in registers, in the full form as in the one with masks: the machine
 * code of no loop keeps vectors on the stack.  Structure alone; nothing is run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "lower/lower.h"

#define FEW 2 /* a constant may wait there for its use outside of loops */

/* M, N, K; rows and columns of the tile, which the emitter takes as they are. */
static const int cases[][5] = {
	{ 512, 480, 64, 8, 48 }, /* no masks at all */
	{ 504, 521, 503, 8, 48 }, { 509, 521, 503, 8, 48 }, { 509, 512, 64, 8, 32 },
	{ 61, 131, 127, 6, 64 },  { 29, 47, 67, 4, 64 },
};

/* Vectors read back from the stack.  (Kernels' arguments are put there as vectors, but not
 * read as such.) */
static int count_reloads(const char *assembly)
{
	int n = 0;

	for (const char *at = assembly; (at = strstr(at, "(%rsp), %zmm")); at++) {
		n++;
	}
	return n;
}

/* Panels, rows, the whole reduction, the tile; nothing packed, so that no buffer of the
 * schedule's is on the stack. */
static const struct hn_trace *trace_of(const int *c, struct hn_arena *a)
{
	struct hn_err err;
	const struct hn_trace *t;
	char text[300];

	snprintf(text, sizeof(text),
		 "[[\"SP\", 2, 0, %d, [%d], 1], [\"SP\", 2, 2, %d, [%d], 1], "
		 "[\"RE\", 2, [2, 0, 4, 1, 3]], [\"AN\", 2, 4, 2], "
		 "[\"AN\", 2, 0, 3]]",
		 c[0], c[3], c[1], c[4]);
	assert_int_equal(hn_trace_parse("trace", text, strlen(text), a, &t, &err), 0);
	return t;
}

static void tiles_stay_in_registers(void **state)
{
	static const char line[] = "cpu -isa=x86-64-avx512";

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		const int *c = cases[i];
		struct hn_emit_options o = { .symbol = "k", .want_asm = true };
		const struct hn_looptree *tree;
		const struct hn_state *s;
		const struct hn_dag *dag;
		struct hn_artefact artefact;
		struct hn_target target;
		struct hn_emitter *em;
		struct hn_arena a;
		struct hn_err err;
		char text[200];

		hn_arena_init(&a, 0);
		assert_int_equal(hn_target_parse(line, &a, &target, &err), 0);
		assert_int_equal(hn_emitter_new(&target, &em, &err), 0);
		snprintf(text, sizeof(text),
			 "m(float32 A[%d,%d], B[%d,%d]) -> C { C(i,j) +=! A(i,k) * "
			 "B(k,j) }",
			 c[0], c[2], c[2], c[1]);
		assert_int_equal(hn_dag_parse("m", text, strlen(text), 0, &a, &dag, &err),
				 0);
		assert_int_equal(hn_state_replay(dag, trace_of(c, &a), &a, &s, &err), 0);
		assert_int_equal(hn_looptree_build(s, &a, &tree, &err), 0);
		assert_int_equal(hn_emit(em, tree, &o, &a, &artefact, &err), 0);
		assert_non_null(strstr(artefact.assembly, "vfmadd"));
		if (count_reloads(artefact.assembly) > FEW) {
			fail_msg("%dx%dx%d: %d vectors from the stack", c[0], c[1], c[2],
				 count_reloads(artefact.assembly));
		}
		hn_emitter_free(em);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_stay_in_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
