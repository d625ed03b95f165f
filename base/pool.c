/* base/pool.c -- fork and join in about a microsecond: hone/pool.h.
 *
 * What users link and what boards measure with.  Iterations are dealt in contiguous shares, the
 * same to the same worker each time, so that caches stay warm.  A worker runs its share by
 * halves of what is left, and when it is done helps the others from the ends of theirs, so that
 * a core that somebody else slows down does not hold up the loop (Blumofe and Leiserson 1999).
 *
 * Invariants: (1) `epoch` grows by one per loop and is written by worker 0 alone; (2) the
 * loop fields are written before epoch and read after it; (3) `pending` counts the
 * workers that have not yet finished the loop of this epoch; (4) every iteration is in
 * exactly one worker's `left` until somebody takes it from there by compare-and-swap (of
 * loops with more iterations than workers), and a worker ends only when it has seen all of them
 * empty.  The next loop is dealt when nobody is left in this one, so that no late thief meets
 * its numbers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "hone/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 20000 /* longer than the serial part between two loops of a kernel */
#define STACK_BYTES ((size_t)8 << 20)
#define SLICE ((int64_t)1 << 31) /* iterations dealt at a time: two numbers in 64 bits */
#define LINE 128

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned fp_mode; /* rounding, masks, subnormals; not what was raised */

static inline void fp_get(fp_mode *ret)
{
	*ret = _mm_getcsr() & ~0x3fu;
}

static inline void fp_set(const fp_mode *mode)
{
	_mm_setcsr(*mode);
}

static inline void relax(void)
{
	__builtin_ia32_pause();
}
#else
#include <fenv.h>

typedef fenv_t fp_mode;

static inline void fp_get(fp_mode *ret)
{
	fegetenv(ret);
}

static inline void fp_set(const fp_mode *mode)
{
	fesetenv(mode);
	feclearexcept(FE_ALL_EXCEPT);
}

static inline void relax(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}
#endif

struct worker {
	/* begin << 32 | end of what is left of its share; on a line of its own */
	_Alignas(LINE) _Atomic uint64_t left;
	struct hone_pool *pool;
	int32_t id;
	int cpu; /* it is pinned to; of worker 0, where the caller was last seen */
	pthread_t thread;
};

struct hone_pool {
	int32_t n_workers;
	const volatile unsigned char *here; /* a page: 1, and 0 in a child of fork */
	bool pins_caller;
	cpu_set_t before; /* affinity to give back */
	void (*start)(void *ctx);
	void *start_ctx;
	struct hone_env env;
	atomic_flag busy;
	hone_body_fn body;
	void *closure;
	int64_t first, n; /* the slice that is run now */
	fp_mode mode;	  /* of the caller */
	_Alignas(LINE) _Atomic uint32_t epoch;
	_Alignas(LINE) _Atomic uint32_t sleepers;
	_Alignas(LINE) _Atomic int32_t pending;
	_Atomic bool stop;
	struct worker worker[];
};

/* The slice in contiguous shares. */
static void deal(struct hone_pool *p)
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
static void share(struct hone_pool *p, int32_t id)
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

static uint32_t await_epoch(struct hone_pool *p, uint32_t seen)
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
	struct hone_pool *p = w->pool;
	uint32_t epoch = 0;

	if (p->start != NULL) {
		p->start(p->start_ctx);
	}
	for (;;) {
		epoch = await_epoch(p, epoch);
		if (atomic_load(&p->stop)) {
			return NULL;
		}
		fp_set(&p->mode);
		share(p, w->id);
		atomic_fetch_sub_explicit(&p->pending, 1, memory_order_release);
	}
}

static void wake(struct hone_pool *p)
{
	atomic_fetch_add(&p->epoch, 1);
	if (atomic_load(&p->sleepers) > 0) {
		syscall(SYS_futex, &p->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	}
}

static void run_slice(struct hone_pool *p)
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

static void one_cpu(int cpu, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	CPU_SET((size_t)cpu, ret);
}

/* A worker that is pinned to where the caller now runs goes to where the caller was. */
static void make_room(struct hone_pool *p)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	if (cpu == p->worker[0].cpu || cpu < 0 || p->pins_caller) {
		return;
	}
	for (int32_t i = 1; i < p->n_workers; i++) {
		struct worker *w = &p->worker[i];

		if (w->cpu == cpu) {
			w->cpu = p->worker[0].cpu;
			one_cpu(w->cpu, &set);
			pthread_setaffinity_np(w->thread, sizeof set, &set);
			break;
		}
	}
	p->worker[0].cpu = cpu;
}

void hone_pool_run(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	struct hone_pool *p = ctx;

	if (n <= 0) {
		return;
	}
	if (p == NULL || p->n_workers == 1 || n == 1 || !*p->here ||
	    atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire)) {
		body(closure, 0, n, 0);
		return;
	}
	make_room(p);
	fp_get(&p->mode);
	p->body = body;
	p->closure = closure;
	for (p->first = 0; p->first < n; p->first += p->n) {
		p->n = n - p->first < SLICE ? n - p->first : SLICE;
		run_slice(p);
	}
	atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

int32_t hone_pool_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) != 0) {
		return 1;
	}
	return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

/* The i-th CPU of the set, modulo its size: more workers than CPUs share them.  -1: none. */
static int cpu_of(const cpu_set_t *all, int32_t i)
{
	int32_t n = CPU_COUNT(all), left = n > 0 ? i % n : 0;

	for (int c = 0; c < CPU_SETSIZE && n > 0; c++) {
		if (CPU_ISSET((size_t)c, all) && left-- == 0) {
			return c;
		}
	}
	return -1;
}

/* Signals are the program's; a fault in a body is the body's. */
static void signals_of_workers(sigset_t *ret)
{
	static const int fault[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };

	sigfillset(ret);
	for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
		sigdelset(ret, fault[i]);
	}
}

static bool start(struct hone_pool *p, int32_t id)
{
	struct worker *w = &p->worker[id];
	sigset_t block, before;
	pthread_attr_t attr;
	cpu_set_t set;
	bool good;

	w->pool = p;
	w->id = id;
	w->cpu = cpu_of(&p->before, id);
	if (pthread_attr_init(&attr) != 0) {
		return false;
	}
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (w->cpu >= 0) {
		one_cpu(w->cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof set, &set);
	}
	signals_of_workers(&block);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	good = pthread_create(&w->thread, &attr, worker_main, w) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return good;
}

/* A page that reads 1, and 0 in every child; NULL: no memory. */
static void *map_here(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

	if (at == MAP_FAILED) {
		return NULL;
	}
	*at = 1;
	madvise(at, page, MADV_WIPEONFORK);
	return at;
}

static struct hone_pool *allocate(int32_t n_threads)
{
	size_t bytes = sizeof(struct hone_pool) + (size_t)n_threads * sizeof(struct worker);
	struct hone_pool *p = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);

	if (p == NULL) {
		return NULL;
	}
	memset(p, 0, bytes);
	p->here = map_here();
	if (p->here == NULL) {
		free(p);
		return NULL;
	}
	atomic_flag_clear(&p->busy);
	return p;
}

struct hone_pool *hone_pool_create_with(const struct hone_pool_options *o)
{
	int32_t n = o->n_threads >= 1 ? o->n_threads : hone_pool_cpus();
	struct hone_pool *p = allocate(n);
	cpu_set_t set;

	if (p == NULL) {
		return NULL;
	}
	p->start = o->start;
	p->start_ctx = o->ctx;
	p->pins_caller = o->pin_caller != 0;
	if (sched_getaffinity(0, sizeof p->before, &p->before) != 0) {
		CPU_ZERO(&p->before);
	}
	p->n_workers = 1;
	while (p->n_workers < n && start(p, p->n_workers)) {
		p->n_workers++;
	}
	p->worker[0].cpu = cpu_of(&p->before, 0);
	if (p->pins_caller && p->worker[0].cpu >= 0) {
		one_cpu(p->worker[0].cpu, &set);
		sched_setaffinity(0, sizeof set, &set);
	}
	p->env.abi = HONE_KERNEL_ABI;
	p->env.n_workers = p->n_workers;
	p->env.parallel_for = p->n_workers > 1 ? hone_pool_run : NULL;
	p->env.ctx = p;
	return p;
}

struct hone_pool *hone_pool_create(int32_t n_threads)
{
	const struct hone_pool_options o = { .n_threads = n_threads };

	return hone_pool_create_with(&o);
}

int32_t hone_pool_threads(const struct hone_pool *p)
{
	return p != NULL ? p->n_workers : 1;
}

const struct hone_env *hone_pool_env(struct hone_pool *p, uint64_t workspace_bytes)
{
	size_t bytes = ((size_t)workspace_bytes + 63) / 64 * 64;

	if (p == NULL) {
		return NULL;
	}
	if (workspace_bytes > p->env.workspace_bytes) {
		free(p->env.workspace);
		p->env.workspace = bytes >= workspace_bytes ? aligned_alloc(64, bytes) : NULL;
		p->env.workspace_bytes = p->env.workspace != NULL ? bytes : 0;
		/* its pages are there before the first call */
		if (p->env.workspace != NULL) {
			memset(p->env.workspace, 0, bytes);
		}
	}
	return &p->env;
}

static void stop_workers(struct hone_pool *p)
{
	atomic_store(&p->stop, true);
	wake(p);
	for (int32_t i = 1; i < p->n_workers; i++) {
		pthread_join(p->worker[i].thread, NULL);
	}
	if (p->pins_caller) {
		sched_setaffinity(0, sizeof p->before, &p->before);
	}
}

void hone_pool_destroy(struct hone_pool *p)
{
	if (p == NULL) {
		return;
	}
	if (*p->here) {
		stop_workers(p);
	}
	munmap((void *)p->here, (size_t)sysconf(_SC_PAGESIZE));
	free(p->env.workspace);
	free(p);
}
