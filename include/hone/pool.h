/* hone/pool.h -- the threads that a kernel's parallel loops run on.
 *
 *     struct hone_pool *pool = hone_pool_create(0);
 *
 *     matmul(a, b, c, hone_pool_env(pool, matmul_WORKSPACE_BYTES(hone_pool_threads(pool))));
 *     hone_pool_destroy(pool);
 *
 * This is the pool that hone measures with, the same source: the time it printed is that of
 * calls in a row with such an environment.  `hone replay` writes its object file beside the
 * kernel.  C89 but for <stdint.h>; C++ may include it; link with -lpthread where the C library
 * wants that.  Linux.
 *
 * Threads.  The thread that calls a kernel is worker 0 and works with the others.  These are
 * pinned, each to a CPU of its own; the caller is not: where it is found on a worker's CPU,
 * that worker moves to the one it left.  Between loops they spin for some tens to hundreds of
 * microseconds and then sleep, so that only the first loop after a pause waits for them.
 * They take no signals, and compute in the floating-point mode of the caller.
 *
 * Who may call what.  One loop runs at a time.  A loop that is begun while another runs, by
 * another thread or from inside a body, is run by its caller alone: slower, never wrong, never
 * stuck.  Give concurrent kernel calls environments of their own (hone/kernel.h).  Nobody may
 * use a pool while it is destroyed.  In a child of fork() the threads are not there: a pool
 * made before runs loops on the caller alone, and may be destroyed.
 * A body must return: no longjmp and no exception out of it.
 */
#ifndef HONE_POOL_H
#define HONE_POOL_H

#include "hone/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hone_pool;

/* n_threads, the caller's included; below 1: one for each CPU this process may use.  Where the
 * system gives fewer the pool has fewer.  NULL: out of memory; the functions below take NULL
 * for a pool of the caller alone. */
struct hone_pool *hone_pool_create(int32_t n_threads);

struct hone_pool_options {
	int32_t n_threads;	   /* as above */
	int32_t pin_caller;	   /* not 0: the thread that creates the pool is pinned as well,
				    * until it destroys it; it alone may then run loops */
	void (*start)(void *ctx); /* called on each new thread before it does anything else;
				    * NULL: nothing is */
	void *ctx;
};

/* The same, with more to say. */
struct hone_pool *hone_pool_create_with(const struct hone_pool_options *options);

/* End the threads, free all. */
void hone_pool_destroy(struct hone_pool *pool);

/* Threads there are, the caller's included: at least 1. */
int32_t hone_pool_threads(const struct hone_pool *pool);

/* The pool's environment, for kernel calls: its threads, and a workspace of at least so many
 * bytes, which grows where it has less and is the pool's own.  For one kernel call at a time.
 * It stays where it is until the pool is destroyed; a copy is good until this is called again.
 * NULL for no pool, which kernels take as one thread.  Without memory it has no workspace, and
 * kernels look for their own. */
const struct hone_env *hone_pool_env(struct hone_pool *pool, uint64_t workspace_bytes);

/* hone_env.parallel_for; ctx is the pool. */
void hone_pool_run(void *ctx, hone_body_fn body, void *closure, int64_t n);

/* CPUs this process may use, at least 1. */
int32_t hone_pool_cpus(void);

#ifdef __cplusplus
}
#endif

#endif
