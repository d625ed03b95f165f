/* bench/limit_exp.c -- the least time in which a case's exponentials can be computed.
 *
 * Softmax is bound by its exponentials, not by its bytes, on a machine with fast caches.  The
 * shortest code known for a float32 exponential within a unit in the last place: reduction by
 * a two-part ln 2 (Cody and Waite), a polynomial of degree 6 and one scaling instruction,
 * 11 instructions a vector and no special cases.  Arguments stay in registers.
 */
#include "bench/limit.h"

#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.h"

#define VECTORS 8 /* in flight: their chains hide each other's latency */
#define LANES 16
#define TRIES 50

struct count {
	double n;
};

static void visit(const struct hn_expr *e, void *ctx)
{
	struct count *c = ctx;

	c->n += e->op == HN_EXPR_CALL && e->ref == HN_FN_exp;
}

double hn_limit_count_exp(const struct hn_dag *dag)
{
	double sum = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		struct count c = { 0 };
		double points = 1;

		hn_op_visit(op, visit, &c);
		for (uint32_t a = 0; a < op->n_spatial + op->n_reduce; a++) {
			points *= (double)op->axis[a].extent;
		}
		sum += c.n * points;
	}
	return sum;
}

#if defined(__x86_64__)
struct exps {
	const struct hn_contest *contest;
	int32_t n_threads;
	int64_t rounds; /* of VECTORS vectors, each thread's */
};

__attribute__((target("avx512f"), optimize("O3"))) static inline __m512 exp16(__m512 x)
{
	__m512 n = _mm512_roundscale_ps(
		_mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p0F)), 8);
	__m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.62e43p-1F), x);

	r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-0x1.05c61p-29F), r);
	__m512 p = _mm512_set1_ps(0x1.6ac74ep-10F);

	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.123dep-7F));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.555858p-5F));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.55548cp-3F));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffffcp-2F));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
	p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
	return _mm512_scalef_ps(p, n);
}

__attribute__((target("avx512f"), optimize("O3"))) static void body(void *closure,
								     int64_t begin,
								     int64_t end,
								     int32_t worker)
{
	const struct exps *s = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		__m512 x[VECTORS];

		for (int k = 0; k < VECTORS; k++) {
			x[k] = _mm512_set1_ps(-0.5F - (float)k);
		}
		for (int64_t n = 0; n < s->rounds; n++) {
			_Pragma("GCC unroll 8") for (int k = 0; k < VECTORS; k++)
			{
				__m512 y = exp16(x[k]);

				__asm__ volatile("" ::"v"(y));
			}
			/* or equal rounds might be one */
			_Pragma("GCC unroll 8") for (int k = 0; k < VECTORS; k++)
			{
				__asm__ volatile("" : "+v"(x[k]));
			}
		}
	}
}

static void call(void *ctx)
{
	struct exps *s = ctx;

	hone_pool_run(s->contest->pool, body, s, s->n_threads);
}

static double best_on(struct exps *s, double n, int32_t n_threads)
{
	double best = INFINITY;

	s->n_threads = n_threads;
	s->rounds = (int64_t)(n / (VECTORS * LANES) / n_threads);
	for (int i = 0; i < TRIES; i++) {
		int64_t begin = hn_clock_ns();

		call(s);
		best = fmin(best, (double)(hn_clock_ns() - begin));
	}
	return best;
}

void hn_limit_exp(struct hn_contest *t)
{
	double n = hn_limit_count_exp(t->dag);
	struct hn_contender *c;
	struct exps *s;

	if (n == 0 || !__builtin_cpu_supports("avx512f")) {
		return;
	}
	s = calloc(1, sizeof(*s));
	hn_assert(s != NULL);
	s->contest = t;
	/* few of them are done before another thread has woken up */
	if (best_on(s, n, 1) > best_on(s, n, t->n_threads)) {
		best_on(s, n, t->n_threads);
	} else {
		best_on(s, n, 1);
	}
	c = hn_contest_add(t, "limit-exp");
	c->ctx = s;
	c->call = call;
	c->limit = true;
	c->amount = 1;
	c->close = free;
	c->n_range = 0;
}
#else
void hn_limit_exp(struct hn_contest *t)
{
	(void)t;
}
#endif
