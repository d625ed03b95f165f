/* Runs a module of OpenCL C on the first device of the first platform there is, by the loader of
 * OpenCL's drivers, opened at run time: what tests of printers share.  Types and numbers are those
 * of OpenCL's headers, version 1.2. */
#ifndef HN_TESTS_OPENCL_RUN_H
#define HN_TESTS_OPENCL_RUN_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "proto/gpu_module.h"

#define CL_FUNCTIONS(X)                                                                          \
	X(clGetPlatformIDs, int, (uint32_t, void **, uint32_t *))                                \
	X(clGetDeviceIDs, int, (void *, uint64_t, uint32_t, void **, uint32_t *))                \
	X(clCreateContext, void *, (const void *, uint32_t, void *const *, void *, void *, int *)) \
	X(clCreateCommandQueue, void *, (void *, void *, uint64_t, int *))                       \
	X(clCreateProgramWithSource, void *,                                                     \
	  (void *, uint32_t, const char **, const size_t *, int *))                              \
	X(clBuildProgram, int, (void *, uint32_t, void *const *, const char *, void *, void *))  \
	X(clGetProgramBuildInfo, int, (void *, void *, uint32_t, size_t, void *, size_t *))      \
	X(clCreateKernel, void *, (void *, const char *, int *))                                 \
	X(clCreateBuffer, void *, (void *, uint64_t, size_t, void *, int *))                     \
	X(clSetKernelArg, int, (void *, uint32_t, size_t, const void *))                         \
	X(clEnqueueNDRangeKernel, int,                                                           \
	  (void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,   \
	   const void *, void *))                                                                \
	X(clEnqueueReadBuffer, int,                                                              \
	  (void *, void *, uint32_t, size_t, size_t, void *, uint32_t, const void *, void *))    \
	X(clFinish, int, (void *))                                                               \
	X(clReleaseMemObject, int, (void *))                                                     \
	X(clReleaseKernel, int, (void *))                                                        \
	X(clReleaseProgram, int, (void *))

struct cl {
	void *device, *context, *queue;
#define X(name, type, args) type (*name) args;
	CL_FUNCTIONS(X)
#undef X
};

/* False: there is no loader, no platform, or no device. */
static inline bool cl_open(struct cl *c)
{
	void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *platform;
	uint32_t n = 0;
	int rc;

	if (lib == NULL) {
		return false;
	}
#define X(name, type, args)                                                                      \
	c->name = (type(*) args)(uintptr_t)dlsym(lib, #name);                                    \
	if (c->name == NULL) {                                                                   \
		return false;                                                                    \
	}
	CL_FUNCTIONS(X)
#undef X
	if (c->clGetPlatformIDs(1, &platform, &n) != 0 || n == 0 ||
	    c->clGetDeviceIDs(platform, 0xFFFFFFFF, 1, &c->device, &n) != 0 || n == 0) {
		return false;
	}
	c->context = c->clCreateContext(NULL, 1, &c->device, NULL, NULL, &rc);
	c->queue = rc == 0 ? c->clCreateCommandQueue(c->context, c->device, 0, &rc) : NULL;
	return rc == 0;
}

static inline bool cl_launch(struct cl *c, const struct hn_gpu_kernel *k, void *program,
			     void *const *buffer)
{
	size_t global[3], local[3];
	int rc;
	void *kernel = c->clCreateKernel(program, k->name, &rc);

	for (uint32_t i = 0; i < k->n_arg && rc == 0; i++) {
		rc = c->clSetKernelArg(kernel, i, sizeof(void *), &buffer[k->arg[i]]);
	}
	for (int d = 0; d < 3; d++) {
		local[d] = (size_t)k->block[d];
		global[d] = (size_t)k->grid[d] * local[d];
	}
	rc = rc ? rc
		: c->clEnqueueNDRangeKernel(c->queue, kernel, 3, NULL, global, local, 0, NULL,
					    NULL);
	rc = rc ? rc : c->clFinish(c->queue);
	if (kernel != NULL) {
		c->clReleaseKernel(kernel);
	}
	return rc == 0;
}

/* arg[i] are the elements of argument i, which are all read back.  False: `why` says what failed. */
static inline bool cl_run(struct cl *c, const struct hn_gpu_module *m, void *const *arg,
			  char why[2000])
{
	const char *text = m->code;
	void *buffer[HN_GPU_MAX_BUFFERS] = { NULL };
	int rc = 0;
	void *program =
		c->clCreateProgramWithSource(c->context, 1, &text, &m->code_bytes, &rc);

	snprintf(why, 2000, "it does not run");
	rc = rc ? rc : c->clBuildProgram(program, 1, &c->device, "", NULL, NULL);
	if (rc != 0 && program != NULL) {
		c->clGetProgramBuildInfo(program, c->device, 0x1183, 1999, why, NULL);
	}
	for (uint32_t i = 0; i < m->n_buffer && rc == 0; i++) {
		const struct hn_gpu_buffer *b = &m->buffer[i];

		buffer[i] = c->clCreateBuffer(c->context, b->arg >= 0 ? 1 | 32 : 1, (size_t)b->bytes,
					      b->arg >= 0 ? arg[b->arg] : NULL, &rc);
	}
	for (uint32_t i = 0; i < m->n_kernel && rc == 0; i++) {
		rc = !cl_launch(c, &m->kernel[i], program, buffer);
	}
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		const struct hn_gpu_buffer *b = &m->buffer[i];

		if (rc == 0 && b->arg >= 0) {
			rc = c->clEnqueueReadBuffer(c->queue, buffer[i], 1, 0, (size_t)b->bytes,
						    arg[b->arg], 0, NULL, NULL);
		}
		if (buffer[i] != NULL) {
			c->clReleaseMemObject(buffer[i]);
		}
	}
	if (program != NULL) {
		c->clReleaseProgram(program);
	}
	return rc == 0;
}

#endif
