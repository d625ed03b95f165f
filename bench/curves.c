/* bench/curves.c -- see curves.h.  `hone-bench curves >tests/data/curves.jsonl` makes the stored
 * ones anew: with a commit that means to change the search, and says what changed. */
#include "bench/curves.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/machine.h"
#include "loopstate/read/dag_read.h"
#include "search/policy.h"
#include "search/threads.h"

#define BATCH 64
#define MACHINE_SEED 7

/* Every number of it is given, so that nothing is the host's. */
#define TARGET                                                                           \
	"cpu -isa=x86-64-avx2 -num_cores=8 -vector_unit_bytes=32 -cache_line_bytes=64 "   \
	"-vector_registers=16 -fma_per_cycle=2 -fma_latency=4 -l1_bytes=32768 "           \
	"-l2_bytes=262144 -l3_bytes=8388608"

const uint32_t hn_curve_trials[HN_CURVE_POINTS] = { 64, 200, 1000 };

static const struct {
	const char *name, *text;
} workloads[] = {
	{ "matmul", "f(float32 A[512,512], const float32 B[512,512]) -> C {"
		    " C(i,j) +=! A(i,k) * B(k,j) }" },
	{ "conv-bn-relu",
	  "f(float32 X[1,28,28,64], const W[3,3,64,128], s[128], b[128]) -> Y {"
	  " P(n,h,w,c) = h >= 1 && h < 29 && w >= 1 && w < 29 ? X(n,h-1,w-1,c) : 0"
	  " where h in 0:30, w in 0:30"
	  " C(n,h,w,f) +=! P(n,h+r,w+q,c) * W(r,q,c,f)"
	  " Y(n,h,w,f) = max(C(n,h,w,f) * s(f) + b(f), 0) }" },
	{ "depthwise", "f(float32 X[1,58,58,96], const W[3,3,96]) -> C {"
		       " C(n,h,w,c) +=! X(n,h+r,w+q,c) * W(r,q,c) }" },
	{ "softmax", "f(float32 A[128,1000]) -> S {"
		     " m(i) max=! A(i,k)"
		     " e(i,j) = exp(A(i,j) - m(i))"
		     " t(i) +=! e(i,k)"
		     " S(i,j) = e(i,j) / t(i) }" },
	{ "dilated", "f(float32 X[1,32,32,64], const W[3,3,64,64]) -> C {"
		     " C(n,h,w,f) +=! X(n,h+2*r,w+2*q,c) * W(r,q,c,f) }" },
	{ "odd", "f(float32 A[251,127], const float32 B[127,509]) -> C {"
		 " C(i,j) +=! A(i,k) * B(k,j) }" },
};

static const char *const policies[] = { "evolve", "random" };

struct runs {
	uint32_t n;
	struct hn_curve *curve;
	const struct hn_dag *dag[HN_COUNT_OF(workloads)];
	struct hn_target target;
	atomic_uint next;
};

static double measure(const struct runs *r, const struct hn_dag *dag, const struct hn_trace *t,
		      uint64_t visit)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	if (hn_state_replay(dag, t, &a, &s, &err) < 0 ||
	    hn_looptree_build(s, &a, &tree, &err) < 0) {
		hn_bug(__FILE__, __LINE__, "a candidate is no program");
	}
	double ns = hn_machine_ns(tree, &r->target, MACHINE_SEED, visit, &a);

	hn_arena_fini(&a);
	return ns;
}

/* The best so far goes to the points that trial n (from 1) has not passed. */
static void note(struct hn_curve *c, uint32_t n, double ns)
{
	for (uint32_t p = 0; p < HN_CURVE_POINTS; p++) {
		if (n <= hn_curve_trials[p]) {
			c->best_ns[p] = fmin(c->best_ns[p], ns);
		}
	}
}

static void run(const struct runs *r, const struct hn_dag *dag, struct hn_curve *c)
{
	const struct hn_policy_ops *ops = hn_policy_ops(c->policy);
	struct hn_task task = { .dag = dag, .target = &r->target, .seed = c->seed };
	struct hn_candidate candidate[BATCH];
	struct hn_told told[BATCH];
	struct hn_arena a;
	struct hn_policy *p;
	struct hn_err err;
	uint32_t n = 0, got;

	if (ops->create(&task, &p, &err) != 0) {
		hn_bug(__FILE__, __LINE__, err.msg);
	}
	hn_arena_init(&a, 0);
	do {
		uint32_t want = hn_curve_trials[HN_CURVE_POINTS - 1] - n;

		hn_arena_reset(&a);
		got = ops->ask(p, want < BATCH ? want : BATCH, &a, candidate);
		for (uint32_t i = 0; i < got; i++) {
			double ns = measure(r, dag, candidate[i].trace, ++n);

			note(c, n, ns);
			told[i] = (struct hn_told){ candidate[i].trace, HN_VERDICT_OK, ns };
		}
		ops->tell(p, told, got);
	} while (got > 0 && n < hn_curve_trials[HN_CURVE_POINTS - 1]);
	ops->destroy(p);
	hn_arena_fini(&a);
}

static void work(void *ctx, uint32_t who)
{
	struct runs *r = ctx;
	uint32_t i, of_one = HN_COUNT_OF(policies) * HN_CURVE_SEEDS;

	(void)who;
	while ((i = atomic_fetch_add(&r->next, 1)) < r->n) {
		run(r, r->dag[i / of_one], &r->curve[i]);
	}
}

static void prepare(struct runs *r, struct hn_arena *a)
{
	uint32_t of_one = HN_COUNT_OF(policies) * HN_CURVE_SEEDS;
	struct hn_err err = { 0 };

	r->n = HN_COUNT_OF(workloads) * of_one;
	r->curve = calloc(r->n, sizeof(*r->curve));
	hn_assert(r->curve);
	for (uint32_t w = 0; w < HN_COUNT_OF(workloads); w++) {
		const char *text = workloads[w].text;

		if (hn_dag_from_text(workloads[w].name, text, strlen(text), 0, a, &r->dag[w],
				     &err) != 0) {
			hn_bug(__FILE__, __LINE__, err.msg);
		}
	}
	if (hn_target_parse(TARGET, a, &r->target, &err) != 0) {
		hn_bug(__FILE__, __LINE__, err.msg);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		r->curve[i] = (struct hn_curve){
			.workload = workloads[i / of_one].name,
			.policy = policies[i % of_one / HN_CURVE_SEEDS],
			.seed = 1 + i % HN_CURVE_SEEDS,
			.best_ns = { INFINITY, INFINITY, INFINITY },
		};
	}
}

struct hn_curve *hn_curves_run(uint32_t n_thread, uint32_t *ret_n)
{
	struct runs r = { .n = 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	prepare(&r, &a);
	hn_threads_run(n_thread, work, &r);
	hn_arena_fini(&a);
	*ret_n = r.n;
	return r.curve;
}

int hn_bench_curves(const struct hn_bench_args *args);

int hn_bench_curves(const struct hn_bench_args *args)
{
	uint32_t n;
	struct hn_curve *c = hn_curves_run(/* n_thread= */ 2, &n);
	char context[300];

	(void)args;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(context, sizeof(context),
			 "\"workload\": \"%s\", \"policy\": \"%s\", \"seed\": %llu, "
			 "\"best\": [%.1f, %.1f, %.1f]",
			 c[i].workload, c[i].policy, (unsigned long long)c[i].seed,
			 c[i].best_ns[0], c[i].best_ns[1], c[i].best_ns[2]);
		hn_bench_row("curve", c[i].best_ns[HN_CURVE_POINTS - 1], "ns", context);
	}
	free(c);
	return 0;
}
