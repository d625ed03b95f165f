/* measure/board/pool.h -- hone/pool.h as boards use it: made in the child that runs the kernel,
 * after the fork, with every thread pinned, or not at all.
 */
#ifndef HN_MEASURE_BOARD_POOL_H
#define HN_MEASURE_BOARD_POOL_H

#include "base/err.h"
#include "hone/pool.h"

/* Start n_workers - 1 threads; the caller is worker 0 and is pinned too.  each (may be
 * NULL) is called once on every new thread, with its own stack, before it does anything
 * else.  Ended by hone_pool_destroy. */
int hn_kernel_pool_new(int32_t n_workers, void (*each)(void *ctx), void *ctx,
		       struct hone_pool **ret, struct hn_err *err) HN_NODISCARD;

#endif
