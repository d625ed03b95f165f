/* The run time of compiled networks, with kernels that write down how they were called: where
 * arguments lie, what is prepared and for whom, workspace, failures, two threads at a time, and
 * what a step costs beside its kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cdefs.h"
#include "base/clock.h"
#include "hone/model.h"

#define N 16 /* floats in a tensor */

static _Thread_local struct {
	unsigned n_run, n_prepare, n_init;
	void *arg[8];
	struct hone_env env;
	int32_t fails, refuses;
} seen;

/* C = A + B; with prepared data, C = A + prepared. */
static int32_t sum_packed(void *const *args, const struct hone_env *env)
{
	const float *a = args[0], *b = env->prepared != NULL ? env->prepared : args[1];
	float *c = args[2];

	memcpy(seen.arg, args, 3 * sizeof *args);
	seen.env = *env;
	seen.n_run++;
	for (int i = 0; i < N; i++) {
		c[i] = a[i] + b[i];
	}
	return seen.fails;
}

static int32_t sum_prepare(void *const *args, void *prepared, const struct hone_env *env)
{
	seen.n_prepare++;
	seen.env = *env;
	memcpy(seen.arg, args, 3 * sizeof *args);
	memcpy(prepared, args[1], N * sizeof(float));
	return seen.fails;
}

static int32_t sum_init(void)
{
	seen.n_init++;
	return seen.refuses;
}

static int32_t twice_packed(void *const *args, const struct hone_env *env)
{
	const float *a = args[0];
	float *c = args[1];

	seen.env = *env;
	seen.n_run++;
	for (int i = 0; i < N; i++) {
		c[i] = 2 * a[i];
	}
	return 0;
}

static const int64_t dims[] = { N };
static const struct hone_model_tensor in[] = { { "x", "float32", dims, 4 * N, 1 } };
static const struct hone_model_tensor out[] = { { "y", "float32", dims, 4 * N, 1 },
						{ "z", "float32", dims, 4 * N, 1 } };
static const struct hone_model_kernel kernels[] = {
	{ "sum", sum_packed, sum_prepare, sum_init, 4 * N, 128, 64, NULL },
	{ "twice", twice_packed, NULL, NULL, 0, 0, 256, NULL },
};

/* t = x + w0; y = 2 t; z = y + w0, w0 prepared once; u = z + w1. */
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 },    { HONE_MODEL_WEIGHTS, 0, 64 },
	{ HONE_MODEL_ARENA, 0, 128 },  { HONE_MODEL_ARENA, 0, 128 },
	{ HONE_MODEL_OUTPUT, 0, 0 },   { HONE_MODEL_OUTPUT, 0, 0 },
	{ HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_OUTPUT, 1, 0 },
	{ HONE_MODEL_OUTPUT, 1, 0 },   { HONE_MODEL_WEIGHTS, 0, 128 },
	{ HONE_MODEL_ARENA, 0, 64 },
};
static const struct hone_model_step steps[] = {
	{ "first", 0, 0, 3, 1, 64 },
	{ "second", 1, 3, 2, 0, 0 },
	{ "third", 0, 5, 3, 0, 64 },
	{ "fourth", 0, 8, 3, 1, 0 },
};
static const struct hone_model model = {
	HONE_MODEL_ABI, 1,     2,    2,	  4,   11, "small", in, out,
	kernels,	steps, args, 192, 128, 192, 0,
	0,		0,     NULL, NULL
};

struct memory {
	_Alignas(64) char weights[192];
	_Alignas(64) char prepared[128];
	_Alignas(64) char arena[192 + 128 + 64 * 8];
	_Alignas(64) float x[N], y[N], z[N];
};

static void fill(struct memory *m, int seed)
{
	float *w = (float *)(void *)m->weights;

	memset(m, 0, sizeof *m);
	for (int i = 0; i < N; i++) {
		w[16 + i] = (float)(10 * i);
		w[32 + i] = -1;
		m->x[i] = (float)(i + seed);
	}
}

static int32_t prepare(struct memory *m, const struct hone_env *env)
{
	return hone_model_prepare(&model, m->weights, m->prepared, m->arena, env);
}

static int32_t run(struct memory *m, const void *prepared, const struct hone_env *env)
{
	const void *const from[] = { m->x };
	void *const to[] = { m->y, m->z };

	return hone_model_run(&model, m->weights, prepared, from, to, m->arena, env);
}

static bool is_right(const struct memory *m, int seed)
{
	for (int i = 0; i < N; i++) {
		float y = 2 * ((float)(i + seed) + (float)(10 * i));

		if (m->y[i] != y || m->z[i] != y + (float)(10 * i)) {
			return false;
		}
	}
	return true;
}

static void steps_get_what_is_theirs(void **state)
{
	static struct memory m;
	const struct hone_env env = {
		.abi = 1, .n_workers = 3, .workspace = &m, .workspace_bytes = 9
	};

	(void)state;
	fill(&m, 3);
	memset(&seen, 0, sizeof seen);
	assert_int_equal(prepare(&m, &env), 0);
	assert_int_equal(seen.n_prepare, 2); /* two blocks for three steps */
	assert_int_equal(seen.n_init, 1);
	assert_null(seen.arg[0]); /* outputs are nowhere yet */
	assert_ptr_equal(seen.arg[1], m.weights + 128);
	assert_memory_equal(m.prepared, m.weights + 128, 64);
	assert_memory_equal(m.prepared + 64, m.weights + 64, 64);
	assert_int_equal(run(&m, m.prepared, &env), 0);
	assert_int_equal(seen.n_run, 4);
	assert_ptr_equal(seen.arg[0], m.z);
	assert_ptr_equal(seen.arg[2], m.arena + 64);
	assert_ptr_equal(seen.env.prepared, m.prepared);
	assert_int_equal(seen.env.prepared_bytes, 64);
	assert_int_equal(seen.env.abi, HONE_KERNEL_ABI);
	assert_int_equal(seen.env.n_workers, 3);
	assert_ptr_equal(seen.env.workspace, m.arena + 192);
	assert_int_equal(seen.env.workspace_bytes, 3 * 256);
	assert_true(is_right(&m, 3));
}

static void a_model_runs_unprepared_and_alone(void **state)
{
	static struct memory m;

	(void)state;
	fill(&m, 4);
	assert_int_equal(run(&m, NULL, NULL), 0);
	assert_null(seen.env.prepared);
	assert_int_equal(seen.env.n_workers, 1);
	assert_null(seen.env.parallel_for);
	assert_true(is_right(&m, 4));
}

static void sizes_do_not_wrap(void **state)
{
	static const struct hone_model_kernel huge = { .worker_bytes = UINT64_MAX / 2 };
	struct hone_model m = { .kernels = &huge, .n_kernels = 1, .arena_bytes = 64 };

	(void)state;
	assert_int_equal(hone_model_arena_bytes(&model, 1), 192 + 256);
	assert_int_equal(hone_model_arena_bytes(&model, -5), 192 + 256);
	assert_int_equal(hone_model_arena_bytes(&model, 2), 192 + 512);
	assert_true(hone_model_arena_bytes(&m, 3) == UINT64_MAX);
	m.n_kernels = 0;
	assert_int_equal(hone_model_arena_bytes(&m, 3), 64);
}

static void what_is_wrong_is_said(void **state)
{
	static struct memory m;
	struct hone_model old = model;
	const void *const from[] = { m.x };
	void *const to[] = { m.y, m.z };

	(void)state;
	fill(&m, 0);
	memset(&seen, 0, sizeof seen);
	old.abi++;
	assert_int_equal(hone_model_run(&old, m.weights, NULL, from, to, m.arena, NULL),
			 HONE_MODEL_VERSION);
	assert_int_equal(hone_model_prepare(&old, m.weights, m.prepared, m.arena, NULL),
			 HONE_MODEL_VERSION);
	assert_int_equal(
		hone_model_run(&model, m.weights, NULL, from, to, m.arena + 32, NULL),
		HONE_MODEL_ALIGN);
	assert_int_equal(hone_model_run(&model, m.weights, NULL, from, to, NULL, NULL),
			 HONE_MODEL_ALIGN);
	assert_int_equal(run(&m, m.prepared + 8, NULL), HONE_MODEL_ALIGN);
	assert_int_equal(hone_model_prepare(&model, m.weights, NULL, m.arena, NULL),
			 HONE_MODEL_ALIGN);
	assert_int_equal(seen.n_run + seen.n_prepare + seen.n_init, 0);
	seen.refuses = -1;
	assert_int_equal(prepare(&m, NULL), HONE_MODEL_INIT);
	assert_int_equal(seen.n_prepare, 0);
	seen.refuses = 0;
	seen.fails = HONE_KERNEL_NOMEM;
	assert_int_equal(prepare(&m, NULL), HONE_KERNEL_NOMEM);
	assert_int_equal(seen.n_prepare, 1);
	assert_int_equal(run(&m, NULL, NULL), HONE_KERNEL_NOMEM);
	assert_int_equal(seen.n_run, 1); /* and no step after it */
	seen.fails = 0;
}

static uint64_t ticks(void)
{
	static _Thread_local uint64_t t;

	return t += 5;
}

static void steps_are_timed(void **state)
{
	static struct memory m;
	const void *const from[] = { m.x };
	void *const to[] = { m.y, m.z };
	uint64_t time[4] = { 1 };

	(void)state;
	fill(&m, 1);
	assert_int_equal(hone_model_run_timed(&model, m.weights, NULL, from, to, m.arena,
					      NULL, ticks, time),
			 0);
	assert_int_equal(time[0], 6);
	assert_int_equal(time[3], 5);
	assert_true(is_right(&m, 1));
}

static void *run_often(void *arg)
{
	struct memory *m = arg;
	int seed = (int)m->x[0];

	for (int i = 0; i < 20000; i++) {
		m->y[3] = m->z[5] = 0;
		if (run(m, m->prepared, NULL) != 0 || !is_right(m, seed)) {
			return "wrong";
		}
	}
	return NULL;
}

/* The model with its blocks in weights: what was prepared lies there, and nobody prepares. */
static void blocks_come_with_the_weights(void **state)
{
	static struct hone_model_step stored[HN_COUNT_OF(steps)];
	static struct hone_model_arg less[HN_COUNT_OF(args)];
	static struct memory m;
	struct hone_model with = model;

	(void)state;
	fill(&m, 3);
	memcpy(stored, steps, sizeof steps);
	memcpy(less, args, sizeof args);
	for (size_t i = 0; i < HN_COUNT_OF(stored); i++) {
		if (stored[i].kernel == 0) {
			stored[i].prepares = HONE_MODEL_STORED;
			stored[i].prepared = i == 3 ? 128 : 64; /* what sum prepares is its weight */
			less[stored[i].first_arg + 1].place = HONE_MODEL_NOWHERE;
		}
	}
	with.steps = stored;
	with.args = less;
	with.prepared_bytes = 0;
	seen.n_prepare = 0;
	assert_int_equal(hone_model_prepare(&with, m.weights, NULL, m.arena, NULL), 0);
	assert_int_equal(seen.n_prepare, 0);
	assert_int_equal(hone_model_run(&with, m.weights, NULL, (const void *[]){ m.x },
					(void *[]){ m.y, m.z }, m.arena, NULL),
			 0);
	assert_true(is_right(&m, 3));
	assert_null(seen.arg[1]);
	assert_ptr_equal(seen.env.prepared, m.weights + 128);
	assert_int_equal(seen.env.prepared_bytes, 4 * N);
}

/* Another network's weights, or none. */
static void foreign_weights_are_told(void **state)
{
	static struct memory m;
	struct hone_model with = model;
	const void *const from[] = { m.x };
	void *const to[] = { m.y, m.z };

	(void)state;
	fill(&m, 3);
	with.stamp = 77;
	((uint64_t *)(void *)m.weights)[1] = 77;
	assert_int_equal(hone_model_prepare(&with, m.weights, m.prepared, m.arena, NULL), 0);
	assert_int_equal(hone_model_run(&with, m.weights, m.prepared, from, to, m.arena, NULL), 0);
	((uint64_t *)(void *)m.weights)[1] = 78;
	assert_int_equal(hone_model_prepare(&with, m.weights, m.prepared, m.arena, NULL),
			 HONE_MODEL_WEIGHTS_DIFFER);
	for (int i = 0; i < 3; i++) {
		const char *weights = i == 0 ? m.weights : i == 1 ? m.weights + 8 : NULL;

		assert_int_equal(hone_model_run(&with, weights, m.prepared, from, to, m.arena, NULL),
				 HONE_MODEL_WEIGHTS_DIFFER);
	}
}

static void two_threads_run_one_model(void **state)
{
	static struct memory m[2];
	pthread_t thread[2];
	void *said;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fill(&m[i], 7 * i);
		assert_int_equal(prepare(&m[i], NULL), 0);
		assert_int_equal(pthread_create(&thread[i], NULL, run_often, &m[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &said);
		assert_null(said);
	}
}

static int32_t nothing(void *const *a, const struct hone_env *env)
{
	__asm__ volatile("" ::"r"(a), "r"(env) : "memory");
	return 0;
}

/* 200 steps of a kernel of its own each, three arguments, nothing in them. */
static void a_step_costs_little(void **state)
{
	enum { STEPS = 200, RUNS = 2000 };
	static struct hone_model_kernel kernel[STEPS];
	static struct hone_model_step step[STEPS];
	static struct hone_model_arg arg[3 * STEPS];
	static struct memory m;
	const struct hone_model empty = { .abi = HONE_MODEL_ABI,
					  .n_kernels = STEPS,
					  .n_steps = STEPS,
					  .n_args = 3 * STEPS,
					  .kernels = kernel,
					  .steps = step,
					  .args = arg };
	double best = 1e9;

	(void)state;
	for (uint32_t i = 0; i < STEPS; i++) {
		kernel[i].packed = nothing;
		step[i] = (struct hone_model_step){ .kernel = i,
						    .first_arg = 3 * i,
						    .n_args = 3 };
		arg[3 * i] = (struct hone_model_arg){ .place = HONE_MODEL_ARENA };
		arg[3 * i + 1] = (struct hone_model_arg){ .place = HONE_MODEL_WEIGHTS };
		arg[3 * i + 2] = (struct hone_model_arg){ .place = HONE_MODEL_ARENA,
							  .offset = 64 };
	}
	for (int k = 0; k < 5; k++) {
		int64_t start = hn_clock_ns();

		for (int i = 0; i < RUNS; i++) {
			assert_int_equal(hone_model_run(&empty, m.weights, NULL, NULL,
							NULL, m.arena, NULL),
					 0);
		}
		double ns = (double)(hn_clock_ns() - start) / RUNS / STEPS;

		best = ns < best ? ns : best;
	}
	print_message("%.2f ns a step of an empty kernel, %d steps\n", best, STEPS);
}

/* C89 but for <stdint.h>, and C++: as hone/pool.h. */
static void the_header_is_for_anyone(void **state)
{
	static const char *const by[] = {
		HONE_CC " -x c -std=c89 -pedantic-errors -Wall -Wextra -Werror",
		HONE_CC " -x c++ -Wall -Wextra -Werror",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(by); i++) {
		char command[600];

		snprintf(command, sizeof command,
			 "echo '#include \"hone/model.h\"' | %s -Wno-long-long "
			 "-fsyntax-only "
			 "-I'" HONE_SOURCE_DIR "/include' - 2>&1",
			 by[i]);
		FILE *cc = popen(command, "r");

		assert_non_null(cc);
		assert_int_equal(pclose(cc), 0);
	}
}

static struct {
	unsigned n;
	uint32_t step[8];
	int64_t sizes[2];
} ran;

static int32_t note(uint32_t step, const int64_t *sizes)
{
	ran.step[ran.n++] = step;
	memcpy(ran.sizes, sizes, sizeof(ran.sizes));
	return 0;
}

static int32_t note_0(const int64_t *sizes, void *const *a, const struct hone_env *env)
{
	(void)a;
	(void)env;
	return note(0, sizes);
}

static int32_t note_1(const int64_t *sizes, void *const *a, const struct hone_env *env)
{
	(void)a;
	(void)env;
	return note(1, sizes);
}

/* Batch 1..4 by sequence 1..9: step 1 where the sequence is 1, else step 0 and then step 1. */
static void sizes_choose_the_steps(void **state)
{
	static const struct hone_model_kernel kernel[] = { { .name = "a", .sized = note_0 },
							   { .name = "b", .sized = note_1 } };
	static const struct hone_model_step step[] = { { .kernel = 0 }, { .kernel = 1 } };
	static const struct hone_model_size size[] = { { "batch", 1, 4, 1 },
						       { "sequence", 1, 9, 1 } };
	static const int64_t bound[][2] = { { 1, 2 }, { 4, 9 }, { 1, 1 }, { 4, 1 } };
	static const struct hone_model_range range[] = { { bound[0], bound[1], 0, 2 },
							 { bound[2], bound[3], 1, 1 } };
	static const struct hone_model sized = { .abi = HONE_MODEL_ABI,
						 .n_kernels = 2,
						 .n_steps = 2,
						 .kernels = kernel,
						 .steps = step,
						 .n_sizes = 2,
						 .n_ranges = 2,
						 .sizes = size,
						 .ranges = range };
	static const int64_t outside[][2] = { { 0, 1 },  { 5, 1 },	   { 1, 0 },
					      { 1, 10 }, { INT64_MIN, 3 }, { 2, INT64_MAX } };

	(void)state;
	for (int64_t b = 1; b <= 4; b++) {
		for (int64_t s = 1; s <= 9; s++) {
			ran.n = 0;
			assert_int_equal(hone_model_run_sized(&sized, (int64_t[]){ b, s }, NULL, NULL,
							      NULL, NULL, NULL, NULL),
					 0);
			assert_int_equal(ran.n, s == 1 ? 1 : 2);
			assert_int_equal(ran.step[0], s == 1 ? 1 : 0);
			assert_int_equal(ran.sizes[0], b);
			assert_int_equal(ran.sizes[1], s);
		}
	}
	ran.n = 0;
	for (size_t i = 0; i < HN_COUNT_OF(outside); i++) {
		assert_int_equal(hone_model_run_sized(&sized, outside[i], NULL, NULL, NULL, NULL,
						      NULL, NULL),
				 HONE_MODEL_SIZE);
	}
	assert_int_equal(hone_model_run(&sized, NULL, NULL, NULL, NULL, NULL, NULL),
			 HONE_MODEL_SIZE);
	assert_int_equal(ran.n, 0);
}

/* 32, 64 or 96: the kernel is told 1, 2 or 3. */
static void sizes_are_counted_in_steps(void **state)
{
	static const struct hone_model_kernel kernel[] = { { .name = "a", .sized = note_0 } };
	static const struct hone_model_step step[] = { { .kernel = 0 } };
	static const struct hone_model_size size[] = { { "height", 32, 96, 32 }, { "width", 2, 7, 1 } };
	static const int64_t bound[][2] = { { 32, 2 }, { 96, 7 } };
	static const struct hone_model_range range[] = { { bound[0], bound[1], 0, 1 } };
	static const struct hone_model sized = { .abi = HONE_MODEL_ABI,
						 .n_kernels = 1,
						 .n_steps = 1,
						 .kernels = kernel,
						 .steps = step,
						 .n_sizes = 2,
						 .n_ranges = 1,
						 .sizes = size,
						 .ranges = range };

	(void)state;
	for (int64_t h = 0; h < 130; h++) {
		bool there = h > 0 && h <= 96 && h % 32 == 0;
		int64_t given[] = { h, 5 };

		ran.n = 0;
		assert_int_equal(hone_model_run_sized(&sized, given, NULL, NULL, NULL, NULL, NULL, NULL),
				 there ? 0 : HONE_MODEL_SIZE);
		assert_int_equal(ran.n, there ? 1 : 0);
		if (there) {
			assert_int_equal(ran.sizes[0], h / 32);
			assert_int_equal(ran.sizes[1], 5);
		}
		assert_int_equal(given[0], h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_get_what_is_theirs),
		cmocka_unit_test(a_model_runs_unprepared_and_alone),
		cmocka_unit_test(sizes_do_not_wrap),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(steps_are_timed),
		cmocka_unit_test(blocks_come_with_the_weights),
		cmocka_unit_test(foreign_weights_are_told),
		cmocka_unit_test(two_threads_run_one_model),
		cmocka_unit_test(a_step_costs_little),
		cmocka_unit_test(sizes_choose_the_steps),
		cmocka_unit_test(sizes_are_counted_in_steps),
		cmocka_unit_test(the_header_is_for_anyone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
