/* opencl.c -- boards of OpenCL devices: GPUs, and this machine's cores by PoCL.
 *
 * One queue in order, with profiling; a time is from the start of the first kernel to the end of
 * the last, by the device's clock.  Guards are the rest of a larger buffer, of which the kernels
 * get a part.  The drivers' loader, all drivers and their words are anybody's (gpu.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/drv/opencl_int.h"

#define MOST 64 /* platforms, and devices of one */
#define CANARY_SAMPLES 8

/* What the number says of a kernel; nothing of it where it is none of these. */
enum hn_verdict opencl_fail(int32_t code, const char *what, struct hn_err *err)
{
	static const struct {
		int32_t code;
		enum hn_verdict verdict;
		const char *text;
	} rows[] = {
		{OPENCL_MEM_OBJECT_ALLOCATION_FAILURE, HN_VERDICT_OOM, "no memory on the device"},
		{OPENCL_OUT_OF_RESOURCES, HN_VERDICT_OVER_LIMIT, "out of resources"},
		{OPENCL_OUT_OF_HOST_MEMORY, HN_VERDICT_OOM, "no memory for the driver"},
		{OPENCL_INVALID_WORK_GROUP_SIZE, HN_VERDICT_OVER_LIMIT, "too many threads"},
		{OPENCL_INVALID_WORK_ITEM_SIZE, HN_VERDICT_OVER_LIMIT, "too many threads"},
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].code == code) {
			hn_fail(err, HONE_E_NO_BOARD, "OpenCL: %s: %s (error %d)", what,
				rows[i].text, (int)code);
			return rows[i].verdict;
		}
	}
	hn_fail(err, HONE_E_NO_BOARD, "OpenCL: %s: error %d", what, (int)code);
	return HN_VERDICT_RUN_LOST;
}

/* -- devices ------------------------------------------------------------------------------ */

/* The index-th device of all platforms, in the loader's order. */
static int find_device(const struct opencl_api *cl, uint32_t index, opencl_id *ret,
		       struct hn_err *err)
{
	opencl_id platform[MOST], device[MOST];
	uint32_t n_platform = 0, seen = 0;

	if (cl->GetPlatformIDs(MOST, platform, &n_platform) != OPENCL_SUCCESS) {
		n_platform = 0;
	}
	for (uint32_t p = 0; p < n_platform && p < MOST; p++) {
		uint32_t n = 0;

		if (cl->GetDeviceIDs(platform[p], (uint32_t)OPENCL_DEVICE_TYPE_ALL, MOST, device,
				     &n) != OPENCL_SUCCESS) {
			continue;
		}
		n = n < MOST ? n : MOST;
		if (index - seen < n) {
			*ret = device[index - seen];
			return 0;
		}
		seen += n;
	}
	return hn_fail(err, HONE_E_NO_BOARD,
		       "OpenCL: device %u is asked for, there are %u; a driver is missing (Debian: "
		       "pocl-opencl-icd runs kernels on this machine's cores)",
		       index, seen);
}

int64_t opencl_number(const struct opencl_device *d, uint32_t what)
{
	uint64_t v = 0;
	size_t bytes = 0;

	if (d->api.GetDeviceInfo(d->device, what, sizeof v, &v, &bytes) != OPENCL_SUCCESS ||
	    bytes > sizeof v) {
		return 0;
	}
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

static void text(const struct opencl_device *d, uint32_t what, char to[GPU_TEXT])
{
	char raw[1024] = "";

	if (d->api.GetDeviceInfo(d->device, what, sizeof raw - 1, raw, NULL) != OPENCL_SUCCESS) {
		raw[0] = '\0';
	}
	gpu_print(to, GPU_TEXT, raw, sizeof raw);
}

static void read_facts(const struct opencl_device *d, struct gpu_facts *f)
{
	size_t block[16] = {0};

	*f = (struct gpu_facts){
		.cores = opencl_number(d, OPENCL_DEVICE_MAX_COMPUTE_UNITS),
		.shared_bytes = opencl_number(d, OPENCL_DEVICE_LOCAL_MEM_SIZE),
		.threads = opencl_number(d, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE),
		.memory_bytes = opencl_number(d, OPENCL_DEVICE_GLOBAL_MEM_SIZE),
		.buffer_bytes = opencl_number(d, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE),
		.cache_bytes = opencl_number(d, OPENCL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
		.clock_mhz = opencl_number(d, OPENCL_DEVICE_MAX_CLOCK_FREQUENCY),
	};
	f->static_shared_bytes = f->shared_bytes;
	f->host = (opencl_number(d, OPENCL_DEVICE_TYPE) & OPENCL_DEVICE_TYPE_CPU) != 0;
	snprintf(f->isa, sizeof f->isa, "%s", f->host ? "opencl-cpu" : "opencl");
	f->vector_bytes = opencl_number(d, OPENCL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT) * 4;
	text(d, OPENCL_DEVICE_NAME, f->name);
	text(d, OPENCL_DRIVER_VERSION, f->driver);
	if (d->api.GetDeviceInfo(d->device, OPENCL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof block, block,
				 NULL) != OPENCL_SUCCESS) {
		block[0] = block[1] = block[2] = 0;
	}
	for (int i = 0; i < 3; i++) {
		f->block[i] = block[i] < INT64_MAX ? (int64_t)block[i] : INT64_MAX;
	}
}

static void opencl_close(void *dev)
{
	free(dev); /* its objects go with the process */
}

static int opencl_open(uint32_t index, void **ret, struct gpu_facts *facts, struct hn_err *err)
{
	struct opencl_device *d = calloc(1, sizeof *d);
	int32_t code = OPENCL_SUCCESS;
	int rc;

	if (d == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "OpenCL: out of memory");
	}
	setenv("POCL_KERNEL_CACHE", "0", /* overwrite= */ 0); /* thousands of kernels, once each */
	rc = opencl_api_open(&d->api, err);
	rc = rc ? rc : find_device(&d->api, index, &d->device, err);
	if (rc == 0) {
		read_facts(d, facts);
		if (opencl_number(d, OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8 > GPU_GUARD) {
			rc = hn_fail(err, HONE_E_NO_BOARD,
				     "OpenCL: %s aligns buffers to more than %d bytes",
				     facts->name, GPU_GUARD);
		}
	}
	if (rc == 0) {
		d->context = d->api.CreateContext(NULL, 1, &d->device, NULL, NULL, &code);
		if (code == OPENCL_SUCCESS) {
			d->queue = d->api.CreateCommandQueue(
				d->context, d->device, OPENCL_QUEUE_PROFILING_ENABLE, &code);
		}
		if (code != OPENCL_SUCCESS || d->queue == NULL) {
			rc = hn_fail(err, HONE_E_NO_BOARD, "OpenCL: %s cannot be used: error %d",
				     facts->name, (int)code);
		}
	}
	if (rc != 0) {
		opencl_close(d);
		return rc;
	}
	*ret = d;
	return 0;
}

/* -- memory ------------------------------------------------------------------------------- */

static enum hn_verdict opencl_alloc(void *dev, int64_t bytes, struct gpu_memory **ret,
				    struct hn_err *err)
{
	struct opencl_device *d = dev;
	struct gpu_memory *m = calloc(1, sizeof *m);
	struct opencl_region part = {GPU_GUARD, (size_t)bytes};
	int32_t code = OPENCL_OUT_OF_HOST_MEMORY;

	if (m == NULL) {
		return opencl_fail(code, "buffer", err);
	}
	m->whole = d->api.CreateBuffer(d->context, OPENCL_MEM_READ_WRITE,
				       (size_t)bytes + 2 * GPU_GUARD, NULL, &code);
	if (code == OPENCL_SUCCESS) {
		m->part = d->api.CreateSubBuffer(m->whole, OPENCL_MEM_READ_WRITE,
						 OPENCL_BUFFER_CREATE_TYPE_REGION, &part, &code);
	}
	if (code != OPENCL_SUCCESS) {
		if (m->whole != NULL) {
			d->api.ReleaseMemObject(m->whole);
		}
		free(m);
		return opencl_fail(code, "buffer", err);
	}
	*ret = m;
	return HN_VERDICT_OK;
}

static void opencl_release(void *dev, struct gpu_memory *m)
{
	struct opencl_device *d = dev;

	d->api.ReleaseMemObject(m->part);
	d->api.ReleaseMemObject(m->whole);
	free(m);
}

enum hn_verdict opencl_done(int32_t code, const char *what, struct hn_err *err)
{
	return code == OPENCL_SUCCESS ? HN_VERDICT_OK : opencl_fail(code, what, err);
}

static enum hn_verdict opencl_write(void *dev, struct gpu_memory *m, size_t at, const void *from,
				    size_t n, struct hn_err *err)
{
	struct opencl_device *d = dev;

	return opencl_done(d->api.EnqueueWriteBuffer(d->queue, m->whole, 1, at, n, from, 0, NULL, NULL),
		    "write", err);
}

static enum hn_verdict opencl_read(void *dev, struct gpu_memory *m, size_t at, void *to, size_t n,
				   struct hn_err *err)
{
	struct opencl_device *d = dev;

	return opencl_done(d->api.EnqueueReadBuffer(d->queue, m->whole, 1, at, n, to, 0, NULL, NULL),
		    "read", err);
}

static enum hn_verdict opencl_fill(void *dev, struct gpu_memory *m, size_t at, uint8_t byte,
				   size_t n, struct hn_err *err)
{
	struct opencl_device *d = dev;

	return opencl_done(d->api.EnqueueFillBuffer(d->queue, m->whole, &byte, 1, at, n, 0, NULL, NULL),
		    "fill", err);
}

/* -- the board ---------------------------------------------------------------------------- */

/* A chain of multiplications that each wait for the one before. */
static const char canary_code[] =
	"kernel void canary(global unsigned *out) {\n"
	"	unsigned x = (unsigned)get_global_id(0) | 1u;\n"
	"	for (int i = 0; i < 100000; i++) x = x * 1664525u + 1013904223u;\n"
	"	out[get_global_id(0)] = x;\n"
	"}\n";

static enum hn_verdict make_canary(struct opencl_device *d, struct hn_err *err)
{
	struct opencl_program p = {.n = 0};
	const struct hn_gpu_module m = {.code = canary_code, .code_bytes = strlen(canary_code)};
	enum hn_verdict v = opencl_build(d, &p, &m, err);
	int32_t code = OPENCL_SUCCESS;

	if (v != HN_VERDICT_OK) {
		return HN_VERDICT_RUN_LOST;
	}
	d->canary_memory = d->api.CreateBuffer(d->context, OPENCL_MEM_READ_WRITE, 4096, NULL, &code);
	if (code == OPENCL_SUCCESS) {
		d->canary = d->api.CreateKernel(p.program, "canary", &code);
	}
	if (code == OPENCL_SUCCESS) {
		code = d->api.SetKernelArg(d->canary, 0, sizeof d->canary_memory,
					   &d->canary_memory);
	}
	return opencl_done(code, "canary", err);
}

static enum hn_verdict opencl_canary(void *dev, double *ret_ns, struct hn_err *err)
{
	struct opencl_device *d = dev;
	enum hn_verdict v = d->canary == NULL ? make_canary(d, err) : HN_VERDICT_OK;
	const struct opencl_kernel k = {d->canary, {64, 1, 1}, {32, 1, 1}};
	double ns;

	*ret_ns = INFINITY;
	for (int i = 0; i < CANARY_SAMPLES && v == HN_VERDICT_OK; i++) {
		v = opencl_run_kernels(d, &k, 1, 1, false, &ns, err);
		*ret_ns = fmin(*ret_ns, ns);
	}
	return v;
}

static void opencl_state(void *dev, char *to, size_t n)
{
	(void)dev;
	snprintf(to, n, "%s", "");
}

static const struct gpu_ops ops = {.kind = "opencl",
				   .form = HN_GPU_OPENCL,
				   .open = opencl_open,
				   .close = opencl_close,
				   .alloc = opencl_alloc,
				   .release = opencl_release,
				   .write = opencl_write,
				   .read = opencl_read,
				   .fill = opencl_fill,
				   .load = opencl_load,
				   .unload = opencl_unload,
				   .run = opencl_run,
				   .canary = opencl_canary,
				   .state = opencl_state,
				   .lazy = true,
				   .wander = 0.15};

static int open_board(const struct hn_board_place *at, void **ret, struct hn_err *err)
{
	return gpu_board_open(&ops, at, ret, err);
}

static int find(uint32_t index, struct hn_board_device *ret, struct hn_err *err)
{
	return gpu_board_find(&ops, index, ret, err);
}

const struct hn_board_ops hn_board_opencl = {.name = "opencl",
					     .cold = true,
					     .open = open_board,
					     .close = gpu_board_close,
					     .workload = gpu_board_workload,
					     .measure = gpu_board_measure,
					     .probe = gpu_board_probe,
					     .find = find,
					     .canary = gpu_board_canary};
