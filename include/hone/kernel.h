/* hone/kernel.h -- how to call a kernel that hone made.
 *
 * A kernel is a C function in an object file, with a header of its own:
 *
 *     int32_t NAME(const float *A, const float *B, float *C, const struct hone_env *env);
 *
 * Arguments are row-major, in the order of the ComputeDAG's inputs_outputs, 64-byte aligned
 * for best speed, never aliased.  The packed form takes the same pointers as an array:
 *
 *     int32_t NAME_packed(void *const *args, const struct hone_env *env);
 *
 * Both return 0, or HONE_KERNEL_NOMEM when no workspace was given and none could be allocated.
 * Thread-safe: a kernel keeps no state; give each concurrent call its own workspace.
 */
#ifndef HONE_KERNEL_H
#define HONE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_KERNEL_ABI 1
#define HONE_KERNEL_NOMEM (-1)

/* Runs iterations [begin, end) on worker `worker`. */
typedef void (*hone_body_fn)(void *closure, int64_t begin, int64_t end, int32_t worker);

/* What a kernel may use of its host.  NULL instead of it: one thread, workspace from malloc. */
struct hone_env {
	uint32_t abi;      /* HONE_KERNEL_ABI */
	int32_t n_workers; /* workers parallel_for may use, at least 1; ids are below this */
	/* Call `body` so that every iteration of [0, n) is run exactly once, on workers
	 * 0..n_workers-1, one call at a time on each; return when all are done.  NULL: the
	 * kernel runs its parallel loops itself, in order, as worker 0. */
	void (*parallel_for)(void *ctx, hone_body_fn body, void *closure, int64_t n);
	void *ctx;                /* handed to parallel_for */
	void *workspace;          /* 64-byte aligned scratch, contents undefined; may be NULL */
	uint64_t workspace_bytes; /* at least NAME_WORKSPACE_BYTES(n_workers), else it is not used */
};

#ifdef __cplusplus
}
#endif

#endif
