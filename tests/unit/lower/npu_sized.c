/* Programs for the NPU of dags with sizes: one program, run at many sizes of its range, judged, with the
 * interpreter's numbers; what has no such program is told, and which kernel is taken for which sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_sized_bed.h"

static const struct hn_npu_plan by_flags = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };

struct given {
	struct hn_arena a;
	struct npu_sized_bed b;
	const char *text;
};

static void open(struct given *g, const char *text, const char *profile, const struct hn_npu_plan *plan)
{
	const struct hn_dag *dag;
	struct hn_npu_profile m;
	struct hn_err err;

	g->text = text;
	hn_arena_init(&g->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &m, &err), 0);
	if (hn_dag_from_text("t", text, strlen(text), 0, &g->a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	if (npu_sized_open(&g->b, dag, &m, plan, &g->a) != 0) {
		fail_msg("%s\n%s", g->b.err.msg, text);
	}
}

static int at(struct given *g, int64_t m, int64_t n)
{
	int64_t value[2] = { m, n };
	int kernel = npu_sized_run(&g->b, value, 0, NULL);

	if (kernel < 0) {
		fail_msg("%lld, %lld: %s\n%s", (long long)m, (long long)n, g->b.err.msg, g->text);
	}
	return kernel;
}

/* All of 1 to 70, and some more. */
static void all_sizes(const char *text, const struct hn_npu_plan *plan, int64_t most)
{
	struct given g;

	open(&g, text, "tiny", plan);
	for (int64_t m = 1; m <= most; m += m < 70 ? 1 : m / 3) {
		at(&g, m, 0);
	}
	at(&g, most, 0);
	hn_arena_fini(&g.a);
}

static const char flat[] = "f(M in [1, 9000], float32 X[M], float32 Z[M]) -> Y { Y(i) = X(i) * 2.0 + Z(i) }";
static const char rows[] = "r(M in [1, 700], float32 X[M,72]) -> Y { T(i) max=! X(i,j) E(i,j) = exp(X(i,j) - T(i)) "
			   "S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }";
static const char bias[] = "b(M in [1, 700], float16 X[M,40], float16 B[40]) -> Y { "
			   "Y(i,j) = max(X(i,j) + B(j), float16(0.0)) }";
static const char odd[] = "o(M in [1, 700], float16 X[M,77], float32 B[77]) -> (Y, S) { "
			  "Y(i,j) = float32(X(i,j)) * B(j) S(i) +=! Y(i,j) }";
static const char batch[] = "p(M in [1, 300], float16 A[M,48], float16 B[48,32]) -> D { "
			    "C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) D(i,j) = max(C(i,j), 0.0) }";

static void every_size_of_one_dimension(void **state)
{
	(void)state;
	all_sizes(flat, &by_flags, 9000);
	all_sizes(rows, &by_flags, 700);
	all_sizes(bias, &by_flags, 700);
	all_sizes(odd, &by_flags, 700);
	all_sizes(batch, &by_flags, 300);
}

static void every_plan(void **state)
{
	static const struct hn_npu_plan plans[] = {
		{ .order = HN_NPU_BARRIERS, .slots = 1, .reuse = true },
		{ .order = HN_NPU_BARRIERS, .slots = 2, .reuse = true },
		{ .order = HN_NPU_FLAGS, .slots = 1, .reuse = false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(plans); i++) {
		all_sizes(odd, &plans[i], 700);
		all_sizes(batch, &plans[i], 300);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_of_one_dimension),
		cmocka_unit_test(every_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
