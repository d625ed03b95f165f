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

/* How many vectors the program's code reads back from the stack; `has`: what it surely does. */
static int reloads_of(const char *line, const char *program, const char *steps,
		      const char *has)
{
	struct hn_emit_options o = { .symbol = "k", .want_asm = true };
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_artefact made;
	struct hn_target target;
	struct hn_emitter *em;
	struct hn_arena a;
	struct hn_err err;
	int n;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse(line, &a, &target, &err), 0);
	assert_int_equal(hn_emitter_new(&target, &em, &err), 0);
	assert_int_equal(hn_dag_parse("m", program, strlen(program), 0, &a, &dag, &err), 0);
	assert_int_equal(hn_trace_parse("trace", steps, strlen(steps), &a, &trace, &err), 0);
	assert_int_equal(hn_state_replay(dag, trace, &a, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, &a, &tree, &err), 0);
	assert_int_equal(hn_emit(em, tree, &o, &a, &made, &err), 0);
	assert_non_null(strstr(made.assembly, has));
	n = count_reloads(made.assembly);
	hn_emitter_free(em);
	hn_arena_fini(&a);
	return n;
}

/* Panels, rows, the whole reduction, the tile; nothing packed, so that no buffer of the
 * schedule's is on the stack. */
static void tiles_stay_in_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		const int *c = cases[i];
		char program[200], steps[300];
		int n;

		snprintf(program, sizeof(program),
			 "m(float32 A[%d,%d], B[%d,%d]) -> C { C(i,j) +=! A(i,k) * "
			 "B(k,j) }",
			 c[0], c[2], c[2], c[1]);
		snprintf(steps, sizeof(steps),
			 "[[\"SP\", 2, 0, %d, [%d], 1], [\"SP\", 2, 2, %d, [%d], 1], "
			 "[\"RE\", 2, [2, 0, 4, 1, 3]], [\"AN\", 2, 4, 2], "
			 "[\"AN\", 2, 0, 3]]",
			 c[0], c[3], c[1], c[4]);
		n = reloads_of("cpu -isa=x86-64-avx512", program, steps, "vfmadd");
		if (n > FEW) {
			fail_msg("%dx%dx%d: %d vectors from the stack", c[0], c[1], c[2],
				 n);
		}
	}
}

/* 28 sums of an instruction, two panels and what is broadcast leave one register: the
 * constants of what makes bytes of the sums wait in memory. */
static void constants_wait_in_memory(void **state)
{
	static const char program[] =
		"q(uint8 A[784,128], const int8 B[128,128], const int32 b[128],"
		" const float32 s[128]) -> Y {"
		" C(i,j) +=! int32(A(i,k)) * int32(B(k,j))"
		" Y(i,j) = uint8(nearbyint(float32(C(i,j) + b(j)) * s(j)) + 128) }";
	static const char steps[] =
		"[[\"PK\", 1, [4, 1]], [\"PK\", 2, [32, 32, 4]], [\"CI\", 2],"
		" [\"SP\", 7, 0, 784, [14], 1], [\"SP\", 7, 2, 128, [32], 1],"
		" [\"RE\", 7, [2, 0, 1, 3]], [\"AN\", 7, 3, 2],"
		" [\"SP\", 6, 2, 128, [4], 1], [\"RE\", 6, [2, 3, 0, 1]],"
		" [\"TE\", 6, [1], \"vpdpbusd\"], [\"CA\", 6, 7, 1],"
		" [\"RE\", 3, [0, 1, 2, 3, 4, 5]], [\"AN\", 3, 5, 2]]";

	(void)state;
	assert_int_equal(reloads_of("cpu -isa=x86-64-avx512 -mattr=+avx512vnni", program,
				    steps, "vpdpbusd"),
			 0);
}

/* 28 sums by a vector, of factors that change places: what each sum alone broadcasts comes out of
 * memory with the instruction, and takes no register. */
static void one_vector_broadcasts_out_of_memory(void **state)
{
	static const char program[] =
		"m(bfloat16 A[28,64], const bfloat16 B[64,16]) -> C {"
		" C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }";
	static const char steps[] =
		"[[\"PK\", 1, [2, 1]], [\"SP\", 3, 2, 64, [2], 1], [\"RE\", 3, [2, 3, 0, 1]],"
		" [\"TE\", 3, [1], \"vdpbf16ps\"], [\"AN\", 3, 3, 2]]";

	(void)state;
	assert_int_equal(reloads_of("cpu -isa=x86-64-avx512 -mattr=+avx512bf16", program, steps,
				    "{1to16}, %zmm"),
			 0);
}

/* A long chain behind the sums, as Gelu's, and what rounds its end: 30 constants, some of them
 * integers. */
static void constants_of_a_long_chain_wait(void **state)
{
	static const char program[] =
		"m(bfloat16 A[128,64], const bfloat16 B[64,96]) -> Y {"
		" C(i,j) +=! float32(A(i,k)) * float32(B(k,j))"
		" Y(i,j) = bfloat16(C(i,j) * (1 + erf(C(i,j) / float32(1.4142)))) }";
	static const char steps[] =
		"[[\"PK\", 1, [2, 1]], [\"PK\", 2, [32, 48, 2]], [\"CI\", 2],"
		" [\"SP\", 5, 0, 128, [8], 1], [\"SP\", 5, 2, 96, [48], 1],"
		" [\"RE\", 5, [0, 2, 1, 3]], [\"AN\", 5, 3, 2],"
		" [\"SP\", 4, 2, 64, [2], 1], [\"RE\", 4, [2, 3, 0, 1]],"
		" [\"TE\", 4, [1], \"vdpbf16ps\"], [\"CA\", 4, 5, 1]]";

	(void)state;
	assert_true(reloads_of("cpu -isa=x86-64-avx512 -mattr=+avx512bf16", program, steps,
			       "vdpbf16ps") <= FEW);
}

/* So do those of a hard-swish behind 30 sums, whose loop has two registers beside them. */
static void constants_of_a_tile_wait_in_memory(void **state)
{
	static const char program[] =
		"h(float32 X[12,80,240], const float32 W[240,240]) -> Y {"
		" C(h,w,f) +=! X(h,w,c) * W(f,c)"
		" D(h,w,f) = C(h,w,f) * 2.25 + 0.4"
		" Y(h,w,f) = D(h,w,f) * min(max(D(h,w,f) + 3, 0), 6) / 6 * 0.5 + 0.75 }";
	static const char steps[] =
		"[[\"CI\", 3], [\"PK\", 1, [16, 1]], [\"SP\", 5, 0, 12, [3], 1],"
		" [\"SP\", 5, 2, 80, [10], 1], [\"SP\", 5, 4, 240, [16], 1],"
		" [\"RE\", 5, [4, 0, 2, 1, 3, 5]], [\"AN\", 5, 5, 2], [\"FU\", 5, [0, 1]],"
		" [\"AN\", 5, 0, 3], [\"RE\", 3, [3, 0, 1, 2]], [\"CA\", 3, 5, 1]]";

	(void)state;
	assert_int_equal(reloads_of("cpu -isa=x86-64-avx512", program, steps, "vfmadd"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_stay_in_registers),
		cmocka_unit_test(constants_wait_in_memory),
		cmocka_unit_test(one_vector_broadcasts_out_of_memory),
		cmocka_unit_test(constants_of_a_long_chain_wait),
		cmocka_unit_test(constants_of_a_tile_wait_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
