/* pool.c -- fork and join in about a microsecond.
 *
 * Invariants: (1) `epoch` grows by one per loop and is written by worker 0 alone; (2) the
 * loop fields are written before epoch and read after it; (3) `pending` counts the
 * workers that have not yet finished the loop of this epoch; (4) every iteration is in
 * exactly one worker's `left` until somebody takes it from there by compare-and-swap (of
 * loops with more iterations than workers), and a worker ends only when it has seen all of them empty.  The next loop is dealt when
 * nobody is left in this one, so that no late thief meets its numbers.
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
#define SLICE ((int64_t)1 << 31) /* iterations dealt at a time: two numbers in 64 bits */

struct worker {
	/* begin << 32 | end of what is left of its share; on a line of its own */
	_Alignas(128) _Atomic uint64_t left;
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
	int64_t first, n; /* the slice that is run now */
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

/* The slice in contiguous shares. */
static void deal(struct hn_kernel_pool *p)
{
	int64_t q = p->n / p->n_workers, r = p->n % p->n_workers, begin = 0;

	for (int32_t id = 0; id < p->n_workers; id++) {
		int64_t end = begin + q + (id < r ? 1 : 0);

		atomic_store_explicit(&p->worker[id].left,
				      (uint64_t)begin << 32 | (uint64_t)end,
				      memory_order_relaxed);
		begin = end;
	}
}

/* Take a part of what a share has left: its owner the first half, another worker a
 * quarter off the end. False when nothing is left. */
static bool take(struct worker *from, bool owner, int64_t *ret_begin, int64_t *ret_end)
{
	uint64_t now = atomic_load_explicit(&from->left, memory_order_relaxed), then;
	int64_t begin, end, cut;

	do {
		begin = (int64_t)(now >> 32);
		end = (int64_t)(now & UINT32_MAX);
		if (begin == end) {
			return false;
		}
		cut = owner ? begin + (end - begin + 1) / 2 : end - (end - begin + 3) / 4;
		then = owner ? (uint64_t)cut << 32 | (uint64_t)end
			     : (uint64_t)begin << 32 | (uint64_t)cut;
	} while (!atomic_compare_exchange_weak_explicit(
		&from->left, &now, then, memory_order_relaxed, memory_order_relaxed));
	*ret_begin = owner ? begin : cut;
	*ret_end = owner ? cut : end;
	return true;
}

/* This worker's share, then what slower ones have not come to.  Of one iteration there is
 * nothing to give away: no look at the others, which costs a line's way between cores. */
static void share(struct hn_kernel_pool *p, int32_t id)
{
	int64_t begin, end;

	if (p->n <= p->n_workers) {
		if (id < p->n) {
			p->body(p->closure, p->first + id, p->first + id + 1, id);
		}
		return;
	}
	for (int32_t i = 0; i < p->n_workers; i++) {
		struct worker *from = &p->worker[(id + i) % p->n_workers];

		while (take(from, i == 0, &begin, &end)) {
			p->body(p->closure, p->first + begin, p->first + end, id);
		}
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

static void run_slice(struct hn_kernel_pool *p)
{
	if (p->n > p->n_workers) {
		deal(p);
	}
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
	for (p->first = 0; p->first < n; p->first += p->n) {
		p->n = n - p->first < SLICE ? n - p->first : SLICE;
		run_slice(p);
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
