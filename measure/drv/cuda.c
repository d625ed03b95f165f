/* cuda.c -- boards of NVIDIA's devices, by the driver alone: the device, its memory, its canary.
 *
 * The child has the device's primary context and one stream.  An error that the context does not
 * outlive (an illegal address, a trap, a lost device) ends the child, and its successor opens the
 * device anew.  Nothing of the device is ever set: clocks, power and temperature are read for the
 * records.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/drv/cuda_int.h"

#define CANARY_SAMPLES 8
#define CANARY_MOST 60	  /* until the clock has come up */
#define CANARY_SAME 1.02

enum hn_verdict cuda_fail(struct cuda_device *d, cuda_result code, const char *what,
			  struct hn_err *err)
{
	static const struct {
		cuda_result code;
		enum hn_verdict verdict;
	} rows[] = {
		{CUDA_E_INVALID_VALUE, HN_VERDICT_OVER_LIMIT}, /* a launch beyond the limits */
		{CUDA_E_OUT_OF_MEMORY, HN_VERDICT_OOM},
		{CUDA_E_INVALID_IMAGE, HN_VERDICT_LOAD_FAIL},
		{CUDA_E_NO_BINARY_FOR_GPU, HN_VERDICT_LOAD_FAIL},
		{CUDA_E_INVALID_PTX, HN_VERDICT_LOAD_FAIL},
		{CUDA_E_UNSUPPORTED_PTX_VERSION, HN_VERDICT_LOAD_FAIL},
		{CUDA_E_NOT_FOUND, HN_VERDICT_LOAD_FAIL},
		{CUDA_E_ILLEGAL_ADDRESS, HN_VERDICT_SEGV},
		{CUDA_E_LAUNCH_OUT_OF_RESOURCES, HN_VERDICT_OVER_LIMIT},
		{CUDA_E_LAUNCH_TIMEOUT, HN_VERDICT_HANG},
		{CUDA_E_ASSERT, HN_VERDICT_ILL},
		{CUDA_E_HARDWARE_STACK_ERROR, HN_VERDICT_STACK_OVERFLOW},
		{CUDA_E_ILLEGAL_INSTRUCTION, HN_VERDICT_ILL},
		{CUDA_E_MISALIGNED_ADDRESS, HN_VERDICT_BUS},
		{CUDA_E_INVALID_ADDRESS_SPACE, HN_VERDICT_SEGV},
		{CUDA_E_INVALID_PC, HN_VERDICT_ILL},
		{CUDA_E_LAUNCH_FAILED, HN_VERDICT_SEGV},
	};
	const char *raw = NULL;
	char text[GPU_TEXT];

	if (d->api.GetErrorString(code, &raw) != 0 || raw == NULL) {
		raw = "unknown error";
	}
	hn_fail(err, HONE_E_NO_BOARD, "CUDA: %s: %s (error %d)", what,
		gpu_print(text, sizeof text, raw, sizeof text), code);
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (rows[i].code == code) {
			return rows[i].verdict;
		}
	}
	return HN_VERDICT_RUN_LOST;
}

enum hn_verdict cuda_done(struct cuda_device *d, cuda_result code, const char *what,
			  struct hn_err *err)
{
	return code == 0 ? HN_VERDICT_OK : cuda_fail(d, code, what, err);
}

/* -- the device --------------------------------------------------------------------------- */

static int64_t attribute(const struct cuda_device *d, int what)
{
	int v = 0;

	return d->api.DeviceGetAttribute(&v, what, d->device) == 0 && v > 0 ? v : 0;
}

static void read_facts(struct cuda_device *d, struct gpu_facts *f)
{
	char raw[256] = "";
	size_t bytes = 0;
	int version = 0;

	*f = (struct gpu_facts){
		.cores = attribute(d, CUDA_ATTRIBUTE_CORES),
		.shared_bytes = attribute(d, CUDA_ATTRIBUTE_SHARED_OPTIN),
		.static_shared_bytes = attribute(d, CUDA_ATTRIBUTE_SHARED),
		.threads = attribute(d, CUDA_ATTRIBUTE_MAX_THREADS),
		.block = {attribute(d, CUDA_ATTRIBUTE_MAX_BLOCK_X),
			  attribute(d, CUDA_ATTRIBUTE_MAX_BLOCK_Y),
			  attribute(d, CUDA_ATTRIBUTE_MAX_BLOCK_Z)},
		.warp = attribute(d, CUDA_ATTRIBUTE_WARP),
		.cache_bytes = attribute(d, CUDA_ATTRIBUTE_L2),
	};
	if (f->shared_bytes < f->static_shared_bytes) {
		f->shared_bytes = f->static_shared_bytes;
	}
	if (d->api.DeviceGetName(raw, sizeof raw - 1, d->device) != 0) {
		raw[0] = '\0';
	}
	gpu_print(f->name, sizeof f->name, raw, sizeof raw);
	if (d->api.DriverGetVersion(&version) == 0 && version > 0) {
		snprintf(f->driver, sizeof f->driver, "CUDA %d.%d", version / 1000,
			 version % 1000 / 10);
	}
	if (d->api.DeviceTotalMem(&bytes, d->device) == 0) {
		f->memory_bytes = f->buffer_bytes = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
	}
	d->capability = (int)(attribute(d, CUDA_ATTRIBUTE_MAJOR) * 10 +
			      attribute(d, CUDA_ATTRIBUTE_MINOR));
	snprintf(f->isa, sizeof f->isa, "sm_%d", d->capability);
}

static int find_device(struct cuda_device *d, uint32_t index, struct hn_err *err)
{
	struct hn_err why = {0};
	int n = 0;
	cuda_result code = d->api.Init(0);

	code = code != 0 ? code : d->api.DeviceGetCount(&n);
	if (code == 0 && (n < 1 || index >= (uint32_t)n)) {
		return hn_fail(err, HONE_E_NO_BOARD, "CUDA: device %u is asked for, there are %d",
			       index, n);
	}
	code = code != 0 ? code : d->api.DeviceGet(&d->device, (int)index);
	if (code != 0) {
		cuda_fail(d, code, "no device", &why);
		return hn_fail(err, HONE_E_NO_BOARD, "%.200s", why.msg);
	}
	return 0;
}

static int start_device(struct cuda_device *d, struct hn_err *err)
{
	struct hn_err why = {0};
	cuda_result code = d->api.DevicePrimaryCtxRetain(&d->context, d->device);

	code = code != 0 ? code : d->api.CtxSetCurrent(d->context);
	code = code != 0 ? code : d->api.StreamCreate(&d->stream, CUDA_STREAM_DEFAULT);
	code = code != 0 ? code : d->api.EventCreate(&d->begin, CUDA_EVENT_DEFAULT);
	code = code != 0 ? code : d->api.EventCreate(&d->end, CUDA_EVENT_DEFAULT);
	if (code != 0) {
		cuda_fail(d, code, "the device cannot be used", &why);
		return hn_fail(err, HONE_E_NO_BOARD, "%.200s", why.msg);
	}
	return 0;
}

static void cuda_close(void *dev)
{
	free(dev); /* its objects go with the process */
}

static int cuda_open(uint32_t index, void **ret, struct gpu_facts *facts, struct hn_err *err)
{
	struct cuda_device *d = calloc(1, sizeof *d);
	int rc;

	if (d == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "CUDA: out of memory");
	}
	setenv("CUDA_CACHE_DISABLE", "1", /* overwrite= */ 0); /* thousands of kernels, once each */
	setenv("CUDA_MODULE_LOADING", "EAGER", /* overwrite= */ 0); /* no loading in a timed call */
	rc = cuda_api_open(&d->api, err);
	rc = rc ? rc : find_device(d, index, err);
	if (rc == 0) {
		read_facts(d, facts);
		rc = start_device(d, err);
	}
	if (rc != 0) {
		cuda_close(d);
		return rc;
	}
	d->state = cuda_state_open(d);
	*ret = d;
	return 0;
}

/* -- memory ------------------------------------------------------------------------------- */

static enum hn_verdict cuda_alloc(void *dev, int64_t bytes, struct gpu_memory **ret,
				  struct hn_err *err)
{
	struct cuda_device *d = dev;
	struct gpu_memory *m = calloc(1, sizeof *m);
	cuda_result code = CUDA_E_OUT_OF_MEMORY;

	if (m != NULL) {
		code = d->api.MemAlloc(&m->whole, (size_t)bytes + 2 * GPU_GUARD);
		m->part = m->whole + GPU_GUARD;
	}
	if (code != 0) {
		free(m);
		return cuda_fail(d, code, "buffer", err);
	}
	*ret = m;
	return HN_VERDICT_OK;
}

static void cuda_release(void *dev, struct gpu_memory *m)
{
	struct cuda_device *d = dev;

	d->api.MemFree(m->whole);
	free(m);
}

static enum hn_verdict cuda_write(void *dev, struct gpu_memory *m, size_t at, const void *from,
				  size_t n, struct hn_err *err)
{
	struct cuda_device *d = dev;

	return cuda_done(d, d->api.MemcpyHtoD(m->whole + at, from, n), "write", err);
}

static enum hn_verdict cuda_read(void *dev, struct gpu_memory *m, size_t at, void *to, size_t n,
				 struct hn_err *err)
{
	struct cuda_device *d = dev;

	return cuda_done(d, d->api.MemcpyDtoH(to, m->whole + at, n), "read", err);
}

static enum hn_verdict cuda_fill(void *dev, struct gpu_memory *m, size_t at, uint8_t byte, size_t n,
				 struct hn_err *err)
{
	struct cuda_device *d = dev;
	cuda_result code = d->api.MemsetD8Async(m->whole + at, byte, n, d->stream);

	/* what follows may come from another stream */
	return cuda_done(d, code != 0 ? code : d->api.StreamSynchronize(d->stream), "fill", err);
}

/* -- the board ---------------------------------------------------------------------------- */

/* A chain of multiplications that each wait for the one before: the clock and nothing else. */
static const char canary_code[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry canary(.param .u64 out)\n"
	"{\n"
	"	.reg .u64 %a<4>;\n"
	"	.reg .u32 %r<4>;\n"
	"	.reg .pred %p;\n"
	"	ld.param.u64 %a1, [out];\n"
	"	cvta.to.global.u64 %a2, %a1;\n"
	"	mov.u32 %r1, %tid.x;\n"
	"	mul.wide.u32 %a3, %r1, 4;\n"
	"	add.s64 %a2, %a2, %a3;\n"
	"	mov.u32 %r2, 0;\n"
	"LOOP:\n"
	"	mad.lo.u32 %r1, %r1, 1664525, 1013904223;\n"
	"	add.u32 %r2, %r2, 1;\n"
	"	setp.lt.u32 %p, %r2, 100000;\n"
	"	@%p bra LOOP;\n"
	"	st.global.u32 [%a2], %r1;\n"
	"	ret;\n"
	"}\n";

static enum hn_verdict make_canary(struct cuda_device *d, struct hn_err *err)
{
	cuda_id module = NULL;
	enum hn_verdict v = cuda_module_load(d, canary_code, &module, err);
	cuda_result code;

	if (v != HN_VERDICT_OK) {
		return HN_VERDICT_RUN_LOST;
	}
	code = d->api.MemAlloc(&d->canary_memory, 4096);
	code = code != 0 ? code : d->api.ModuleGetFunction(&d->canary, module, "canary");
	return cuda_done(d, code, "canary", err);
}

static enum hn_verdict cuda_canary(void *dev, double *ret_ns, struct hn_err *err)
{
	struct cuda_device *d = dev;
	enum hn_verdict v = d->canary == NULL ? make_canary(d, err) : HN_VERDICT_OK;
	void *arg[] = {&d->canary_memory};
	struct cuda_kernel k = {.function = d->canary, .grid = {1, 1, 1}, .block = {32, 1, 1},
				.n_arg = 1, .value = &d->canary_memory, .arg = arg};
	struct cuda_program p = {.n = 1, .kernel = &k};
	double ns = 0, last = INFINITY;

	*ret_ns = INFINITY;
	for (int i = 0; i < CANARY_MOST && v == HN_VERDICT_OK; i++) {
		v = cuda_run(d, &p, 1, false, false, &ns, err);
		*ret_ns = fmin(*ret_ns, ns);
		if (i + 1 >= CANARY_SAMPLES && fmax(ns, last) < CANARY_SAME * fmin(ns, last)) {
			break;
		}
		last = ns;
	}
	return v;
}

static void state(void *dev, char *text, size_t n)
{
	struct cuda_device *d = dev;

	cuda_state_print(d->state, text, n);
}

static const struct gpu_ops ops = {.kind = "cuda",
				   .form = HN_GPU_PTX,
				   .open = cuda_open,
				   .close = cuda_close,
				   .alloc = cuda_alloc,
				   .release = cuda_release,
				   .write = cuda_write,
				   .read = cuda_read,
				   .fill = cuda_fill,
				   .load = cuda_load,
				   .unload = cuda_unload,
				   .run = cuda_run,
				   .canary = cuda_canary,
				   .state = state,
				   .wander = 0.15};

static int open_board(const struct hn_board_place *at, void **ret, struct hn_err *err)
{
	return gpu_board_open(&ops, at, ret, err);
}

static int find(uint32_t index, struct hn_board_device *ret, struct hn_err *err)
{
	return gpu_board_find(&ops, index, ret, err);
}

const struct hn_board_ops hn_board_cuda = {.name = "cuda",
					   .cold = true,
					   .open = open_board,
					   .close = gpu_board_close,
					   .workload = gpu_board_workload,
					   .measure = gpu_board_measure,
					   .probe = gpu_board_probe,
					   .find = find,
					   .canary = gpu_board_canary};
