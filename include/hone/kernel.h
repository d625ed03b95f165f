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
 * Thread-safe: a kernel keeps no state, and never writes to static storage; give each concurrent call its own workspace.
 *
 * Sizes.  Where the ComputeDAG's sizes are parameters (`N in [1, 4096]`), one kernel serves
 * all values in their ranges.  It takes them first, in the order of their declaration:
 *
 *     int32_t NAME(int64_t N, int64_t K, const float *A, .., const struct hone_env *env);
 *     int32_t NAME_packed(const int64_t *sizes, void *const *args, const struct hone_env *env);
 *
 * and returns HONE_KERNEL_SIZE, having touched nothing, when one is outside of its range.
 * Arguments are row-major with the extents these sizes give; NAME_WORKSPACE_BYTES serves all
 * sizes.  What it prepares is the same for all sizes, so NAME_prepare takes none.
 *
 * Prepared data.  Inputs that the ComputeDAG marks as constant (`const`,
 * layout_free_placeholders: weights) are the same in every call, so what depends on them
 * alone, as their packed or transformed copies, can be computed once.  Where the header says
 * that NAME_PREPARED_BYTES is not 0, the object has two functions more:
 *
 *     int32_t NAME_prepare(const float *B, void *prepared, const struct hone_env *env);
 *     int32_t NAME_prepare_packed(void *const *args, void *prepared, const struct hone_env *env);
 *
 * The first takes the constant inputs, in order; the second the array of NAME_packed, of which
 * it looks at the constant inputs alone.  They fill NAME_PREPARED_BYTES bytes at `prepared`,
 * which the caller allocates, 64-byte aligned, and owns; they return as the kernel does, and
 * use env's workers and workspace as it does.  The block holds no pointers; it serves every
 * kernel call of this same object with the same constant inputs, any number of them at a
 * time, which only read it; free it after the last.
 * A kernel given no prepared data computes it in each call, in a workspace of its own unless
 * env's has NAME_PREPARED_BYTES more than it would need: the answer is the same.
 * The idea is that of FFTW's plans and of the packed weights of oneDNN's inference primitives.
 *
 * Tile registers.  A kernel made for a processor with AMX may use registers that the system gives
 * to a process only when it asks.  The header of such a kernel then declares
 *
 *     int32_t NAME_init(void);
 *
 * to be called once in the process, for any one of such kernels, before the first call: 0, or
 * -errno where the system refuses, in which case a call ends in an illegal instruction.  Threads
 * and forked processes have them too.  Alternate signal stacks must be of 16 KiB at least.
 *
 * Several targets.  An object may hold kernels for several processors (`hone replay --also`). The
 * first that fits is chosen when the program is loaded.  Its header then declares
 *
 *     const char *NAME_why(void);
 *
 * NULL where one fits.  Where none does it says why in one line, and calls return
 * HONE_KERNEL_MACHINE, having touched nothing.
 */
#ifndef HONE_KERNEL_H
#define HONE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_KERNEL_ABI 2
#define HONE_KERNEL_NOMEM (-1)
#define HONE_KERNEL_SIZE (-2)
#define HONE_KERNEL_MACHINE (-3)

/* Runs iterations [begin, end) on worker `worker`. */
typedef void (*hone_body_fn)(void *closure, int64_t begin, int64_t end, int32_t worker);

/* What a kernel may use of its host; hone/pool.h makes one.  NULL instead of it: one thread,
 * workspace from malloc. */
struct hone_env {
	uint32_t abi;      /* HONE_KERNEL_ABI; what a later version added is not looked at */
	int32_t n_workers; /* workers parallel_for may use, at least 1; ids are below this */
	/* Call `body` so that every iteration of [0, n) is run exactly once, on workers
	 * 0..n_workers-1, one call at a time on each; return when all are done.  NULL: the
	 * kernel runs its parallel loops itself, in order, as worker 0. */
	void (*parallel_for)(void *ctx, hone_body_fn body, void *closure, int64_t n);
	void *ctx;                /* handed to parallel_for */
	void *workspace;          /* 64-byte aligned scratch, contents undefined; may be NULL */
	uint64_t workspace_bytes; /* at least NAME_WORKSPACE_BYTES(n_workers), else it is not used */
	/* since ABI 2 */
	const void *prepared;    /* what NAME_prepare made; NULL: the kernel does it itself */
	uint64_t prepared_bytes; /* at least NAME_PREPARED_BYTES, else it is not used */
};

#ifdef __cplusplus
}
#endif

#endif
