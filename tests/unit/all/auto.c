/* Automatic schedules: any dag has one, the quick check and the exact one agree that all its
 * alternatives are legal, and they compute the program's numbers: chains of several heavy nests,
 * extents that nothing divides, rank 0, pads; of random programs the first. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/nest/quick.h"
#include "search/auto.h"
#include "tests/lib/chains.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/random_dags.h"

#define TOLERANCE 5e-5
#define N_RANDOM 60

static const char *const programs[] = {
	"f(float32 A[1]) -> B { B() = A(0) * 2 }",
	"f(float32 A[128]) -> B { B() +=! A(k) }",
	"gemm(float32 A[37,53], B[53,41], C[37,41]) -> D {"
	" T(i,j) +=! A(i,k) * B(k,j) D(i,j) = 1.5 * T(i,j) + 1.2 * C(i,j) }",
	"mm2(float32 A[61,47], B[47,53], C[53,67], D[61,67]) -> E {"
	" T(i,j) +=! A(i,k) * B(k,j) U(i,j) = 1.5 * T(i,j)"
	" V(i,j) +=! U(i,k) * C(k,j) E(i,j) = V(i,j) + 1.2 * D(i,j) }",
	"mm3(float32 A[31,43], B[43,37], C[37,29], D[29,41]) -> G {"
	" E(i,j) +=! A(i,k) * B(k,j) F(i,j) +=! C(i,k) * D(k,j)"
	" G(i,j) +=! E(i,k) * F(k,j) }",
	"atax(float32 A[301,203], x[203]) -> y {"
	" t(i) +=! A(i,j) * x(j) y(j) +=! A(i,j) * t(i) }",
	"bicg(float32 A[301,203], p[203], r[301]) -> s, q {"
	" s(j) +=! A(i,j) * r(i) q(i) +=! A(i,j) * p(j) }",
	"gesummv(float32 A[303,303], B[303,303], x[303]) -> y {"
	" t(i) +=! A(i,j) * x(j) u(i) +=! B(i,j) * x(j) y(i) = 1.5 * t(i) + 1.2 * u(i) }",
	"covariance(float32 D[83,59]) -> C { s(j) +=! D(i,j) m(j) = s(j) / 83"
	" E(i,j) = D(i,j) - m(j) P(i,j) +=! E(k,i) * E(k,j) C(i,j) = P(i,j) / 82 }",
	CHAINS,
	"stencils(float32 A[43,47]) -> C {"
	" B(i,j) = A(i,j+1) + A(i+1,j) + A(i+1,j+1) + A(i+1,j+2) + A(i+2,j+1)"
	"   where i in 0:41, j in 0:45"
	" C(i,j) = B(i,j+1) + B(i+1,j) + B(i+1,j+1) + B(i+1,j+2) + B(i+2,j+1)"
	"   where i in 0:39, j in 0:43 }",
};

struct bench {
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena arena;
	struct hn_quick *quick;
	uint32_t n, n_quick; /* alternatives, and what the quick check knows of them */
};

/* The alternatives are legal; as the store would hand them back. */
static void prove_all(struct bench *b, const struct hn_dag *dag, const char *text,
		      const struct hn_trace *const *trace, uint32_t n, struct hn_arena *a)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_looptree *tree;
		const struct hn_state *s;
		struct hn_err err = { 0 };

		assert_true(hn_trace_complete(trace[i]));
		assert_int_equal(hn_state_replay(dag, trace[i], a, &s, &err), 0);
		assert_int_equal(hn_looptree_build(s, a, &tree, &err), 0);
		if (hn_legal_check(tree, 0, &err) != HN_VERDICT_OK) {
			fail_msg("%s: alternative %u: %s", text, i, err.msg);
		}
		b->n++;
		b->n_quick += hn_quick_legal(b->quick, tree, NULL);
	}
}

static void run(struct bench *b, const struct hn_dag *dag, const char *text,
		const struct hn_trace *trace, struct hn_arena *a)
{
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };
	struct run_args want, got;
	struct run_kernel k;
	struct hn_err err = { 0 };

	if (run_build(b->em, dag, trace, false, a, &k, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	run_args_make(dag, 7, &want);
	run_args_make(dag, 7, &got);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	assert_int_equal(k.fn(got.at, &env), 0);
	double d = run_difference(&want, &got);

	if (!(d <= TOLERANCE) || !run_redzones_hold(&got)) {
		fail_msg("%s: differs by %g", text, d);
	}
	run_args_free(&want);
	run_args_free(&got);
	run_unload(&k);
}

/* n_run: of how many alternatives the numbers are compared. */
static void check(struct bench *b, const char *text, uint32_t n_run)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err) == 0) {
		uint32_t n = hn_auto(dag, &b->host, &a, trace);

		assert_in_range(n, 1, HN_AUTO_MAX);
		prove_all(b, dag, text, trace, n, &a);
		for (uint32_t i = 0; i < n && i < n_run; i++) {
			run(b, dag, text, trace[i], &a);
		}
	} else {
		fail_msg("%s: %s", text, err.msg);
	}
	hn_arena_fini(&a);
}

/* What the quick check does not show legal would be lost to mutations: one in fifty at most. */
static void quick_check_knows_them(const struct bench *b)
{
	print_message("%u alternatives, %u by the quick check\n", b->n, b->n_quick);
	assert_true(50 * (b->n - b->n_quick) <= b->n);
}

static void whole_chains(void **state)
{
	struct bench *b = *state;

	b->n = b->n_quick = 0;
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		check(b, programs[i], HN_AUTO_MAX);
	}
	quick_check_knows_them(b);
}

static void random_programs(void **state)
{
	struct bench *b = *state;

	b->n = b->n_quick = 0;
	for (uint64_t seed = 1; seed <= N_RANDOM; seed++) {
		uint32_t tape[RD_TAPE];
		struct hn_buf text;
		bool inexact;

		rd_tape(seed, tape);
		hn_buf_init(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		if (!inexact) {
			check(b, text.s, 1);
		}
		hn_buf_fini(&text);
	}
	quick_check_knows_them(b);
}

/* A tensor that no cache of a core holds, summed along its rows and then down its columns: each
 * core does both while it has the rows, into sums of its own.  Three cores, no even share. */
static void rows_and_columns_at_once(void **state)
{
	static const char *const text[] = {
		"atax(float32 A[101,1801], x[1801]) -> y {"
		" t(i) +=! A(i,j) * x(j) y(j) +=! A(i,j) * t(i) }",
		"f(float32 A[1801,131], x[131]) -> y {"
		" t(i) max=! A(j,i) * x(i) where i in 0:131 y(j) +=! A(j,i) * t(i) }",
		"norm(float32 A[97,1811], b[1811]) -> y {"
		" t(i) +=! A(i,j) * A(i,j) s(j) +=! A(i,j) * t(i) y(j) = s(j) + b(j) }",
	};
	struct bench b = *(struct bench *)*state;
	const struct hn_trace *trace[HN_AUTO_MAX];
	const struct hn_dag *dag;
	struct hn_target named;
	struct hn_buf steps;
	struct hn_arena a;

	b.host.param[HN_PARAM_NUM_CORES] = 3;
	b.host.param[HN_PARAM_L2_BYTES] = 65536;
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		check(&b, text[i], HN_AUTO_MAX);
	}
	/* Which of them is chosen depends on the machine, so this one is named. */
	hn_buf_init(&steps);
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=3 -l2_bytes=65536", &a,
					 &named, NULL), 0);
	assert_int_equal(hn_dag_parse("t", text[0], strlen(text[0]), 0, &a, &dag, NULL), 0);
	assert_true(hn_auto(dag, &named, &a, trace) > 0);
	hn_trace_write(trace[0], &steps);
	if (!strstr(steps.s, "\"RF\"") || !strstr(steps.s, "\"CA\", 2, 3")) {
		fail_msg("%s", steps.s);
	}
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
}

/* A square root inside of a product costs more than the memory it saves: the first heuristic
 * inlines it, the automatic schedule does not.  And it never changes. */
static void the_model_chooses(void **state)
{
	const char *text = "f(float32 X[512,768], W[768,768]) -> T { q(i) +=! X(i,k) * X(i,k)"
			   " N(i,j) = X(i,j) / sqrt(q(i)) T(i,j) +=! N(i,k) * W(k,j) }";
	const struct hn_trace *x[HN_AUTO_MAX], *y[HN_AUTO_MAX];
	const struct hn_state *heuristic[HN_HEURISTIC_MAX];
	struct bench *b = *state;
	const struct hn_dag *dag;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, NULL), 0);
	uint32_t n = hn_heuristics(dag, &b->host, &a, heuristic);

	assert_int_equal(hn_auto(dag, &b->host, &a, x), n);
	assert_int_equal(hn_auto(dag, &b->host, &a, y), n);
	assert_false(hn_trace_equal(x[0], heuristic[0]->trace));
	for (uint32_t i = 0; i < n; i++) {
		assert_true(hn_trace_equal(x[i], y[i]));
	}
	hn_arena_fini(&a);
}

/* Pads of a row in several tiles cost the tiles at its ends: they are made before, in memory.  Those
 * of a row in one tile cost nothing. */
static void pads_of_long_rows_are_made_before(void **state)
{
	static const struct {
		const char *text;
		bool inlined;
	} of[] = {
		{ "f(float32 X[1,14,14,256], const float32 W[256,256,3,3]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 15 && w >= 1 && w < 15 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:16, w in 0:16"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(f,c,r,s) }",
		  true },
		{ "f(float32 X[1,112,112,128], const float32 W[128,128,3,3]) -> Y {"
		  " P(n,h,w,c) = h >= 1 && h < 113 && w >= 1 && w < 113 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:114, w in 0:114"
		  " Y(n,h,w,f) +=! P(n,h+r,w+s,c) * W(f,c,r,s) }",
		  false },
	};
	const char *line = "cpu -isa=x86-64-avx512 -num_cores=1 -fma_per_cycle=1"
			   " -l1_bytes=32768 -l2_bytes=1048576 -l3_bytes=33554432";
	const struct hn_trace *x[HN_AUTO_MAX];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		const char *text = of[i].text;
		const struct hn_dag *dag;
		struct hn_target on;
		struct hn_arena a;
		struct hn_err err;
		bool inlined = false;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_target_parse(line, &a, &on, &err), 0);
		assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, NULL), 0);
		assert_true(hn_auto(dag, &on, &a, x) > 0);
		for (uint32_t k = 0; k < x[0]->n_step; k++) {
			inlined = inlined || x[0]->step[k]->kind == HN_STEP_compute_inline;
		}
		assert_int_equal(inlined, of[i].inlined);
		hn_arena_fini(&a);
	}
}

static int open_bench(void **state)
{
	static struct bench b;
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&b.arena, 0);
	hn_target_host(&b.arena, &b.host);
	b.quick = hn_quick_new();
	*state = &b;
	return hn_emitter_new(&b.host, &b.em, &err);
}

static int close_bench(void **state)
{
	struct bench *b = *state;

	hn_emitter_free(b->em);
	hn_quick_free(b->quick);
	hn_arena_fini(&b->arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_chains),
		cmocka_unit_test(random_programs),
		cmocka_unit_test(rows_and_columns_at_once),
		cmocka_unit_test(the_model_chooses),
		cmocka_unit_test(pads_of_long_rows_are_made_before),
	};

	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
