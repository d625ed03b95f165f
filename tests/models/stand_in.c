/* models/stand_in.c -- a network as hone writes it, by hand: what check_run.py tries run.py on.
 *
 * y = w + x, four floats, one step.  FAULT says what is wrong with it: one of those below, or none.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hone/model.h"

enum fault {
	NONE,
	WRONG,
	STATUS,
	CRASH,
	HANG,
	OUTSIDE,
	STATEFUL,
	INPUT_WRITTEN,
	UNWRITTEN
};

static int32_t packed(void *const *args, const struct hone_env *env)
{
	static float calls;
	const float *w = args[1];
	float *x = args[0], *y = args[2];
	int n = FAULT == OUTSIDE ? 5 : FAULT == UNWRITTEN ? 3 : 4;

	for (int i = 0; i < n; i++) {
		y[i] = x[i % 4] + w[0] + (FAULT == WRONG ? 0.01F : 0) +
		       (FAULT == STATEFUL ? calls : 0);
	}
	calls += 1e-6F;
	if (FAULT == INPUT_WRITTEN) {
		x[0] += 1;
	}
	if (FAULT == CRASH) {
		abort();
	}
	if (FAULT == HANG) {
		pause();
	}
	return FAULT == STATUS || env == NULL ? -1 : 0;
}

static const int64_t dims[] = { 4 };
static const struct hone_model_tensor in = { "x", "float32", dims, 16, 1 };
static const struct hone_model_tensor out = { "y", "float32", dims, 16, 1 };
static const struct hone_model_kernel kernel = { .name = "add", .packed = packed };
static const struct hone_model_step step = { .name = "add_0", .n_args = 3 };
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 },
	{ HONE_MODEL_WEIGHTS, 0, 0 },
	{ HONE_MODEL_OUTPUT, 0, 0 },
};

extern const struct hone_model stand_in_model;
uint64_t stand_in_arena_bytes(int32_t n_workers);
int32_t stand_in_prepare(const void *weights, void *prepared, void *arena,
		     const struct hone_env *env);
int32_t stand_in_run(const void *weights, const void *prepared, const void *const *in,
		 void *const *out, void *arena, const struct hone_env *env);
int32_t stand_in_run_sized(const int64_t *sizes, const void *weights, const void *prepared,
			   const void *const *in, void *const *out, void *arena,
			   const struct hone_env *env);
int32_t stand_in_run_timed(const void *weights, const void *prepared, const void *const *in,
		       void *const *out, void *arena, const struct hone_env *env,
		       uint64_t (*now)(void), uint64_t *time);

const struct hone_model stand_in_model = {
	.abi = HONE_MODEL_ABI,
	.n_inputs = 1,
	.n_outputs = 1,
	.n_kernels = 1,
	.n_steps = 1,
	.n_args = 3,
	.name = "stand_in",
	.inputs = &in,
	.outputs = &out,
	.kernels = &kernel,
	.steps = &step,
	.args = args,
	.weights_bytes = 4,
};

uint64_t stand_in_arena_bytes(int32_t n_workers)
{
	return hone_model_arena_bytes(&stand_in_model, n_workers);
}

int32_t stand_in_prepare(const void *weights, void *prepared, void *arena,
		     const struct hone_env *env)
{
	return hone_model_prepare(&stand_in_model, weights, prepared, arena, env);
}

int32_t stand_in_run(const void *weights, const void *prepared, const void *const *in,
		 void *const *out, void *arena, const struct hone_env *env)
{
	return hone_model_run(&stand_in_model, weights, prepared, in, out, arena, env);
}

int32_t stand_in_run_sized(const int64_t *sizes, const void *weights, const void *prepared,
			   const void *const *in, void *const *out, void *arena,
			   const struct hone_env *env)
{
	return hone_model_run_sized(&stand_in_model, sizes, weights, prepared, in, out, arena, env);
}

int32_t stand_in_run_timed(const void *weights, const void *prepared, const void *const *in,
		       void *const *out, void *arena, const struct hone_env *env,
		       uint64_t (*now)(void), uint64_t *time)
{
	return hone_model_run_timed(&stand_in_model, weights, prepared, in, out, arena, env,
				    now, time);
}
