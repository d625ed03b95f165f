/* A network for ranges of sizes on a driver without a device (tests/mock): a size has steps and copies of
 * its own, memory serves the largest, and code is loaded when a size is first run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/cdefs.h"
#include "tests/lib/mock_bed.h"

#define N 64
#define HALF ((uint64_t)N * N * 2) /* bytes of 32 rows */
#define MATMUL { "mock:matmul", 11, launches, 1 }

/* -- a network: y = x w, of 64 rows by two steps, of 32 by one with a kernel of its own --------- */

static const int64_t dims[] = { N, N };
static const struct hone_model_tensor in[] = { { "x", "float32", dims, 2 * HALF, 2 } };
static const struct hone_model_tensor out[] = { { "y", "float32", dims, 2 * HALF, 2 } };
static const struct hone_model_kernel kernels[] = { { .name = "both" }, { .name = "small" } };
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_ARENA, 0, 0 },
	{ HONE_MODEL_ARENA, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_OUTPUT, 0, 0 },
	{ HONE_MODEL_INPUT, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_OUTPUT, 0, 0 },
};
static const struct hone_model_step steps[] = {
	{ .name = "one", .kernel = 0, .first_arg = 0, .n_args = 3 },
	{ .name = "two", .kernel = 0, .first_arg = 3, .n_args = 3 },
	{ .name = "only", .kernel = 1, .first_arg = 6, .n_args = 3 },
};
static const int64_t large[] = { 64 }, small[] = { 32 };
static const struct hone_model_size sizes[] = { { "the \"rows\"\n", 32, 64, 32 } };
static const struct hone_model_range ranges[] = { { large, large, 0, 2 }, { small, small, 2, 1 } };
static const struct hone_model model = {
	.abi = HONE_MODEL_ABI,
	.n_inputs = 1,
	.n_outputs = 1,
	.n_kernels = 2,
	.n_steps = 3,
	.n_args = 9,
	.name = "net",
	.inputs = in,
	.outputs = out,
	.kernels = kernels,
	.steps = steps,
	.args = args,
	.weights_bytes = 64 + 2 * HALF,
	.prepared_bytes = HONE_GPU_PREPARED_BYTES,
	.arena_bytes = 2 * HALF,
	.n_sizes = 1,
	.n_ranges = 2,
	.sizes = sizes,
	.ranges = ranges,
};

static const struct hone_gpu_arg in_order[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };
static const struct hone_gpu_launch launches[] = {
	{ .name = "k0", .args = in_order, .n_args = 3, .grid = { 4, 1, 1 }, .block = { 16, 1, 1 } },
};
static struct hone_gpu_code codes[2] = { MATMUL, MATMUL };
static const uint64_t all[] = { 2 * HALF }, half[] = { HALF };
static const struct hone_gpu_range copied[] = { { all, all }, { half, half } };
static const struct hone_gpu gpu = { HONE_GPU_ABI, "ptx", "sm_90", &model, codes, 0, copied };

struct memory {
	_Alignas(64) float weights[16 + N * N];
	_Alignas(64) unsigned char prepared[HONE_GPU_PREPARED_BYTES];
	_Alignas(64) float y[N * N];
};

/* w = 2 on its diagonal. */
static void fill(struct memory *m)
{
	memset(m, 0, sizeof *m);
	for (int i = 0; i < N; i++) {
		m->weights[16 + i * N + i] = 2;
	}
}

static int32_t prepare(struct memory *m)
{
	return hone_gpu_prepare(&gpu, m->weights, m->prepared, NULL, NULL);
}

/* The input is as long as the size says, and no longer. */
static int32_t run(struct memory *m, int64_t rows, const void *prepared)
{
	size_t n = (size_t)(rows == 32 ? 32 : 64) * N;
	float *x = malloc(n * sizeof *x);
	const void *const from[] = { x };
	void *const to[] = { m->y };
	int32_t rc;

	for (size_t i = 0; i < n; i++) {
		x[i] = (float)i;
	}
	memset(m->y, 0xff, sizeof m->y);
	rc = hone_gpu_run_sized(&gpu, &rows, m->weights, prepared, from, to, NULL, NULL);
	free(x);
	return rc;
}

/* y is x by 4, or by 2, and what lies behind is not touched. */
static void assert_right(const struct memory *m, int64_t rows)
{
	float by = rows == 32 ? 2 : 4;

	for (int i = 0; i < rows * N; i++) {
		assert_float_equal(m->y[i], by * (float)i, 0);
	}
	for (int64_t i = rows * N; i < N * N; i++) {
		uint32_t bits;

		memcpy(&bits, &m->y[i], sizeof bits);
		assert_int_equal(bits, UINT32_MAX);
	}
}

static void assert_said(const char *text)
{
	assert_says(&gpu, text);
}

static int begin(void **state)
{
	(void)state;
	unsetenv("MOCK_CUDA");
	memset(seen, 0, sizeof *seen);
	codes[0] = codes[1] = (struct hone_gpu_code)MATMUL;
	return 0;
}

/* -- what is well ----------------------------------------------------------------------------- */

static void each_size_has_its_steps(void **state)
{
	static struct memory m;
	static const int64_t order[] = { 32, 64, 64, 32 };

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(seen->modules, 1); /* of the largest size */
	assert_int_equal(seen->graphs, 1);
	assert_int_equal(seen->allocations, 2);
	for (size_t i = 0; i < HN_COUNT_OF(order); i++) {
		assert_int_equal(run(&m, order[i], m.prepared), 0);
		assert_right(&m, order[i]);
	}
	assert_int_equal(seen->modules, 2);
	assert_int_equal(seen->graphs, 2);
	assert_int_equal(seen->allocations, 2); /* runs ask for none */
	assert_int_equal(seen->graph_launches, 4);
	assert_int_equal(seen->n, 6);
	assert_int_equal(hone_gpu_release(&gpu, m.prepared), 0);
	assert_nothing_left();
}

static void a_run_may_open_and_close(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	codes[0].bytes = "anything"; /* that the size does not have */
	assert_int_equal(run(&m, 32, NULL), 0);
	assert_right(&m, 32);
	assert_nothing_left();
}

static void *run_often(void *arg)
{
	struct memory *m = aligned_alloc(64, sizeof *m), *shared = arg;
	intptr_t wrong = 0;

	fill(m);
	for (int i = 0; i < 20; i++) {
		int64_t rows = i % 2 == 0 ? 32 : 64;

		wrong += run(m, rows, shared->prepared) != 0 ||
			 m->y[rows * N - 1] != (rows == 32 ? 2 : 4) * (float)(rows * N - 1);
	}
	free(m);
	return (void *)wrong;
}

static void threads_run_several_sizes(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	assert_right_in_threads(run_often, &m);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

/* -- what is not ------------------------------------------------------------------------------ */

static void other_sizes_are_told(void **state)
{
	static struct memory m;
	static const int64_t none[] = { 0, 31, 33, 65, 96, -32, INT64_MAX, INT64_MIN };
	uint32_t uploads;

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	uploads = seen->uploads;
	for (size_t i = 0; i < HN_COUNT_OF(none); i++) {
		assert_int_equal(run(&m, none[i], m.prepared), HONE_MODEL_SIZE);
		assert_said("the \"rows\"  is ");
		assert_said("not 32 to 64 in steps of 32");
		assert_right(&m, 0);
	}
	assert_int_equal(hone_gpu_run(&gpu, m.weights, m.prepared, NULL, NULL, NULL, NULL), HONE_MODEL_SIZE);
	assert_said("net_run_sized takes them");
	assert_int_equal(hone_gpu_run_sized(&gpu, NULL, m.weights, m.prepared, NULL, NULL, NULL, NULL),
			 HONE_MODEL_SIZE);
	assert_int_equal(seen->uploads, uploads);
	assert_int_equal(run(&m, 64, m.prepared), 0);
	assert_right(&m, 64);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

/* Of one size; the others run, and it does when it can be loaded. */
static void a_driver_does_not_take_the_code(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	codes[1].bytes = "anything";
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(run(&m, 32, m.prepared), HONE_MODEL_CODE);
	assert_said("does not take small");
	assert_int_equal(run(&m, 64, m.prepared), 0);
	assert_right(&m, 64);
	codes[1].bytes = "mock:matmul";
	assert_int_equal(run(&m, 32, m.prepared), 0);
	assert_right(&m, 32);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

/* One call of the driver fails, whichever: a line says so, or it was not needed; and all is given
 * back. */
static bool call_fails(uint32_t n)
{
	static struct memory m;
	int32_t rc;
	bool done;

	fill(&m);
	memset(seen, 0, sizeof *seen);
	seen->fail_at = n;
	seen->fail_with = MOCK_UNKNOWN;
	rc = prepare(&m);
	rc = rc != 0 ? rc : run(&m, 64, m.prepared);
	rc = rc != 0 ? rc : run(&m, 32, m.prepared);
	hone_gpu_release(&gpu, m.prepared);
	done = seen->calls < n;
	if (rc == 0) {
		assert_right(&m, 32);
	} else {
		assert_true(rc == HONE_MODEL_DRIVER || rc == HONE_MODEL_DEVICE);
		assert_said("error 999");
	}
	seen->fail_at = 0;
	assert_nothing_left();
	return done;
}

static void any_call_may_fail(void **state)
{
	uint32_t n = 1;

	(void)state;
	while (!call_fails(n)) {
		n++;
	}
	assert_in_range(n, 35, 110);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_size_has_its_steps, begin),
		cmocka_unit_test_setup(a_run_may_open_and_close, begin),
		cmocka_unit_test_setup(threads_run_several_sizes, begin),
		cmocka_unit_test_setup(other_sizes_are_told, begin),
		cmocka_unit_test_setup(a_driver_does_not_take_the_code, begin),
		cmocka_unit_test_setup(any_call_may_fail, begin),
	};

	return mock_open(HONE_MOCK_CUDA) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
