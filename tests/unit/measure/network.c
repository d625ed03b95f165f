/* A network's table with kernels of two libraries: each prepares for itself, and the numbers are
 * those of the kernels that were asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/cdefs.h"
#include "measure/board/network_int.h"

/* y += 1 or 10, and what was prepared, which is 100 or 1000 times the weight. */
#define KERNEL(name, plus, factor)                                                                 \
	static int32_t name(void *const *args, const struct hone_env *env)                         \
	{                                                                                          \
		*(float *)args[2] = *(const float *)args[0] + (plus) + *(const float *)env->prepared; \
		return 0;                                                                          \
	}                                                                                          \
	static int32_t prepare_##name(void *const *args, void *prepared, const struct hone_env *env) \
	{                                                                                          \
		(void)env;                                                                         \
		*(float *)prepared = *(const float *)args[1] * (factor);                           \
		return 0;                                                                          \
	}
KERNEL(first, 1, 100)
KERNEL(second, 10, 1000)

static const int64_t one[] = { 1 };
static const struct hone_model_tensor in = { "x", "float32", one, 4, 1 }, out = { "y", "float32", one, 4, 1 };
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 0 }, { HONE_MODEL_ARENA, 0, 0 },
	{ HONE_MODEL_ARENA, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_OUTPUT, 0, 0 },
};
static const struct hone_model_step steps[] = { { "a", 0, 0, 3, 1, 0 }, { "b", 1, 3, 3, 1, 64 } };
static const struct hone_model_step other_steps[] = { { "a", 1, 0, 3, 1, 0 }, { "b", 0, 3, 3, 1, 64 } };
static const struct hone_model_kernel kernels[2][2] = {
	{ { "a", first, prepare_first, NULL, 4, 0, 0, NULL }, { "b", first, prepare_first, NULL, 4, 0, 0, NULL } },
	{ { "a", second, prepare_second, NULL, 4, 0, 0, NULL }, { "b", second, prepare_second, NULL, 4, 0, 0, NULL } },
};
static const struct hn_netcalls none;
static _Alignas(64) float weights[2][32]; /* each library packs its own */

static struct hone_model model_of(const struct hone_model_kernel *k, const struct hone_model_step *s)
{
	return (struct hone_model){ .abi = HONE_MODEL_ABI, .n_inputs = 1, .n_outputs = 1,
				    .n_kernels = 2, .n_steps = 2, .n_args = 6, .name = "net",
				    .inputs = &in, .outputs = &out, .kernels = k, .steps = s,
				    .args = args, .weights_bytes = sizeof weights[0],
				    .prepared_bytes = 128, .arena_bytes = 64 };
}

/* What the mixture makes of a 0. */
static float answer(const struct hn_netlib *lib, uint32_t a, uint32_t b)
{
	const uint32_t from[] = { a, b };
	struct hn_netmix mix;
	struct hn_arena arena;
	struct hn_err err = { 0 };
	float y;

	hn_arena_init(&arena, 0);
	assert_int_equal(hn_netmix_make(lib, from, 2, 1, &arena, &mix, &err), 0);
	*(float *)(uintptr_t)mix.in[0] = 0;
	assert_int_equal(hone_model_prepare(&mix.model, mix.weights, mix.prepared, mix.arena, NULL), 0);
	assert_int_equal(hone_model_run(&mix.model, mix.weights, mix.prepared, mix.in, mix.out,
					mix.arena, NULL), 0);
	y = *(float *)mix.out[0];
	hn_arena_fini(&arena);
	return y;
}

static void kernels_are_of_the_library_that_is_asked_for(void **state)
{
	const struct hone_model model[2] = { model_of(kernels[0], steps), model_of(kernels[1], steps) };
	const struct hn_netlib lib[2] = { { &model[0], weights[0], none }, { &model[1], weights[1], none } };

	(void)state;
	weights[0][0] = 1;
	weights[0][16] = 2;
	weights[1][0] = 3;
	weights[1][16] = 4;
	assert_true(answer(lib, 0, 0) == 1 + 100 + 1 + 200);
	assert_true(answer(lib, 1, 1) == 10 + 3000 + 10 + 4000);
	assert_true(answer(lib, 0, 1) == 1 + 100 + 10 + 4000);
	assert_true(answer(lib, 1, 0) == 10 + 3000 + 1 + 200);
}

static void libraries_with_other_steps_are_refused(void **state)
{
	const struct hone_model model[2] = { model_of(kernels[0], steps),
					     model_of(kernels[1], other_steps) };
	const struct hn_netlib lib[2] = { { &model[0], weights[0], none }, { &model[1], weights[1], none } };
	const uint32_t from[] = { 0, 1, 0 };
	struct hn_netmix mix;
	struct hn_arena arena;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&arena, 0);
	assert_int_equal(hn_netmix_make(lib, from, 2, 1, &arena, &mix, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "libraries 0 and 1 of one run have other steps");
	assert_int_equal(hn_netmix_make(lib, from, 3, 1, &arena, &mix, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "a run names 3 kernels, the network has 2");
	hn_arena_fini(&arena);
}

/* What a GPU's library was asked for; it fails with rc. */
static struct {
	uint32_t prepared, ran, timed;
	int32_t rc;
} asked;

static int32_t prepare(const void *w, void *prepared, void *arena, const struct hone_env *env)
{
	(void)env;
	assert_ptr_equal(w, weights[1]);
	assert_non_null(prepared);
	assert_null(arena);
	asked.prepared++;
	return 0;
}

static int32_t run(const void *w, const void *prepared, const void *const *x, void *const *y, void *arena,
		   const struct hone_env *env)
{
	(void)env;
	assert_ptr_equal(w, weights[1]);
	assert_true(prepared != NULL && x[0] != NULL && y[0] != NULL && arena == NULL);
	asked.ran++;
	return asked.rc;
}

static int32_t run_timed(const void *w, const void *prepared, const void *const *x, void *const *y,
			 void *arena, const struct hone_env *env, uint64_t (*now)(void), uint64_t *time)
{
	int32_t rc = run(w, prepared, x, y, arena, env);

	asked.ran--;
	asked.timed++;
	time[1] += now();
	return rc;
}

static const char *error(void)
{
	return "CUDA: the device is lost";
}

static uint64_t seven(void)
{
	static uint64_t n;

	return n += 7;
}

/* Its own functions run it, by one library; a step's times are of a run of their own. */
static void a_gpu_runs_by_its_library(void **state)
{
	const struct hone_model model = model_of(kernels[0], steps);
	const struct hn_netcalls calls = { prepare, run, run_timed, error };
	const struct hn_netlib lib[2] = { { &model, weights[0], calls }, { &model, weights[1], calls } };
	const uint32_t both[] = { 0, 1 }, second[] = { 1, 1 };
	uint64_t ns = 0, step_ns[2] = { 0, 0 };
	struct hn_netmix mix;
	struct hn_arena arena;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&arena, 0);
	assert_int_equal(hn_netmix_make(lib, both, 2, 1, &arena, &mix, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg, "libraries 0 and 1: a GPU's network has kernels of one");
	assert_int_equal(hn_netmix_make(lib, second, 2, 1, &arena, &mix, &err), 0);
	assert_int_equal(hn_netmix_prepare(&mix, NULL), 0);
	assert_int_equal(hn_netmix_run(&mix, NULL, seven, &ns, step_ns), 0);
	assert_int_equal(asked.prepared, 1);
	assert_int_equal(asked.ran, 1);
	assert_int_equal(asked.timed, 1);
	assert_int_equal(ns, 7);
	assert_int_equal(step_ns[0], 0);
	assert_int_equal(step_ns[1], 21);
	asked.rc = HONE_MODEL_DEVICE;
	assert_int_equal(hn_netmix_run(&mix, NULL, seven, &ns, step_ns), HONE_MODEL_DEVICE);
	assert_int_equal(asked.timed, 1);
	assert_string_equal(hn_netmix_why(&mix, HONE_MODEL_DEVICE, &arena), "CUDA: the device is lost");
	hn_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_of_the_library_that_is_asked_for),
		cmocka_unit_test(libraries_with_other_steps_are_refused),
		cmocka_unit_test(a_gpu_runs_by_its_library),
	};

	return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
