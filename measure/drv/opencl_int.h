/* measure/drv/opencl_int.h -- a device of OpenCL's, in three files: the device and its memory
 * (opencl.c), programs and their runs (opencl_program.c), programs that are kept (opencl_kept.c). */
#ifndef HN_MEASURE_DRV_OPENCL_INT_H
#define HN_MEASURE_DRV_OPENCL_INT_H

#include "measure/drv/gpu.h"
#include "measure/drv/opencl_api.h"

#define OPENCL_MOST_KEPT 16 /* twice the entrants of a final */
#define OPENCL_MOST_KEPT_BYTES ((size_t)16 << 20) /* of text; the last one may be longer */

struct gpu_memory {
	opencl_id whole, part; /* part: without the guards */
};

struct opencl_kept {
	opencl_id program; /* NULL = a free place */
	char *text;
	size_t bytes;
	uint64_t used; /* by the clock of the device's calls */
};

struct opencl_device {
	struct opencl_api api;
	opencl_id device, context, queue;
	opencl_id cold; /* a buffer that is filled to empty caches; NULL = none yet */
	size_t cold_bytes;
	opencl_id canary, canary_memory; /* NULL = none yet */
	struct opencl_kept kept[OPENCL_MOST_KEPT];
	size_t kept_bytes;
	uint64_t kept_clock;
};

struct opencl_kernel {
	opencl_id kernel;
	size_t global[3], local[3];
};

struct opencl_program {
	opencl_id program; /* the keeper's */
	uint32_t n;
	struct opencl_kernel *kernel;
};

/* What the number says of a kernel: a verdict and a line; nothing of it, RUN_LOST, where it is none
 * of a kernel's.  The second takes success, too. */
enum hn_verdict opencl_fail(int32_t code, const char *what, struct hn_err *err);
enum hn_verdict opencl_done(int32_t code, const char *what, struct hn_err *err);

int64_t opencl_number(const struct opencl_device *d, uint32_t what);

/* The program of that text, if it is kept; NULL. */
opencl_id opencl_kept_find(struct opencl_device *d, const char *text, size_t bytes);

/* Keep a program, which is the keeper's from then on; false: there is no memory, and it is not. */
bool opencl_keep(struct opencl_device *d, opencl_id program, const char *text, size_t bytes);

/* Compile a module's code, or find it compiled; p has no kernels yet. */
enum hn_verdict opencl_build(struct opencl_device *d, struct opencl_program *p,
			     const struct hn_gpu_module *m, struct hn_err *err);

/* Kernels of calls one behind the other, n calls of n_kernel; *ret_ns from the start of the first to
 * the end of the last. */
enum hn_verdict opencl_run_kernels(struct opencl_device *d, const struct opencl_kernel *kernel,
				   uint32_t n_kernel, uint32_t n, bool lead, double *ret_ns,
				   struct hn_err *err);

/* As struct gpu_ops says. */
enum hn_verdict opencl_load(void *dev, const struct hn_gpu_module *m,
			    struct gpu_memory *const *buffer, void **ret, struct hn_err *err);
void opencl_unload(void *dev, void *program);
enum hn_verdict opencl_run(void *dev, void *program, uint32_t n, bool lead, bool cold,
			   double *ret_ns, struct hn_err *err);

#endif
