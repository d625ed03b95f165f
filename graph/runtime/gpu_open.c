/* graph/runtime/gpu_open.c -- opens a network compiled for a GPU: see gpu_open.h.
 *
 * The weights are uploaded, code is loaded, and each launch is bound to its places in one block of the
 * device's memory, which nothing changes after.  Of a network for ranges of sizes the largest is made
 * ready so, and any other at its first run: there may be many, and drivers take long to compile.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/runtime/gpu_open.h"

#define DEVICE_ALIGN HONE_GPU_WORKSPACE_ALIGN

static int32_t no_memory(void)
{
	return hone_gpu_fail(HONE_MODEL_MEMORY, "no memory on this machine");
}

/* -- memory ------------------------------------------------------------------------------- */

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
static int32_t get_memory(struct hone_gpu_opened *o, const void *weights)
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

static uint64_t place(const struct hone_gpu_opened *o, const struct hone_model_arg *a)
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
static uint64_t parameter(const struct hone_gpu_opened *o, const struct hone_model_arg *arg,
			  const struct hone_gpu_arg *p)
{
	return p->arg < 0 ? o->workspace + p->offset : place(o, &arg[p->arg]);
}

/* -- code and launches -------------------------------------------------------------------- */

static int32_t bind_step(struct hone_gpu_opened *o, uint32_t step)
{
	const struct hone_model_step *s = &o->g->model->steps[step];
	const struct hone_model_arg *arg = &o->g->model->args[s->first_arg];
	const struct hone_gpu_code *c = &o->g->codes[s->kernel];
	uint64_t address[HONE_MODEL_MAX_ARGS], map[HONE_GPU_MAX_MAPS];
	int32_t rc = 0;

	for (uint32_t i = 0; i < c->n_launches && rc == 0; i++) {
		const struct hone_gpu_launch *l = &c->launches[i];
		void **launch = &o->launch[o->first[step] + i];

		for (uint32_t k = 0; k < l->n_args; k++) {
			address[k] = parameter(o, arg, &l->args[k]);
		}
		for (uint32_t k = 0; k < l->n_maps; k++) {
			map[k] = parameter(o, arg, &l->maps[k].of);
		}
		if (*launch == NULL) {
			rc = o->driver->bind(o->dev, o->code[s->kernel], l, address, map, launch);
		}
	}
	return rc;
}

static int32_t load_step(struct hone_gpu_opened *o, uint32_t step)
{
	const struct hone_model *m = o->g->model;
	uint32_t k = m->steps[step].kernel;

	return o->code[k] != NULL ? 0
				  : o->driver->load(o->dev, m->kernels[k].name, &o->g->codes[k],
						    &o->code[k]);
}

WEAK int32_t hone_gpu_ready(struct hone_gpu_opened *o, uint32_t part)
{
	struct hone_gpu_part *p = &o->part[part];
	int32_t rc = 0;

	if (p->ready) {
		return 0;
	}
	for (uint32_t i = p->first; i < p->end && rc == 0; i++) {
		rc = load_step(o, i);
		rc = rc ? rc : bind_step(o, i);
	}
	if (rc == 0 && o->driver->record != NULL) {
		p->recorded = o->driver->record(o->dev, &o->launch[o->first[p->first]],
						o->first[p->end] - o->first[p->first]);
	}
	p->ready = rc == 0;
	return rc;
}

/* -- tables ------------------------------------------------------------------------------- */

static void set_parts(struct hone_gpu_opened *o)
{
	const struct hone_model *m = o->g->model;

	for (uint32_t i = 0; i < o->n_part; i++) {
		o->part[i].end = m->n_steps;
		if (m->n_ranges > 0) {
			o->part[i].first = m->ranges[i].first_step;
			o->part[i].end = m->ranges[i].first_step + m->ranges[i].n_steps;
		}
	}
}

static int32_t get_tables(struct hone_gpu_opened *o)
{
	const struct hone_model *m = o->g->model;

	o->n_part = m->n_ranges > 0 ? m->n_ranges : 1;
	o->in = calloc(m->n_inputs + 1, sizeof *o->in);
	o->out = calloc(m->n_outputs + 1, sizeof *o->out);
	o->code = calloc(m->n_kernels + 1, sizeof *o->code);
	o->first = calloc((size_t)m->n_steps + 1, sizeof *o->first);
	o->part = calloc(o->n_part, sizeof *o->part);
	if (o->in == NULL || o->out == NULL || o->code == NULL || o->first == NULL ||
	    o->part == NULL) {
		return no_memory();
	}
	for (uint32_t i = 0; i < m->n_steps; i++) {
		o->first[i] = o->n_launch;
		o->n_launch += o->g->codes[m->steps[i].kernel].n_launches;
	}
	o->first[m->n_steps] = o->n_launch;
	set_parts(o);
	o->launch = calloc((size_t)o->n_launch + 1, sizeof *o->launch);
	return o->launch != NULL ? 0 : no_memory();
}

/* -- opening ------------------------------------------------------------------------------ */

WEAK int32_t hone_gpu_settle(struct hone_gpu_opened *o, int32_t rc)
{
	char first[sizeof o->why];
	int32_t end;

	strncpy(first, hone_gpu_error(o->g), sizeof first - 1);
	first[sizeof first - 1] = '\0';
	end = o->driver->wait(o->dev);
	if (rc != 0) {
		hone_gpu_fail(rc, "%s", first);
	}
	return rc ? rc : end;
}

/* What was opened of it, whatever is there. */
static void close_all(struct hone_gpu_opened *o)
{
	for (uint32_t i = 0; o->part != NULL && i < o->n_part; i++) {
		if (o->part[i].recorded != NULL) {
			o->driver->forget(o->dev, o->part[i].recorded);
		}
	}
	for (uint32_t i = 0; o->launch != NULL && i < o->n_launch; i++) {
		if (o->launch[i] != NULL) {
			o->driver->unbind(o->dev, o->launch[i]);
		}
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
	free(o->part);
}

WEAK int32_t hone_gpu_open(const struct hone_gpu *g, const void *weights, uint32_t part,
			   struct hone_gpu_opened **ret)
{
	struct hone_gpu_opened *o = calloc(1, sizeof *o);
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
	rc = rc ? rc : hone_gpu_ready(o, part);
	rc = hone_gpu_settle(o, rc);
	if (rc != 0 || pthread_mutex_init(&o->lock, NULL) != 0) {
		close_all(o);
		o->driver->leave(o->dev);
		o->driver->close(o->dev);
		free(o);
		return rc ? rc : no_memory();
	}
	o->driver->leave(o->dev);
	*ret = o;
	return 0;
}

WEAK void hone_gpu_close(struct hone_gpu_opened *o)
{
	char first[sizeof o->why]; /* of the run that failed before */
	int32_t rc;

	strncpy(first, hone_gpu_error(o->g), sizeof first - 1);
	first[sizeof first - 1] = '\0';
	rc = o->driver->enter(o->dev);
	close_all(o);
	if (rc == 0) {
		o->driver->leave(o->dev);
	}
	o->driver->close(o->dev);
	pthread_mutex_destroy(&o->lock);
	free(o);
	hone_gpu_fail(0, "%s", first);
}
