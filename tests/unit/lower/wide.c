/* lower_wide.c -- the program that answers are compared with (loopstate/state/widen.h), compiled as
 * builders do, held against the interpreter, which sums in float64, too.
 *
 * Where sums, largest elements and copies are all there is, both do the same in the same order:
 * not a bit may differ, while the naive program, which sums in float32, is another's answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/dag_form.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "loopstate/dag/mark.h"
#include "tests/lib/lower_run.h"

#define SOFT 1.5e-7 /* functions differ in the last bits of float32 */

static const struct {
	const char *text;
	double most; /* relative to the largest value */
} program[] = {
	{ "f(float32 A[61,147], B[147,53]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
	/* rank 0, and a long prime; one term */
	{ "f(float32 A[10007]) -> C { C() +=! A(k) * A(k) }", 0 },
	{ "f(float32 A[1,7]) -> C { C(i) *=! (A(k,i) + 2.0) * (A(k,i) + 0.1) }", 0 },
	{ "f(float32 A[3,101]) -> C { C(i) *=! A(i,k) * 0.1 + 1.0 }", 0 },
	/* pads, in a stage of their own and in the sum; strides; groups */
	{ "f(float32 X[1,13,11,19], W[3,3,19,5]) -> K {"
	  " P(n,h,w,c) = h>=1 && h<14 && w>=1 && w<12 ? X(n,h-1,w-1,c) : 0 where "
	  "h in 0:15, w in 0:13"
	  " K(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * W(r,s,c,f) }", 0 },
	{ "f(float32 X[17,23], W[7]) -> K { K(i,j) +=! (j + r >= 3 && j + r < 26 ? "
	  "X(i,j+r-3) : 0) * W(r) where i in 0:17, j in 0:23 }", 0 },
	/* two sums of which one reads the other; a largest; an average */
	{ "f(float32 A[5,211], B[211,97], D[97,3]) -> E { C(i,j) +=! A(i,k) * B(k,j) "
	  "E(i,j) +=! C(i,k) * D(k,j) }", 0 },
	{ "f(float32 A[5,211], B[211,97]) -> E { C(i,j) +=! A(i,k) * B(k,j) E(i) max=! C(i,k) }",
	  0 },
	{ "f(float32 A[5,211]) -> C { S(i) +=! A(i,k) C(i) = S(i) / 211.0 }", 0 },
	/* a sum that is an output and read */
	{ "f(float32 A[5,211]) -> (S, C) { S(i) +=! A(i,k) C() +=! S(i) * A(i,0) }", 0 },
	/* other types beside it */
	{ "f(float32 A[5,211], int32 B[5,211], float64 D[5,211]) -> (S, T, U) {"
	  " S(i) +=! A(i,k) * float32(B(i,k)) T(i) +=! B(i,k) U(i) +=! D(i,k) }", 0 },
	/* softmax, layernorm, a product with an epilogue */
	{ "f(float32 x[6,1011]) -> y { m(i) max=! x(i,k) e(i,j) = exp(x(i,j) - m(i))"
	  " s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }", SOFT },
	{ "f(float32 x[7,771], g[771], b[771]) -> y { s(i) +=! x(i,k) m(i) = s(i) / 771.0"
	  " v(i) +=! (x(i,k) - m(i)) * (x(i,k) - m(i))"
	  " y(i,j) = (x(i,j) - m(i)) / sqrt(v(i) / 771.0 + 0.00001) * g(j) + b(j) }", SOFT },
	{ "f(float32 A[31,207], B[207,13], b[13]) -> C { D(i,j) +=! A(i,k) * B(k,j)"
	  " C(i,j) = max(D(i,j) + b(j), 0.0) }", SOFT },
};

static struct hn_builder builder;

/* The naive program and its companion, of one object. */
static void build(const struct hn_dag *dag, struct hn_arena *a, struct hn_build_answer *ret)
{
	struct hn_build_request r = { .target = "native", .symbol = "own", .wide = "near",
				      .plant = "", .steps = "[]", .steps_bytes = 2,
				      .naive = true };
	struct hn_buf json;

	hn_buf_init(&json);
	hn_dag_write_json(dag, &json);
	r.dag = hn_arena_strdup(a, json.s);
	r.dag_bytes = json.n;
	hn_buf_fini(&json);
	memset(ret, 0, sizeof *ret);
	hn_build(&builder, &r, a, ret);
	if (ret->verdict != HN_VERDICT_OK) {
		fail_msg("%s", ret->why.msg);
	}
}

/* How far the object's function is from the interpreter. */
static double error_of(const struct hn_dag *dag, const struct hn_artefact *artefact,
		       const char *symbol, const struct run_args *want)
{
	struct run_kernel k = { .artefact = *artefact };
	struct run_args got;
	double d;

	run_load(&k, symbol);
	run_args_make(dag, 7, &got);
	assert_int_equal(k.fn(got.at, NULL), 0);
	assert_true(run_redzones_hold(&got));
	d = run_difference(want, &got);
	run_args_free(&got);
	run_unload(&k);
	return d;
}

static void the_companion_is_nearer(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(program); i++) {
		struct hn_build_answer ans;
		struct hn_err err = { 0 };
		const struct hn_dag *dag;
		struct run_args want;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		dag = dag_open(program[i].text, &a);
		run_args_make(dag, 7, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		build(dag, &a, &ans);
		double near = error_of(dag, &ans.artefact, "near", &want);
		double own = error_of(dag, &ans.artefact, "own", &want);

		print_message("%zu: %g, by itself %g\n", i, near, own);
		if (near > program[i].most || own <= near) {
			fail_msg("%s: off by %g, by itself %g", program[i].text, near, own);
		}
		run_args_free(&want);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_companion_is_nearer),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	hn_builder_fini(&builder);
	return rc;
}
