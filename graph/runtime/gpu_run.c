/* graph/runtime/gpu_run.c -- runs a network compiled for a GPU (hone/model.h).
 *
 * A run is: inputs up, the launches in their order, outputs down, one wait.  Runs of one opened
 * network take turns (gpu_open.h).
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/runtime/gpu_open.h"

#define ALIGN 64
#define MAGIC UINT64_C(0x75706765746e6f68)

/* What the caller's block has. */
struct prepared {
	uint64_t magic;
	struct hone_gpu_opened *opened;
};
_Static_assert(sizeof(struct prepared) <= HONE_GPU_PREPARED_BYTES, "prepared");

/* -- errors ------------------------------------------------------------------------------- */

static _Thread_local char line[400];

WEAK int32_t hone_gpu_fail(int32_t rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	for (char *s = line; *s != '\0'; s++) {
		*s = isprint((unsigned char)*s) ? *s : ' ';
	}
	return rc;
}

WEAK const char *hone_gpu_error(const struct hone_gpu *g)
{
	(void)g;
	return line;
}

WEAK int32_t hone_gpu_library(const char *file, const char *what, const char *const *names,
			      void **functions, uint32_t n, uint32_t later)
{
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* never closed: drivers start threads */

	if (lib == NULL) {
		return hone_gpu_fail(HONE_MODEL_DRIVER, "%s cannot be loaded: %s is not installed",
				     file, what);
	}
	for (uint32_t i = 0; i < n; i++) {
		functions[i] = dlsym(lib, names[i]);
		if (functions[i] == NULL && i < later) {
			return hone_gpu_fail(HONE_MODEL_DRIVER, "%s has no %s: it is too old", file,
					     names[i]);
		}
	}
	return 0;
}

/* -- running ------------------------------------------------------------------------------ */

/* A call of a run's. */
struct call {
	const void *const *in;
	void *const *out;
	uint32_t part;
	uint64_t (*now)(void); /* NULL: nobody asks for times */
	uint64_t *time;
};

static int32_t launch(struct hone_gpu_opened *o, const struct call *c)
{
	const struct hone_gpu_part *p = &o->part[c->part];
	uint32_t first = o->first[p->first];
	uint64_t before;
	int32_t rc;

	if (c->now == NULL) {
		return p->recorded != NULL ? o->driver->replay(o->dev, p->recorded)
					   : o->driver->launch(o->dev, &o->launch[first],
							       o->first[p->end] - first);
	}
	rc = o->driver->wait(o->dev);
	before = c->now();
	for (uint32_t i = p->first; i < p->end && rc == 0; i++) {
		uint64_t after;

		rc = o->driver->launch(o->dev, &o->launch[o->first[i]],
				       o->first[i + 1] - o->first[i]);
		rc = rc ? rc : o->driver->wait(o->dev);
		after = c->now();
		c->time[i] += after - before;
		before = after;
	}
	return rc;
}

static int32_t copy_and_launch(struct hone_gpu_opened *o, const struct call *c)
{
	const struct hone_model *m = o->g->model;
	const struct hone_gpu_range *r = o->g->ranges != NULL ? &o->g->ranges[c->part] : NULL;
	int32_t rc = 0;

	for (uint32_t i = 0; i < m->n_inputs && rc == 0; i++) {
		rc = o->driver->upload(o->dev, o->in[i], c->in[i],
				       r != NULL ? r->in_bytes[i] : m->inputs[i].bytes);
	}
	rc = rc ? rc : launch(o, c);
	for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
		rc = o->driver->download(o->dev, c->out[i], o->out[i],
					 r != NULL ? r->out_bytes[i] : m->outputs[i].bytes);
	}
	return hone_gpu_settle(o, rc);
}

static int32_t run_opened(struct hone_gpu_opened *o, const struct call *c)
{
	const struct hone_model *m = o->g->model;
	int32_t rc, ran = 0;

	if (o->broken != 0) {
		return hone_gpu_fail(o->broken, "%s; since then nothing runs: %s_release, and "
				     "%s_prepare anew", o->why, m->name, m->name);
	}
	rc = o->driver->enter(o->dev);
	ran = rc;
	if (rc == 0) {
		rc = hone_gpu_ready(o, c->part);
		if (rc == 0) {
			rc = ran = copy_and_launch(o, c);
		}
		o->driver->leave(o->dev);
	}
	if (ran != 0 || rc == HONE_MODEL_DEVICE) { /* code that does not load does no harm */
		o->broken = rc;
		snprintf(o->why, sizeof o->why, "%.399s", line);
	}
	return rc;
}

/* -- the functions of hone/model.h -------------------------------------------------------- */

WEAK uint64_t hone_gpu_arena_bytes(const struct hone_gpu *g, int32_t n_workers)
{
	(void)g;
	(void)n_workers;
	return 0;
}

/* Whether these are the weights that the model was compiled with, by their stamp. */
static int is_own(const struct hone_model *m, const void *weights)
{
	return m->stamp == 0 || (weights != NULL && (uintptr_t)weights % ALIGN == 0 &&
				 ((const uint64_t *)weights)[1] == m->stamp);
}

static int32_t check(const struct hone_gpu *g)
{
	return g->abi == HONE_GPU_ABI && g->model->abi == HONE_MODEL_ABI
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_VERSION, "the network's table is of another version");
}

/* Where they are uploaded; after that the caller may have unmapped them. */
static int32_t check_weights(const struct hone_gpu *g, const void *weights)
{
	return is_own(g->model, weights)
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_WEIGHTS_DIFFER,
				       "these are not %s's weights, or they are not 64-byte aligned",
				       g->model->name);
}

WEAK int32_t hone_gpu_prepare(const struct hone_gpu *g, const void *weights, void *prepared,
			      void *arena, const struct hone_env *env)
{
	struct prepared *p = prepared;
	int32_t rc = check(g);

	(void)arena;
	(void)env;
	rc = rc ? rc : check_weights(g, weights);
	if (rc == 0 && (p == NULL || (uintptr_t)p % ALIGN != 0)) {
		rc = hone_gpu_fail(HONE_MODEL_ALIGN,
				   "prepared data is not 64-byte aligned, or missing");
	}
	if (rc == 0) {
		p->magic = 0;
		rc = hone_gpu_open(g, weights, 0, &p->opened);
		p->magic = rc == 0 ? MAGIC : 0;
	}
	return rc;
}

WEAK int32_t hone_gpu_release(const struct hone_gpu *g, void *prepared)
{
	struct prepared *p = prepared;

	if (p == NULL) {
		return 0;
	}
	if ((uintptr_t)p % ALIGN != 0 || (p->magic == MAGIC && p->opened->g != g)) {
		return hone_gpu_fail(HONE_MODEL_ALIGN, "%s_prepare has not filled the prepared data",
				     g->model->name);
	}
	if (p->magic == MAGIC) {
		p->magic = 0;
		hone_gpu_close(p->opened);
	}
	return 0;
}

static int32_t check_prepared(const struct hone_gpu *g, const struct prepared *p)
{
	return (uintptr_t)p % ALIGN == 0 && p->magic == MAGIC && p->opened->g == g
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_ALIGN, "%s_prepare has not filled the prepared data",
				       g->model->name);
}

static int32_t run(const struct hone_gpu *g, const void *weights, const struct prepared *p,
		   const struct call *c)
{
	struct hone_gpu_opened *o = NULL;
	int32_t rc;

	if (p == NULL) {
		rc = check_weights(g, weights);
		rc = rc ? rc : hone_gpu_open(g, weights, c->part, &o);
		rc = rc ? rc : run_opened(o, c);
		if (o != NULL) {
			hone_gpu_close(o);
		}
		return rc;
	}
	rc = check_prepared(g, p);
	if (rc == 0) {
		pthread_mutex_lock(&p->opened->lock);
		rc = run_opened(p->opened, c);
		pthread_mutex_unlock(&p->opened->lock);
	}
	return rc;
}

/* Which of them is none of its range. */
static int32_t no_size(const struct hone_model *m, const int64_t *sizes)
{
	for (uint32_t i = 0; sizes != NULL && i < m->n_sizes; i++) {
		const struct hone_model_size *s = &m->sizes[i];

		if (sizes[i] < s->least || sizes[i] > s->most || sizes[i] % s->step != 0) {
			return hone_gpu_fail(HONE_MODEL_SIZE,
					     "%.60s is %lld, not %lld to %lld in steps of %lld", s->name,
					     (long long)sizes[i], (long long)s->least,
					     (long long)s->most, (long long)s->step);
		}
	}
	return hone_gpu_fail(HONE_MODEL_SIZE, "%s is for ranges of sizes: %s_run_sized takes them",
			     m->name, m->name);
}

WEAK int32_t hone_gpu_run_sized(const struct hone_gpu *g, const int64_t *sizes,
				const void *weights, const void *prepared,
				const void *const *in, void *const *out, void *arena,
				const struct hone_env *env)
{
	struct call c = { .in = in, .out = out };
	int32_t rc = check(g);
	int32_t range = rc == 0 ? hone_model_range_of(g->model, sizes) : 0;

	(void)arena;
	(void)env;
	c.part = range > 0 ? (uint32_t)range : 0;
	rc = range < 0 ? no_size(g->model, sizes) : rc;
	return rc ? rc : run(g, weights, prepared, &c);
}

WEAK int32_t hone_gpu_run_timed(const struct hone_gpu *g, const void *weights,
				const void *prepared, const void *const *in, void *const *out,
				void *arena, const struct hone_env *env, uint64_t (*now)(void),
				uint64_t *time)
{
	const struct call c = { .in = in, .out = out, .now = now, .time = time };
	int32_t rc = check(g);

	(void)arena;
	(void)env;
	if (rc == 0 && g->model->n_sizes > 0) {
		rc = no_size(g->model, NULL);
	}
	return rc ? rc : run(g, weights, prepared, &c);
}

WEAK int32_t hone_gpu_run(const struct hone_gpu *g, const void *weights, const void *prepared,
			  const void *const *in, void *const *out, void *arena,
			  const struct hone_env *env)
{
	return hone_gpu_run_timed(g, weights, prepared, in, out, arena, env, NULL, NULL);
}
