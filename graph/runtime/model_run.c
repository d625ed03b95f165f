/* graph/runtime/model_run.c -- walks the table of a compiled network: hone/model.h.
 *
 * What users link: one file, no libc, no memory but the caller's and a stack of 2 KiB.  Its
 * functions are weak, because each compiled model brings a copy: a program with two models has to
 * link, and a copy of the same version does the same.
 */
#include "hone/model.h"

#define ALIGN 64
#define WEAK __attribute__((weak))

/* Where the places of arguments begin in this call. */
struct call {
	const struct hone_model *m;
	const void *const *in; /* NULL in prepare, as `out` */
	void *const *out;
	char *arena;
	const char *weights;
	const int64_t *sizes; /* NULL: none were given */
	int64_t counted[HONE_MODEL_MAX_SIZES]; /* in steps, as kernels take them */
	struct hone_env env; /* as kernels see it */
};

static uint64_t add(uint64_t x, uint64_t y)
{
	uint64_t sum;

	return __builtin_add_overflow(x, y, &sum) ? UINT64_MAX : sum;
}

static uint64_t times(uint64_t x, uint64_t n)
{
	uint64_t product;

	return __builtin_mul_overflow(x, n, &product) ? UINT64_MAX : product;
}

/* Bytes of workspace that serve any kernel. */
static uint64_t workspace(const struct hone_model *m, int32_t n_workers)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < m->n_kernels; i++) {
		const struct hone_model_kernel *k = &m->kernels[i];
		uint64_t n = add(k->workspace_bytes,
				 times(k->worker_bytes, (uint64_t)n_workers));

		most = n > most ? n : most;
	}
	return most;
}

WEAK uint64_t hone_model_arena_bytes(const struct hone_model *m, int32_t n_workers)
{
	return add(m->arena_bytes, workspace(m, n_workers > 1 ? n_workers : 1));
}

static int is_aligned(const void *p, uint64_t bytes)
{
	return bytes == 0 || (p != NULL && (uintptr_t)p % ALIGN == 0);
}

/* Whether these are the weights that the model was compiled with, by their stamp. */
static int is_own(const struct hone_model *m, const void *weights)
{
	return m->stamp == 0 || (weights != NULL && (uintptr_t)weights % ALIGN == 0 &&
				 ((const uint64_t *)weights)[1] == m->stamp);
}

/* Check what was given, and make the kernels' environment: the caller's threads, our workspace. */
static int32_t begin(struct call *c, const struct hone_env *env)
{
	if (c->m->abi != HONE_MODEL_ABI) {
		return HONE_MODEL_VERSION;
	}
	c->env.abi = HONE_KERNEL_ABI;
	c->env.n_workers = env != NULL && env->n_workers > 1 ? env->n_workers : 1;
	c->env.parallel_for = env != NULL ? env->parallel_for : NULL;
	c->env.ctx = env != NULL ? env->ctx : NULL;
	c->env.workspace_bytes = workspace(c->m, c->env.n_workers);
	c->env.workspace =
		c->env.workspace_bytes > 0 ? c->arena + c->m->arena_bytes : NULL;
	c->env.prepared = NULL;
	c->env.prepared_bytes = 0;
	if (!is_own(c->m, c->weights)) {
		return HONE_MODEL_WEIGHTS_DIFFER;
	}
	return is_aligned(c->arena, add(c->m->arena_bytes, c->env.workspace_bytes))
		       ? 0
		       : HONE_MODEL_ALIGN;
}

static void *place(const struct call *c, const struct hone_model_arg *a)
{
	switch (a->place) {
	case HONE_MODEL_INPUT:
		return c->in != NULL ? (char *)(uintptr_t)c->in[a->index] + a->offset
				     : NULL;
	case HONE_MODEL_OUTPUT:
		return c->out != NULL ? (char *)c->out[a->index] + a->offset : NULL;
	case HONE_MODEL_ARENA:
		return c->arena + a->offset;
	case HONE_MODEL_WEIGHTS:
		return (char *)(uintptr_t)c->weights + a->offset;
	default:
		return NULL;
	}
}

static void place_all(const struct call *c, const struct hone_model_step *s, void **args)
{
	const struct hone_model_arg *a = &c->m->args[s->first_arg];

	for (uint32_t i = 0; i < s->n_args; i++) {
		args[i] = place(c, &a[i]);
	}
}

static int32_t init_all(const struct hone_model *m)
{
	for (uint32_t i = 0; i < m->n_kernels; i++) {
		if (m->kernels[i].init != NULL && m->kernels[i].init() != 0) {
			return HONE_MODEL_INIT;
		}
	}
	return 0;
}

WEAK int32_t hone_model_prepare(const struct hone_model *m, const void *weights,
				void *prepared, void *arena, const struct hone_env *env)
{
	struct call c = { .m = m, .arena = arena, .weights = weights };
	void *args[HONE_MODEL_MAX_ARGS];
	int32_t rc = begin(&c, env);

	if (rc == 0 && !is_aligned(prepared, m->prepared_bytes)) {
		rc = HONE_MODEL_ALIGN;
	}
	rc = rc != 0 ? rc : init_all(m);
	for (uint32_t i = 0; i < m->n_steps && rc == 0; i++) {
		const struct hone_model_step *s = &m->steps[i];

		if (s->prepares == HONE_MODEL_PREPARE) {
			place_all(&c, s, args);
			rc = m->kernels[s->kernel].prepare_packed(
				args, (char *)prepared + s->prepared, &c.env);
		}
	}
	return rc;
}

static int fits(const struct hone_model *m, const struct hone_model_range *r,
		const int64_t *sizes)
{
	int all = 1;

	for (uint32_t k = 0; k < m->n_sizes; k++) {
		all &= sizes[k] >= r->least[k] && sizes[k] <= r->most[k] &&
		       sizes[k] % m->sizes[k].step == 0;
	}
	return all;
}

WEAK int32_t hone_model_range_of(const struct hone_model *m, const int64_t *sizes)
{
	for (uint32_t i = 0; m->n_sizes > 0 && sizes != NULL && i < m->n_ranges; i++) {
		if (fits(m, &m->ranges[i], sizes)) {
			return (int32_t)i;
		}
	}
	return m->n_sizes == 0 ? 0 : HONE_MODEL_SIZE;
}

/* The steps that are for these sizes: [*ret_first, *ret_end). */
static int32_t find_steps(const struct hone_model *m, const int64_t *sizes, uint32_t *ret_first,
			  uint32_t *ret_end)
{
	int32_t range = hone_model_range_of(m, sizes);
	const struct hone_model_range *r = range >= 0 && m->n_sizes > 0 ? &m->ranges[range] : NULL;

	*ret_first = r != NULL ? r->first_step : 0;
	*ret_end = r != NULL ? r->first_step + r->n_steps : m->n_steps;
	return range < 0 ? range : 0;
}

static int32_t run_step(struct call *c, const struct hone_model_step *s,
			const char *prepared)
{
	const struct hone_model_kernel *k = &c->m->kernels[s->kernel];
	void *args[HONE_MODEL_MAX_ARGS];

	place_all(c, s, args);
	prepared = s->prepares == HONE_MODEL_STORED ? c->weights : prepared;
	c->env.prepared = NULL;
	if (prepared != NULL) {
		c->env.prepared = k->prepared_bytes > 0 ? prepared + s->prepared : NULL;
		c->env.prepared_bytes = k->prepared_bytes;
	}
	return k->sized != NULL ? k->sized(c->counted, args, &c->env) : k->packed(args, &c->env);
}

static int32_t run(struct call *c, const void *prepared, const struct hone_env *env,
		   uint64_t (*now)(void), uint64_t *time)
{
	const struct hone_model *m = c->m;
	uint64_t before = now != NULL ? now() : 0;
	uint32_t i = 0, end = 0;
	int32_t rc = begin(c, env);

	if (rc == 0 && prepared != NULL && !is_aligned(prepared, m->prepared_bytes)) {
		rc = HONE_MODEL_ALIGN;
	}
	rc = rc != 0 ? rc : find_steps(m, c->sizes, &i, &end);
	for (uint32_t k = 0; rc == 0 && k < m->n_sizes; k++) {
		c->counted[k] = c->sizes[k] / m->sizes[k].step;
	}
	for (; i < end && rc == 0; i++) {
		rc = run_step(c, &m->steps[i], prepared);
		if (now != NULL) {
			uint64_t after = now();

			time[i] += after - before;
			before = after;
		}
	}
	return rc;
}

WEAK int32_t hone_model_run_timed(const struct hone_model *m, const void *weights,
				  const void *prepared, const void *const *in,
				  void *const *out, void *arena,
				  const struct hone_env *env, uint64_t (*now)(void),
				  uint64_t *time)
{
	struct call c = {
		.m = m, .in = in, .out = out, .arena = arena, .weights = weights
	};

	return run(&c, prepared, env, now, time);
}

WEAK int32_t hone_model_run(const struct hone_model *m, const void *weights,
			    const void *prepared, const void *const *in, void *const *out,
			    void *arena, const struct hone_env *env)
{
	return hone_model_run_timed(m, weights, prepared, in, out, arena, env, NULL,
				    NULL);
}

WEAK int32_t hone_model_run_sized(const struct hone_model *m, const int64_t *sizes,
				  const void *weights, const void *prepared,
				  const void *const *in, void *const *out, void *arena,
				  const struct hone_env *env)
{
	struct call c = { .m = m,
			  .in = in,
			  .out = out,
			  .arena = arena,
			  .weights = weights,
			  .sizes = sizes };

	return run(&c, prepared, env, NULL, NULL);
}
