/* probe.c -- peak speed by running at it. */
#include "measure/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/pool.h"

#define ROUNDS 4000
#define FMA_SLICE_NS                                                                     \
	1000000 /* shorter than a turn of the scheduler: some go undisturbed */
#define FMA_TRIES 100
#define MEMORY_BYTES ((size_t)128 << 20)

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

struct probing {
	fma_fn fma;
	int64_t until_ns;
	double *flops; /* of each worker */
	float *sink;   /* of each worker */
	const uint64_t *memory;
	size_t n_word;
};

static void fma_body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct probing *p = closure;
	double done = 0;

	(void)begin;
	(void)end;
	do {
		done += p->fma(&p->sink[worker]);
	} while (hn_clock_ns() < p->until_ns);
	p->flops[worker] += done;
}

/* Best of a few slices, in GFLOP/s, on n_workers threads. */
static int probe_fma(int32_t n_workers, struct probing *p, double *ret,
		     struct hn_err *err)
{
	struct hn_kernel_pool *pool;
	double best = 0;
	int rc = hn_kernel_pool_new(n_workers, NULL, NULL, &pool, err);

	if (rc != 0) {
		return rc;
	}
	for (int i = 0; i < FMA_TRIES; i++) {
		int64_t begin = hn_clock_ns();
		double flops = 0;

		memset(p->flops, 0, sizeof(double) * (size_t)n_workers);
		p->until_ns = begin + FMA_SLICE_NS;
		hn_kernel_pool_run(pool, fma_body, p, n_workers);
		for (int32_t w = 0; w < n_workers; w++) {
			flops += p->flops[w];
		}
		best = fmax(best, flops / (double)(hn_clock_ns() - begin));
	}
	hn_kernel_pool_free(pool);
	*ret = best;
	return 0;
}

static void read_body(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct probing *p = closure;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (int64_t i = begin; i + 32 <= end; i += 32) {
		/* one word a cache line is enough to move the line */
		a += p->memory[i];
		b += p->memory[i + 8];
		c += p->memory[i + 16];
		d += p->memory[i + 24];
	}
	p->sink[worker] += (float)((a ^ b ^ c ^ d) & 1);
}

static int probe_memory(int32_t n_workers, struct probing *p, double *ret,
			struct hn_err *err)
{
	struct hn_kernel_pool *pool;
	double best = 0;
	int rc = hn_kernel_pool_new(n_workers, NULL, NULL, &pool, err);

	if (rc != 0) {
		return rc;
	}
	for (int i = 0; i < 4; i++) {
		int64_t begin = hn_clock_ns();

		hn_kernel_pool_run(pool, read_body, p, (int64_t)p->n_word);
		best = fmax(best, (double)MEMORY_BYTES / (double)(hn_clock_ns() - begin));
	}
	hn_kernel_pool_free(pool);
	*ret = best;
	return 0;
}

int hn_probe_run(int32_t n_workers, struct hn_probe *ret, struct hn_err *err)
{
	struct probing p = {.fma = fma_best(), .n_word = MEMORY_BYTES / 8};
	uint64_t *memory = malloc(MEMORY_BYTES);
	struct hn_probe r = {0};
	int rc;

	p.flops = calloc((size_t)n_workers, sizeof(double));
	p.sink = calloc((size_t)n_workers, sizeof(float));
	if (memory == NULL || p.flops == NULL || p.sink == NULL) {
		rc = hn_fail(err, HONE_E_NOMEM, "probe: out of memory");
	} else {
		memset(memory, 1, MEMORY_BYTES);
		p.memory = memory;
		rc = probe_fma(1, &p, &r.fma_gflops_one, err);
		rc = rc != 0 ? rc : probe_fma(n_workers, &p, &r.fma_gflops_all, err);
		rc = rc != 0 ? rc : probe_memory(n_workers, &p, &r.memory_gb_s, err);
	}
	free(memory);
	free(p.flops);
	free(p.sink);
	if (rc == 0) {
		*ret = r;
	}
	return rc;
}
