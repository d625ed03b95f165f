/* The run time of networks for GPUs on a driver without a device (tests/mock): what is opened,
 * uploaded and launched, with which sizes and parameters; that all is given back; and what a caller
 * is told of no driver, no memory, code that the driver does not take, and a device that failed. */
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
#define BYTES ((uint64_t)N * N * 4)

/* -- a network: t = x w0; then a step of two launches, y = t w1 and one that does nothing ------ */

static const int64_t dims[] = { N, N };
static const struct hone_model_tensor in[] = { { "x", "float32", dims, BYTES, 2 } };
static const struct hone_model_tensor out[] = { { "y", "float32", dims, BYTES, 2 } };
static const struct hone_model_kernel kernels[] = { { .name = "first" }, { .name = "second" } };
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 },	   { HONE_MODEL_ARENA, 0, 128 },
	{ HONE_MODEL_ARENA, 0, 128 }, { HONE_MODEL_WEIGHTS, 0, 64 + BYTES }, { HONE_MODEL_OUTPUT, 0, 0 },
};
static const struct hone_model_step steps[] = { { .name = "one", .kernel = 0, .first_arg = 0, .n_args = 3 },
						{ .name = "two", .kernel = 1, .first_arg = 3, .n_args = 3 } };
static const struct hone_model model = {
	.abi = HONE_MODEL_ABI,
	.n_inputs = 1,
	.n_outputs = 1,
	.n_kernels = 2,
	.n_steps = 2,
	.n_args = 6,
	.name = "net",
	.inputs = in,
	.outputs = out,
	.kernels = kernels,
	.steps = steps,
	.args = args,
	.weights_bytes = 64 + 2 * BYTES,
	.prepared_bytes = HONE_GPU_PREPARED_BYTES,
	.arena_bytes = 128 + BYTES,
	.stamp = 77,
};

static const struct hone_gpu_arg in_order[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };
static const struct hone_gpu_arg with_room[] = { { 2, 0 }, { -1, 256 }, { -1, 0 } };
static const struct hone_gpu_launch of_first[] = {
	{ .name = "k0", .args = in_order, .n_args = 3, .grid = { 4, 2, 1 }, .block = { 16, 8, 2 }, .shared_static = 0,
	  .shared_asked = 0 },
};
static const struct hone_gpu_launch of_second[] = {
	{ .name = "k0", .args = in_order, .n_args = 3, .grid = { 1, 1, 1 }, .block = { 64, 1, 1 }, .shared_static = 1024,
	  .shared_asked = 65536 },
	{ .name = "k1", .args = with_room, .n_args = 3, .grid = { 7, 5, 3 }, .block = { 32, 1, 1 }, .shared_static = 0,
	  .shared_asked = 512 },
};

/* The second step again, its right factor by a tensor map. */
static const uint64_t map_size[] = { N, N }, map_stride[] = { N * 4 };
static const uint32_t map_box[] = { 32, 16 };
static const struct hone_gpu_arg by_map[] = { { 0, 0 }, { 2, 0 } };
static const struct hone_gpu_map maps[] = {
	{ .of = { 1, 0 }, .elem = 4, .swizzle = 128, .n_dims = 2, .size = map_size, .stride = map_stride,
	  .box = map_box },
};
static const struct hone_gpu_launch with_map[] = {
	{ .name = "k0", .args = by_map, .n_args = 2, .n_maps = 1, .maps = maps, .grid = { 1, 1, 1 },
	  .block = { 64, 1, 1 } },
};

/* Its second kernel has this code. */
static struct hone_gpu_code codes[2] = { { "mock:matmul", 11, of_first, 1 },
					 { "mock:matmul", 11, of_second, 1 } };
static struct hone_gpu gpu = { HONE_GPU_ABI, "ptx", "sm_90", &model, codes, 4096, NULL };

struct memory {
	_Alignas(64) uint64_t weights[(64 + 2 * BYTES) / 8];
	_Alignas(64) unsigned char prepared[HONE_GPU_PREPARED_BYTES];
	_Alignas(64) float x[N * N], y[N * N];
};

/* w0 = 2, w1 = 3 on their diagonals: y = 6 x. */
static void fill(struct memory *m)
{
	float *w = (float *)(void *)m->weights + 16;

	memset(m, 0, sizeof *m);
	m->weights[1] = 77;
	for (int i = 0; i < N; i++) {
		w[i * N + i] = 2;
		w[N * N + i * N + i] = 3;
	}
	for (int i = 0; i < N * N; i++) {
		m->x[i] = (float)i;
	}
}

static void assert_right(const struct memory *m)
{
	for (int i = 0; i < N * N; i++) {
		assert_float_equal(m->y[i], 6 * (float)i, 0);
	}
}

static int32_t prepare(struct memory *m)
{
	return hone_gpu_prepare(&gpu, m->weights, m->prepared, NULL, NULL);
}

static int32_t run(struct memory *m, const void *prepared)
{
	const void *const from[] = { m->x };
	void *const to[] = { m->y };

	return hone_gpu_run(&gpu, m->weights, prepared, from, to, NULL, NULL);
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
	codes[1] = (struct hone_gpu_code){ "mock:matmul", 11, of_second, 1 };
	gpu.workspace_bytes = 4096;
	return 0;
}

/* -- what is well --------------------------------------------------------------------------- */

static void a_network_runs(void **state)
{
	static struct memory m;
	const struct mock_launch *l = seen->launch;

	(void)state;
	fill(&m);
	assert_int_equal(hone_gpu_arena_bytes(&gpu, 3), 0);
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(seen->uploads, 1); /* the weights, once */
	assert_int_equal(seen->allocations, 2);
	assert_int_equal(seen->pushed, 0); /* the thread has its own context back */
	assert_int_equal(run(&m, m.prepared), 0);
	assert_right(&m);
	memset(m.y, 0, sizeof m.y);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_right(&m);
	assert_int_equal(seen->uploads, 3);
	assert_int_equal(seen->downloads, 2);
	assert_int_equal(seen->graph_launches, 2); /* all launches are one */
	assert_int_equal(seen->n, 4);
	for (int d = 0; d < 3; d++) {
		assert_int_equal(l[0].grid[d], of_first[0].grid[d]);
		assert_int_equal(l[0].block[d], of_first[0].block[d]);
	}
	assert_int_equal(l[0].shared, 0);
	assert_int_equal(l[1].shared, 65536);
	assert_int_equal(l[1].function->most_shared, 65536);
	assert_int_equal(l[0].value[2], l[1].value[0]); /* t */
	assert_int_equal(l[1].value[1] - l[0].value[1], BYTES); /* the weights lie as in the file */
	assert_int_equal(hone_gpu_release(&gpu, m.prepared), 0);
	assert_int_equal(hone_gpu_release(&gpu, m.prepared), 0);
	assert_nothing_left();
}

/* Two launches of one step, the second in the workspace: it lies behind the arena, and nothing
 * else does. */
static void a_step_has_launches_and_room(void **state)
{
	static struct memory m;
	const struct mock_launch *l = seen->launch;

	(void)state;
	fill(&m);
	codes[1] = (struct hone_gpu_code){ "mock:nothing", 12, of_second, 2 };
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_int_equal(seen->n, 3);
	assert_string_equal(l[1].function->name, "k0");
	assert_string_equal(l[2].function->name, "k1");
	assert_int_equal(l[2].value[0], l[1].value[2]);
	assert_int_equal(l[2].value[1] - l[2].value[2], 256);
	assert_true(l[2].value[2] >= l[0].value[2] + BYTES);
	assert_true(l[0].value[0] >= l[2].value[2] + 4096 || l[0].value[0] + BYTES <= l[2].value[2]);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

/* A map is made of where the argument lies, and is the parameter behind the others; a driver that
 * makes none of it says so. */
static void a_kernel_takes_a_map(void **state)
{
	static struct memory m;
	static uint32_t wide[] = { 64, 16 };
	static struct hone_gpu_map wrong;
	struct hone_gpu_launch other = with_map[0];

	(void)state;
	fill(&m);
	codes[1] = (struct hone_gpu_code){ "mock:nothing", 12, with_map, 1 };
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(seen->maps, 1);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_int_equal(seen->launch[1].value[2] - seen->launch[0].value[1], BYTES);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
	wrong = maps[0]; /* rows of 256 bytes, where 128 are turned */
	wrong.box = wide;
	other.maps = &wrong;
	codes[1].launches = &other;
	assert_int_equal(prepare(&m), HONE_MODEL_DEVICE);
	assert_said("tensor map");
	assert_nothing_left();
}

static void without_graphs_launches_follow_each_other(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	setenv("MOCK_CUDA", "no-graphs", 1);
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_right(&m);
	assert_int_equal(seen->graph_launches, 0);
	assert_int_equal(seen->n, 2);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

static uint64_t count(void)
{
	static uint64_t n;

	return ++n;
}

static void each_step_is_timed(void **state)
{
	static struct memory m;
	const void *const from[] = { m.x };
	void *const to[] = { m.y };
	uint64_t time[2] = { 5, 0 };

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(hone_gpu_run_timed(&gpu, m.weights, m.prepared, from, to, NULL, NULL, count, time),
			 0);
	assert_right(&m);
	assert_int_equal(time[0], 6);
	assert_int_equal(time[1], 1);
	hone_gpu_release(&gpu, m.prepared);
}

static void a_run_may_open_and_close(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	assert_int_equal(run(&m, NULL), 0);
	assert_right(&m);
	assert_nothing_left();
}

static void *run_often(void *arg)
{
	struct memory *m = aligned_alloc(64, sizeof *m), *shared = arg;
	intptr_t wrong = 0;

	*m = *shared;
	for (int i = 0; i < 20; i++) {
		memset(m->y, 0, sizeof m->y);
		wrong += run(m, shared->prepared) != 0 || m->y[N * N - 1] != 6 * (float)(N * N - 1);
	}
	free(m);
	return (void *)wrong;
}

static void threads_take_turns(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	assert_right_in_threads(run_often, &m);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

/* -- what is not ---------------------------------------------------------------------------- */

static void what_the_caller_gives_is_looked_at(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	assert_int_equal(run(&m, m.prepared), HONE_MODEL_ALIGN);
	assert_said("net_prepare has not filled");
	assert_int_equal(hone_gpu_prepare(&gpu, m.weights, m.prepared + 8, NULL, NULL), HONE_MODEL_ALIGN);
	m.weights[1] = 78;
	assert_int_equal(prepare(&m), HONE_MODEL_WEIGHTS_DIFFER);
	assert_int_equal(run(&m, NULL), HONE_MODEL_WEIGHTS_DIFFER);
	assert_said("net's weights");
	assert_nothing_left();
}

/* They are on the device. */
static void weights_may_go_when_prepared(void **state)
{
	static struct memory m;
	const void *const from[] = { m.x };
	void *const to[] = { m.y };

	(void)state;
	fill(&m);
	assert_int_equal(prepare(&m), 0);
	memset(m.weights, 0, sizeof m.weights);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_right(&m);
	memset(m.y, 0, sizeof m.y);
	assert_int_equal(hone_gpu_run(&gpu, NULL, m.prepared, from, to, NULL, NULL), 0);
	assert_right(&m);
	hone_gpu_release(&gpu, m.prepared);
	assert_nothing_left();
}

static void there_is_no_device(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	setenv("MOCK_CUDA", "none", 1);
	assert_int_equal(prepare(&m), HONE_MODEL_DRIVER);
	assert_said("has no device");
	setenv("MOCK_CUDA", "init", 1);
	assert_int_equal(prepare(&m), HONE_MODEL_DRIVER);
	assert_said("cannot be used: error 999");
	assert_int_equal(run(&m, m.prepared), HONE_MODEL_ALIGN);
	assert_nothing_left();
}

static void there_is_no_memory(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	gpu.workspace_bytes = UINT64_C(2) << 30;
	assert_int_equal(prepare(&m), HONE_MODEL_MEMORY);
	assert_said("error 2");
	assert_nothing_left();
	gpu.workspace_bytes = UINT64_MAX - 5;
	assert_int_equal(prepare(&m), HONE_MODEL_MEMORY);
	assert_nothing_left();
}

static void a_driver_does_not_take_the_code(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m);
	codes[1].bytes = "anything";
	assert_int_equal(prepare(&m), HONE_MODEL_CODE);
	assert_said("does not take second, made for sm_90; the device is sm_90: error 218");
	assert_nothing_left();
}

/* A device that failed says so until the network is opened anew. */
static void a_device_fails(const char *code, const char *said)
{
	static struct memory m;

	fill(&m);
	codes[1].bytes = code;
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(run(&m, m.prepared), HONE_MODEL_DEVICE);
	assert_said(said);
	uint32_t n = seen->n;

	assert_int_equal(run(&m, m.prepared), HONE_MODEL_DEVICE);
	assert_said(said);
	assert_said("net_release");
	assert_int_equal(seen->n, n); /* nothing ran */
	hone_gpu_release(&gpu, m.prepared);
	codes[1].bytes = "mock:matmul";
	assert_int_equal(prepare(&m), 0);
	assert_int_equal(run(&m, m.prepared), 0);
	assert_right(&m);
	hone_gpu_release(&gpu, m.prepared);
	assert_int_equal(seen->allocations, 0);
	assert_int_equal(seen->contexts, 0);
}

static void a_kernel_reads_elsewhere(void **state)
{
	(void)state;
	a_device_fails("mock:illegal", "error 700");
}

static void a_device_is_lost(void **state)
{
	(void)state;
	a_device_fails("mock:lost", "error 999");
}

/* One call of the driver fails, whichever: a line says so, or it was not needed; and all that there
 * is of the network's is given back. */
static bool call_fails(uint32_t n, cuda_result code)
{
	static struct memory m;
	int32_t rc;
	bool all;

	fill(&m);
	memset(seen, 0, sizeof *seen);
	seen->fail_at = n;
	seen->fail_with = code;
	rc = prepare(&m);
	rc = rc != 0 ? rc : run(&m, m.prepared);
	hone_gpu_release(&gpu, m.prepared);
	all = seen->calls < n;
	if (rc == 0) {
		assert_right(&m);
	} else {
		assert_true(rc == HONE_MODEL_DRIVER || rc == HONE_MODEL_MEMORY ||
			    rc == HONE_MODEL_DEVICE);
		assert_said("CUDA: ");
		assert_said(code == CUDA_E_OUT_OF_MEMORY ? "error 2" : "error 999");
	}
	seen->fail_at = 0;
	assert_nothing_left();
	return all;
}

static void any_call_may_fail(void **state)
{
	static const cuda_result code[] = { CUDA_E_OUT_OF_MEMORY, MOCK_UNKNOWN };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(code); i++) {
		uint32_t n = 1;

		while (!call_fails(n, code[i])) {
			n++;
		}
		assert_in_range(n, 30, 100);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_network_runs, begin),
		cmocka_unit_test_setup(a_step_has_launches_and_room, begin),
		cmocka_unit_test_setup(a_kernel_takes_a_map, begin),
		cmocka_unit_test_setup(without_graphs_launches_follow_each_other, begin),
		cmocka_unit_test_setup(each_step_is_timed, begin),
		cmocka_unit_test_setup(a_run_may_open_and_close, begin),
		cmocka_unit_test_setup(threads_take_turns, begin),
		cmocka_unit_test_setup(what_the_caller_gives_is_looked_at, begin),
		cmocka_unit_test_setup(weights_may_go_when_prepared, begin),
		cmocka_unit_test_setup(there_is_no_device, begin),
		cmocka_unit_test_setup(there_is_no_memory, begin),
		cmocka_unit_test_setup(a_driver_does_not_take_the_code, begin),
		cmocka_unit_test_setup(a_kernel_reads_elsewhere, begin),
		cmocka_unit_test_setup(a_device_is_lost, begin),
		cmocka_unit_test_setup(any_call_may_fail, begin),
	};

	return mock_open(HONE_MOCK_CUDA) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
