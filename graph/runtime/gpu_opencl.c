/* graph/runtime/gpu_opencl.c -- compiled networks on a device of OpenCL's: see gpu_run.h.
 *
 * The device is the first of the kind that the network is made for, a GPU or a processor; where
 * there is none, the first of all.  Memory is shared virtual memory, because a kernel's argument
 * may lie anywhere in it; a device before OpenCL 2.0 has none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/runtime/gpu_run.h"
#include "proto/opencl_driver.h"

#define FILE_NAME "libOpenCL.so.1"
#define MOST 64 /* platforms, and devices of one */
#define LOG_BYTES 4096
#define BUILD_OPTIONS "-cl-std=CL1.2"

struct functions {
#define X(type, name, parameters) type(*name) parameters;
	OPENCL_FUNCTIONS(X) OPENCL_SVM_FUNCTIONS(X)
#undef X
};

static const char *const names[] = {
#define X(type, name, parameters) "cl" #name,
	OPENCL_FUNCTIONS(X) OPENCL_SVM_FUNCTIONS(X)
#undef X
};
_Static_assert(sizeof(struct functions) == sizeof names, "a function's address is a pointer");

struct device {
	struct functions cl;
	opencl_id device, context, queue;
	const char *isa;
};

struct bound {
	opencl_id kernel;
	size_t global[3], local[3];
};

static int32_t fail(int32_t code, const char *what)
{
	int32_t rc = HONE_MODEL_DEVICE;

	if (code == OPENCL_MEM_OBJECT_ALLOCATION_FAILURE || code == OPENCL_OUT_OF_HOST_MEMORY) {
		rc = HONE_MODEL_MEMORY;
	}
	return hone_gpu_fail(rc, "OpenCL: %s: error %d%s", what, (int)code,
			     rc == HONE_MODEL_MEMORY ? ", out of memory" : "");
}

static int32_t done(int32_t code, const char *what)
{
	return code == OPENCL_SUCCESS ? 0 : fail(code, what);
}

/* -- the device --------------------------------------------------------------------------- */

static int has(const struct device *d, opencl_id device, uint32_t what, uint64_t bits)
{
	uint64_t v = 0;

	return d->cl.GetDeviceInfo(device, what, sizeof v, &v, NULL) == OPENCL_SUCCESS &&
	       (v & bits) != 0;
}

static int32_t find_device(struct device *d)
{
	int wants_cores = strcmp(d->isa, "opencl-cpu") == 0;
	opencl_id platform[MOST], device[MOST], first = NULL;
	uint32_t n_platform = 0;

	if (d->cl.GetPlatformIDs(MOST, platform, &n_platform) != OPENCL_SUCCESS) {
		n_platform = 0;
	}
	for (uint32_t p = 0; p < n_platform && p < MOST && d->device == NULL; p++) {
		uint32_t n = 0;

		if (d->cl.GetDeviceIDs(platform[p], (uint32_t)OPENCL_DEVICE_TYPE_ALL, MOST, device,
				       &n) != OPENCL_SUCCESS) {
			continue;
		}
		for (uint32_t i = 0; i < n && i < MOST && d->device == NULL; i++) {
			int is_cores = has(d, device[i], OPENCL_DEVICE_TYPE, OPENCL_DEVICE_TYPE_CPU);

			first = first == NULL ? device[i] : first;
			d->device = is_cores == wants_cores ? device[i] : NULL;
		}
	}
	d->device = d->device != NULL ? d->device : first;
	return d->device != NULL
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_DRIVER,
				       "OpenCL: there is no device; a driver is missing (Debian: "
				       "pocl-opencl-icd runs networks on this machine's cores)");
}

static void close_device(void *dev)
{
	struct device *d = dev;

	if (d->queue != NULL) {
		d->cl.ReleaseCommandQueue(d->queue);
	}
	if (d->context != NULL) {
		d->cl.ReleaseContext(d->context);
	}
	free(d);
}

static int32_t make_queue(struct device *d)
{
	int32_t code = OPENCL_SUCCESS;

	if (!has(d, d->device, OPENCL_DEVICE_SVM_CAPABILITIES, 1)) {
		return hone_gpu_fail(HONE_MODEL_DRIVER, "OpenCL: the device has no shared virtual "
							"memory (OpenCL 2.0)");
	}
	d->context = d->cl.CreateContext(NULL, 1, &d->device, NULL, NULL, &code);
	if (code == OPENCL_SUCCESS) {
		d->queue = d->cl.CreateCommandQueue(d->context, d->device, 0, &code);
	}
	return code == OPENCL_SUCCESS
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_DRIVER,
				       "OpenCL: the device cannot be used: error %d", (int)code);
}

static int32_t open_device(const struct hone_gpu *g, void **ret)
{
	struct device *d = calloc(1, sizeof *d);
	void *at[sizeof names / sizeof *names];
	int32_t rc;

	if (d == NULL) {
		return fail(OPENCL_OUT_OF_HOST_MEMORY, "device");
	}
	d->isa = g->isa;
	rc = hone_gpu_library(FILE_NAME, "a loader of OpenCL drivers (Debian: ocl-icd-libopencl1)",
			      names, at, sizeof names / sizeof *names, sizeof names / sizeof *names);
	if (rc != 0) {
		free(d);
		return rc;
	}
	memcpy(&d->cl, at, sizeof d->cl);
	rc = find_device(d);
	rc = rc ? rc : make_queue(d);
	if (rc != 0) {
		close_device(d);
		return rc;
	}
	*ret = d;
	return 0;
}

static int32_t enter(void *dev)
{
	(void)dev;
	return 0;
}

static void leave(void *dev)
{
	(void)dev;
}

/* -- memory ------------------------------------------------------------------------------- */

static int32_t get(void *dev, uint64_t bytes, uint64_t *ret)
{
	struct device *d = dev;
	void *at = d->cl.SVMAlloc(d->context, OPENCL_MEM_READ_WRITE, (size_t)bytes, 0);

	*ret = (uint64_t)(uintptr_t)at;
	return at != NULL ? 0
			  : hone_gpu_fail(HONE_MODEL_MEMORY,
					  "OpenCL: the device has no memory for %llu bytes in one piece",
					  (unsigned long long)bytes);
}

static void give_back(void *dev, uint64_t at)
{
	struct device *d = dev;

	d->cl.SVMFree(d->context, (void *)(uintptr_t)at);
}

static int32_t copy(struct device *d, void *to, const void *from, uint64_t n, const char *what)
{
	return done(d->cl.EnqueueSVMMemcpy(d->queue, 0, to, from, (size_t)n, 0, NULL, NULL), what);
}

static int32_t upload(void *dev, uint64_t to, const void *from, uint64_t n)
{
	return copy(dev, (void *)(uintptr_t)to, from, n, "upload");
}

static int32_t download(void *dev, void *to, uint64_t from, uint64_t n)
{
	return copy(dev, to, (const void *)(uintptr_t)from, n, "download");
}

/* -- kernels ------------------------------------------------------------------------------ */

static int32_t load(void *dev, const char *name, const struct hone_gpu_code *c, void **ret)
{
	struct device *d = dev;
	const char *source = c->bytes;
	char log[LOG_BYTES] = "";
	size_t bytes = (size_t)c->n_bytes;
	int32_t code = OPENCL_SUCCESS;
	opencl_id program = d->cl.CreateProgramWithSource(d->context, 1, &source, &bytes, &code);

	if (code != OPENCL_SUCCESS) {
		return fail(code, name);
	}
	code = d->cl.BuildProgram(program, 1, &d->device, BUILD_OPTIONS, NULL, NULL);
	if (code == OPENCL_SUCCESS) {
		*ret = program;
		return 0;
	}
	if (d->cl.GetProgramBuildInfo(program, d->device, OPENCL_PROGRAM_BUILD_LOG, sizeof log - 1,
				      log, NULL) != OPENCL_SUCCESS) {
		log[0] = '\0';
	}
	d->cl.ReleaseProgram(program);
	return hone_gpu_fail(HONE_MODEL_CODE, "OpenCL: the driver does not compile %s (error %d): %s",
			     name, (int)code, log);
}

static void unload(void *dev, void *program)
{
	struct device *d = dev;

	d->cl.ReleaseProgram(program);
}

static void unbind(void *dev, void *launch)
{
	struct device *d = dev;
	struct bound *b = launch;

	if (b->kernel != NULL) {
		d->cl.ReleaseKernel(b->kernel);
	}
	free(b);
}

static int32_t set_args(struct device *d, struct bound *b, const struct hone_gpu_launch *l,
			const uint64_t *args)
{
	size_t most = 0, threads = (size_t)l->block[0] * l->block[1] * l->block[2];
	int32_t code = OPENCL_SUCCESS;

	for (uint32_t i = 0; i < l->n_args && code == OPENCL_SUCCESS; i++) {
		code = d->cl.SetKernelArgSVMPointer(b->kernel, i,
						    (const void *)(uintptr_t)args[i]);
	}
	if (code == OPENCL_SUCCESS && l->shared_asked > 0) {
		code = d->cl.SetKernelArg(b->kernel, l->n_args, l->shared_asked, NULL);
	}
	if (code != OPENCL_SUCCESS) {
		return fail(code, "parameters of a kernel");
	}
	code = d->cl.GetKernelWorkGroupInfo(b->kernel, d->device, OPENCL_KERNEL_WORK_GROUP_SIZE,
					    sizeof most, &most, NULL);
	return code != OPENCL_SUCCESS || threads <= most
		       ? 0
		       : hone_gpu_fail(HONE_MODEL_CODE,
				       "OpenCL: a kernel has %zu threads of a block, and the device "
				       "takes at most %zu",
				       threads, most);
}

static int32_t bind(void *dev, void *program, const struct hone_gpu_launch *l,
		    const uint64_t *args, const uint64_t *maps, void **ret)
{
	struct device *d = dev;
	struct bound *b = calloc(1, sizeof *b);
	int32_t code = OPENCL_SUCCESS, rc;

	(void)maps; /* OpenCL has none */
	if (b == NULL) {
		return fail(OPENCL_OUT_OF_HOST_MEMORY, "kernel");
	}
	for (int i = 0; i < 3; i++) {
		b->local[i] = l->block[i];
		b->global[i] = (size_t)l->block[i] * l->grid[i];
	}
	b->kernel = d->cl.CreateKernel(program, l->name, &code);
	if (code != OPENCL_SUCCESS) {
		b->kernel = NULL;
	}
	rc = code == OPENCL_SUCCESS ? set_args(d, b, l, args) : fail(code, l->name);
	if (rc != 0) {
		unbind(d, b);
		return rc;
	}
	*ret = b;
	return 0;
}

static int32_t launch(void *dev, void *const *bound, uint32_t n)
{
	struct device *d = dev;
	int32_t code = OPENCL_SUCCESS;

	for (uint32_t i = 0; i < n && code == OPENCL_SUCCESS; i++) {
		const struct bound *b = bound[i];

		code = d->cl.EnqueueNDRangeKernel(d->queue, b->kernel, 3, NULL, b->global, b->local,
						  0, NULL, NULL);
	}
	return done(code, "launch");
}

static int32_t wait_for(void *dev)
{
	struct device *d = dev;

	return done(d->cl.Finish(d->queue), "run");
}

WEAK const struct hone_gpu_driver hone_gpu_opencl = {
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
	.wait = wait_for,
};
