/* cuda_module.c -- a module on a device of CUDA's: from PTX to the device's code, by ptxas or by the
 * driver, and its kernels bound to their buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/drv/cuda_int.h"

#define LOG_BYTES 8192
#define PLAIN_SHARED 49152 /* bytes of a block that a kernel need not ask for */

bool cuda_is_serial(const char *log)
{
	return strstr(log, "wgmma") != NULL && strstr(log, "serializ") != NULL;
}

enum hn_verdict cuda_module_load(struct cuda_device *d, const void *image, cuda_id *ret,
				 struct hn_err *err)
{
	char info[LOG_BYTES] = "", error[LOG_BYTES] = "", line[300];
	unsigned int option[] = {CUDA_JIT_INFO_LOG_BUFFER, CUDA_JIT_INFO_LOG_BUFFER_BYTES,
			CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_BYTES};
	void *value[] = {info, (void *)(uintptr_t)(LOG_BYTES - 1), error,
			 (void *)(uintptr_t)(LOG_BYTES - 1)};
	cuda_result code = d->api.ModuleLoadDataEx(ret, image, HN_COUNT_OF(option), option, value);
	enum hn_verdict v;

	if (code == 0 && cuda_is_serial(info)) {
		d->api.ModuleUnload(*ret);
		hn_fail(err, HONE_E_INVALID,
			"CUDA: the compiler makes its wgmma instructions wait for each other");
		return HN_VERDICT_LOAD_FAIL;
	}
	if (code == 0) {
		return HN_VERDICT_OK;
	}
	v = cuda_fail(d, code, "the driver does not load it", err);
	error[LOG_BYTES - 1] = '\0';
	if (v == HN_VERDICT_LOAD_FAIL && error[0] != '\0') {
		hn_fail(err, HONE_E_INVALID, "CUDA: the driver does not compile it: %s",
			gpu_print(line, sizeof line, error, sizeof error));
	}
	return v;
}

/* By ptxas where that is there; what it cannot make, or the driver does not take, by the driver. */
static enum hn_verdict load_code(struct cuda_device *d, const struct hn_gpu_module *m, cuda_id *ret,
				 struct hn_err *err)
{
	bool serial = false;
	void *cubin = cuda_ptxas(m->code, m->code_bytes, m->isa, d->capability, &serial);
	enum hn_verdict v = HN_VERDICT_LOAD_FAIL;

	if (serial) {
		hn_fail(err, HONE_E_INVALID,
			"ptxas makes its wgmma instructions wait for each other");
		free(cubin);
		return v;
	}
	if (cubin != NULL) {
		v = cuda_module_load(d, cubin, ret, err);
		free(cubin);
	}
	return v == HN_VERDICT_LOAD_FAIL ? cuda_module_load(d, m->code, ret, err) : v;
}

static enum hn_verdict make_kernel(struct cuda_device *d, cuda_id module,
				   const struct hn_gpu_module *m, const struct hn_gpu_kernel *from,
				   struct gpu_memory *const *buffer, struct cuda_kernel *k,
				   struct hn_err *err)
{
	cuda_result code = d->api.ModuleGetFunction(&k->function, module, from->name);

	if (code != 0) {
		hn_fail(err, HONE_E_INVALID, "CUDA: its code has no kernel %s", from->name);
		return HN_VERDICT_LOAD_FAIL;
	}
	k->n_arg = from->n_arg;
	k->value = calloc(from->n_arg + 1, sizeof *k->value);
	k->arg = calloc(from->n_arg + from->n_map + 1, sizeof *k->arg);
	if (k->value == NULL || k->arg == NULL) {
		return cuda_fail(d, CUDA_E_OUT_OF_MEMORY, "program", err);
	}
	for (int i = 0; i < 3; i++) {
		k->grid[i] = (unsigned int)from->grid[i];
		k->block[i] = (unsigned int)from->block[i];
	}
	for (uint32_t i = 0; i < from->n_arg; i++) {
		k->value[i] = buffer[from->arg[i]]->part;
		k->arg[i] = &k->value[i];
	}
	enum hn_verdict v = cuda_make_maps(d, m, from, buffer, k, err);

	if (v != HN_VERDICT_OK) {
		return v;
	}
	k->shared = (unsigned int)from->dynamic_shared;
	if (from->dynamic_shared > 0 &&
	    from->dynamic_shared + from->static_shared > PLAIN_SHARED) {
		code = d->api.FuncSetAttribute(k->function, CUDA_FUNC_MAX_DYNAMIC_SHARED,
					       (int)from->dynamic_shared);
	}
	return code == 0 ? HN_VERDICT_OK : cuda_fail(d, code, "shared memory", err);
}

void cuda_unload(void *dev, void *program)
{
	struct cuda_device *d = dev;
	struct cuda_program *p = program;

	if (p->graph != NULL) {
		d->api.GraphExecDestroy(p->graph);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		free(p->kernel[i].value);
		free(p->kernel[i].map);
		free(p->kernel[i].arg);
	}
	if (p->module != NULL) {
		d->api.ModuleUnload(p->module);
	}
	free(p->kernel);
	free(p);
}

enum hn_verdict cuda_load(void *dev, const struct hn_gpu_module *m,
			  struct gpu_memory *const *buffer, void **ret, struct hn_err *err)
{
	struct cuda_device *d = dev;
	struct cuda_program *p = calloc(1, sizeof *p);
	enum hn_verdict v;

	if (p != NULL) {
		p->kernel = calloc(m->n_kernel, sizeof *p->kernel);
		p->n = p->kernel != NULL ? m->n_kernel : 0;
	}
	if (p == NULL || p->n == 0) {
		free(p);
		return cuda_fail(d, CUDA_E_OUT_OF_MEMORY, "program", err);
	}
	v = load_code(d, m, &p->module, err);
	if (v != HN_VERDICT_OK) {
		p->module = NULL;
	}
	for (uint32_t i = 0; i < p->n && v == HN_VERDICT_OK; i++) {
		v = make_kernel(d, p->module, m, &m->kernel[i], buffer, &p->kernel[i], err);
	}
	if (v != HN_VERDICT_OK) {
		cuda_unload(d, p);
		return v;
	}
	*ret = p;
	return HN_VERDICT_OK;
}
