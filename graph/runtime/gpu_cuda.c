/* graph/runtime/gpu_cuda.c -- compiled networks on a device of NVIDIA's: see gpu_run.h.
 *
 * The device is the driver's first, in its primary context, which programs share; the calling
 * thread has its own context back after each call.  All launches of a run are recorded as one graph,
 * where the driver can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/runtime/gpu_run.h"
#include "proto/cuda_driver.h"

#define FILE_NAME "libcuda.so.1"
#define LOG_BYTES 4096
#define PLAIN_SHARED 49152 /* bytes of a block that a kernel need not ask for */

struct functions {
#define X(name, symbol, parameters) cuda_result(*name) parameters;
	CUDA_FUNCTIONS(X) CUDA_LATER_FUNCTIONS(X)
#undef X
};

static const char *const names[] = {
#define X(name, symbol, parameters) #symbol,
	CUDA_FUNCTIONS(X) CUDA_LATER_FUNCTIONS(X)
#undef X
};
enum {
#define X(name, symbol, parameters) + 1
	LATER = 0 CUDA_FUNCTIONS(X) /* those that an older driver has not */
#undef X
};
_Static_assert(sizeof(struct functions) == sizeof names, "a function's address is a pointer");

struct device {
	struct functions cu;
	cuda_device device;
	cuda_id context, stream;
	const char *isa;
	int major, minor;
};

struct bound {
	cuda_id function;
	const struct hone_gpu_launch *l;
	cuda_address *value; /* [n_args] */
	struct cuda_map *map; /* [n_maps] */
	void **arg;	     /* [n_args + n_maps] */
};

static int32_t fail(const struct device *d, cuda_result code, const char *what)
{
	const char *text = "";

	if (d->cu.GetErrorString(code, &text) != 0 || text == NULL) {
		text = "unknown";
	}
	return hone_gpu_fail(code == CUDA_E_OUT_OF_MEMORY ? HONE_MODEL_MEMORY : HONE_MODEL_DEVICE,
			     "CUDA: %.100s: error %d: %.200s", what, (int)code, text);
}

static int32_t done(const struct device *d, cuda_result code, const char *what)
{
	return code == 0 ? 0 : fail(d, code, what);
}

static int32_t no_memory(void)
{
	return hone_gpu_fail(HONE_MODEL_MEMORY, "no memory on this machine");
}

/* -- the device --------------------------------------------------------------------------- */

static int32_t enter(void *dev)
{
	struct device *d = dev;

	return done(d, d->cu.CtxPushCurrent(d->context), "context");
}

static void leave(void *dev)
{
	struct device *d = dev;
	cuda_id own;

	d->cu.CtxPopCurrent(&own);
}

static void close_device(void *dev)
{
	struct device *d = dev;

	if (d->context == NULL) {
		free(d);
		return;
	}
	int32_t rc = enter(d);

	if (d->stream != NULL) {
		d->cu.StreamDestroy(d->stream);
	}
	if (rc == 0) {
		leave(d);
	}
	d->cu.DevicePrimaryCtxRelease(d->device);
	free(d);
}

static int32_t use_device(struct device *d)
{
	cuda_result code = d->cu.Init(0);
	int n = 0;

	code = code != 0 ? code : d->cu.DeviceGetCount(&n);
	if (code == 0 && n == 0) {
		return hone_gpu_fail(HONE_MODEL_DRIVER, "CUDA: the driver has no device");
	}
	code = code != 0 ? code : d->cu.DeviceGet(&d->device, 0);
	code = code != 0 ? code
			 : d->cu.DeviceGetAttribute(&d->major, CUDA_ATTRIBUTE_MAJOR, d->device);
	code = code != 0 ? code
			 : d->cu.DeviceGetAttribute(&d->minor, CUDA_ATTRIBUTE_MINOR, d->device);
	code = code != 0 ? code : d->cu.DevicePrimaryCtxRetain(&d->context, d->device);
	if (code != 0) {
		d->context = NULL;
		(void)fail(d, code, "the device cannot be used");
		return HONE_MODEL_DRIVER;
	}
	return 0;
}

static int32_t open_device(const struct hone_gpu *g, void **ret)
{
	struct device *d = calloc(1, sizeof *d);
	void *at[sizeof names / sizeof *names];
	int32_t rc;

	if (d == NULL) {
		return no_memory();
	}
	d->isa = g->isa;
	rc = hone_gpu_library(FILE_NAME, "NVIDIA's driver", names, at, sizeof names / sizeof *names,
			      LATER);
	if (rc != 0) {
		free(d);
		return rc;
	}
	memcpy(&d->cu, at, sizeof d->cu);
	rc = use_device(d);
	rc = rc ? rc : enter(d);
	if (rc != 0) {
		close_device(d);
		return rc;
	}
	rc = done(d, d->cu.StreamCreate(&d->stream, CUDA_STREAM_NON_BLOCKING), "stream");
	if (rc != 0) {
		d->stream = NULL;
		leave(d);
		close_device(d);
		return rc;
	}
	*ret = d;
	return 0;
}

/* -- memory ------------------------------------------------------------------------------- */

static int32_t get(void *dev, uint64_t bytes, uint64_t *ret)
{
	struct device *d = dev;
	cuda_address at = 0;
	cuda_result code = d->cu.MemAlloc(&at, (size_t)bytes);
	char what[60];

	snprintf(what, sizeof what, "memory for %llu bytes", (unsigned long long)bytes);
	*ret = code == 0 ? at : 0;
	return done(d, code, what);
}

static void give_back(void *dev, uint64_t at)
{
	struct device *d = dev;

	d->cu.MemFree(at);
}

static int32_t upload(void *dev, uint64_t to, const void *from, uint64_t n)
{
	struct device *d = dev;

	return done(d, d->cu.MemcpyHtoDAsync(to, from, (size_t)n, d->stream), "upload");
}

static int32_t download(void *dev, void *to, uint64_t from, uint64_t n)
{
	struct device *d = dev;

	return done(d, d->cu.MemcpyDtoHAsync(to, from, (size_t)n, d->stream), "download");
}

/* -- kernels ------------------------------------------------------------------------------ */

static int32_t load(void *dev, const char *name, const struct hone_gpu_code *c, void **ret)
{
	struct device *d = dev;
	char log[LOG_BYTES] = "";
	unsigned int option[] = {CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_BYTES};
	void *value[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
	cuda_id module = NULL;
	cuda_result code = d->cu.ModuleLoadDataEx(&module, c->bytes, 2, option, value);

	log[LOG_BYTES - 1] = '\0';
	switch (code) {
	case 0:
		*ret = module;
		return 0;
	case CUDA_E_INVALID_IMAGE:
	case CUDA_E_NO_BINARY_FOR_GPU:
	case CUDA_E_INVALID_PTX:
	case CUDA_E_UNSUPPORTED_PTX_VERSION:
		return hone_gpu_fail(HONE_MODEL_CODE,
				     "CUDA: the driver does not take %.100s, made for %s; the device "
				     "is sm_%d%d: error %d: %.150s",
				     name, d->isa, d->major, d->minor, (int)code, log);
	default:
		return fail(d, code, name);
	}
}

static void unload(void *dev, void *module)
{
	struct device *d = dev;

	d->cu.ModuleUnload(module);
}

static void unbind(void *dev, void *launch)
{
	struct bound *b = launch;

	(void)dev;
	free(b->value);
	free(b->map);
	free(b->arg);
	free(b);
}

static int32_t find_function(struct device *d, cuda_id module, struct bound *b)
{
	const struct hone_gpu_launch *l = b->l;
	cuda_result code = d->cu.ModuleGetFunction(&b->function, module, l->name);

	if (code == 0 && l->shared_asked > 0 && l->shared_asked + l->shared_static > PLAIN_SHARED) {
		code = d->cu.FuncSetAttribute(b->function, CUDA_FUNC_MAX_DYNAMIC_SHARED,
					      (int)l->shared_asked);
	}
	return done(d, code, l->name);
}

static int32_t make_maps(struct device *d, const uint64_t *at, struct bound *b)
{
	const struct hone_gpu_launch *l = b->l;
	cuda_result code = 0;

	if (l->n_maps > 0 && d->cu.TensorMapEncodeTiled == NULL) {
		return hone_gpu_fail(HONE_MODEL_DRIVER, "CUDA: %.100s takes tensor maps, which drivers "
				     "make since CUDA 12.0", l->name);
	}
	for (uint32_t i = 0; i < l->n_maps && code == 0; i++) {
		const struct hone_gpu_map *m = &l->maps[i];
		const uint32_t each[] = {1, 1, 1, 1, 1};

		code = d->cu.TensorMapEncodeTiled(&b->map[i], cuda_map_type(m->elem), m->n_dims,
						  (void *)(uintptr_t)at[i], m->size, m->stride, m->box,
						  each, CUDA_MAP_INTERLEAVE_NONE,
						  cuda_map_swizzle(m->swizzle), CUDA_MAP_L2_128,
						  CUDA_MAP_FILL_ZERO);
		b->arg[l->n_args + i] = &b->map[i];
	}
	return done(d, code, "tensor map");
}

static int32_t bind(void *dev, void *module, const struct hone_gpu_launch *l,
		    const uint64_t *args, const uint64_t *maps, void **ret)
{
	struct device *d = dev;
	struct bound *b = calloc(1, sizeof *b);
	int32_t rc = 0;

	if (b == NULL) {
		return no_memory();
	}
	b->l = l;
	b->value = calloc(l->n_args + 1, sizeof *b->value);
	b->map = aligned_alloc(_Alignof(struct cuda_map), (l->n_maps + 1) * sizeof *b->map);
	b->arg = calloc((size_t)l->n_args + l->n_maps + 1, sizeof *b->arg);
	if (b->value == NULL || b->map == NULL || b->arg == NULL) {
		rc = no_memory();
	}
	for (uint32_t i = 0; i < l->n_args && rc == 0; i++) {
		b->value[i] = args[i];
		b->arg[i] = &b->value[i];
	}
	rc = rc ? rc : make_maps(d, maps, b);
	rc = rc ? rc : find_function(d, module, b);
	if (rc != 0) {
		unbind(d, b);
		return rc;
	}
	*ret = b;
	return 0;
}

static cuda_result launch_all(struct device *d, void *const *bound, uint32_t n)
{
	cuda_result code = 0;

	for (uint32_t i = 0; i < n && code == 0; i++) {
		const struct bound *b = bound[i];
		const uint32_t *g = b->l->grid, *t = b->l->block;

		code = d->cu.LaunchKernel(b->function, g[0], g[1], g[2], t[0], t[1], t[2],
					  b->l->shared_asked, d->stream, b->arg, NULL);
	}
	return code;
}

static int32_t launch(void *dev, void *const *bound, uint32_t n)
{
	struct device *d = dev;

	return done(d, launch_all(d, bound, n), "launch");
}

static void *record(void *dev, void *const *bound, uint32_t n)
{
	struct device *d = dev;
	cuda_id graph = NULL, ready = NULL;
	cuda_result code, end;

	if (d->cu.StreamBeginCapture(d->stream, CUDA_CAPTURE_THREAD_LOCAL) != 0) {
		return NULL;
	}
	code = launch_all(d, bound, n);
	end = d->cu.StreamEndCapture(d->stream, &graph);
	code = code != 0 ? code : end;
	code = code != 0 ? code : d->cu.GraphInstantiate(&ready, graph, 0);
	if (graph != NULL) {
		d->cu.GraphDestroy(graph);
	}
	return code == 0 ? ready : NULL;
}

static int32_t replay(void *dev, void *recorded)
{
	struct device *d = dev;

	return done(d, d->cu.GraphLaunch(recorded, d->stream), "launch");
}

static void forget(void *dev, void *recorded)
{
	struct device *d = dev;

	d->cu.GraphExecDestroy(recorded);
}

static int32_t wait_for(void *dev)
{
	struct device *d = dev;

	return done(d, d->cu.StreamSynchronize(d->stream), "run");
}

WEAK const struct hone_gpu_driver hone_gpu_cuda = {
	.open = open_device,
	.close = close_device,
	.enter = enter,
	.leave = leave,
	.alloc = get,
	.release = give_back,
	.upload = upload,
	.download = download,
	.load = load,
	.unload = unload,
	.bind = bind,
	.unbind = unbind,
	.launch = launch,
	.record = record,
	.replay = replay,
	.forget = forget,
	.wait = wait_for,
};
