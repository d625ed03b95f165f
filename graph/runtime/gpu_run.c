/* graph/runtime/gpu_run.c -- opens and runs a network compiled for a GPU (hone/model.h).
 *
 * NAME_prepare uploads the weights, loads the code and binds each launch to its places in one block
 * of the device's memory, which nothing changes after.  So a run is: inputs up, the launches in
 * their order, outputs down, one wait.  Runs of one opened network take turns.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/runtime/gpu_run.h"

#define ALIGN 64
#define DEVICE_ALIGN HONE_GPU_WORKSPACE_ALIGN
#define MAGIC UINT64_C(0x75706765746e6f68)

struct opened {
	const struct hone_gpu *g;
	const struct hone_gpu_driver *driver;
	void *dev;
	pthread_mutex_t lock;
	int32_t broken; /* what the device said when it failed; 0: it did not */
	char why[400];
	uint64_t memory, weights; /* addresses; 0: none */
	uint64_t workspace;	  /* address */
	uint64_t *in, *out;	  /* addresses */
	void **code;		  /* [n_kernels] NULL: not loaded */
	void **launch;		  /* [n_launch] of all steps */
	uint32_t n_launch, *first; /* [n_steps + 1] a step's launches */
	int recorded;
};

/* What the caller's block has. */
struct prepared {
	uint64_t magic;
	struct opened *opened;
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

static int32_t no_memory(void)
{
	return hone_gpu_fail(HONE_MODEL_MEMORY, "no memory on this machine");
}

/* -- opening ------------------------------------------------------------------------------ */

static uint64_t aligned(uint64_t x)
{
	return x > UINT64_MAX / 2 ? UINT64_MAX / 2
				  : (x + DEVICE_ALIGN - 1) / DEVICE_ALIGN * DEVICE_ALIGN;
}

/* Offsets of the tensors from `at` on; returns where they end. */
static uint64_t place_tensors(const struct hone_model_tensor *t, uint32_t n, uint64_t at,
			      uint64_t *ret)
{
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = at;
		at = aligned(at + aligned(t[i].bytes));
	}
	return at;
}

/* Arena, workspace, inputs and outputs in one block, and the weights in another. */
static int32_t get_memory(struct opened *o, const void *weights)
{
	const struct hone_model *m = o->g->model;
	uint64_t at = aligned(m->arena_bytes), end;
	int32_t rc;

	o->workspace = at;
	at = aligned(at + aligned(o->g->workspace_bytes));
	end = place_tensors(m->inputs, m->n_inputs, at, o->in);
	end = place_tensors(m->outputs, m->n_outputs, end, o->out);
	rc = o->driver->alloc(o->dev, end > 0 ? end : DEVICE_ALIGN, &o->memory);
	if (rc == 0 && m->weights_bytes > 0) {
		rc = o->driver->alloc(o->dev, m->weights_bytes, &o->weights);
		rc = rc ? rc : o->driver->upload(o->dev, o->weights, weights, m->weights_bytes);
	}
	o->workspace += o->memory;
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		o->in[i] += o->memory;
	}
	for (uint32_t i = 0; i < m->n_outputs; i++) {
		o->out[i] += o->memory;
	}
	return rc;
}

static uint64_t place(const struct opened *o, const struct hone_model_arg *a)
{
	switch (a->place) {
	case HONE_MODEL_INPUT:
		return o->in[a->index] + a->offset;
	case HONE_MODEL_OUTPUT:
		return o->out[a->index] + a->offset;
	case HONE_MODEL_ARENA:
		return o->memory + a->offset;
	case HONE_MODEL_WEIGHTS:
		return o->weights + a->offset;
	default:
		return 0;
	}
}

/* Of a step whose arguments are these. */
static uint64_t parameter(const struct opened *o, const struct hone_model_arg *arg,
			  const struct hone_gpu_arg *p)
{
	return p->arg < 0 ? o->workspace + p->offset : place(o, &arg[p->arg]);
}

static int32_t bind_step(struct opened *o, uint32_t step)
{
	const struct hone_model_step *s = &o->g->model->steps[step];
	const struct hone_model_arg *arg = &o->g->model->args[s->first_arg];
	const struct hone_gpu_code *c = &o->g->codes[s->kernel];
	uint64_t address[HONE_MODEL_MAX_ARGS], map[HONE_GPU_MAX_MAPS];
	int32_t rc = 0;

	o->first[step] = o->n_launch;
	for (uint32_t i = 0; i < c->n_launches && rc == 0; i++) {
		const struct hone_gpu_launch *l = &c->launches[i];

		for (uint32_t k = 0; k < l->n_args; k++) {
			address[k] = parameter(o, arg, &l->args[k]);
		}
		for (uint32_t k = 0; k < l->n_maps; k++) {
			map[k] = parameter(o, arg, &l->maps[k].of);
		}
		rc = o->driver->bind(o->dev, o->code[s->kernel], l, address, map,
				     &o->launch[o->n_launch]);
		o->n_launch += rc == 0;
	}
	o->first[step + 1] = o->n_launch;
	return rc;
}

static int32_t load_all(struct opened *o)
{
	const struct hone_model *m = o->g->model;
	int32_t rc = 0;

	for (uint32_t i = 0; i < m->n_kernels && rc == 0; i++) {
		rc = o->driver->load(o->dev, m->kernels[i].name, &o->g->codes[i], &o->code[i]);
	}
	for (uint32_t i = 0; i < m->n_steps && rc == 0; i++) {
		rc = bind_step(o, i);
	}
	return rc;
}

static int32_t get_tables(struct opened *o)
{
	const struct hone_model *m = o->g->model;
	size_t n = 0;

	for (uint32_t i = 0; i < m->n_steps; i++) {
		n += o->g->codes[m->steps[i].kernel].n_launches;
	}
	o->in = calloc(m->n_inputs + 1, sizeof *o->in);
	o->out = calloc(m->n_outputs + 1, sizeof *o->out);
	o->code = calloc(m->n_kernels + 1, sizeof *o->code);
	o->launch = calloc(n + 1, sizeof *o->launch);
	o->first = calloc((size_t)m->n_steps + 1, sizeof *o->first);
	return o->in == NULL || o->out == NULL || o->code == NULL || o->launch == NULL ||
			       o->first == NULL
		       ? no_memory()
		       : 0;
}

/* Wait for what is in the queue: till then the device reads the caller's memory, and its own.  What
 * failed before is what is told. */
static int32_t settle(struct opened *o, int32_t rc)
{
	char first[sizeof line];
	int32_t end;

	memcpy(first, line, sizeof first);
	end = o->driver->wait(o->dev);
	if (rc != 0) {
		memcpy(line, first, sizeof line);
	}
	return rc ? rc : end;
}

/* What was opened of it, whatever is there. */
static void close_all(struct opened *o)
{
	for (uint32_t i = 0; i < o->n_launch; i++) {
		o->driver->unbind(o->dev, o->launch[i]);
	}
	for (uint32_t i = 0; o->code != NULL && i < o->g->model->n_kernels; i++) {
		if (o->code[i] != NULL) {
			o->driver->unload(o->dev, o->code[i]);
		}
	}
	if (o->weights != 0) {
		o->driver->release(o->dev, o->weights);
	}
	if (o->memory != 0) {
		o->driver->release(o->dev, o->memory);
	}
	free(o->in);
	free(o->out);
	free(o->code);
	free(o->launch);
	free(o->first);
}

static int32_t open_all(const struct hone_gpu *g, const void *weights, struct opened **ret)
{
	struct opened *o = calloc(1, sizeof *o);
	int32_t rc;

	if (o == NULL) {
		return no_memory();
	}
	o->g = g;
	o->driver = strcmp(g->form, "opencl") == 0 ? &hone_gpu_opencl : &hone_gpu_cuda;
	rc = o->driver->open(g, &o->dev); /* the thread is in the device then */
	if (rc != 0) {
		free(o);
		return rc;
	}
	rc = get_tables(o);
	rc = rc ? rc : get_memory(o, weights);
	rc = rc ? rc : load_all(o);
	rc = settle(o, rc);
	if (rc != 0 || pthread_mutex_init(&o->lock, NULL) != 0) {
		close_all(o);
		o->driver->leave(o->dev);
		o->driver->close(o->dev);
		free(o);
		return rc ? rc : no_memory();
	}
	o->recorded = o->driver->record != NULL && o->driver->record(o->dev, o->launch, o->n_launch);
	o->driver->leave(o->dev);
	*ret = o;
	return 0;
}

static void close_opened(struct opened *o)
{
	char first[sizeof line]; /* of the run that failed before */
	int32_t rc;

	memcpy(first, line, sizeof first);
	rc = o->driver->enter(o->dev);
	close_all(o);
	if (rc == 0) {
		o->driver->leave(o->dev);
	}
	o->driver->close(o->dev);
	pthread_mutex_destroy(&o->lock);
	free(o);
	memcpy(line, first, sizeof line);
}

/* -- running ------------------------------------------------------------------------------ */

static int32_t launch(struct opened *o, uint64_t (*now)(void), uint64_t *time)
{
	uint64_t before;
	int32_t rc = 0;

	if (now == NULL) {
		return o->recorded ? o->driver->replay(o->dev)
				   : o->driver->launch(o->dev, o->launch, o->n_launch);
	}
	rc = o->driver->wait(o->dev);
	before = now();
	for (uint32_t i = 0; i < o->g->model->n_steps && rc == 0; i++) {
		uint64_t after;

		rc = o->driver->launch(o->dev, &o->launch[o->first[i]],
				       o->first[i + 1] - o->first[i]);
		rc = rc ? rc : o->driver->wait(o->dev);
		after = now();
		time[i] += after - before;
		before = after;
	}
	return rc;
}

static int32_t run_opened(struct opened *o, const void *const *in, void *const *out,
			  uint64_t (*now)(void), uint64_t *time)
{
	const struct hone_model *m = o->g->model;
	int32_t rc;

	if (o->broken != 0) {
		return hone_gpu_fail(o->broken, "%s; since then nothing runs: %s_release, and "
				     "%s_prepare anew", o->why, m->name, m->name);
	}
	rc = o->driver->enter(o->dev);
	if (rc == 0) {
		for (uint32_t i = 0; i < m->n_inputs && rc == 0; i++) {
			rc = o->driver->upload(o->dev, o->in[i], in[i], m->inputs[i].bytes);
		}
		rc = rc ? rc : launch(o, now, time);
		for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
			rc = o->driver->download(o->dev, out[i], o->out[i], m->outputs[i].bytes);
		}
		rc = settle(o, rc);
		o->driver->leave(o->dev);
	}
	if (rc != 0) {
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
		rc = open_all(g, weights, &p->opened);
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
		close_opened(p->opened);
	}
	return 0;
}

WEAK int32_t hone_gpu_run_timed(const struct hone_gpu *g, const void *weights,
				const void *prepared, const void *const *in, void *const *out,
				void *arena, const struct hone_env *env, uint64_t (*now)(void),
				uint64_t *time)
{
	const struct prepared *p = prepared;
	struct opened *o = NULL;
	int32_t rc = check(g);

	(void)arena;
	(void)env;
	rc = rc == 0 && p == NULL ? check_weights(g, weights) : rc;
	if (rc == 0 && p == NULL) {
		rc = open_all(g, weights, &o);
		rc = rc ? rc : run_opened(o, in, out, now, time);
		if (o != NULL) {
			close_opened(o);
		}
		return rc;
	}
	if (rc == 0 && ((uintptr_t)p % ALIGN != 0 || p->magic != MAGIC || p->opened->g != g)) {
		rc = hone_gpu_fail(HONE_MODEL_ALIGN, "%s_prepare has not filled the prepared data",
				   g->model->name);
	}
	if (rc != 0) {
		return rc;
	}
	pthread_mutex_lock(&p->opened->lock);
	rc = run_opened(p->opened, in, out, now, time);
	pthread_mutex_unlock(&p->opened->lock);
	return rc;
}

WEAK int32_t hone_gpu_run(const struct hone_gpu *g, const void *weights, const void *prepared,
			  const void *const *in, void *const *out, void *arena,
			  const struct hone_env *env)
{
	return hone_gpu_run_timed(g, weights, prepared, in, out, arena, env, NULL, NULL);
}

WEAK int32_t hone_gpu_run_sized(const struct hone_gpu *g, const int64_t *sizes,
				const void *weights, const void *prepared,
				const void *const *in, void *const *out, void *arena,
				const struct hone_env *env)
{
	(void)sizes; /* there are none, so any will do */
	return hone_gpu_run(g, weights, prepared, in, out, arena, env);
}
