/* Heuristic schedules of sums that an instruction makes (step TE): which have it, that they are
 * proved, and that their kernels compute what the naive program does, with the instruction where
 * this processor has it and as loops elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loopstate/nest/quick.h"
#include "loopstate/state/intrin.h"
#include "tests/lib/heuristic_bed.h"
#include "tests/lib/lower_run.h"

struct row {
	const char *text, *intrin; /* of the automatic one; "" = none of them has one */
};

static const struct row rows[] = {
	{ "f(uint8 A[64,128], const int8 B[128,96]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "vpdpbusd" },
	/* nothing divides, and a rest that no group fills */
	{ "f(int8 A[37,131], const int8 B[131,41]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "vpdpbusd_s8" },
	/* the other order of the factors, and of the weights */
	{ "f(uint8 A[33,64], const int8 B[50,64]) -> C"
	  " { C(i,j) +=! int32(B(j,k)) * int32(A(i,k)) }",
	  "vpdpbusd" },
	{ "f(uint8 A[48,256], const int8 B[256,48], const int32 z[48], const float32 s[48]) -> Y {"
	  " C(i,j) +=! int32(A(i,k)) * int32(B(k,j))"
	  " Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, -128), 127)) }",
	  "vpdpbusd" },
	{ "f(bfloat16 A[40,96], const bfloat16 B[96,72], const float32 c[72]) -> Y {"
	  " C(i,j) +=! float32(A(i,k)) * float32(B(k,j))"
	  " Y(i,j) = max(C(i,j) + c(j), 0) }",
	  "vdpbf16ps" },
	/* one axis longer than a cut of the reduction */
	{ "f(bfloat16 A[17,4099], const bfloat16 B[4099,40]) -> C"
	  " { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	  "vdpbf16ps" },
	{ "f(uint8 X[2,9,11,20], const int8 W[3,3,20,24], const int32 z[24]) -> Y {"
	  " P(n,y,x,c) = y >= 1 && y < 10 && x >= 1 && x < 12 ? X(n,y-1,x-1,c) : 0"
	  " where y in 0:11, x in 0:13"
	  " C(n,y,x,f) +=! int32(P(n,y+r,x+s,c)) * int32(W(r,s,c,f))"
	  " Y(n,y,x,f) = max(C(n,y,x,f) + z(f), 0) }",
	  "vpdpbusd" },
	/* two products one after the other, a batch of them */
	{ "f(bfloat16 Q[3,128,64], bfloat16 K[3,128,64]) -> S"
	  " { S(b,i,j) +=! float32(Q(b,i,k)) * float32(K(b,j,k)) }",
	  "vdpbf16ps" },
	{ "f(uint8 A[64,128], const int8 B[128,96], const int8 D[96,64]) -> E {"
	  " C(i,j) +=! int32(A(i,k)) * int32(B(k,j))"
	  " R(i,j) = uint8(min(max(C(i,j) / 256, 0), 255))"
	  " E(i,j) +=! int32(R(i,k)) * int32(D(k,j)) }",
	  "vpdpbusd" },
	/* one row: the panels are read once, but the weights are constant */
	{ "f(uint8 A[1,300], const int8 B[300,200]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "vpdpbusd" },
	{ "f(int8 A[100], const int8 B[70,100]) -> C { C(j) +=! int32(A(k)) * int32(B(j,k)) }",
	  "vpdpbusd_s8" },
	/* the copy into groups does not pay; the terms are no instruction's; too few */
	{ "f(uint8 A[8,128], int8 B[128,96]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "" },
	{ "f(uint8 A[64,128], const uint8 B[128,96]) -> C"
	  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	  "" },
	{ "f(uint8 A[128,64], const int8 B[128,96]) -> C"
	  " { C(i,j) +=! int32(A(k,i)) * int32(B(k,j)) }",
	  "" },
	{ "f(uint8 A[64,64,3], const int8 B[64,3,96]) -> C"
	  " { C(i,j) +=! int32(A(i,l,k)) * int32(B(l,k,j)) }",
	  "" },
	{ "f(bfloat16 A[64,128], const bfloat16 B[128,96]) -> C { @no_subnormals"
	  " C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	  "" },
};

static const char *intrin_of(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->intrin != NULL) {
			return s->stage[i]->intrin->name;
		}
	}
	return "";
}

static void sums_are_given_to_instructions(void **state)
{
	(void)state;
	for (size_t r = 0; r < HN_COUNT_OF(rows); r++) {
		struct heuristics x;

		heuristics_open(&x, AVX512, rows[r].text);
		assert_string_equal(intrin_of(x.g[0]), rows[r].intrin);
		for (uint32_t k = 0; k < x.n && rows[r].intrin[0] == '\0'; k++) {
			assert_string_equal(intrin_of(x.g[k]), "");
		}
		heuristics_end(&x);
		heuristics_open(&x, AVX2, rows[r].text);
		for (uint32_t k = 0; k < x.n; k++) {
			assert_string_equal(intrin_of(x.g[k]), "");
		}
		heuristics_end(&x);
	}
}

static void run(struct hn_emitter *em, const struct heuristics *x, uint32_t k,
		const struct run_args *want)
{
	struct hn_arena a;
	struct run_kernel kernel;
	struct run_args got;
	struct hn_err err = { 0 };
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	hn_arena_init(&a, 0);
	if (run_build(em, x->dag, x->g[k]->trace, false, &a, &kernel, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	run_args_make(x->dag, 7, &got);
	assert_int_equal(kernel.fn(got.at, &env), 0);
	assert_true(run_difference(want, &got) <= 1e-4);
	assert_true(run_redzones_hold(&got));
	run_args_free(&got);
	run_unload(&kernel);
	hn_arena_fini(&a);
}

static void all_are_legal_and_right(void **state)
{
	struct hn_quick *quick = hn_quick_new();
	struct hn_arena a;
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (size_t r = 0; r < HN_COUNT_OF(rows); r++) {
		struct heuristics x;
		struct run_args want;
		struct run_kernel naive;

		heuristics_open(&x, AVX512, rows[r].text);
		assert_int_equal(run_build(em, x.dag, NULL, true, &a, &naive, &err), 0);
		run_args_make(x.dag, 7, &want);
		assert_int_equal(naive.fn(want.at, NULL), 0);
		run_unload(&naive);
		for (uint32_t k = 0; k < x.n; k++) {
			const struct hn_looptree *tree;

			assert_int_equal(hn_looptree_build(x.g[k], &x.a, &tree, &err), 0);
			assert_true(hn_quick_legal(quick, tree, NULL));
			assert_int_equal(hn_legal_check(tree, 0, &err), HN_VERDICT_OK);
			run(em, &x, k, &want);
		}
		run_args_free(&want);
		heuristics_end(&x);
	}
	hn_emitter_free(em);
	hn_quick_free(quick);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_given_to_instructions),
		cmocka_unit_test(all_are_legal_and_right),
	};

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("term heuristics", tests, NULL, NULL);
}
