/* opencl_program.c -- a module on a device of OpenCL's: compiled, bound to its buffers, run and timed
 * by events. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/drv/opencl_int.h"

#define LOG_BYTES 4096
#define BUILD_OPTIONS "-cl-std=CL1.2"
#define COLD_BYTES ((size_t)64 << 20) /* at least, to empty caches */

void opencl_unload(void *dev, void *program)
{
	struct opencl_device *d = dev;
	struct opencl_program *p = program;

	for (uint32_t i = 0; i < p->n; i++) {
		if (p->kernel[i].kernel != NULL) {
			d->api.ReleaseKernel(p->kernel[i].kernel);
		}
	}
	free(p->kernel);
	free(p);
}

static enum hn_verdict compile(struct opencl_device *d, opencl_id program, struct hn_err *err)
{
	char log[LOG_BYTES] = "", line[300];
	int32_t code =
		d->api.BuildProgram(program, 1, &d->device, BUILD_OPTIONS, NULL, NULL);

	if (code == OPENCL_SUCCESS) {
		return HN_VERDICT_OK;
	}
	if (d->api.GetProgramBuildInfo(program, d->device, OPENCL_PROGRAM_BUILD_LOG,
				       sizeof log - 1, log, NULL) != OPENCL_SUCCESS) {
		snprintf(log, sizeof log, "error %d, no log that fits", (int)code);
	}
	hn_fail(err, HONE_E_INVALID, "OpenCL: the driver does not compile it: %s",
		gpu_print(line, sizeof line, log, sizeof log));
	return HN_VERDICT_LOAD_FAIL;
}

enum hn_verdict opencl_build(struct opencl_device *d, struct opencl_program *p,
			     const struct hn_gpu_module *m, struct hn_err *err)
{
	const char *source = m->code;
	size_t bytes = m->code_bytes;
	opencl_id program = opencl_kept_find(d, source, bytes);
	enum hn_verdict v;
	int32_t code;

	if (program != NULL) {
		p->program = program;
		return HN_VERDICT_OK;
	}
	program = d->api.CreateProgramWithSource(d->context, 1, &source, &bytes, &code);
	if (code != OPENCL_SUCCESS) {
		return opencl_fail(code, "program", err);
	}
	v = compile(d, program, err);
	if (v == HN_VERDICT_OK && !opencl_keep(d, program, source, bytes)) {
		v = opencl_fail(OPENCL_OUT_OF_HOST_MEMORY, "program", err);
	}
	if (v != HN_VERDICT_OK) {
		d->api.ReleaseProgram(program);
		return v;
	}
	p->program = program;
	return HN_VERDICT_OK;
}

static enum hn_verdict make_kernel(struct opencl_device *d, struct opencl_program *p, uint32_t i,
				   const struct hn_gpu_kernel *from,
				   struct gpu_memory *const *buffer, struct hn_err *err)
{
	struct opencl_kernel *k = &p->kernel[i];
	size_t most = 0, threads = (size_t)(from->block[0] * from->block[1] * from->block[2]);
	int32_t code;

	k->kernel = d->api.CreateKernel(p->program, from->name, &code);
	if (code != OPENCL_SUCCESS) {
		k->kernel = NULL;
		hn_fail(err, HONE_E_INVALID, "OpenCL: its code has no kernel %s", from->name);
		return HN_VERDICT_LOAD_FAIL;
	}
	for (int j = 0; j < 3; j++) {
		k->local[j] = (size_t)from->block[j];
		k->global[j] = (size_t)(from->block[j] * from->grid[j]);
	}
	for (uint32_t j = 0; j < from->n_arg && code == OPENCL_SUCCESS; j++) {
		code = d->api.SetKernelArg(k->kernel, j, sizeof(opencl_id),
					   &buffer[from->arg[j]]->part);
	}
	if (code == OPENCL_SUCCESS && from->dynamic_shared > 0) {
		code = d->api.SetKernelArg(k->kernel, from->n_arg, (size_t)from->dynamic_shared,
					   NULL);
	}
	if (code != OPENCL_SUCCESS) {
		hn_fail(err, HONE_E_INVALID, "OpenCL: kernel %s takes other parameters (error %d)",
			from->name, (int)code);
		return HN_VERDICT_LOAD_FAIL;
	}
	code = d->api.GetKernelWorkGroupInfo(k->kernel, d->device, OPENCL_KERNEL_WORK_GROUP_SIZE,
					     sizeof most, &most, NULL);
	if (code == OPENCL_SUCCESS && threads > most) {
		hn_fail(err, HONE_E_INVALID,
			"OpenCL: kernel %s: %zu threads of a block, the driver takes at most %zu",
			from->name, threads, most);
		return HN_VERDICT_OVER_LIMIT;
	}
	return HN_VERDICT_OK;
}

enum hn_verdict opencl_load(void *dev, const struct hn_gpu_module *m,
				   struct gpu_memory *const *buffer, void **ret, struct hn_err *err)
{
	struct opencl_device *d = dev;
	struct opencl_program *p = calloc(1, sizeof *p);
	enum hn_verdict v;

	if (p != NULL) {
		p->kernel = calloc(m->n_kernel, sizeof *p->kernel);
		p->n = p->kernel != NULL ? m->n_kernel : 0;
	}
	if (p == NULL || p->n == 0) {
		free(p);
		return opencl_fail(OPENCL_OUT_OF_HOST_MEMORY, "program", err);
	}
	v = opencl_build(d, p, m, err);
	for (uint32_t i = 0; i < p->n && v == HN_VERDICT_OK; i++) {
		v = make_kernel(d, p, i, &m->kernel[i], buffer, err);
	}
	if (v != HN_VERDICT_OK) {
		opencl_unload(d, p);
		return v;
	}
	*ret = p;
	return HN_VERDICT_OK;
}

static enum hn_verdict launch(struct opencl_device *d, const struct opencl_kernel *k,
			      opencl_id *event, struct hn_err *err)
{
	return opencl_done(d->api.EnqueueNDRangeKernel(d->queue, k->kernel, 3, NULL, k->global, k->local,
						0, NULL, event),
		    "launch", err);
}

/* Time that the event begins (or ends) at, in ns, and let go of it. */
static uint64_t stamp(struct opencl_device *d, opencl_id event, uint32_t what)
{
	uint64_t ns = 0;

	if (event == NULL || d->api.GetEventProfilingInfo(event, what, sizeof ns, &ns, NULL) !=
				     OPENCL_SUCCESS) {
		ns = 0;
	}
	return ns;
}

/* Kernels [0, n) of calls one behind the other; *ret_ns from the start of the first to the end of
 * the last. */
enum hn_verdict opencl_run_kernels(struct opencl_device *d, const struct opencl_kernel *kernel,
				   uint32_t n_kernel, uint32_t n, bool lead, double *ret_ns,
				   struct hn_err *err)
{
	opencl_id first = NULL, last = NULL;
	enum hn_verdict v = HN_VERDICT_OK;
	uint64_t total = (uint64_t)n * n_kernel;

	for (uint32_t k = 0; k < n_kernel && lead && v == HN_VERDICT_OK; k++) {
		v = launch(d, &kernel[k], NULL, err);
	}
	for (uint64_t i = 0; i < total && v == HN_VERDICT_OK; i++) {
		bool ends = i + 1 == total;

		v = launch(d, &kernel[i % n_kernel],
			   ends ? &last : i == 0 ? &first : NULL, err);
	}
	enum hn_verdict end = opencl_done(d->api.Finish(d->queue), "run", err);
	uint64_t from = stamp(d, first != NULL ? first : last, OPENCL_PROFILING_COMMAND_START);
	uint64_t to = stamp(d, last, OPENCL_PROFILING_COMMAND_END);

	if (first != NULL) {
		d->api.ReleaseEvent(first);
	}
	if (last != NULL) {
		d->api.ReleaseEvent(last);
	}
	v = v == HN_VERDICT_OK ? end : v;
	if (v == HN_VERDICT_OK && (from == 0 || to <= from)) {
		hn_fail(err, HONE_E_NO_BOARD, "OpenCL: the device tells no times");
		return HN_VERDICT_RUN_LOST;
	}
	*ret_ns = (double)(to - from);
	return v;
}

/* Write over more than the caches hold. */
static enum hn_verdict empty_caches(struct opencl_device *d, struct hn_err *err)
{
	const uint8_t byte = 0;
	int32_t code = OPENCL_SUCCESS;

	if (d->cold == NULL) {
		size_t twice = 2 * (size_t)opencl_number(d, OPENCL_DEVICE_GLOBAL_MEM_CACHE_SIZE);

		d->cold_bytes = twice > COLD_BYTES ? twice : COLD_BYTES;
		d->cold = d->api.CreateBuffer(d->context, OPENCL_MEM_READ_WRITE, d->cold_bytes, NULL,
					      &code);
	}
	if (code != OPENCL_SUCCESS) {
		d->cold = NULL;
		return opencl_fail(code, "buffer", err);
	}
	return opencl_done(d->api.EnqueueFillBuffer(d->queue, d->cold, &byte, 1, 0, d->cold_bytes, 0, NULL,
					     NULL),
		    "fill", err);
}

enum hn_verdict opencl_run(void *dev, void *program, uint32_t n, bool lead, bool cold,
				  double *ret_ns, struct hn_err *err)
{
	struct opencl_device *d = dev;
	struct opencl_program *p = program;
	enum hn_verdict v = cold ? empty_caches(d, err) : HN_VERDICT_OK;

	return v == HN_VERDICT_OK ? opencl_run_kernels(d, p->kernel, p->n, n, lead, ret_ns, err) : v;
}
