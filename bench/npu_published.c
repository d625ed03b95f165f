/* bench/npu_published.c -- the simulated NPU beside the published times of the machine that it is
 * like: in which order it puts them, and how far off it is.
 *
 * Programs are hone's, not AKG's, so the two times differ by the programs as well as by the model.
 * Simplified: fractal layouts are rows, a mask is the same for all rows, a sum of float16 is of
 * float32, and what is spread over a batch is read whole.  No constant is fitted to these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/npu.h"
#include "loopstate/read/dag_read.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

static const char product[] = "f(float16 A[R,K], float16 B[K,C]) -> Y { Y(i,j) +=! float32(A(i,k)) * "
			      "float32(B(k,j)) }";
static const char moments[] =
	"f(float32 X[R,C], float32 Z[R,C], float32 W[R,C]) -> (Q, D, A, M) { A(i,j) = X(i,j) + Z(i,j) + "
	"W(i,j) S(i) +=! A(i,j) M(i) = S(i) * 0.0009765625 D(i,j) = A(i,j) - M(i) Q(i) +=! D(i,j) * D(i,j) }";
static const char masked[] =
	"f(float16 X[R,C], float16 B[C]) -> Y { A(i,j) = X(i,j) * float16(0.125) + B(j) M(i) max=! A(i,j) "
	"E(i,j) = exp(float32(A(i,j)) - float32(M(i))) S(i) +=! E(i,j) Y(i,j) = float16(E(i,j) / S(i)) }";
static const char softmax[] =
	"f(float16 X[R,C], float16 B[C]) -> (P, Y) { A(i,j) = X(i,j) * float16(0.125) + B(j) "
	"M(i) max=! A(i,j) E(i,j) = exp(float32(A(i,j)) - float32(M(i))) S(i) +=! E(i,j) "
	"P(i,j) = E(i,j) / S(i) Y(i,j) = float16(P(i,j)) }";
static const char variance[] =
	"f(float32 X[R,C]) -> (H, M, D, Q) { H(i,j) = float16(X(i,j)) F(i,j) = float32(H(i,j)) "
	"S(i) +=! F(i,j) M(i) = S(i) * 0.0009765625 D(i,j) = F(i,j) - M(i) Q(i) +=! D(i,j) * D(i,j) }";
static const char plain[] =
	"f(float16 X[R,C]) -> Y { M(i) max=! X(i,j) E(i,j) = exp(X(i,j) - M(i)) S(i) +=! float32(E(i,j)) "
	"Y(i,j) = E(i,j) / float16(S(i)) }";
static const char gelu[] =
	"f(float16 H[R,C]) -> Y { X(i,j) = float32(H(i,j)) "
	"Z(i,j) = (X(i,j) + X(i,j) * X(i,j) * X(i,j) * 0.044715) * 1.59576912 "
	"Y(i,j) = float16(X(i,j) / (exp(abs(Z(i,j)) * -1.0) + 1.0) * exp(min(Z(i,j), 0.0))) }";

static const struct {
	const char *name, *text;
	int64_t rows, columns, terms;
	double ticks;
} cases[] = {
#define PUBLISHED(family, rows, columns, terms, ticks) { #family, family, rows, columns, terms, ticks },
#include "bench/npu_published.def"
};

static const struct {
	struct hn_npu_conv c;
	double cycles;
} convolutions[] = {
#define CONVOLUTION(channels, size, results, window, stride, pad, h, co, m, k, n, bypass, cycles) \
	{ { channels, size, size, results, window, stride, pad, h, co, m, k, n, bypass, HN_NPU_FLAGS }, \
	  cycles },
#include "bench/npu_published.def"
};

#define N HN_COUNT_OF(cases)
#define N_CONVOLUTION HN_COUNT_OF(convolutions)

/* The family's text with numbers for R, C and K where they stand alone in brackets. */
static void text_of(size_t i, struct hn_buf *b)
{
	for (const char *s = cases[i].text; *s != '\0'; s++) {
		bool size = s > cases[i].text && strchr("[,", s[-1]) && strchr(",]", s[1]) && s[1] != '\0';
		int64_t v = *s == 'R' ? cases[i].rows : *s == 'C' ? cases[i].columns : cases[i].terms;

		if (size && strchr("RCK", *s)) {
			hn_buf_printf(b, "%lld", (long long)v);
		} else {
			hn_buf_putc(b, *s);
		}
	}
}

enum how { NAIVE, BY_RULE, TUNED };

static int simulate(const struct hn_npu_profile *m, size_t i, enum how how, double *ret_ns,
		    struct hn_err *err)
{
	static const struct hn_npu_plan plan[] = { [NAIVE] = { HN_NPU_BARRIERS, 1, false, 0 },
						   [BY_RULE] = { HN_NPU_FLAGS, 2, true, 0 } };
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	const struct hn_dag *dag;
	struct hn_npu_result r;
	struct hn_arena a;
	struct hn_buf text;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	text_of(i, &text);
	rc = hn_dag_from_text(cases[i].name, text.s, text.n, 0, &a, &dag, err);
	rc = rc ? rc : how == TUNED ? hn_npu_tuned(dag, m, &a, &p, err)
				    : hn_npu_program(dag, m, &plan[how], &a, &p, err);
	rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r, err);
	if (rc == 0) {
		*ret_ns = (double)r.cycles * 1e3 / (double)m->mhz;
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}

/* Those below it, and half of those that are the same. */
static double rank(const double *v, size_t count, size_t i)
{
	double n = 0;

	for (size_t k = 0; k < count; k++) {
		n += v[k] < v[i] ? 1 : v[k] == v[i] ? 0.5 : 0;
	}
	return n;
}

static double spearman(const double *x, const double *y, size_t count)
{
	double xy = 0, xx = 0, yy = 0, mean = (double)count / 2;

	for (size_t i = 0; i < count; i++) {
		double a = rank(x, count, i) - mean, b = rank(y, count, i) - mean;

		xy += a * b;
		xx += a * a;
		yy += b * b;
	}
	return xy / sqrt(xx * yy);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void summary(const char *what, const double *ns, const double *published, size_t count)
{
	double off[N + N_CONVOLUTION];
	char context[100];

	for (size_t i = 0; i < count; i++) {
		off[i] = fabs(log2(ns[i] / published[i]));
	}
	qsort(off, count, sizeof(off[0]), by_value);
	snprintf(context, sizeof(context), "\"cases\": \"%s\", \"n\": %zu", what, count);
	hn_bench_row("npu", spearman(ns, published, count), "rank correlation with published times", context);
	hn_bench_row("npu", off[count / 2], "median of |log2| of the ratios", context);
}

static int fused(const struct hn_npu_profile *m, struct hn_err *err)
{
	double ns[N], published[N], naive = 0, tuned = 1, gain = 0;
	char context[200];

	for (size_t i = 0; i < N; i++) {
		int rc = simulate(m, i, BY_RULE, &ns[i], err);

		rc = rc ? rc : simulate(m, i, NAIVE, &naive, err);
		rc = rc ? rc : simulate(m, i, TUNED, &tuned, err);
		gain += log(naive / tuned) / (double)N;
		if (rc != 0) {
			return rc;
		}
		published[i] = cases[i].ticks * 10;
		snprintf(context, sizeof(context), "\"case\": \"%s:%lldx%lldx%lld\", \"us\": %.1f, "
			 "\"published_us\": %.1f", cases[i].name, (long long)cases[i].rows,
			 (long long)cases[i].columns, (long long)cases[i].terms, ns[i] / 1e3,
			 published[i] / 1e3);
		hn_bench_row("npu", ns[i] / published[i], "of the published time", context);
	}
	hn_bench_row("npu", exp(gain), "times the naive program's speed when tuned, geometric mean",
		     "\"cases\": \"fused operators\"");
	summary("fused operators", ns, published, N);
	return 0;
}

static int one_core(const struct hn_npu_profile *m, struct hn_err *err)
{
	double cycles[N_CONVOLUTION], published[N_CONVOLUTION];
	const struct hn_npu_options o = { 0 };
	char context[200];

	for (size_t i = 0; i < N_CONVOLUTION; i++) {
		const struct hn_npu_conv *c = &convolutions[i].c;
		const struct hn_npu_program *p;
		struct hn_npu_result r;
		struct hn_arena a;
		int rc;

		hn_arena_init(&a, 0);
		rc = hn_npu_conv(c, m, &a, &p, err);
		rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r, err);
		hn_arena_fini(&a);
		if (rc != 0) {
			return hn_err_within(err, "convolution %zu", i);
		}
		cycles[i] = (double)r.core_cycles;
		published[i] = convolutions[i].cycles;
		snprintf(context, sizeof(context), "\"case\": \"convolution %lld:%lldx%lld:%lld %lldx%lld/%lld\", "
			 "\"cycles\": %.0f, \"published\": %.0f", (long long)c->channels,
			 (long long)c->height, (long long)c->width, (long long)c->results,
			 (long long)c->window, (long long)c->window, (long long)c->stride, cycles[i],
			 published[i]);
		hn_bench_row("npu", cycles[i] / published[i], "of the published cycles", context);
	}
	summary("convolutions on one core", cycles, published, N_CONVOLUTION);
	return 0;
}

int hn_bench_npu_published(const struct hn_npu_profile *m, struct hn_err *err)
{
	int rc = fused(m, err);

	return rc ? rc : one_core(m, err);
}
