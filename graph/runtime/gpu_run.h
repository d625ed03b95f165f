/* graph/runtime/gpu_run.h -- what the run time of networks for GPUs wants of a driver: memory by
 * addresses, code, and launches in one queue, in their order.
 *
 * Users link it, so it takes the C library alone.  Functions return 0, or a number of hone/model.h
 * with a line in hone_gpu_error.  `dev` is what `open` gave; nobody calls from two threads at once.
 */
#ifndef HN_GRAPH_RUNTIME_GPU_RUN_H
#define HN_GRAPH_RUNTIME_GPU_RUN_H

#include "proto/gpu_table.h"

#define hone_gpu_cuda hone_gpu_cuda_3
#define hone_gpu_opencl hone_gpu_opencl_3
#define hone_gpu_fail hone_gpu_fail_3
#define hone_gpu_library hone_gpu_library_3

#define WEAK __attribute__((weak))

struct hone_gpu_driver {
	int32_t (*open)(const struct hone_gpu *g, void **ret);
	void (*close)(void *dev);
	/* Around each call of a user's: the calling thread is to be the device's. */
	int32_t (*enter)(void *dev);
	void (*leave)(void *dev);
	int32_t (*alloc)(void *dev, uint64_t bytes, uint64_t *ret);
	void (*release)(void *dev, uint64_t at);
	/* In the queue.  What is copied may be changed when `wait` is back. */
	int32_t (*upload)(void *dev, uint64_t to, const void *from, uint64_t n);
	int32_t (*download)(void *dev, void *to, uint64_t from, uint64_t n);
	/* The code of a kernel; `name` is for people. */
	int32_t (*load)(void *dev, const char *name, const struct hone_gpu_code *c, void **ret);
	void (*unload)(void *dev, void *code);
	/* A launch with its parameters: args[n_args of l] are addresses, and maps[n_maps of l] those
	 * that its maps are of. */
	int32_t (*bind)(void *dev, void *code, const struct hone_gpu_launch *l,
			const uint64_t *args, const uint64_t *maps, void **ret);
	void (*unbind)(void *dev, void *launch);
	int32_t (*launch)(void *dev, void *const *launch, uint32_t n);
	/* These launches as one, for `replay`; NULL: it cannot.  The functions are NULL where none can. */
	void *(*record)(void *dev, void *const *launch, uint32_t n);
	int32_t (*replay)(void *dev, void *recorded);
	void (*forget)(void *dev, void *recorded);
	int32_t (*wait)(void *dev);
};

extern const struct hone_gpu_driver hone_gpu_cuda, hone_gpu_opencl;

/* Keep the line, shown characters alone, for hone_gpu_error of this thread; returns rc. */
int32_t hone_gpu_fail(int32_t rc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fill functions[n] with those of these names in a library that is loaded: HONE_MODEL_DRIVER, where one
 * before `later` is not there; behind it NULL. */
int32_t hone_gpu_library(const char *file, const char *what, const char *const *names,
			 void **functions, uint32_t n, uint32_t later);

#endif
