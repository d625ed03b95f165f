/* The heuristic schedules of every program, the automatic one first: replayed from their
 * records, proved legal, by the quick check too, and, where the case is small enough, run and
 * compared with the naive program. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/nest/quick.h"
#include "search/auto.h"
#include "sketch/together.h"
#include "tests/lib/each_case.h"

#define MAX_FLOPS 1e9
#define TOLERANCE 5e-5

struct total {
	uint32_t n_case, n, n_together, wrong, illegal, ran, by_quick;
	struct hn_quick *quick;
};

/* As the store would hand it back. */
static const struct hn_state *again(const struct hn_dag *dag, const struct hn_trace *t,
				    struct hn_arena *a)
{
	struct hn_buf text;
	struct hn_err err;
	const struct hn_trace *trace;
	const struct hn_state *ret;

	hn_buf_init(&text);
	hn_trace_write(t, &text);
	if (getenv("RUN_VERBOSE")) {
		print_message("  %s\n", text.s);
	}
	assert_int_equal(hn_trace_parse("guard", text.s, text.n, a, &trace, &err), 0);
	assert_int_equal(hn_state_replay(dag, trace, a, &ret, &err), 0);
	hn_buf_fini(&text);
	return ret;
}

static void prove(const char *name, uint32_t i, const struct hn_state *s,
		  struct total *total, struct hn_arena *a)
{
	const struct hn_looptree *tree;
	struct hn_err err = { 0 };

	assert_int_equal(hn_looptree_build(s, a, &tree, &err), 0);
	enum hn_verdict v = hn_legal_check(tree, 0, &err);

	total->by_quick += hn_quick_legal(total->quick, tree, NULL);

	if (v != HN_VERDICT_OK) {
		print_message("%s heuristic %u: %s: %s\n", name, i, hn_verdict_name(v),
			      err.msg);
		total->illegal++;
	}
}

static void run(struct hn_emitter *em, const char *name, uint32_t i,
		const struct hn_dag *dag, const struct hn_state *s,
		const struct run_args *want, struct total *total, struct hn_arena *a)
{
	struct run_kernel k = { 0 };
	struct run_args got;
	struct hn_err err = { 0 };
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	if (run_build(em, dag, s->trace, false, a, &k, &err)) {
		print_message("%s heuristic %u: %s\n", name, i, err.msg);
		total->wrong++;
		return;
	}
	run_args_make(dag, 7, &got);
	int rc = k.fn(got.at, &env);
	double d = run_difference(want, &got);

	if (rc || d > TOLERANCE || !run_redzones_hold(&got)) {
		print_message("%s heuristic %u: rc %d, differs by %g\n", name, i, rc, d);
		total->wrong++;
	}
	total->ran++;
	run_args_free(&got);
	run_unload(&k);
}

/* Ops that share loops, whether the model prefers that or not. */
static void check_together(const char *name, const struct hn_dag *dag,
			   const struct hn_target *host, struct total *total,
			   struct hn_arena *a)
{
	const struct hn_state *s = hn_together(dag, host, a);

	if (s) {
		prove(name, HN_AUTO_MAX, again(dag, s->trace, a), total, a);
		total->n++;
		total->n_together++;
	}
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	const struct hn_trace *heuristic[HN_AUTO_MAX];
	struct run_args want;
	const struct hn_dag *dag = e->dag;
	const char *name = e->name;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	uint32_t n = hn_auto(dag, host, &a, heuristic);
	bool small = hn_dag_flops(dag) <= MAX_FLOPS;

	if (getenv("RUN_VERBOSE")) {
		print_message("%s: %u heuristics\n", name, n);
	}
	if (small) {
		each_reference(em, name, dag, &a, &want);
	}
	assert_in_range(n, 1, HN_AUTO_MAX);
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_state *s = again(dag, heuristic[i], &a);

		prove(name, i, s, total, &a);
		if (small) {
			run(em, name, i, dag, s, &want, total, &a);
		}
	}
	total->n += n;
	check_together(name, dag, host, total, &a);
	total->n_case++;
	if (small) {
		run_args_free(&want);
	}
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total total = { .quick = hn_quick_new() };

	(void)state;
	each_case(check_case, &total);
	hn_quick_free(total.quick);
	print_message("%u cases, %u heuristics, %u by the quick check, %u illegal, %u run, %u "
		      "wrong\n",
		      total.n_case, total.n, total.by_quick, total.illegal, total.ran,
		      total.wrong);
	print_message("%u with ops together\n", total.n_together);
	assert_true(total.n_together > 0);
	assert_true(50 * (total.n - total.by_quick) <= total.n);
	assert_int_equal(total.illegal, 0);
	assert_int_equal(total.wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("lower heuristics", tests, NULL, NULL);
}
