/* The rule for tensor cores: what it makes of products of matrices is legal, verified as a device
 * program, printed as PTX, and right, whatever the lengths are; the shapes that it chooses fit machine
 * and sizes, and are those that the closed form says.  Nothing else is given to tensor cores. */
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
#include "sketch/heuristic.h"
#include "sketch/heuristic/warp_int.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/gpu_bed.h"
#include "tests/lib/lower_run.h"

#define FUEL 200000000
#define LIMIT_MS 20000
#define TARGET "cuda -isa=sm_90a -num_cores=132 -max_shared_memory_per_block=166912"

static int set_up(void **state)
{
	return gpu_bed(state, TARGET);
}

/* Legal, placed, verified, printed. */
static const struct hn_device *made(const char *text, const struct hn_state *s,
				    const struct hn_target *target, enum hn_gpu_form form,
				    struct hn_arena *a, struct hn_gpu_module *ret)
{
	struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };

	assert_int_equal(hn_looptree_build(s, a, &t, &err), 0);
	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
	    hn_device_place(t, a, &d, &err) != 0 ||
	    hn_device_verify(d, target, LIMIT_MS, &err) != 0 ||
	    hn_gpu_print(d, form, target, &how, a, ret, &err) != 0) {
		fail_msg("%s for %s: %s", text, target->isa, err.msg);
	}
	return d;
}

static void judge(struct bed *b, const char *text, const struct hn_dag *dag,
		  const struct hn_state *s, const struct run_args *want)
{
	struct hn_gpu_module m;
	const struct hn_device *d = made(text, s, &b->gpu, HN_GPU_PTX, &b->a, &m);
	struct hn_err err = { 0 };
	struct run_args got;

	assert_non_null(strstr(m.code, "mma.sync"));
	assert_non_null(strstr(m.code, "ldmatrix"));
	assert_null(strstr(m.code, ".local"));
	run_args_make(dag, 7, &got);
	if (hn_device_interpret(d, got.at, 0, FUEL, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	if (!(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
		fail_msg("%s: it differs by %g", text, run_difference(want, &got));
	}
	run_args_free(&got);
}

/* By an instruction of a warp. */
static bool is_of_warps(const struct hn_state *s)
{
	bool ret = false;

	for (uint32_t i = 0; i < s->trace->n_step; i++) {
		ret = ret || s->trace->step[i]->kind == HN_STEP_tensorize;
	}
	return ret;
}

static void products_are_right(void **state)
{
	static const char *const text[] = {
		"f(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		/* factors in the other order; columns of both */
		"f(float16 A[64,64], float16 B[128,64]) -> C { C(i,j) +=! float32(B(j,k)) * "
		"float32(A(i,k)) }",
		"f(float16 A[64,32], float16 B[64,96]) -> C { C(i,j) +=! float32(A(k,i)) * "
		"float32(B(k,j)) }",
		"f(int8 A[64,64], int8 B[64,64]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
		/* several products */
		"f(bfloat16 A[3,2,32,64], bfloat16 B[3,2,64,64]) -> C { C(a,b,i,j) +=! "
		"float32(A(a,b,i,k)) * float32(B(a,b,k,j)) }",
		/* one factor for all of them */
		"f(bfloat16 A[3,32,64], bfloat16 B[64,64]) -> C { C(a,i,j) +=! float32(A(a,i,k)) * "
		"float32(B(k,j)) }",
		/* float32 in parts, for a task that asks for it; columns of both */
		"f(float32 A[64,64], float32 B[64,64]) -> C { @tf32x3 C(i,j) +=! A(i,k) * B(k,j) }",
		"f(float32 A[64,64], float32 B[64,64]) -> C { @tf32x3 C(i,j) +=! A(k,i) * B(j,k) }",
		/* lengths that no tile divides; odd ones */
		"f(bfloat16 A[72,40], bfloat16 B[40,88]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		"f(float16 A[33,37], float16 B[37,35]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		/* what follows element by element */
		"f(bfloat16 A[64,64], bfloat16 B[64,64], float32 b[64]) -> D { C(i,j) +=! "
		"float32(A(i,k)) * float32(B(k,j)) D(i,j) = bfloat16(max(C(i,j) + b(j), 0)) }",
	};
	/* at least */
	static const uint32_t count[] = { 8, 8, 2, 4, 4, 4, 8, 8, 1, 1, 8 };
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		const struct hn_dag *dag = dag_open(text[i], &b->a);
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n = hn_heuristics(dag, &b->gpu, &b->a, s);
		struct run_args want;
		struct hn_err err;

		n = n > 0 && is_of_warps(s[0]) ? n : 0;
		if (n < count[i]) {
			fail_msg("%s: %u schedules", text[i], n);
		}
		run_args_make(dag, 7, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		for (uint32_t k = 0; k < n; k++) {
			judge(b, text[i], dag, s[k], &want);
		}
		run_args_free(&want);
	}
}

static void others_get_no_instruction(void **state)
{
	static const char *const text[] = {
		"f(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		"f(bfloat16 A[64,64], bfloat16 B[64,64]) -> C { C(i,j) = A(i,j) + B(i,j) }",
		/* the sum is in other types */
		"f(bfloat16 A[64,64], bfloat16 B[64,64]) -> C { C(i,j) +=! float64(A(i,k)) * "
		"float64(B(k,j)) }",
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n = hn_heuristics(dag_open(text[i], &b->a), &b->gpu, &b->a, s);

		for (uint32_t k = 0; k < n; k++) {
			assert_false(is_of_warps(s[k]));
		}
	}
}

/* Older GPUs and OpenCL multiply in threads, and what the rules make of it has a form there. */
static void machines_without_multiply_in_threads(void **state)
{
	static const struct {
		const char *target;
		enum hn_gpu_form form;
	} row[] = { { "cuda", HN_GPU_PTX }, { "opencl -warp_size=32", HN_GPU_OPENCL } };
	static const char *const text[] = {
		"f(bfloat16 A[64,64], bfloat16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
		"float32(B(k,j)) }",
		"f(int8 A[64,64], int8 B[64,64]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		"f(float32 A[64,64], float32 B[64,64]) -> C { @tf32x3 C(i,j) +=! A(i,k) * B(k,j) }",
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row) * HN_COUNT_OF(text); i++) {
		const char *of = text[i / HN_COUNT_OF(row)];
		const struct hn_state *s[HN_HEURISTIC_MAX];
		struct hn_gpu_module m;
		struct hn_target target;
		struct hn_err err;

		assert_int_equal(hn_target_parse(row[i % HN_COUNT_OF(row)].target, &b->a, &target,
						 &err),
				 0);
		uint32_t n = hn_heuristics(dag_open(of, &b->a), &target, &b->a, s);

		assert_true(n > 0);
		for (uint32_t k = 0; k < n; k++) {
			assert_false(is_of_warps(s[k]));
			(void)made(of, s[k], &target, row[i % HN_COUNT_OF(row)].form, &b->a, &m);
		}
	}
}

/* Shapes of a product of n x n x n, told as "rows x columns x terms". */
static void shapes_of(struct bed *b, int64_t n, int64_t cores, struct hn_warp_shape *ret,
		      uint32_t *ret_n)
{
	struct hn_heuristic_view v = { .n_spatial = 2, .n_axis = 3, .extent = { n, n, n } };
	struct hn_warp_product p = { .in = hn_intrin_of("mma_m16n8k16_bf16"),
				     .v = &v,
				     .rows = 0,
				     .columns = 1,
				     .terms = 2,
				     .batch = 1 };
	struct hn_target t = b->gpu;

	t.param[HN_PARAM_NUM_CORES] = (int32_t)cores;
	*ret_n = hn_warp_shapes(&t, &p, ret, HN_HEURISTIC_MAX);
}

/* Large products have large tiles; small ones so many blocks that all multiprocessors work. */
static void shapes_follow_sizes(void **state)
{
	struct hn_warp_shape s[HN_HEURISTIC_MAX];
	struct bed *b = *state;
	uint32_t n;

	shapes_of(b, 8192, 132, s, &n);
	assert_int_equal(n, HN_HEURISTIC_MAX);
	assert_true(s[0].rows * s[0].columns >= 128 * 128);
	assert_true(s[0].warp_rows * s[0].warp_columns >= 64 * 64);
	for (uint32_t i = 0; i < n; i++) {
		int64_t bytes = (s[i].rows + s[i].columns) * s[i].terms * 2 * s[i].stages;

		assert_true(bytes <= b->gpu.param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK]);
	}
	shapes_of(b, 512, 132, s, &n);
	assert_true(512 / s[0].rows * (512 / s[0].columns) >= 64);
	shapes_of(b, 512, 1, s, &n);
	assert_true(512 / s[0].rows * (512 / s[0].columns) <= 16);
	shapes_of(b, 24, 132, s, &n); /* no tile is much larger than the product */
	for (uint32_t i = 0; i < n; i++) {
		assert_true(s[i].rows <= 32 && s[i].columns <= 32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(others_get_no_instruction),
		cmocka_unit_test(machines_without_multiply_in_threads),
		cmocka_unit_test(shapes_follow_sizes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
