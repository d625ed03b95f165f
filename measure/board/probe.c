/* probe.c -- peak speed by running at it. */
#include "measure/board/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/board/probe_levels.h"

#define ROUNDS 4000
#define FMA_SLICE_NS                                                                     \
	1000000 /* shorter than a turn of the scheduler: some go undisturbed */
#define READ_SLICE_NS 500000 /* a try that is over sooner is done again, longer */
#define CLOCK_BYTES ((size_t)1 << 18)
#define ONCE_ROUNDS 64	    /* about half a millisecond */
#define STILL 1.01	    /* a top that grew by less has not moved */
#define STILL_TRIES 60	    /* for so many tries, ... */
#define STILL_NS 200000000  /* ... or, where a try is long, for so long ... */
#define LEAST_TRIES 10	    /* ... and for so many: the user waits for the probe */
#define LIMIT_NS 1200000000 /* of one figure */
#define MAX_WORKERS 1024

/* One multiply-add on each lane of n independent accumulators, ROUNDS times; the results
 * feed `sink` so that nothing is optimised away.  Accumulators tend to 1 / (1 - 0.5), no
 * overflow and no subnormal. Returns the floating-point operations done. */
#define FMA_KERNEL(name, attr, lanes, n_acc)                                             \
	typedef float vec_##name __attribute__((vector_size(4 * (lanes))));              \
	attr static double fma_##name(float *sink)                                       \
	{                                                                                \
		vec_##name acc[n_acc], m, b, sum;                                        \
                                                                                         \
		for (int l = 0; l < (lanes); l++) {                                      \
			m[l] = 0.5f;                                                     \
			b[l] = 1.0f;                                                     \
			sum[l] = 0;                                                      \
		}                                                                        \
		__asm__ volatile("" : "+m"(m), "+m"(b));                                 \
		_Pragma("GCC unroll 16") for (int i = 0; i < (n_acc); i++)               \
		{                                                                        \
			acc[i] = m * (float)i;                                           \
		}                                                                        \
		for (int r = 0; r < ROUNDS; r++) {                                       \
			_Pragma("GCC unroll 16") for (int i = 0; i < (n_acc); i++)       \
			{                                                                \
				acc[i] = acc[i] * m + b;                                 \
			}                                                                \
		}                                                                        \
		_Pragma("GCC unroll 16") for (int i = 0; i < (n_acc); i++)               \
		{                                                                        \
			sum += acc[i];                                                   \
		}                                                                        \
		for (int l = 0; l < (lanes); l++) {                                      \
			*sink += sum[l];                                                 \
		}                                                                        \
		return 2.0 * (lanes) * (n_acc)*ROUNDS;                                   \
	}

#define FAST __attribute__((optimize("O3,fp-contract=fast")))

FMA_KERNEL(baseline, FAST, 4, 10)
#if defined(__x86_64__)
FMA_KERNEL(avx2, __attribute__((target("avx2,fma"))) FAST, 8, 12)
FMA_KERNEL(avx512, __attribute__((target("avx512f,prefer-vector-width=512"))) FAST, 16,
	   14)
#endif

typedef double (*fma_fn)(float *sink);

static fma_fn fma_best(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		return fma_avx512;
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		return fma_avx2;
	}
#endif
	return fma_baseline;
}

/* Lines of 64 bytes read by eight words each, in independent sums: the compiler makes
 * vector loads of it. */
#define READ_KERNEL(name, attr)                                                          \
	attr static uint64_t read_##name(const uint64_t *m, size_t n_word)               \
	{                                                                                \
		uint64_t s[32] = { 0 };                                                  \
                                                                                         \
		for (size_t i = 0; i + 32 <= n_word; i += 32) {                          \
			_Pragma("GCC unroll 32") for (int k = 0; k < 32; k++)            \
			{                                                                \
				s[k] ^= m[i + (size_t)k];                                \
			}                                                                \
		}                                                                        \
		for (int k = 1; k < 32; k++) {                                           \
			s[0] ^= s[k];                                                    \
		}                                                                        \
		return s[0];                                                             \
	}

READ_KERNEL(baseline, FAST)
#if defined(__x86_64__)
READ_KERNEL(avx2, __attribute__((target("avx2"))) FAST)
READ_KERNEL(avx512, __attribute__((target("avx512f,prefer-vector-width=512"))) FAST)
#endif

typedef uint64_t (*read_fn)(const uint64_t *m, size_t n_word);

static read_fn read_best(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		return read_avx512;
	}
	if (__builtin_cpu_supports("avx2")) {
		return read_avx2;
	}
#endif
	return read_baseline;
}

/* What a worker did, a cache line of its own each. */
struct worked {
	_Alignas(64) double amount; /* operations, or bytes */
	float sink;
	uint64_t word;
};

struct probing {
	fma_fn fma;
	read_fn read;
	int64_t until_ns; /* go on until then, ... */
	int n_round;	  /* ... but do so many rounds at least */
	const uint64_t *memory;
	size_t n_word; /* of each worker */
	struct worked worked[MAX_WORKERS];
};

static void fma_body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct probing *p = closure;
	struct worked *w = &p->worked[worker];

	(void)begin;
	(void)end;
	for (int i = 0;
	     i < p->n_round || (p->until_ns > 0 && hn_clock_ns() < p->until_ns); i++) {
		w->amount += p->fma(&w->sink);
	}
}

static void read_body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct probing *p = closure;
	struct worked *w = &p->worked[worker];

	for (int64_t i = begin; i < end; i++) {
		for (int k = 0;
		     k < p->n_round || (p->until_ns > 0 && hn_clock_ns() < p->until_ns);
		     k++) {
			w->word ^= p->read(p->memory + (size_t)i * p->n_word, p->n_word);
			w->amount += (double)(p->n_word * 8);
			/* or equal rounds might be one */
			__asm__ volatile("" ::: "memory");
		}
	}
}

/* n_round rounds of the body on all workers, and more until slice_ns have gone; what they
 * did altogether. */
static double run(struct hone_pool *pool, int32_t n_workers, hone_body_fn body,
		  struct probing *p, int64_t slice_ns)
{
	double amount = 0;

	hn_assert(n_workers <= MAX_WORKERS);
	memset(p->worked, 0, (size_t)n_workers * sizeof(p->worked[0]));
	p->until_ns = slice_ns > 0 ? hn_clock_ns() + slice_ns : 0;
	hone_pool_run(pool, body, p, n_workers);
	for (int32_t w = 0; w < n_workers; w++) {
		amount += p->worked[w].amount;
	}
	return amount;
}

static double run_fma(struct hone_pool *pool, int32_t n_workers, int n_round,
		      int64_t slice_ns)
{
	struct probing p;

	p.fma = fma_best();
	p.n_round = n_round;
	return run(pool, n_workers, fma_body, &p, slice_ns);
}

static double run_read(struct hone_pool *pool, int32_t n_workers, const void *memory,
		       size_t bytes, int n_round, int64_t slice_ns)
{
	struct probing p;

	p.read = read_best();
	p.memory = memory;
	p.n_word = bytes / (size_t)n_workers / 256 * 32;
	p.n_round = n_round;
	hn_assert(p.n_word > 0);
	return run(pool, n_workers, read_body, &p, slice_ns);
}

double hn_probe_fma_once(struct hone_pool *pool, int32_t n_workers)
{
	return run_fma(pool, n_workers, ONCE_ROUNDS, 0);
}

void hn_probe_read_once(struct hone_pool *pool, int32_t n_workers,
			const void *memory, size_t bytes)
{
	run_read(pool, n_workers, memory, bytes, 1, 0);
}

double hn_probe_fma_try(struct hone_pool *pool, int32_t n_workers)
{
	int64_t begin = hn_clock_ns();
	double flops = run_fma(pool, n_workers, 1, FMA_SLICE_NS);

	return flops / (double)(hn_clock_ns() - begin);
}

double hn_probe_read_try(struct hone_pool *pool, int32_t n_workers,
			 const void *memory, size_t bytes)
{
	/* small parts often between two looks at the clock */
	int n_round = 1 + (int)(CLOCK_BYTES * (size_t)n_workers / bytes);
	int64_t begin = hn_clock_ns();
	double read = run_read(pool, n_workers, memory, bytes, n_round, 0);

	if (hn_clock_ns() - begin < READ_SLICE_NS) {
		double rate = read / (double)(hn_clock_ns() - begin);

		n_round = (int)(1 + READ_SLICE_NS * rate / (double)bytes);
		begin = hn_clock_ns();
		read = run_read(pool, n_workers, memory, bytes, n_round, 0);
	}
	return read / (double)(hn_clock_ns() - begin);
}

/* The best of tries (memory NULL: multiply-adds) until it holds still. */
static int top(int32_t n_workers, const void *memory, size_t bytes, double *ret,
	       struct hn_err *err)
{
	struct hone_pool *pool;
	double best = 0, held = 0;
	int64_t now, since, until;
	int rc = hn_kernel_pool_new(n_workers, NULL, NULL, &pool, err);

	if (rc != 0) {
		return rc;
	}
	now = since = hn_clock_ns();
	until = now + LIMIT_NS;
	for (int still = 0; still < STILL_TRIES && now < until &&
			    (still < LEAST_TRIES || now < since + STILL_NS);
	     still++) {
		best = fmax(best, memory != NULL ? hn_probe_read_try(pool, n_workers,
								     memory, bytes)
						 : hn_probe_fma_try(pool, n_workers));
		now = hn_clock_ns();
		if (best > held * STILL) {
			held = best;
			still = 0;
			since = now;
		}
	}
	hone_pool_destroy(pool);
	*ret = best;
	return 0;
}

#define CHASE_BYTES ((size_t)64 << 20)

/* Sizes of the caches, and how fast one core reads from each. */
static int probe_levels(void *memory, struct hn_probe *r, struct hn_err *err)
{
	size_t bytes[HN_PROBE_LEVELS];
	int rc = 0;

	r->n_level = hn_probe_chase_levels(memory, CHASE_BYTES, bytes);
	for (uint32_t i = 0; i < r->n_level && rc == 0; i++) {
		r->level[i].bytes = (double)bytes[i];
		rc = top(1, memory, HN_PROBE_SET(bytes[i]), &r->level[i].gb_s, err);
	}
	return rc;
}

static int probe_loop(int32_t n_workers, struct hn_probe *r, struct hn_err *err)
{
	struct hone_pool *pool;
	int rc = hn_kernel_pool_new(n_workers, NULL, NULL, &pool, err);

	if (rc == 0) {
		r->fork_join_ns = hn_probe_fork_join(pool, n_workers);
		hone_pool_destroy(pool);
		r->timer_ns = hn_probe_timer();
	}
	return rc;
}

static double largest_cache(void)
{
	long most = 0;

#ifdef _SC_LEVEL4_CACHE_SIZE
	const int names[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE};

	for (size_t i = 0; i < HN_COUNT_OF(names); i++) {
		long bytes = sysconf(names[i]);

		most = bytes > most ? bytes : most;
	}
#endif
	return (double)most;
}

int hn_probe_run(int32_t n_workers, struct hn_probe *ret, struct hn_err *err)
{
	void *memory = NULL;
	struct hn_probe r = { 0 };
	int rc = 0;

	n_workers = n_workers < MAX_WORKERS ? n_workers : MAX_WORKERS;
	if (posix_memalign(&memory, (size_t)2 << 20, HN_PROBE_MEMORY_BYTES) != 0) {
		return hn_fail(err, HONE_E_NOMEM, "probe: out of memory");
	}
	/* a limit is not to be one of address translation */
	(void)madvise(memory, HN_PROBE_MEMORY_BYTES, MADV_HUGEPAGE);
	memset(memory, 1, HN_PROBE_MEMORY_BYTES);
	r.cache_bytes = largest_cache();
	rc = top(1, NULL, 0, &r.fma_gflops_one, err);
	rc = rc != 0 ? rc : top(n_workers, NULL, 0, &r.fma_gflops_all, err);
	rc = rc != 0 ? rc : top(n_workers, memory, HN_PROBE_MEMORY_BYTES, &r.memory_gb_s, err);
	rc = rc != 0 ? rc : probe_levels(memory, &r, err);
	rc = rc != 0 ? rc : probe_loop(n_workers, &r, err);
	free(memory);
	if (rc == 0) {
		*ret = r;
	}
	return rc;
}
