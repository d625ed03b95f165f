/* bench/npu_sizes.c -- programs of the simulated NPU for a range of sizes, beside the program that is made
 * for each very size: by the same rule, and the best of those that hn_npu_tuned tries.
 *
 * A row is how many times as long a launch takes.  `apart` is the same program with a barrier of all
 * pipes behind each turn in the place of flags that are carried.  Cores' cycles are without the launch,
 * which is the same for all.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/npu.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_read.h"
#include "target/npu/npu_launch.h"
#include "target/npu/npu_run.h"

static const char *const texts[] = {
	"add(M in [1, 1000000], float32 X[M], float32 Z[M]) -> Y { Y(i) = X(i) + Z(i) }",
	"gelu(M in [1, 4096], float16 X[M,1024]) -> Y { "
	"Y(i,j) = float16(0.5 * float32(X(i,j)) * (1.0 + tanh(0.7978845 * float32(X(i,j))))) }",
	"bias(M in [1, 4096], float16 X[M,768], float16 B[768]) -> Y { Y(i,j) = max(X(i,j) + B(j), float16(0.0)) }",
	"softmax(M in [1, 4096], float32 X[M,128]) -> Y { T(i) max=! X(i,j) E(i,j) = exp(X(i,j) - T(i)) "
	"S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }",
	"norm(M in [1, 4096], float32 X[M,1024], float32 G[1024], float32 B[1024]) -> Y { S(i) +=! X(i,j) "
	"M1(i) = S(i) / 1024.0 D(i,j) = X(i,j) - M1(i) V(i) +=! D(i,j) * D(i,j) "
	"Y(i,j) = D(i,j) * rsqrt(V(i) / 1024.0 + 0.00001) * G(j) + B(j) }",
	"total(M in [1, 100000], float32 X[M,40]) -> S { S(i) +=! X(i,j) }",
	"masked(B in [1, 16], M in [1, 512], float32 X[B,12,M,64], float32 K[B,1,M,64]) -> Y { "
	"Y(b,h,i,j) = X(b,h,i,j) * K(b,0,i,j) }",
	"softmax_L(M in [1, 512], L in [1, 4096], float32 X[M,L]) -> Y { T(i) max=! X(i,j) E(i,j) = exp(X(i,j) - T(i)) "
	"S(i) +=! E(i,j) Y(i,j) = E(i,j) / S(i) }",
	"norm_L(M in [1, 512], L in [1, 4096], float32 X[M,L], float32 G[L], float32 B[L]) -> Y { S(i) +=! X(i,j) "
	"D(i,j) = X(i,j) - S(i) / float32(L) V(i) +=! D(i,j) * D(i,j) "
	"Y(i,j) = D(i,j) * rsqrt(V(i) / float32(L) + 0.00001) * G(j) + B(j) }",
	"scores(L in [1, 2048], float16 X[12,128,L], float16 K[128,L]) -> Y { Z(h,i,j) = float32(X(h,i,j)) * 0.125 + "
	"float32(K(i,j)) T(h,i) max=! Z(h,i,j) E(h,i,j) = exp(Z(h,i,j) - T(h,i)) S(h,i) +=! E(h,i,j) "
	"Y(h,i,j) = float16(E(h,i,j) / S(h,i)) }",
	"total_L(M in [1, 512], L in [1, 4096], float32 X[M,L]) -> S { S(i) +=! X(i,j) }",
	"columns(L in [1, 500], float32 X[L,768]) -> S { S(j) +=! X(i,j) }",
	"image(B in [1, 64], float16 X[B,64,56,56], float32 S[64], float32 O[64]) -> Y { "
	"Y(b,c,h,w) = float16(max(float32(X(b,c,h,w)) * S(c) + O(c), 0.0)) }",
	"pool(B in [1, 64], float16 X[B,64,56,56]) -> Y { Y(b,c) +=! float32(X(b,c,h,w)) }",
	"product(M in [1, 4096], float16 A[M,512], float16 B[512,512]) -> D { "
	"C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) D(i,j) = float16(C(i,j)) }",
};

/* What is around powers of two and tens, of each size. */
static const int64_t sizes[] = { 1,   2,   7,    8,	  9,    16,    31,    33,    100,   127,   128,
				 129, 500, 1000, 1024, 1025, 2000, 4096, 10000, 33333, 65536, 100000, 1000000 };

enum beside { BY_RULE, TUNED, APART, N_BESIDE };

static const char *const beside_name[N_BESIDE] = { "by rule", "tuned", "apart" };

struct tally {
	double log[N_BESIDE], core_log[N_BESIDE], worst[N_BESIDE];
	uint32_t n;
};

struct kernels {
	const struct hn_npu_program *p[HN_NPU_SIZED_KERNELS];
	uint32_t n;
};

static int launch(const struct kernels *k, const struct hn_npu_profile *m, const int64_t *value, struct hn_arena *a,
		  struct hn_npu_result *ret, struct hn_err *err)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	int rc = hn_npu_launch_first(k->p, k->n, value, a, &p, err);

	return rc ? rc : hn_npu_run(p, m, &o, a, ret, err);
}

static int at(const struct hn_dag *dag, const char *name, const struct hn_npu_profile *m, const struct kernels *k,
	      const struct kernels *apart, const int64_t *value, struct tally *t, struct hn_err *err)
{
	const struct hn_npu_plan by_rule = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	const struct hn_npu_options o = { 0 };
	struct hn_npu_result own, r[N_BESIDE];
	const struct hn_npu_program *p;
	const struct hn_dag *numbers;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = launch(k, m, value, &a, &own, err);
	rc = rc ? rc : launch(apart, m, value, &a, &r[APART], err);
	rc = rc ? rc : hn_dag_instantiate(dag, value, &a, &numbers, err);
	rc = rc ? rc : hn_npu_program(numbers, m, &by_rule, &a, &p, err);
	rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r[BY_RULE], err);
	rc = rc ? rc : hn_npu_tuned(numbers, m, &a, &p, err);
	rc = rc ? rc : hn_npu_run(p, m, &o, &a, &r[TUNED], err);
	for (int i = 0; i < N_BESIDE && rc == 0; i++) {
		double times = (double)own.cycles / (double)r[i].cycles;
		char context[300];

		snprintf(context, sizeof(context), "\"case\": \"%.40s\", \"size\": %lld, \"other\": %lld, "
			 "\"beside\": \"%s\", \"cycles\": %lld", name, (long long)value[dag->sizes->n - 1],
			 (long long)(dag->sizes->n > 1 ? value[0] : 0), beside_name[i], (long long)own.cycles);
		hn_bench_row("npu", times, "times as long for a range of sizes", context);
		t->log[i] += log(times);
		t->core_log[i] += log((double)own.core_cycles / (double)r[i].core_cycles);
		t->worst[i] = times > t->worst[i] ? times : t->worst[i];
	}
	t->n += rc == 0;
	hn_arena_fini(&a);
	return rc;
}

static void put(const char *name, const struct tally *t)
{
	for (int i = 0; i < N_BESIDE && t->n > 0; i++) {
		char context[200];

		snprintf(context, sizeof(context), "\"case\": \"%.40s\", \"beside\": \"%s\", \"sizes\": %u, "
			 "\"worst\": %.3f, \"cores_alone\": %.3f", name, beside_name[i], t->n, t->worst[i],
			 exp(t->core_log[i] / t->n));
		hn_bench_row("npu", exp(t->log[i] / t->n), "times as long, geometric mean", context);
	}
}

static void add(struct tally *to, const struct tally *t)
{
	for (int i = 0; i < N_BESIDE; i++) {
		to->log[i] += t->log[i];
		to->core_log[i] += t->core_log[i];
		to->worst[i] = t->worst[i] > to->worst[i] ? t->worst[i] : to->worst[i];
	}
	to->n += t->n;
}

static int one(const char *text, const struct hn_npu_profile *m, struct tally *all, struct hn_err *err)
{
	struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	struct kernels k, apart;
	struct tally t = { .n = 0 };
	const struct hn_dag *dag;
	struct hn_arena a;
	char name[20];
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "("), text);
	hn_arena_init(&a, 0);
	rc = hn_dag_from_text(name, text, strlen(text), 0, &a, &dag, err);
	rc = rc ? rc : hn_npu_sized(dag, m, &plan, &a, k.p, &k.n, err);
	plan.apart = true;
	rc = rc ? rc : hn_npu_sized(dag, m, &plan, &a, apart.p, &apart.n, err);
	for (size_t i = 0; i < HN_COUNT_OF(sizes) && rc == 0; i++) {
		const struct hn_size *last = &dag->sizes->size[dag->sizes->n - 1];
		int64_t value[2] = { 0, 0 };

		if (sizes[i] <= last->hi) {
			value[dag->sizes->n - 1] = sizes[i];
			value[0] = dag->sizes->n > 1 ? 1 + sizes[i] % dag->sizes->size[0].hi : value[0];
			rc = at(dag, name, m, &k, &apart, value, &t, err);
		}
	}
	if (rc == 0) {
		put(name, &t);
		add(all, &t);
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_bench_npu_sizes(const struct hn_npu_profile *m, struct hn_err *err)
{
	struct tally all = { .n = 0 };
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(texts) && rc == 0; i++) {
		rc = one(texts[i], m, &all, err);
	}
	put("all", &all);
	return rc;
}
