/* The rule for warpgroups: what it makes of products of matrices is legal, verified as a device
 * program, printed, and right; its closed form follows sizes.  No machine has confirmed it: it is no
 * automatic schedule, it is what a search tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/dag/tolerance.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "search/auto.h"
#include "search/policy.h"
#include "sketch/heuristic.h"
#include "sketch/heuristic/warp_int.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/gpu_bed.h"
#include "tests/lib/gpu_case.h"
#include "tests/lib/lower_run.h"

#define MORE_FUEL 400000000
#define LIMIT_MS 20000
#define SIZES " -num_cores=132 -max_shared_memory_per_block=232448"
#define TARGET "cuda -isa=sm_90a" SIZES

static int set_up(void **state)
{
	return gpu_bed(state, TARGET);
}

static bool is_of_warpgroups(const struct hn_trace *t)
{
	bool ret = false;

	for (uint32_t i = 0; i < t->n_step; i++) {
		ret = ret || (t->step[i]->kind == HN_STEP_tensorize &&
			      strncmp(t->step[i]->text, "wgmma", 5) == 0);
	}
	return ret;
}

static void judge(struct bed *b, const char *text, const struct hn_dag *dag,
		  const struct hn_state *s, const struct run_args *want)
{
	struct hn_gpu_options how = { .contracts = true };
	struct hn_gpu_module m;
	const struct hn_device *d;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct run_args got;

	assert_int_equal(hn_looptree_build(s, &b->a, &t, &err), 0);
	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
	    hn_device_place(t, &b->a, &d, &err) != 0 ||
	    hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_PTX, &b->gpu, &how, &b->a, &m, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	assert_non_null(strstr(m.code, "wgmma.mma_async"));
	assert_null(strstr(m.code, ".local"));
	run_args_make(dag, 7, &got);
	if (hn_device_interpret(d, got.at, 0, MORE_FUEL, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	if (!(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
		fail_msg("%s: it differs by %g", text, run_difference(want, &got));
	}
	run_args_free(&got);
}

static void products_are_right(void **state)
{
	static const char *const text[] = {
		"f(bfloat16 A[128,128], bfloat16 B[128,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		/* as many turns as copies, and more */
		"f(bfloat16 A[64,256], bfloat16 B[256,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		"f(bfloat16 A[64,448], bfloat16 B[64,448]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(j,k)) }",
		/* factors in the other order; columns of both */
		"f(float16 A[128,64], float16 B[128,64]) -> C { C(i,j) +=! float32(B(j,k)) * "
		"float32(A(i,k)) }",
		"f(float16 A[64,128], float16 B[64,96]) -> C { C(i,j) +=! float32(A(k,i)) * "
		"float32(B(k,j)) }",
		"f(int8 A[128,128], int8 B[64,128]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
		/* several products; lengths that no tile divides */
		"f(bfloat16 A[2,64,64], bfloat16 B[2,64,64]) -> C { C(a,i,j) +=! "
		"float32(A(a,i,k)) * float32(B(a,k,j)) }",
		"f(bfloat16 A[72,72], bfloat16 B[72,88]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		"f(float16 A[68,36], float16 B[36,36]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		/* what follows element by element */
		"f(bfloat16 A[64,64], bfloat16 B[64,64], float32 b[64]) -> D { C(i,j) +=! "
		"float32(A(i,k)) * float32(B(k,j)) D(i,j) = bfloat16(max(C(i,j) + b(j), 0)) }",
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		const struct hn_dag *dag = dag_open(text[i], &b->a);
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n = hn_heuristics_unconfirmed(dag, &b->gpu, &b->a, s);
		struct run_args want;
		struct hn_err err;

		if (n < 1) {
			fail_msg("%s: %u schedules", text[i], n);
		}
		run_args_make(dag, 7, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		for (uint32_t k = 0; k < n; k++) {
			assert_true(is_of_warpgroups(s[k]->trace));
		}
		judge(b, text[i], dag, s[0], &want);
		judge(b, text[i], dag, s[n - 1], &want);
		run_args_free(&want);
	}
}

static const char plain[] = "f(bfloat16 A[256,256], bfloat16 B[256,256]) -> C { C(i,j) +=! "
			    "float32(A(i,k)) * float32(B(k,j)) }";

static void none_is_automatic(void **state)
{
	struct bed *b = *state;
	const struct hn_trace *trace[HN_AUTO_MAX];
	uint32_t n = hn_auto(dag_open(plain, &b->a), &b->gpu, &b->a, trace);

	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_false(is_of_warpgroups(trace[i]));
	}
}

/* The policy has these alone; a search has them in turn with the automatic ones. */
static void searches_try_them(void **state)
{
	struct bed *b = *state;
	const struct hn_task task = { .dag = dag_open(plain, &b->a), .target = &b->gpu };
	static const char *const policy[] = { "unconfirmed", "heuristic" };

	for (size_t i = 0; i < HN_COUNT_OF(policy); i++) {
		const struct hn_policy_ops *ops = hn_policy_ops(policy[i]);
		struct hn_candidate c[4];
		struct hn_policy *p;
		struct hn_err err;
		uint32_t n;

		assert_int_equal(ops->create(&task, &p, &err), 0);
		n = ops->ask(p, HN_COUNT_OF(c), &b->a, c);
		assert_int_equal(n, HN_COUNT_OF(c));
		for (uint32_t k = 0; k < n; k++) {
			assert_true(is_of_warpgroups(c[k].trace) == (i == 0 || k % 2 == 1));
		}
		ops->destroy(p);
	}
}

static void others_get_none(void **state)
{
	static const struct {
		const char *target, *text;
	} row[] = {
		{ "cuda -isa=sm_90" SIZES, plain },
		{ "cuda -isa=sm_80" SIZES, plain },
		{ "opencl -warp_size=32", plain },
		{ "cpu", plain },
		{ TARGET, "f(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		/* bytes lie along terms, or not at all */
		{ TARGET, "f(int8 A[64,64], int8 B[64,64]) -> C { C(i,j) +=! int32(A(i,k)) * "
			  "int32(B(k,j)) }" },
		{ TARGET, "f(bfloat16 A[64,64]) -> C { C(i,j) = A(i,j) + A(i,j) }" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_state *s[HN_HEURISTIC_MAX];
		struct hn_target target;
		struct hn_err err;

		if (hn_target_parse(row[i].target, &b->a, &target, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		assert_int_equal(hn_heuristics_unconfirmed(dag_open(row[i].text, &b->a), &target, &b->a,
							   s),
				 0);
	}
}

/* Of the peak, by the best shape of each way; the best of those whose factors come by threads. */
static double share_of(struct bed *b, int64_t n, bool boxes, struct hn_warp_shape *ret)
{
	struct hn_heuristic_view v = { .n_spatial = 2, .n_axis = 3, .extent = { n, n, n } };
	struct hn_warp_product p = { .in = hn_intrin_of("wgmma_m64n8k16_bf16"),
				     .v = &v,
				     .rows = 0,
				     .columns = 1,
				     .terms = 2,
				     .batch = 1,
				     .boxes = boxes };
	struct hn_warp_shape s[HN_HEURISTIC_MAX];
	double products = (double)n * (double)n * (double)n;

	assert_true(hn_wgmma_shapes(&b->gpu, &p, s, HN_HEURISTIC_MAX) == HN_HEURISTIC_MAX);
	*ret = s[0];
	assert_int_equal(ret->bulk, boxes);
	return products / (hn_wgmma_cycles(&b->gpu, &p, &s[0]) * 132 * 2048);
}

static double share(struct bed *b, int64_t n, struct hn_warp_shape *ret)
{
	return share_of(b, n, false, ret);
}

/* Boxes cost consumers less; registers and shared memory are enough for four stages. */
static void boxes_are_foreseen(void **state)
{
	static const int64_t size[] = { 1024, 2048, 4096, 8192 };
	struct hn_warp_shape s;
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(size); i++) {
		double plain_share = share(b, size[i], &s), bulk = share_of(b, size[i], true, &s);

		print_message("%lld: %.2f by threads, %.2f by boxes, tile %lld x %lld x %lld, %lld stages\n",
			      (long long)size[i], plain_share, bulk, (long long)s.rows,
			      (long long)s.columns, (long long)s.terms, (long long)s.stages);
		assert_true(bulk >= plain_share && bulk <= 1 && s.stages >= 3);
	}
}

/* The rule makes such schedules where rows are whole 16 bytes, and none where they are not. */
static void boxes_have_rows_of_16_bytes(void **state)
{
	static const struct {
		const char *text;
		bool has;
	} row[] = { { plain, true },
		    { "f(bfloat16 A[256,252], bfloat16 B[252,256]) -> C { C(i,j) +=! "
		      "float32(A(i,k)) * float32(B(k,j)) }",
		      false },
		    { "f(bfloat16 A[256,256], bfloat16 B[256,260]) -> C { C(i,j) +=! "
		      "float32(A(i,k)) * float32(B(k,j)) }",
		      false } };
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n = hn_heuristics_unconfirmed(dag_open(row[i].text, &b->a), &b->gpu, &b->a,
						       s);
		bool any = false;

		for (uint32_t k = 0; k < n; k++) {
			for (uint32_t j = 0; j < s[k]->trace->n_step; j++) {
				const struct hn_step *step = s[k]->trace->step[j];

				any = any || (step->kind == HN_STEP_pipeline &&
					      step->a[HN_PL_KIND] == HN_PIPELINE_BULK);
			}
		}
		assert_true(n > 0);
		assert_int_equal(any, row[i].has);
	}
}

/* Where the word stands in the text, a number behind it; -1: nowhere. */
static int number_behind(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at == NULL ? -1 : atoi(at + strlen(word));
}

/* ptxas wants room for a product in what a block begins with, whatever its roles deal out: its results
 * and 26 registers more.  So it is asked of each text, and of ptxas where it is. */
static void all_of_a_size_assemble(void **state)
{
	struct bed *b = *state;
	const struct hn_dag *dag = dag_open("f(float16 A[1024,1024], float16 B[1024,1024]) -> C { "
					    "C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
					    &b->a);
	const struct hn_state *s[HN_HEURISTIC_MAX];
	uint32_t n = hn_heuristics_unconfirmed(dag, &b->gpu, &b->a, s), n_roles = 0;
	bool has_ptxas = gpu_case_has_ptxas();

	for (uint32_t i = 0; i < n; i++) {
		struct hn_gpu_options how = { .contracts = true };
		const struct hn_device *d;
		const struct hn_looptree *t;
		struct hn_gpu_module m;
		struct hn_err err = { 0 };
		int begins, columns;

		assert_int_equal(hn_looptree_build(s[i], &b->a, &t, &err), 0);
		assert_int_equal(hn_device_place(t, &b->a, &d, &err), 0);
		assert_int_equal(hn_gpu_print(d, HN_GPU_PTX, &b->gpu, &how, &b->a, &m, &err), 0);
		begins = number_behind(m.code, ".maxnreg ");
		columns = number_behind(m.code, "wgmma.mma_async.sync.aligned.m64n");
		assert_true(columns > 0);
		n_roles += begins > 0;
		if (begins > 0 && begins < columns / 2 + 26) {
			fail_msg("schedule %u of %u begins with %d registers for %d columns", i, n, begins, columns);
		}
		if (has_ptxas && !gpu_case_assembles(&m, "sm_90a")) {
			fail_msg("schedule %u of %u", i, n);
		}
	}
	assert_true(n_roles >= 2);
}

/* Large products come near the peak; small ones have small tiles. */
static void shapes_follow_sizes(void **state)
{
	struct hn_warp_shape s;
	struct bed *b = *state;

	assert_true(share(b, 4096, &s) > 0.6);
	assert_true(s.rows * s.columns >= 128 * 128);
	assert_true(share(b, 8192, &s) > 0.7 && share(b, 8192, &s) <= 1);
	assert_true(share(b, 512, &s) < 0.4);
	assert_true(512 / s.rows * (512 / s.columns) >= 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(none_is_automatic),
		cmocka_unit_test(searches_try_them),
		cmocka_unit_test(others_get_none),
		cmocka_unit_test(shapes_follow_sizes),
		cmocka_unit_test(all_of_a_size_assemble),
		cmocka_unit_test(boxes_are_foreseen),
		cmocka_unit_test(boxes_have_rows_of_16_bytes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
