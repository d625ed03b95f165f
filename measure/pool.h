/* measure/pool.h -- the threads a kernel's parallel loops run on (hone_env.parallel_for).
 *
 * Made in the child that runs the kernel, after the fork.  Workers are pinned to distinct
 * cores, spin for some microseconds between loops and then sleep on a futex.  Iterations
 * are dealt in contiguous shares, the same to the same worker each time, so that caches
 * stay warm.  A worker runs its share by halves of what is left, and when it is done helps
 * the others from the ends of theirs, so that a core that somebody else slows down does not
 * hold up the loop (Blumofe and Leiserson 1999).  One loop at a time; a
 * loop started inside a loop is run by its caller.
 */
#ifndef HN_MEASURE_POOL_H
#define HN_MEASURE_POOL_H

#include "base/err.h"
#include "hone/kernel.h"

struct hn_kernel_pool;

/* Start n_workers - 1 threads; the caller is worker 0 and is pinned too.  each (may be
 * NULL) is called once on every new thread, with its own stack, before it does anything
 * else. */
int hn_kernel_pool_new(int32_t n_workers, void (*each)(void *ctx), void *ctx,
		       struct hn_kernel_pool **ret, struct hn_err *err) HN_NODISCARD;
void hn_kernel_pool_free(struct hn_kernel_pool *p);

/* As hone_env.parallel_for; ctx is the pool. */
void hn_kernel_pool_run(void *ctx, hone_body_fn body, void *closure, int64_t n);

/* Cores this process may use, at least 1. */
int32_t hn_kernel_pool_cores(void);

#endif
