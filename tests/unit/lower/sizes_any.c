/* Random histories of programs whose sizes are parameters: what the exact check calls legal is
 * built once and called with many sizes, on arguments that end where their pages do, and gives
 * the interpreter's answer.  Loops are split before and after they are fused, so that guards
 * are linear in some and not in others. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/size.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/lower_run.h"

#define TOLERANCE 5e-5
#define N_SIZES 9

static uint64_t n_histories = 8; /* of each program; or argv[1] */

static const char *const programs[] = {
	"f(W in [1,40], int32 X[13,W]) -> Y { Y(f,x) = X(f,x) * 2 }",
	"f(N in [1,40], float32 A[N]) -> M { M +=! A(i) }",
	"f(N in [1,16], int8 A[N,16], int8 B[16,16]) -> C { C(i,j) max=! A(i,k) * B(k,j) }",
	"f(N in [1,33], M in [1,21], float32 A[N,M]) -> (R, C) { R(i) +=! A(i,k)"
	" C(j) max=! A(i,j) }",
	"f(N in [1,19], K in [1,37], float32 A[N,K], float32 B[K,12]) -> C {"
	" C(i,j) +=! A(i,k) * B(k,j) }",
	"f(H in [1,11], W in [1,17], float32 X[H,W]) -> Y {"
	" P(h,w) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? X(h-1,w-1) : 0"
	" where h in 0:H + 2, w in 0:W + 2 Y(h,w) +=! P(h+r,w+s) where r in 0:3, s in 0:3 }",
	"f(N in [1,23], int32 A[N], int32 B[N]) -> (D, S) { C(i) = A(i) * 3 + B(N-1-i)"
	" D(i) = C(i) - 1 S +=! C(i) }",
};

typedef int32_t (*sized_fn)(const int64_t *sizes, void *const *args,
			    const struct hone_env *env);

static void fuse_some(struct draw *d)
{
	int32_t stage = (int32_t)d->s->n_stage - 1;
	uint32_t n_iter = d->s->stage[stage]->n_iter;
	const struct hn_state *next;

	if (d->s->stage[stage]->at == HN_AT_ROOT && n_iter >= 2) {
		int32_t first = (int32_t)draw(d, n_iter - 1);
		uint32_t n = 2 + (uint32_t)draw(d, n_iter - (uint32_t)first - 1);

		keep(d, hn_fuse(d->s, stage, first, n, d->a, &next, NULL), &next);
	}
	if (draw(d, 2)) {
		split_all(d, stage);
	}
}

static const struct hn_state *any_history(const struct hn_dag *dag, uint64_t seed,
					  struct hn_arena *a)
{
	struct draw d = { random_history(dag, seed, a), hn_rng_stream(seed, 5, 6, 7), a };

	if (draw(&d, 3) == 0) {
		d.s = hn_state_init(dag, a);
	}
	fuse_some(&d);
	if (draw(&d, 2)) {
		annotate_loops(&d, (int32_t)d.s->n_stage - 1);
	}
	return d.s;
}

/* Ends first, then any. */
static void draw_sizes(const struct hn_sizes *sizes, uint32_t i, int64_t *ret)
{
	struct hn_rng r = hn_rng_stream(17, i, 0, 0);

	for (uint32_t k = 0; k < sizes->n; k++) {
		const struct hn_size *s = &sizes->size[k];
		int64_t any = s->lo + (int64_t)hn_rng_below(&r, (uint64_t)(s->hi - s->lo + 1));

		ret[k] = i == 0 ? s->lo : i == 1 ? s->hi : i == 2 ? s->lo + 1 : any;
	}
}

static void check_one(const char *text, const struct hn_dag *dag, const struct hn_state *s,
		      const struct run_kernel *k, const int64_t *value)
{
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };
	const struct hn_dag *numbers;
	struct run_args want, got;
	struct hn_arena a;
	struct hn_buf b;

	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_int_equal(hn_dag_instantiate(dag, value, &a, &numbers, NULL), 0);
	run_args_make(numbers, 7, &want);
	assert_int_equal(hn_interpret(numbers, want.at, NULL), 0);
	run_args_make(numbers, 7, &got);

	int32_t rc = ((sized_fn)(void *)k->fn)(value, got.at, &env);
	double d = run_difference(&want, &got);

	if (rc || d > TOLERANCE || !run_redzones_hold(&got)) {
		hn_trace_write(s->trace, &b);
		fail_msg("%s\n%s\nsizes %lld %lld: rc %d, differs by %g%s", text, b.s,
			 (long long)value[0], (long long)value[dag->sizes->n - 1], rc, d,
			 run_redzones_hold(&got) ? "" : ", wrote out of bounds");
	}
	run_args_free(&got);
	run_args_free(&want);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* Whether the history was legal, and so was run. */
static bool run_history(struct hn_emitter *em, const char *text, const struct hn_dag *dag,
			uint64_t seed, struct hn_arena *a)
{
	const struct hn_state *s = any_history(dag, seed, a);
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct run_kernel k;

	if (hn_looptree_build(s, a, &t, &err) || hn_legal_check(t, 0, &err) != HN_VERDICT_OK) {
		return false;
	}
	if (run_build(em, dag, s->trace, false, a, &k, &err)) {
		fail_msg("%s, history %llu: %s", text, (unsigned long long)seed, err.msg);
	}
	for (uint32_t i = 0; i < N_SIZES; i++) {
		int64_t value[HN_DAG_MAX_SIZES] = { 0 };

		draw_sizes(dag->sizes, i, value);
		check_one(text, dag, s, &k, value);
	}
	run_unload(&k);
	return true;
}

static void any_sizes(void **state)
{
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (size_t p = 0; p < HN_COUNT_OF(programs); p++) {
		uint64_t n_run = 0;

		for (uint64_t i = 1; i <= n_histories; i++) {
			const struct hn_dag *dag;
			struct hn_arena b;

			hn_arena_init(&b, 0);
			if (hn_dag_parse_sized("p", programs[p], strlen(programs[p]), 0, &b, &dag,
					       &err)) {
				fail_msg("%s", err.msg);
			}
			n_run += run_history(em, programs[p], dag, i, &b);
			hn_arena_fini(&b);
		}
		if (n_run * 3 < n_histories) {
			fail_msg("%s: %d of %d histories legal", programs[p], (int)n_run,
				 (int)n_histories);
		}
	}
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_sizes) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	n_histories = argc > 1 ? (uint64_t)atoll(argv[1]) : n_histories;
	return cmocka_run_group_tests_name("lower sizes, any history", tests, NULL, NULL);
}
