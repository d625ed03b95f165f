/* Where sums of products may take subnormal numbers for zero, bfloat16 is rounded by the instruction
 * that does so, too; where they may not, and where there are none, it is rounded as written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "loopstate/dag/liberty.h"
#include "tests/lib/lower_forms.h"
#include "tests/lib/lower_run.h"

#define N 4096
#define INSTRUCTION "vcvtneps2bf16"
#define ROUNDS "C(i) = bfloat16(A(i)) where i in 0:4096"
#define SUMS "Y(i,j) +=! float32(X(i,k)) * float32(W(k,j))"

static const char beside_a_sum[] =
	"f(float32 A[4096], bfloat16 X[2,2], bfloat16 W[2,2]) -> C, Y { " ROUNDS "\n" SUMS " }";
static const char alone[] = "f(float32 A[4096]) -> C { " ROUNDS " }";

static const struct hn_trace *sixteen_at_once(struct fixture *f, int stage)
{
	const struct hn_trace *trace;
	struct hn_err err;
	char steps[100];

	snprintf(steps, sizeof(steps), "[[\"SP\", %d, 0, 4096, [16], 1], [\"AN\", %d, 1, 2]]", stage,
		 stage);
	assert_int_equal(hn_trace_parse("trace", steps, strlen(steps), &f->arena, &trace, &err), 0);
	return trace;
}

/* Whether the code for dag has the instruction. */
static bool has_instruction(struct fixture *f, const struct hn_dag *dag, int stage, bool scalar)
{
	struct hn_emit_options o = { .symbol = "k", .want_asm = true, .scalar = scalar };
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_artefact made;
	struct hn_err err;

	assert_int_equal(hn_state_replay(dag, sixteen_at_once(f, stage), &f->arena, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, &f->arena, &tree, &err), 0);
	assert_int_equal(hn_emit(f->em, tree, &o, &f->arena, &made, &err), 0);
	return strstr(made.assembly, INSTRUCTION) != NULL;
}

static int setup_with(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -mattr=+avx512bf16");
}

static int setup_without(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -mattr=");
}

static void it_is_taken_beside_sums_alone(void **state)
{
	struct fixture *f = *state;
	const struct hn_dag *dag = dag_open(beside_a_sum, &f->arena);

	assert_true(has_instruction(f, dag, 3, false));
	assert_false(has_instruction(f, dag, 3, true)); /* the naive program */
	dag = hn_dag_forbid(dag, 1u << HN_LIBERTY_subnormals, &f->arena);
	assert_false(has_instruction(f, dag, 3, false));
	assert_false(has_instruction(f, dag_open(alone, &f->arena), 1, false));
}

static void it_is_not_taken_where_it_is_not(void **state)
{
	struct fixture *f = *state;

	assert_false(has_instruction(f, dag_open(beside_a_sum, &f->arena), 3, false));
}

/* Each upper half of a float32, with lower ones that decide of ties: on this machine. */
static void all_but_subnormals_are_rounded_as_written(void **state)
{
	static const uint16_t low[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
	static float real[N];
	static uint16_t x[4], w[4], got[N];
	static float y[4];
	struct fixture *f = *state;
	void *arg[] = { real, x, w, got, y };
	struct hn_err err = { 0 };
	struct run_kernel k;

	assert_int_equal(run_build(f->em, dag_open(beside_a_sum, &f->arena), sixteen_at_once(f, 3),
				   false, &f->arena, &k, &err),
			 0);
	for (uint32_t first = 0; first < 65536 * HN_COUNT_OF(low); first += N) {
		for (uint32_t i = 0; i < N; i++) {
			real[i] = hn_float_of_bits(((first + i) & 0xffff) << 16 |
						   low[(first + i) >> 16]);
		}
		assert_int_equal(k.fn(arg, NULL), 0);
		for (uint32_t i = 0; i < N; i++) {
			bool zero = got[i] == 0 || got[i] == 0x8000;
			bool flushed = fabsf(real[i]) < 0x1p-126f && zero;

			if (isnan(real[i]) ? !isnan(hn_bfloat_to_float(got[i]))
					   : got[i] != hn_bfloat_of_float(real[i]) && !flushed) {
				fail_msg("%a: %04x, not %04x", (double)real[i], got[i],
					 hn_bfloat_of_float(real[i]));
			}
		}
	}
	run_unload(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(it_is_taken_beside_sums_alone, setup_with, teardown),
		cmocka_unit_test_setup_teardown(it_is_not_taken_where_it_is_not, setup_without,
						teardown),
#endif
		cmocka_unit_test_setup_teardown(all_but_subnormals_are_rounded_as_written, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
