/* bench/npu_case.c -- the published cases as computations and programs.  See npu_case.h.
 *
 * Programs are hone's, not AKG's, so the two times differ by the programs as well as by the model.
 * Layouts are those that were published: a matrix in fractals is [columns / 16, rows / 16, 16, 16].
 * Simplified: a sum of float16 is of float32, and numbers that no time depends on are made up.
 */
#include <stdio.h>
#include <string.h>

#include "bench/npu.h"
#include "bench/npu_case.h"
#include "loopstate/read/dag_read.h"
#include "target/npu/npu_run.h"

const char *const hn_npu_class_name[HN_NPU_N_CLASS] = { "fused operators", "convolutions on one core" };

static const char product[] = "f(float16 A[R,K,16,16], float16 B[C,K,16,16]) -> Y { Y(n,m,i,j) +=! "
			      "float32(A(m,k,p,i)) * float32(B(n,k,p,j)) }";
static const char sum[] =
	"f(float32 Z[C,R,16,16], float16 A[R,K,16,16], float16 B[C,K,16,16]) -> Y { S(n,m,i,j) +=! "
	"float32(A(m,k,p,i)) * float32(B(n,k,p,j)) Y(n,m,i,j) = S(n,m,i,j) + Z(n,m,i,j) }";
static const char sum_cast[] =
	"f(float16 A[K,R,16,16], float16 B[C,K,16,16], float16 Z[C,R,16,16]) -> (Y, F) { S(n,m,i,j) +=! "
	"float32(A(k,m,i,p)) * float32(B(n,k,p,j)) H(n,m,i,j) = float16(S(n,m,i,j)) "
	"Y(n,m,i,j) = H(n,m,i,j) + Z(n,m,i,j) F(n,m,i,j) = float32(Y(n,m,i,j)) }";
static const char sums_cast[] =
	"f(float16 U[C,R,16,16], float16 V[C,R,16,16], float16 W[C,R,16,16], float16 A[K,R,16,16], "
	"float16 B[C,K,16,16]) -> (Y, F) { S(n,m,i,j) +=! float32(A(k,m,i,p)) * float32(B(n,k,p,j)) "
	"H(n,m,i,j) = float16(S(n,m,i,j)) Y(n,m,i,j) = H(n,m,i,j) + U(n,m,i,j) + V(n,m,i,j) + W(n,m,i,j) "
	"F(n,m,i,j) = float32(Y(n,m,i,j)) }";
static const char moments[] =
	"f(float32 X[R,K,C], float32 Z[R,K,C], float32 W[K,C]) -> (Q, D, A, M) { "
	"A(b,i,j) = X(b,i,j) + Z(b,i,j) + W(i,j) S(b,i) +=! A(b,i,j) M(b,i) = S(b,i) * 0.0009765625 "
	"D(b,i,j) = A(b,i,j) - M(b,i) Q(b,i) +=! D(b,i,j) * D(b,i,j) }";
static const char log_softmax[] =
	"f(float32 X[R,C], float32 B[C]) -> Y { A(i,j) = X(i,j) + B(j) M(i) max=! float16(A(i,j)) "
	"D(i,j) = A(i,j) - float32(M(i)) S(i) +=! exp(D(i,j)) Y(i,j) = D(i,j) - log(S(i)) }";
static const char masked[] =
	"f(float16 X[R,K,C,C,16,16], float16 B[R,C,16]) -> Y { "
	"A(b,h,n,m,i,j) = X(b,h,n,m,i,j) * float16(0.125) + B(b,n,j) M(b,h,m,i) max=! A(b,h,n,m,i,j) "
	"E(b,h,n,m,i,j) = exp(float32(A(b,h,n,m,i,j)) - float32(M(b,h,m,i))) "
	"S(b,h,m,i) +=! E(b,h,n,m,i,j) Y(b,h,n,m,i,j) = float16(E(b,h,n,m,i,j) / S(b,h,m,i)) }";
static const char softmax[] =
	"f(float16 X[R,K,C,C,16,16], float16 B[R,C,C,16,16]) -> (P, Y) { "
	"A(b,h,n,m,i,j) = X(b,h,n,m,i,j) * float16(0.125) + B(b,n,m,i,j) M(b,h,m,i) max=! A(b,h,n,m,i,j) "
	"E(b,h,n,m,i,j) = exp(float32(A(b,h,n,m,i,j)) - float32(M(b,h,m,i))) "
	"S(b,h,m,i) +=! E(b,h,n,m,i,j) P(b,h,n,m,i,j) = E(b,h,n,m,i,j) / S(b,h,m,i) "
	"Y(b,h,n,m,i,j) = float16(P(b,h,n,m,i,j)) }";
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
static const char norm_gradient[] =
	"f(float16 G[K,R,C,16], float16 X[K,R,C,16], float16 M[R,16], float16 V[R,16], float16 W[R,16]) -> "
	"(D, P, Q) { H(n,c,h,b) = float32(G(n,c,h,b)) I(c,b) = 1.0 / sqrt(float32(V(c,b)) + 0.00001) "
	"Z(n,c,h,b) = (float32(X(n,c,h,b)) - float32(M(c,b))) * I(c,b) S(c,b) +=! H(n,c,h,b) "
	"T(c,b) +=! H(n,c,h,b) * Z(n,c,h,b) D(n,c,h,b) = float16((H(n,c,h,b) - (S(c,b) + Z(n,c,h,b) * "
	"T(c,b)) * 0.0001) * (float32(W(c,b)) * I(c,b))) P(c,b) = float16(T(c,b)) Q(c,b) = float16(S(c,b)) }";

static const struct {
	const char *name, *text;
	int64_t r, c, k;
	double ticks;
} fused[] = {
#define PUBLISHED(family, r, c, k, ticks) { #family, family, r, c, k, ticks },
#include "bench/npu_published.def"
};

static const struct {
	int64_t m1, n1;
	double ticks;
} transposed[] = {
#define TRANSPOSED(n1, m1, ticks) { m1, n1, ticks },
#include "bench/npu_published.def"
};

static const struct {
	struct hn_npu_conv c;
	double halves, sums; /* cycles */
} convolutions[] = {
#define CONVOLUTION(channels, size, results, window, stride, pad, h, co, m, k, n, bypass, halves, sums) \
	{ { channels, size, size, results, window, stride, pad, h, co, m, k, n, bypass, HN_NPU_FLAGS }, \
	  halves, sums },
#include "bench/npu_published.def"
};

#define TICK 10 /* cycles at 1 GHz */

_Static_assert(HN_COUNT_OF(fused) + HN_COUNT_OF(transposed) + HN_COUNT_OF(convolutions) <=
	       HN_NPU_MOST_CASES, "room for all");

/* The family's text with numbers for R, C and K where they stand alone in brackets. */
static void text_of(size_t i, struct hn_buf *b)
{
	for (const char *s = fused[i].text; *s != '\0'; s++) {
		bool size = s > fused[i].text && strchr("[,", s[-1]) && strchr(",]", s[1]) && s[1] != '\0';
		int64_t v = *s == 'R' ? fused[i].r : *s == 'C' ? fused[i].c : fused[i].k;

		if (size && strchr("RCK", *s)) {
			hn_buf_printf(b, "%lld", (long long)v);
		} else {
			hn_buf_putc(b, *s);
		}
	}
}

static int fused_case(size_t i, const struct hn_npu_profile *m, struct hn_arena *a, struct hn_npu_case *ret,
		      struct hn_err *err)
{
	static const struct hn_npu_plan by_rule = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	struct hn_buf text;
	int rc;

	hn_buf_init(&text);
	text_of(i, &text);
	*ret = (struct hn_npu_case){ .class = HN_NPU_FUSED, .published = fused[i].ticks * TICK };
	snprintf(ret->name, sizeof(ret->name), "%s:%lldx%lldx%lld", fused[i].name, (long long)fused[i].r,
		 (long long)fused[i].c, (long long)fused[i].k);
	rc = hn_dag_from_text(fused[i].name, text.s, text.n, 0, a, &ret->dag, err);
	hn_buf_fini(&text);
	return rc ? rc : hn_npu_program(ret->dag, m, &by_rule, a, &ret->p, err);
}

static int transposed_case(size_t i, const struct hn_npu_profile *m, struct hn_arena *a,
			   struct hn_npu_case *ret, struct hn_err *err)
{
	*ret = (struct hn_npu_case){ .class = HN_NPU_FUSED, .published = transposed[i].ticks * TICK };
	snprintf(ret->name, sizeof(ret->name), "transposed:%lldx%lld", (long long)transposed[i].m1 * 16,
		 (long long)transposed[i].n1 * 16);
	return hn_bench_npu_transposed(transposed[i].m1, transposed[i].n1, m, a, &ret->p, err);
}

static int convolution_case(size_t i, const struct hn_npu_profile *m, struct hn_arena *a,
			    struct hn_npu_case *ret, struct hn_err *err)
{
	const struct hn_npu_conv *c = &convolutions[i].c;
	int rc;

	*ret = (struct hn_npu_case){ .class = HN_NPU_CONVOLUTION, .conv = c,
				     .published = convolutions[i].sums,
				     .halves = convolutions[i].halves };
	snprintf(ret->name, sizeof(ret->name), "convolution %lld:%lldx%lld:%lld %lldx%lld/%lld",
		 (long long)c->channels, (long long)c->height, (long long)c->width, (long long)c->results,
		 (long long)c->window, (long long)c->window, (long long)c->stride);
	rc = hn_npu_conv(c, m, a, &ret->p, err);
	return rc ? hn_err_within(err, "%s", ret->name) : 0;
}

int hn_npu_cases(const struct hn_npu_profile *m, struct hn_arena *a, struct hn_npu_case *ret,
		 size_t *ret_n, struct hn_err *err)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(fused) && rc == 0; i++) {
		rc = fused_case(i, m, a, &ret[n++], err);
	}
	for (size_t i = 0; i < HN_COUNT_OF(transposed) && rc == 0; i++) {
		rc = transposed_case(i, m, a, &ret[n++], err);
	}
	for (size_t i = 0; i < HN_COUNT_OF(convolutions) && rc == 0; i++) {
		rc = convolution_case(i, m, a, &ret[n++], err);
	}
	*ret_n = n;
	return rc;
}

int hn_npu_case_cycles(const struct hn_npu_case *c, const struct hn_npu_program *p,
		       const struct hn_npu_profile *m, double *ret, struct hn_err *err)
{
	const struct hn_npu_options o = { .most = (uint64_t)1 << 33 };
	struct hn_npu_result r;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_run(p, m, &o, &a, &r, err);
	hn_arena_fini(&a);
	*ret = (double)(c->class == HN_NPU_FUSED ? r.cycles : r.core_cycles) * 1e3 / (double)m->mhz;
	return rc;
}
