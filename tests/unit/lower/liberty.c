/* Each liberty is taken, shows in the bits of an answer, and is forbidden alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/liberty.h"
#include "tests/lib/lower_run.h"

/* A program in which nothing but the one liberty shows, and steps that give it lanes. */
static const struct {
	enum hn_liberty liberty;
	const char *text, *steps;
} row[] = {
	{ HN_LIBERTY_contraction, "f(float32 A[64], float32 B[64]) -> C { C(i) = A(i) * A(i) - B(i) }",
	  "[[\"AN\", 2, 0, 2]]" },
	{ HN_LIBERTY_contraction, "f(float64 A[64], float64 B[64]) -> C { C(i) = A(i) * A(i) - B(i) }",
	  "[[\"AN\", 2, 0, 2]]" },
	{ HN_LIBERTY_reassociation, "f(float32 A[13,333]) -> C { C(i) +=! A(i,k) }", "[]" },
	{ HN_LIBERTY_reassociation, "f(float64 A[13,333]) -> C { C(i) +=! A(i,k) }", "[]" },
	{ HN_LIBERTY_reciprocal, "f(float32 A[64,64], float32 B[64]) -> C { C(i,j) = A(i,j) / B(i) }",
	  "[[\"AN\", 2, 1, 2]]" },
	{ HN_LIBERTY_reciprocal, "f(float64 A[64,64], float64 B[64]) -> C { C(i,j) = A(i,j) / B(i) }",
	  "[[\"AN\", 2, 1, 2]]" },
	{ HN_LIBERTY_zeros, "f(float32 A[64,32], float32 W[5]) -> C { C(i,j) +=! (i + k >= 4 ? "
			    "A(i + k - 4, j) : 0) * W(k) where i in 0:60, k in 0:5 }",
	  "[[\"RE\", 2, [0, 2, 1]], [\"AN\", 2, 2, 2]]" },
	{ HN_LIBERTY_minmax, "f(float32 A[13,33]) -> C { C(i) max=! A(i,k) }", "[]" },
	{ HN_LIBERTY_minmax, "f(float64 A[13,33]) -> C { C(i) min=! A(i,k) }", "[]" },
	{ HN_LIBERTY_functions, "f(float32 A[64]) -> C { C(i) = tanh(A(i)) }", "[[\"AN\", 1, 0, 2]]" },
};

static struct hn_emitter *emitter;
static struct hn_target host;

static void put(const struct hn_dag *dag, const struct run_args *x, uint32_t arg, uint32_t at,
		double v)
{
	if (dag->op[dag->arg[arg]]->dtype[0] == HN_F64) {
		((double *)x->at[arg])[at] = v;
	} else {
		((float *)x->at[arg])[at] = (float)v;
	}
}

/* Random numbers; a NaN in each row where extremes are taken, an infinity where zeros are left
 * out. */
static void make(const struct hn_dag *dag, enum hn_liberty l, struct run_args *x)
{
	run_args_make(dag, 5, x);
	for (uint32_t i = 0; i < 13 && l == HN_LIBERTY_minmax; i++) {
		put(dag, x, 0, i * 33 + 2 * i, NAN);
	}
	if (l == HN_LIBERTY_zeros) {
		put(dag, x, 1, 0, INFINITY);
	}
}

/* Whether the kernel that may not take `forbidden` has the naive program's bits. */
static bool is_naive(size_t i, uint32_t forbidden)
{
	struct run_kernel kernel, naive;
	const struct hn_trace *trace;
	struct run_args got, want;
	struct hn_arena a;
	struct hn_err err = { 0 };

	hn_arena_init(&a, 0);
	const struct hn_dag *dag;

	if (hn_dag_parse("t", row[i].text, strlen(row[i].text), 0, &a, &dag, &err) != 0 ||
	    hn_trace_parse("steps", row[i].steps, strlen(row[i].steps), &a, &trace, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	dag = hn_dag_forbid(dag, forbidden, &a);
	if (run_build(emitter, dag, NULL, true, &a, &naive, &err) != 0 ||
	    run_build(emitter, dag, trace, false, &a, &kernel, &err) != 0) {
		fail_msg("%s: %s", row[i].text, err.msg);
	}
	make(dag, row[i].liberty, &want);
	make(dag, row[i].liberty, &got);
	assert_int_equal(naive.fn(want.at, NULL), 0);
	assert_int_equal(kernel.fn(got.at, NULL), 0);

	uint32_t out = dag->n_arg - 1;
	bool same = memcmp(want.at[out], got.at[out],
			   (size_t)hn_op_bytes(dag->op[dag->arg[out]], 0)) == 0;

	run_args_free(&want);
	run_args_free(&got);
	run_unload(&naive);
	run_unload(&kernel);
	hn_arena_fini(&a);
	return same;
}

static void each_is_forbidden_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		uint32_t own = 1u << row[i].liberty;
		bool fused = row[i].liberty == HN_LIBERTY_contraction ||
			     row[i].liberty == HN_LIBERTY_functions; /* need a target with FMA */

		if (fused && (host.caps & HN_CAP_FMA) == 0) {
			continue;
		}
		if (is_naive(i, 0) || is_naive(i, HN_LIBERTIES_ALL & ~own)) {
			fail_msg("%s: %s is not taken", row[i].text, hn_liberty_name(row[i].liberty));
		}
		if (!is_naive(i, own) || !is_naive(i, HN_LIBERTIES_ALL)) {
			fail_msg("%s: %s is taken though forbidden", row[i].text,
				 hn_liberty_name(row[i].liberty));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_is_forbidden_alone) };
	struct hn_arena a;
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	/* with 32 the tile of the padded sum is larger than its border: no zeros to leave out */
	host.param[HN_PARAM_VECTOR_REGISTERS] = 16;
	if (hn_emitter_new(&host, &emitter, &err) != 0) {
		return 1;
	}
	int rc = cmocka_run_group_tests_name("liberties", tests, NULL, NULL);

	hn_emitter_free(emitter);
	hn_arena_fini(&a);
	return rc;
}
