/* Bitwise tasks: random schedules of every program that the quick check lets through, and
 * the heuristics that the exact one does, give the naive program's outputs to the last bit, in
 * parallel too. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/mark.h"
#include "loopstate/nest/quick.h"
#include "sketch/heuristic.h"
#include "sketch/sketch.h"
#include "tests/lib/each_case.h"
#include "tests/lib/cropped.h"

#define MAX_FLOPS 3e8 /* larger cases are cut down */
#define N_DRAWS 400
#define N_SCHEDULES 3

struct total {
	uint32_t n_case, n_cropped, n_bare, n, n_heuristic, n_other, n_drawn, n_refused;
	struct hn_quick *quick;
};

static bool same_bits(const struct hn_dag *dag, const struct run_args *x,
		      const struct run_args *y)
{
	for (uint32_t k = dag->n_input; k < dag->n_arg; k++) {
		uint32_t out = hn_dag_arg_out(dag, k);
		size_t n = (size_t)hn_op_bytes(dag->op[dag->arg[k]], out);

		if (memcmp(x->at[k], y->at[k], n) != 0) {
			return false;
		}
	}
	return true;
}

static void run(struct hn_emitter *em, const char *name, const struct hn_dag *dag,
		const struct hn_state *s, const struct run_args *want, struct total *total)
{
	static const struct hn_trace none;
	struct run_kernel k = { 0 };
	struct run_args got;
	struct hn_err err = { 0 };
	struct hn_arena a;
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	hn_arena_init(&a, 0);
	if (run_build(em, dag, s->trace ? s->trace : &none, false, &a, &k, &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
	run_args_make(dag, 7, &got);
	assert_int_equal(k.fn(got.at, &env), 0);
	if (!same_bits(dag, want, &got)) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_trace_write(s->trace ? s->trace : &none, &text);
		print_error("%s: other bits: %s\n", name, text.s);
		hn_buf_fini(&text);
		total->n_other++;
	}
	total->n++;
	run_args_free(&got);
	run_unload(&k);
	hn_arena_fini(&a);
}

static void run_draws(struct hn_emitter *em, const struct hn_target *host,
		      const char *name, const struct hn_dag *dag,
		      const struct run_args *want, struct total *total)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a, scratch;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	hn_arena_init(&scratch, 0);
	assert_int_equal(hn_sketch_generate_own(dag, host, &a, &sketches, &err), 0);
	for (uint64_t i = 0; i < N_DRAWS && n < N_SCHEDULES; i++) {
		struct hn_rng rng = hn_rng_stream(3, i, 0, 0);
		const struct hn_looptree *t;
		const struct hn_state *s;

		hn_arena_reset(&scratch);
		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], host, &rng, &scratch,
				   &s) != HN_VERDICT_OK ||
		    hn_looptree_build(s, &scratch, &t, &err) != 0) {
			continue;
		}
		total->n_drawn++;
		if (!hn_quick_legal(total->quick, t, NULL)) {
			total->n_refused++;
			continue;
		}
		assert_int_equal(hn_legal_check(t, 0, &err), HN_VERDICT_OK);
		run(em, name, dag, s, want, total);
		n++;
	}
	total->n_bare += n == 0;
	if (n == 0) {
		print_message("%s: no draw keeps the order of its sums\n", name);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&a);
}

static void run_heuristics(struct hn_emitter *em, const struct hn_target *host,
		       const char *name, const struct hn_dag *dag,
		       const struct run_args *want, struct total *total)
{
	const struct hn_state *heuristic[HN_HEURISTIC_MAX];
	struct hn_arena a;

	hn_arena_init(&a, 0);
	uint32_t n = hn_heuristics(dag, host, &a, heuristic);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_looptree *t;
		struct hn_err err = { 0 };

		if (hn_looptree_build(heuristic[i], &a, &t, &err) == 0 &&
		    hn_legal_check(t, 0, &err) == HN_VERDICT_OK) {
			run(em, name, dag, heuristic[i], want, total);
			total->n_heuristic++;
		}
	}
	hn_arena_fini(&a);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	struct run_kernel naive;
	struct run_args want;
	const struct hn_dag *dag = e->dag;
	const char *name = e->name;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_flops(dag) > MAX_FLOPS) {
		dag = crop_dag(dag, 24, 24, &a);
		assert_int_equal(hn_dag_check(name, dag, 0, &err), 0);
		total->n_cropped++;
	}
	dag = hn_dag_mark(dag, HN_MARK_BITWISE, &a);
	run_args_make(dag, 7, &want);
	if (run_build(em, dag, NULL, true, &a, &naive, &err)) {
		fail_msg("%s: naive program: %s", name, err.msg);
	}
	assert_int_equal(naive.fn(want.at, NULL), 0);
	run_unload(&naive);
	run_draws(em, host, name, dag, &want, total);
	run_heuristics(em, host, name, dag, &want, total);
	total->n_case++;
	run_args_free(&want);
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total t = { .quick = hn_quick_new() };

	(void)state;
	each_case(check_case, &t);
	print_message("%u cases (%u cut down), %u kernels, %u of them heuristics, %u with other "
		      "bits; %u of %u draws refused, %u cases without one\n",
		      t.n_case, t.n_cropped, t.n, t.n_heuristic, t.n_other, t.n_refused,
		      t.n_drawn, t.n_bare);
	hn_quick_free(t.quick);
	assert_int_equal(t.n_other, 0);
	assert_true(t.n >= t.n_case);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("bitwise", tests, NULL, NULL);
}
