/* measure/board/network_mix.c -- a network's table, with kernels of several libraries. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "measure/board/network_int.h"

static int map_weights(const char *path, uint64_t bytes, const void **ret, struct hn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	*ret = NULL;
	if (fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size < bytes) {
		if (fd >= 0) {
			close(fd);
		}
		return hn_fail(err, HONE_E_IO, "%s: not %llu bytes of weights", path,
			       (unsigned long long)bytes);
	}
	p = bytes > 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0)
		      : NULL;
	close(fd);
	if (p == MAP_FAILED) {
		return hn_fail(err, HONE_E_NOMEM, "%s: no memory to map it", path);
	}
	*ret = p;
	return 0;
}

static void *function(void *library, const char *name, const char *word)
{
	char symbol[200];

	snprintf(symbol, sizeof symbol, "%.150s_%s", name, word);
	return dlsym(library, symbol);
}

/* A network for a processor has no NAME_error. */
static void find_calls(void *library, const char *name, struct hn_netcalls *ret)
{
	void *at[] = { function(library, name, "prepare"), function(library, name, "run"),
		       function(library, name, "run_timed"), function(library, name, "error") };

	memset(ret, 0, sizeof *ret);
	if (at[0] != NULL && at[1] != NULL && at[2] != NULL && at[3] != NULL) {
		memcpy(ret, at, sizeof *ret);
	}
}
_Static_assert(sizeof(struct hn_netcalls) == 4 * sizeof(void *), "a function's address is a pointer");

int hn_netlib_open(const char *dir, const char *name, struct hn_netlib *ret, struct hn_err *err)
{
	char path[PATH_MAX], symbol[200];
	void *library;

	snprintf(path, sizeof path, "%.3800s/libmodel.so", dir);
	snprintf(symbol, sizeof symbol, "%.150s_model", name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ret->model = library != NULL ? dlsym(library, symbol) : NULL;
	if (ret->model == NULL) {
		return hn_fail(err, HONE_E_INVALID, "%s", dlerror());
	}
	if (ret->model->abi != HONE_MODEL_ABI) {
		return hn_fail(err, HONE_E_INVALID, "%s: of another version", path);
	}
	find_calls(library, name, &ret->gpu);
	snprintf(path, sizeof path, "%.3800s/model.weights", dir);
	return map_weights(path, ret->model->weights_bytes, &ret->weights, err);
}

static bool same_arg(const struct hone_model_arg *x, const struct hone_model_arg *y)
{
	return x->place >= HONE_MODEL_WEIGHTS
		       ? y->place >= HONE_MODEL_WEIGHTS /* each library packs its own */
		       : x->place == y->place && x->index == y->index && x->offset == y->offset;
}

/* Whether steps of two libraries are the same calls on the same places. */
static bool same_steps(const struct hone_model *x, const struct hone_model *y)
{
	if (x->n_kernels != y->n_kernels || x->n_steps != y->n_steps || x->n_args != y->n_args ||
	    x->n_inputs != y->n_inputs || x->n_outputs != y->n_outputs ||
	    x->arena_bytes != y->arena_bytes) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_steps; i++) {
		if (x->steps[i].kernel != y->steps[i].kernel ||
		    x->steps[i].first_arg != y->steps[i].first_arg ||
		    x->steps[i].n_args != y->steps[i].n_args) {
			return false;
		}
	}
	for (uint32_t i = 0; i < x->n_args; i++) {
		if (!same_arg(&x->args[i], &y->args[i])) {
			return false;
		}
	}
	return true;
}

/* Where a library's weights begin, as an offset in those of the first. */
static uint64_t weights_at(const struct hn_netlib *lib, uint32_t first, uint32_t l)
{
	return (uint64_t)((uintptr_t)lib[l].weights - (uintptr_t)lib[first].weights);
}

/* A step as its library has it: its weights and what was packed of them are that library's; blocks
 * that are prepared lie behind those of the libraries before. */
static void mix_step(const struct hn_netlib *lib, uint32_t first, uint32_t l, uint64_t begin,
		     struct hone_model_step *step, struct hone_model_arg *args)
{
	const struct hone_model *own = lib[l].model;
	uint64_t weights = weights_at(lib, first, l);

	step->prepared += step->prepares == HONE_MODEL_STORED ? weights : begin;
	for (uint32_t k = step->first_arg; k < step->first_arg + step->n_args; k++) {
		args[k] = own->args[k];
		args[k].offset += args[k].place == HONE_MODEL_WEIGHTS ? weights : 0;
	}
}

static void mix(const struct hn_netlib *lib, const uint32_t *from, struct hn_arena *a,
		struct hone_model *m)
{
	struct hone_model_kernel *kernel = HN_NEW_ARRAY(a, struct hone_model_kernel, m->n_kernels);
	struct hone_model_step *step = HN_NEW_ARRAY(a, struct hone_model_step, m->n_steps);
	struct hone_model_arg *args = HN_NEW_ARRAY(a, struct hone_model_arg, m->n_args);
	uint64_t *begin, bytes = 0;
	uint32_t n_lib = 0;

	for (uint32_t i = 0; i < m->n_kernels; i++) {
		kernel[i] = lib[from[i]].model->kernels[i];
		n_lib = from[i] >= n_lib ? from[i] + 1 : n_lib;
	}
	begin = HN_NEW_ARRAY(a, uint64_t, n_lib);
	for (uint32_t i = 0; i < n_lib; i++) {
		begin[i] = bytes;
		bytes += (lib[i].model->prepared_bytes + 63) / 64 * 64;
	}
	for (uint32_t i = 0; i < m->n_steps; i++) {
		uint32_t l = from[m->steps[i].kernel];

		step[i] = lib[l].model->steps[i];
		mix_step(lib, from[0], l, begin[l], &step[i], args);
	}
	m->kernels = kernel;
	m->steps = step;
	m->args = args;
	m->prepared_bytes = bytes;
	m->stamp = 0; /* of several */
}

static int get_memory(uint64_t bytes, void **ret, struct hn_err *err)
{
	void *p = mmap(NULL, bytes > 0 ? (size_t)bytes : 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	*ret = p;
	return p != MAP_FAILED
		       ? 0
		       : hn_fail(err, HONE_E_NOMEM, "no memory for %llu bytes of a network",
				 (unsigned long long)bytes);
}

/* Numbers in [0, 1); zeros where they are integers, which may be places in a table. */
static void fill(const struct hone_model_tensor *t, void *data)
{
	struct hn_rng rng = hn_rng_stream(1, 0, 0, 0);

	if (strcmp(t->dtype, "float32") == 0) {
		for (uint64_t i = 0; i < t->bytes / sizeof(float); i++) {
			((float *)data)[i] = (float)hn_rng_unit(&rng);
		}
	}
}

static int make_memory(struct hn_netmix *x, int32_t n_workers, struct hn_arena *a,
		       struct hn_err *err)
{
	const struct hone_model *m = &x->model;
	int rc = get_memory(m->prepared_bytes, &x->prepared, err);

	rc = rc ? rc
		: get_memory(x->gpu == NULL ? hone_model_arena_bytes(m, n_workers) : 0, &x->arena,
			     err);
	x->in = HN_NEW_ARRAY(a, const void *, m->n_inputs);
	x->out = HN_NEW_ARRAY(a, void *, m->n_outputs);
	for (uint32_t i = 0; rc == 0 && i < m->n_inputs; i++) {
		void *data;

		rc = get_memory(m->inputs[i].bytes, &data, err);
		if (rc == 0) {
			fill(&m->inputs[i], data);
		}
		x->in[i] = data;
	}
	for (uint32_t i = 0; rc == 0 && i < m->n_outputs; i++) {
		rc = get_memory(m->outputs[i].bytes, &x->out[i], err);
	}
	return rc;
}

int hn_netmix_make(const struct hn_netlib *lib, const uint32_t *from, uint32_t n, int32_t n_workers,
		   struct hn_arena *a, struct hn_netmix *ret, struct hn_err *err)
{
	const struct hn_netlib *first = &lib[n > 0 ? from[0] : 0];

	*ret = (struct hn_netmix){ .model = *first->model,
				   .weights = first->weights,
				   .gpu = first->gpu.prepare != NULL ? &first->gpu : NULL };
	if (n != first->model->n_kernels) {
		return hn_fail(err, HONE_E_INVALID, "a run names %u kernels, the network has %u", n,
			       first->model->n_kernels);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ret->gpu != NULL && from[i] != from[0]) {
			return hn_fail(err, HONE_E_INVALID,
				       "libraries %u and %u: a GPU's network has kernels of one", from[0],
				       from[i]);
		}
		if (!same_steps(first->model, lib[from[i]].model)) {
			return hn_fail(err, HONE_E_INVALID,
				       "libraries %u and %u of one run have other steps", from[0],
				       from[i]);
		}
	}
	if (ret->gpu == NULL) {
		mix(lib, from, a, &ret->model);
	}
	return make_memory(ret, n_workers, a, err);
}

int32_t hn_netmix_prepare(struct hn_netmix *x, const struct hone_env *env)
{
	return x->gpu != NULL ? x->gpu->prepare(x->weights, x->prepared, NULL, NULL)
			      : hone_model_prepare(&x->model, x->weights, x->prepared, x->arena, env);
}

int32_t hn_netmix_run(const struct hn_netmix *x, const struct hone_env *env, uint64_t (*now)(void),
		      uint64_t *ret_ns, uint64_t *step_ns)
{
	uint64_t begin = now();
	int32_t rc;

	if (x->gpu == NULL) {
		rc = hone_model_run_timed(&x->model, x->weights, x->prepared, x->in, x->out,
					  x->arena, env, now, step_ns);
		*ret_ns = now() - begin;
		return rc;
	}
	rc = x->gpu->run(x->weights, x->prepared, x->in, x->out, NULL, NULL);
	*ret_ns = now() - begin;
	return rc ? rc
		  : x->gpu->run_timed(x->weights, x->prepared, x->in, x->out, NULL, NULL, now,
				      step_ns);
}

const char *hn_netmix_why(const struct hn_netmix *x, int32_t rc, struct hn_arena *a)
{
	return x->gpu != NULL ? hn_arena_printf(a, "%.280s", x->gpu->error())
			      : hn_arena_printf(a, "the network returned %d", (int)rc);
}
