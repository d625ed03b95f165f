/* measure/drv/cuda_int.h -- a device of CUDA's: the device, its memory and its canary (cuda.c);
 * modules (cuda_module.c) and their runs (cuda_run.c); what is known of its clocks (cuda_state.c). */
#ifndef HN_MEASURE_DRV_CUDA_INT_H
#define HN_MEASURE_DRV_CUDA_INT_H

#include "measure/drv/cuda_api.h"
#include "measure/drv/gpu.h"

struct gpu_memory {
	cuda_address whole; /* with the guards */
	cuda_address part;  /* without, as kernels get it */
};

struct cuda_state; /* NULL: nothing is known of clocks */

struct cuda_device {
	struct cuda_api api;
	cuda_device device;
	cuda_id context, stream, begin, end;
	int capability; /* 90 of sm_90 */
	cuda_address scratch; /* what is filled to empty caches, and to have the device busy; 0 = none */
	size_t scratch_bytes;
	cuda_id canary; /* NULL = not made yet */
	cuda_address canary_memory;
	struct cuda_state *state;
};

struct cuda_kernel {
	cuda_id function;
	unsigned int grid[3], block[3], shared;
	uint32_t n_arg, n_map;
	cuda_address *value;  /* [n_arg] */
	struct cuda_map *map; /* [n_map] */
	void **arg;	      /* [n_arg + n_map], pointers to them */
};

struct cuda_program {
	cuda_id module;
	uint32_t n;
	struct cuda_kernel *kernel;
	cuda_id graph; /* of so many calls, ready to be launched; NULL = none */
	uint32_t graph_calls;
};

/* What the number says of a kernel: a verdict and a line; RUN_LOST where it says nothing of it. */
enum hn_verdict cuda_fail(struct cuda_device *d, cuda_result code, const char *what,
			  struct hn_err *err);
enum hn_verdict cuda_done(struct cuda_device *d, cuda_result code, const char *what,
			  struct hn_err *err);

/* PTX or cubin into the device; *ret is the module. */
enum hn_verdict cuda_module_load(struct cuda_device *d, const void *image, cuda_id *ret,
				 struct hn_err *err);

/* cuda_ptxas.c: a cubin for the device by ptxas, where it is installed and takes the code; NULL:
 * the driver is to compile it.  To be freed.  serial: as cuda_is_serial. */
void *cuda_ptxas(const char *ptx, size_t bytes, const char *isa, int capability, bool *serial);

/* Whether a compiler's log says that it made wgmma instructions wait for each other. */
bool cuda_is_serial(const char *log);

/* cuda_map.c: the kernel's tensor maps, of buffers as they lie now. */
enum hn_verdict cuda_make_maps(struct cuda_device *d, const struct hn_gpu_module *m,
			       const struct hn_gpu_kernel *from, struct gpu_memory *const *buffer,
			       struct cuda_kernel *k, struct hn_err *err);

struct cuda_state *cuda_state_open(struct cuda_device *d);
void cuda_state_print(struct cuda_state *s, char *text, size_t n);

/* As struct gpu_ops says. */
enum hn_verdict cuda_load(void *dev, const struct hn_gpu_module *m,
			  struct gpu_memory *const *buffer, void **ret, struct hn_err *err);
void cuda_unload(void *dev, void *program);
enum hn_verdict cuda_run(void *dev, void *program, uint32_t n, bool lead, bool cold,
			 double *ret_ns, struct hn_err *err);

#endif
