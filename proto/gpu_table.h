/* proto/gpu_table.h -- the table of a network compiled for a GPU, beside that of hone/model.h: the code
 * of its kernels, and how they are launched.
 *
 * hone-build writes it into the network's object, from modules (gpu_module.h) that it has checked,
 * and the run time of such networks (graph/runtime/gpu_run.c) walks it.  What they pass on to each
 * other is of one version, which is in the names of the functions.
 */
#ifndef HN_PROTO_GPU_TABLE_H
#define HN_PROTO_GPU_TABLE_H

#include "hone/model.h"

#define HONE_GPU_ABI 3
#define hone_gpu_arena_bytes hone_gpu_arena_bytes_3
#define hone_gpu_prepare hone_gpu_prepare_3
#define hone_gpu_run hone_gpu_run_3
#define hone_gpu_run_sized hone_gpu_run_sized_3
#define hone_gpu_run_timed hone_gpu_run_timed_3
#define hone_gpu_release hone_gpu_release_3
#define hone_gpu_error hone_gpu_error_3

#define HONE_GPU_PREPARED_BYTES 64 /* of the caller's: where the opened network is found */
#define HONE_GPU_WORKSPACE_ALIGN 256
#define HONE_GPU_MAX_MAPS 64 /* of a launch */

/* A parameter of a launch: an argument of the step, or a place in the workspace. */
struct hone_gpu_arg {
	int64_t arg; /* -1: workspace */
	uint64_t offset; /* in it */
};

/* A tensor map, as CUDA's driver takes one: the dimension whose elements lie side by side is the first,
 * and has no stride. */
struct hone_gpu_map {
	struct hone_gpu_arg of;
	uint32_t elem, swizzle;	 /* bytes: 1, 2, 4 or 8; 0, 32, 64 or 128 */
	uint32_t n_dims;
	const uint64_t *size, *stride; /* [n_dims] elements, [n_dims - 1] bytes */
	const uint32_t *box;	 /* [n_dims] elements of a copy */
};

struct hone_gpu_launch {
	const char *name; /* of the kernel in the code */
	const struct hone_gpu_arg *args;
	uint32_t n_args, n_maps; /* parameters are args, then maps */
	const struct hone_gpu_map *maps;
	uint32_t grid[3], block[3];
	uint32_t shared_static, shared_asked; /* bytes of a block: the code's own, and of the launch */
};

struct hone_gpu_code {
	const void *bytes; /* a NUL that does not count is behind them */
	uint64_t n_bytes;
	const struct hone_gpu_launch *launches; /* in their order */
	uint32_t n_launches;
};

/* The model's range of this number, which is of one combination of sizes: what is copied of inputs and
 * outputs, that are as long as the largest sizes want on the device. */
struct hone_gpu_range {
	const uint64_t *in_bytes, *out_bytes; /* [n_inputs], [n_outputs] */
};

struct hone_gpu {
	uint32_t abi; /* HONE_GPU_ABI */
	const char *form; /* of all code: "opencl", "ptx", "cubin" (proto/gpu_forms.def) */
	const char *isa; /* what it is made for */
	const struct hone_model *model;
	const struct hone_gpu_code *codes; /* [n_kernels of the model] */
	uint64_t workspace_bytes; /* serves any kernel */
	const struct hone_gpu_range *ranges; /* [n_ranges of the model]; NULL: there are none */
};

uint64_t hone_gpu_arena_bytes(const struct hone_gpu *g, int32_t n_workers);
int32_t hone_gpu_prepare(const struct hone_gpu *g, const void *weights, void *prepared,
			 void *arena, const struct hone_env *env);
int32_t hone_gpu_run(const struct hone_gpu *g, const void *weights, const void *prepared,
		     const void *const *in, void *const *out, void *arena,
		     const struct hone_env *env);
int32_t hone_gpu_run_sized(const struct hone_gpu *g, const int64_t *sizes, const void *weights,
			   const void *prepared, const void *const *in, void *const *out,
			   void *arena, const struct hone_env *env);
int32_t hone_gpu_run_timed(const struct hone_gpu *g, const void *weights, const void *prepared,
			   const void *const *in, void *const *out, void *arena,
			   const struct hone_env *env, uint64_t (*now)(void), uint64_t *time);
int32_t hone_gpu_release(const struct hone_gpu *g, void *prepared);
const char *hone_gpu_error(const struct hone_gpu *g);

#endif
