/* The run time of networks for GPUs on OpenCL functions without a device.  What is in the queue is
 * done when somebody waits for it, and not before: so what the run time gives back too early is seen.
 * Each call fails once, by itself and with all behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cdefs.h"
#include "graph/runtime/gpu_run.h"
#include "proto/opencl_driver.h"

#define N 16
#define BYTES ((uint64_t)N * 4)
#define MOST 64

/* -- the functions -------------------------------------------------------------------------- */

struct opencl_object {
	const void *arg[3];
};

struct command {
	opencl_id kernel; /* NULL: a copy */
	void *to;
	const void *from;
	size_t n;
};

static struct {
	uint32_t calls, fail_at;
	int32_t fail_with, after; /* the call, and all behind it */
	int contexts, queues, programs, kernels, blocks; /* now */
	uint32_t n;
	struct command queue[MOST];
} cl;

static int32_t said(void)
{
	cl.calls++;
	return cl.calls == cl.fail_at			? cl.fail_with
	       : cl.fail_at > 0 && cl.calls > cl.fail_at ? cl.after
							: OPENCL_SUCCESS;
}

static opencl_id make(int *count, int32_t *ret)
{
	int32_t code = said();

	if (ret != NULL) {
		*ret = code;
	}
	*count += code == OPENCL_SUCCESS;
	return code == OPENCL_SUCCESS ? calloc(1, sizeof(struct opencl_object)) : NULL;
}

static int32_t drop(int *count, opencl_id object)
{
	--*count;
	free(object);
	return said();
}

static int32_t platforms(uint32_t n, opencl_id *p, uint32_t *ret)
{
	static struct opencl_object platform;

	assert_true(n >= 1);
	*p = &platform;
	*ret = 1;
	return said();
}

static int32_t devices(opencl_id p, uint64_t kind, uint32_t n, opencl_id *d, uint32_t *ret)
{
	(void)kind;
	return platforms(n, p != NULL ? d : NULL, ret);
}

static int32_t device_info(opencl_id d, uint32_t what, size_t n, void *v, size_t *ret)
{
	(void)d;
	(void)ret;
	memset(v, 0, n);
	memcpy(v, &(uint64_t){ what == OPENCL_DEVICE_SVM_CAPABILITIES ? 1 : 4 }, sizeof(uint64_t));
	return said();
}

static opencl_id new_context(const intptr_t *p, uint32_t n, const opencl_id *d,
			     void (*f)(const char *, const void *, size_t, void *), void *user,
			     int32_t *ret)
{
	assert_true(p == NULL && n == 1 && d != NULL && f == NULL && user == NULL);
	return make(&cl.contexts, ret);
}

static opencl_id new_queue(opencl_id c, opencl_id d, uint64_t how, int32_t *ret)
{
	assert_true(c != NULL && d != NULL && how == 0);
	return make(&cl.queues, ret);
}

static opencl_id new_program(opencl_id c, uint32_t n, const char **text, const size_t *bytes, int32_t *ret)
{
	assert_true(c != NULL && n == 1 && text != NULL && bytes != NULL);
	return make(&cl.programs, ret);
}

static int32_t build(opencl_id p, uint32_t n, const opencl_id *d, const char *options,
		     void (*f)(opencl_id, void *), void *user)
{
	assert_true(p != NULL && n == 1 && d != NULL && options != NULL && f == NULL && user == NULL);
	return said();
}

static int32_t build_info(opencl_id p, opencl_id d, uint32_t what, size_t n, void *v, size_t *ret)
{
	(void)p;
	(void)d;
	(void)what;
	(void)ret;
	memset(v, '\n', n); /* and no end */
	return said();
}

static int32_t drop_program(opencl_id p)
{
	return drop(&cl.programs, p);
}

static opencl_id new_kernel(opencl_id p, const char *name, int32_t *ret)
{
	assert_true(p != NULL && name != NULL);
	return make(&cl.kernels, ret);
}

static int32_t drop_kernel(opencl_id k)
{
	return drop(&cl.kernels, k);
}

static int32_t local_arg(opencl_id k, uint32_t i, size_t n, const void *v)
{
	assert_true(k != NULL && i == 3 && n == 512 && v == NULL);
	return said();
}

static int32_t pointer_arg(opencl_id k, uint32_t i, const void *v)
{
	k->arg[i] = v;
	return said();
}

static int32_t group_info(opencl_id k, opencl_id d, uint32_t what, size_t n, void *v, size_t *ret)
{
	assert_true(k != NULL && d != NULL && what == OPENCL_KERNEL_WORK_GROUP_SIZE && ret == NULL);
	memcpy(v, &(size_t){ 64 }, n);
	return said();
}

static int32_t put(struct command c)
{
	int32_t code = said();

	if (code == OPENCL_SUCCESS) {
		assert_true(cl.n < MOST);
		cl.queue[cl.n++] = c;
	}
	return code;
}

static int32_t launch(opencl_id q, opencl_id k, uint32_t n, const size_t *offset, const size_t *global,
		      const size_t *local, uint32_t n_event, const opencl_id *event, opencl_id *ret)
{
	assert_true(q != NULL && n == 3 && offset == NULL && n_event == 0 && event == NULL && ret == NULL);
	assert_int_equal(global[0], 2 * local[0]);
	return put((struct command){ .kernel = k });
}

static int32_t copy(opencl_id q, uint32_t waits, void *to, const void *from, size_t n, uint32_t n_event,
		    const opencl_id *event, opencl_id *ret)
{
	assert_true(q != NULL && waits == 0 && n_event == 0 && event == NULL && ret == NULL);
	return put((struct command){ .to = to, .from = from, .n = n });
}

/* y = x + w */
static int32_t finish(opencl_id q)
{
	assert_non_null(q);
	for (uint32_t i = 0; i < cl.n; i++) {
		const struct command *c = &cl.queue[i];

		if (c->kernel == NULL) {
			memcpy(c->to, c->from, c->n);
		}
		for (int k = 0; k < N && c->kernel != NULL; k++) {
			float *y = (float *)(uintptr_t)c->kernel->arg[2];

			y[k] = ((const float *)c->kernel->arg[0])[k] +
			       ((const float *)c->kernel->arg[1])[k];
		}
	}
	cl.n = 0;
	return said();
}

static void *get(opencl_id c, uint64_t how, size_t n, uint32_t align)
{
	int32_t code = said();

	assert_true(c != NULL && how == OPENCL_MEM_READ_WRITE && align == 0);
	cl.blocks += code == OPENCL_SUCCESS;
	return code == OPENCL_SUCCESS ? aligned_alloc(256, (n + 255) / 256 * 256) : NULL;
}

/* It does not wait for the queue. */
static void give_back(opencl_id c, void *at)
{
	assert_non_null(c);
	assert_int_equal(cl.n, 0); /* else the device would write to what is another's */
	cl.blocks--;
	free(at);
}

static int32_t drop_queue(opencl_id q)
{
	assert_int_equal(cl.n, 0);
	return drop(&cl.queues, q);
}

static int32_t drop_context(opencl_id c)
{
	return drop(&cl.contexts, c);
}

/* Instead of that which opens libraries. */
int32_t hone_gpu_library(const char *file, const char *what, const char *const *names, void **functions,
			 uint32_t n, uint32_t later)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} rows[] = {
#define ROW(name, function) { name, (void (*)(void))(function) }
		ROW("clGetPlatformIDs", platforms),
		ROW("clGetDeviceIDs", devices),
		ROW("clGetDeviceInfo", device_info),
		ROW("clCreateContext", new_context),
		ROW("clCreateCommandQueue", new_queue),
		ROW("clCreateProgramWithSource", new_program),
		ROW("clBuildProgram", build),
		ROW("clGetProgramBuildInfo", build_info),
		ROW("clReleaseProgram", drop_program),
		ROW("clCreateKernel", new_kernel),
		ROW("clSetKernelArg", local_arg),
		ROW("clGetKernelWorkGroupInfo", group_info),
		ROW("clReleaseKernel", drop_kernel),
		ROW("clEnqueueNDRangeKernel", launch),
		ROW("clFinish", finish),
		ROW("clSVMAlloc", get),
		ROW("clSVMFree", give_back),
		ROW("clSetKernelArgSVMPointer", pointer_arg),
		ROW("clEnqueueSVMMemcpy", copy),
		ROW("clReleaseCommandQueue", drop_queue),
		ROW("clReleaseContext", drop_context),
	};

	assert_string_equal(file, "libOpenCL.so.1");
	assert_non_null(what);
	assert_int_equal(later, n);
	memset(functions, 0, n * sizeof *functions);
	for (uint32_t i = 0; i < n; i++) {
		for (size_t k = 0; k < HN_COUNT_OF(rows); k++) {
			if (strcmp(names[i], rows[k].name) == 0) {
				memcpy(&functions[i], &rows[k].function, sizeof *functions);
			}
		}
	}
	return 0;
}

/* -- a network ------------------------------------------------------------------------------ */

static const int64_t dims[] = { N };
static const struct hone_model_tensor in[] = { { "x", "float32", dims, BYTES, 1 } };
static const struct hone_model_tensor out[] = { { "y", "float32", dims, BYTES, 1 } };
static const struct hone_model_kernel kernels[] = { { .name = "add" }, { .name = "again" } };
static const struct hone_model_arg args[] = {
	{ HONE_MODEL_INPUT, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_ARENA, 0, 0 },
	{ HONE_MODEL_ARENA, 0, 0 }, { HONE_MODEL_WEIGHTS, 0, 64 }, { HONE_MODEL_OUTPUT, 0, 0 },
};
static const struct hone_model_step steps[] = { { .name = "one", .kernel = 0, .first_arg = 0, .n_args = 3 },
						{ .name = "two", .kernel = 1, .first_arg = 3, .n_args = 3 } };
static const struct hone_model model = {
	.abi = HONE_MODEL_ABI,
	.n_inputs = 1,
	.n_outputs = 1,
	.n_kernels = 2,
	.n_steps = 2,
	.n_args = 6,
	.name = "net",
	.inputs = in,
	.outputs = out,
	.kernels = kernels,
	.steps = steps,
	.args = args,
	.weights_bytes = 64 + BYTES,
	.prepared_bytes = HONE_GPU_PREPARED_BYTES,
	.arena_bytes = BYTES,
	.stamp = 77,
};
static const struct hone_gpu_arg in_order[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };
static const struct hone_gpu_launch launches[] = {
	{ .name = "k0", .args = in_order, .n_args = 3, .grid = { 2, 1, 1 }, .block = { 8, 1, 1 }, .shared_static = 0,
	  .shared_asked = 512 },
};
static const struct hone_gpu_code codes[2] = { { "kernel", 6, launches, 1 }, { "kernel", 6, launches, 1 } };
static const struct hone_gpu gpu = { HONE_GPU_ABI, "opencl", "opencl", &model, codes, 256, NULL };

struct memory {
	_Alignas(64) uint64_t weights[(64 + BYTES) / 8];
	_Alignas(64) unsigned char prepared[HONE_GPU_PREPARED_BYTES];
	float x[N], y[N];
};

static int32_t run_once(struct memory *m)
{
	const void *const from[] = { m->x };
	void *const to[] = { m->y };
	int32_t rc;

	memset(m, 0, sizeof *m);
	m->weights[1] = 77;
	for (int i = 0; i < N; i++) {
		((float *)(void *)m->weights)[16 + i] = 3;
		m->x[i] = (float)i;
	}
	rc = hone_gpu_prepare(&gpu, m->weights, m->prepared, NULL, NULL);
	rc = rc != 0 ? rc : hone_gpu_run(&gpu, m->weights, m->prepared, from, to, NULL, NULL);
	hone_gpu_release(&gpu, m->prepared);
	return rc;
}

/* Returns whether there are fewer calls than that. */
static bool call_fails(uint32_t n, int32_t code, int32_t after)
{
	struct memory m;
	int32_t rc;

	memset(&cl, 0, sizeof cl);
	cl.fail_at = n;
	cl.fail_with = code;
	cl.after = after;
	rc = run_once(&m);
	if (rc == 0) {
		assert_float_equal(m.y[N - 1], N - 1 + 6, 0);
	} else {
		assert_in_range(-rc, -HONE_MODEL_DRIVER, -HONE_MODEL_DEVICE);
		assert_memory_equal(hone_gpu_error(&gpu), "OpenCL: ", 8);
		assert_int_equal(rc == HONE_MODEL_MEMORY, /* it is the first failure that is told */
				 strstr(hone_gpu_error(&gpu), "out of memory") != NULL ||
					 strstr(hone_gpu_error(&gpu), "no memory for") != NULL);
		assert_null(strpbrk(hone_gpu_error(&gpu), "\n\033\x80"));
	}
	assert_int_equal(cl.contexts + cl.queues + cl.programs + cl.kernels + cl.blocks, 0);
	return cl.calls < n;
}

static void any_call_may_fail(void **state)
{
	static const int32_t code[] = { OPENCL_OUT_OF_RESOURCES, OPENCL_OUT_OF_HOST_MEMORY,
					OPENCL_MEM_OBJECT_ALLOCATION_FAILURE };

	(void)state;
	for (size_t i = 0; i < 2 * HN_COUNT_OF(code); i++) {
		int32_t after = i % 2 == 0 ? OPENCL_SUCCESS : OPENCL_OUT_OF_RESOURCES;
		uint32_t n = 1;

		while (!call_fails(n, code[i / 2], after)) {
			n++;
		}
		assert_in_range(n, 30, 100);
	}
}

/* What was opened for one network is not given back for another. */
static void a_block_is_its_networks(void **state)
{
	static const struct hone_gpu other = { HONE_GPU_ABI, "opencl", "opencl", &model, codes, 0, NULL };
	static struct memory m;

	(void)state;
	memset(&cl, 0, sizeof cl);
	m.weights[1] = 77;
	assert_int_equal(hone_gpu_prepare(&gpu, m.weights, m.prepared, NULL, NULL), 0);
	assert_int_equal(hone_gpu_release(&other, m.prepared), HONE_MODEL_ALIGN);
	assert_int_equal(hone_gpu_release(&gpu, m.prepared + 8), HONE_MODEL_ALIGN);
	assert_int_equal(cl.contexts, 1);
	assert_int_equal(hone_gpu_release(&gpu, m.prepared), 0);
	assert_int_equal(hone_gpu_release(&gpu, m.prepared), 0);
	assert_int_equal(hone_gpu_release(&gpu, NULL), 0);
	assert_int_equal(cl.contexts + cl.blocks, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_call_may_fail),
		cmocka_unit_test(a_block_is_its_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
