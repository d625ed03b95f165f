/* pool.c -- fork and join in about a microsecond.
 *
 * Invariants: (1) `epoch` grows by one per loop and is written by worker 0 alone; (2) the
 * loop fields are written before epoch and read after it; (3) `pending` counts the
 * workers that have not yet finished the loop of this epoch.
 */
#include "measure/pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/fpenv.h"

#define SPINS                                                                            \
	20000 /* some 50 us: longer than the serial part between two loops of a kernel   \
	       */
#define STACK_BYTES ((size_t)8 << 20)

struct worker {
	struct hn_kernel_pool *pool;
	int32_t id;
	pthread_t thread;
};

struct hn_kernel_pool {
	int32_t n_workers;
	cpu_set_t before; /* affinity to give back */
	void (*each)(void *ctx);
	void *each_ctx;
	bool busy; /* worker 0 only */
	hone_body_fn body;
	void *closure;
	int64_t n;
	_Alignas(128) _Atomic uint32_t epoch;
	_Alignas(128) _Atomic uint32_t sleepers;
	_Alignas(128) _Atomic int32_t pending;
	_Atomic bool stop;
	struct worker worker[];
};

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void share(struct hn_kernel_pool *p, int32_t id)
{
	int64_t q = p->n / p->n_workers, r = p->n % p->n_workers;
	int64_t begin = id * q + (id < r ? id : r);
	int64_t end = begin + q + (id < r ? 1 : 0);

	if (begin < end) {
		p->body(p->closure, begin, end, id);
	}
}

static uint32_t await_epoch(struct hn_kernel_pool *p, uint32_t seen)
{
	uint32_t now = seen;

	for (int i = 0; i < SPINS && now == seen; i++) {
		relax();
		now = atomic_load_explicit(&p->epoch, memory_order_acquire);
	}
	while (now == seen) {
		atomic_fetch_add(&p->sleepers, 1);
		now = atomic_load(&p->epoch);
		if (now == seen) {
			syscall(SYS_futex, &p->epoch, FUTEX_WAIT_PRIVATE, seen, NULL,
				NULL, 0);
		}
		atomic_fetch_sub(&p->sleepers, 1);
		now = atomic_load(&p->epoch);
	}
	return now;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct hn_kernel_pool *p = w->pool;
	uint32_t epoch = 0;

	if (p->each != NULL) {
		p->each(p->each_ctx);
	}
	for (;;) {
		epoch = await_epoch(p, epoch);
		if (atomic_load(&p->stop)) {
			return NULL;
		}
		hn_fp_reset();
		share(p, w->id);
		atomic_fetch_sub_explicit(&p->pending, 1, memory_order_release);
	}
}

static void wake(struct hn_kernel_pool *p)
{
	atomic_fetch_add(&p->epoch, 1);
	if (atomic_load(&p->sleepers) > 0) {
		syscall(SYS_futex, &p->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	}
}

void hn_kernel_pool_run(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	struct hn_kernel_pool *p = ctx;

	if (n <= 0) {
		return;
	}
	if (p->n_workers == 1 || n == 1 || p->busy) {
		body(closure, 0, n, 0);
		return;
	}
	p->busy = true;
	p->body = body;
	p->closure = closure;
	p->n = n;
	atomic_store_explicit(&p->pending, p->n_workers - 1, memory_order_relaxed);
	wake(p);
	share(p, 0);
	for (int i = 0; atomic_load_explicit(&p->pending, memory_order_acquire) > 0;
	     i++) {
		if (i < SPINS) {
			relax();
		} else {
			sched_yield();
		}
	}
	p->busy = false;
}

int32_t hn_kernel_pool_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) != 0) {
		return 1;
	}
	return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

/* The i-th core of the set, modulo its size: more workers than cores share them. */
static void core_of(const cpu_set_t *all, int32_t i, cpu_set_t *ret)
{
	int32_t left = i % (CPU_COUNT(all) > 0 ? CPU_COUNT(all) : 1);

	CPU_ZERO(ret);
	for (int c = 0; c < CPU_SETSIZE; c++) {
		if (CPU_ISSET(c, all) && left-- == 0) {
			CPU_SET(c, ret);
			return;
		}
	}
	*ret = *all;
}

static int start(struct hn_kernel_pool *p, struct worker *w)
{
	pthread_attr_t attr;
	cpu_set_t core;
	int rc = pthread_attr_init(&attr);

	if (rc != 0) {
		return rc;
	}
	core_of(&p->before, w->id, &core);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setaffinity_np(&attr, sizeof core, &core);
	rc = pthread_create(&w->thread, &attr, worker_main, w);
	pthread_attr_destroy(&attr);
	return rc;
}

int hn_kernel_pool_new(int32_t n_workers, void (*each)(void *ctx), void *ctx,
		       struct hn_kernel_pool **ret, struct hn_err *err)
{
	size_t bytes =
		sizeof(struct hn_kernel_pool) + (size_t)n_workers * sizeof(struct worker);
	struct hn_kernel_pool *p;
	cpu_set_t core;

	hn_assert(n_workers >= 1);
	p = aligned_alloc(128, (bytes + 127) / 128 * 128);
	if (p == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "kernel threads: out of memory");
	}
	memset(p, 0, bytes);
	p->n_workers = 1;
	p->each = each;
	p->each_ctx = ctx;
	if (sched_getaffinity(0, sizeof p->before, &p->before) != 0) {
		CPU_ZERO(&p->before);
	}
	for (int32_t i = 1; i < n_workers; i++) {
		int rc;

		p->worker[i] = (struct worker){ .pool = p, .id = i };
		rc = start(p, &p->worker[i]);
		if (rc != 0) {
			hn_kernel_pool_free(p);
			return hn_fail(err, HONE_E_NOMEM, "kernel threads: %s",
				       strerror(rc));
		}
		p->n_workers = i + 1;
	}
	core_of(&p->before, 0, &core);
	sched_setaffinity(0, sizeof core, &core);
	*ret = p;
	return 0;
}

void hn_kernel_pool_free(struct hn_kernel_pool *p)
{
	if (p == NULL) {
		return;
	}
	atomic_store(&p->stop, true);
	wake(p);
	for (int32_t i = 1; i < p->n_workers; i++) {
		pthread_join(p->worker[i].thread, NULL);
	}
	sched_setaffinity(0, sizeof p->before, &p->before);
	free(p);
}
