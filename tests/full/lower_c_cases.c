/* Recorded states of the shared cases as C source (argv[1] of each case, taken evenly), and of the
 * project's own programs the automatic schedules: compiled by the compiler of this build, run on
 * random inputs, compared with the naive program. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/dag/tolerance.h"
#include "search/answer.h"
#include "tests/lib/each_case.h"
#include "tests/lib/lower_c.h"
#include "tests/lib/recorded.h"

#define MAX_FLOPS 3e8

static uint32_t n_of_case = 3; /* records of one case */

struct total {
	uint32_t n, n_recorded, wrong, big;
};

static void check_state(struct hn_emitter *em, const struct each *e, uint32_t i,
			const struct hn_state *s, const struct run_args *want, struct hn_arena *a,
			struct total *total)
{
	struct hn_emit_options o = { .symbol = "k" };
	struct hn_artefact made;
	const struct hn_looptree *t;
	struct run_args got;
	struct c_kernel k;
	struct hn_err err = { 0 };
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	if (hn_looptree_build(s, a, &t, &err) || hn_emit(em, t, &o, a, &made, &err)) {
		fail_msg("%s state %u: %s", e->name, i, err.msg);
	}
	c_build(t, &made, i % 2 ? "-O3 -march=native" : "-O1", &k);
	run_args_make(e->dag, 7, &got);
	assert_int_equal(k.fn(got.at, i % 2 ? &env : NULL), 0);
	double d = run_difference(want, &got);

	/* sums in the order of the loops, one accumulator each */
	if (d > hn_dag_tolerance(e->dag) || !run_redzones_hold(&got)) {
		print_message("%s state %u: differs by %g, bounds %s\n", e->name, i, d,
			      run_redzones_hold(&got) ? "kept" : "broken");
		total->wrong++;
	}
	total->n++;
	run_args_free(&got);
	c_unload(&k);
}

static void check_recorded(struct hn_emitter *em, const struct each *e,
			   const struct run_args *want, struct total *total)
{
	struct recorded r;
	uint32_t n = recorded_open(e->folder, &r);

	for (uint32_t i = 0; i < n && i < n_of_case; i++) {
		uint32_t at = i * (n - 1) / (n_of_case > 1 ? n_of_case - 1 : 1);
		const struct hn_trace *trace;
		const struct hn_state *s;
		struct hn_err err = { 0 };
		struct hn_buf steps;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		hn_buf_init(&steps);
		recorded_steps(&r, at, &steps);
		if (hn_trace_parse(e->name, steps.s, steps.n, &a, &trace, &err) ||
		    hn_state_replay(e->dag, trace, &a, &s, &err)) {
			fail_msg("%s state %u: %s", e->name, at, err.msg);
		}
		check_state(em, e, at, s, want, &a, total);
		total->n_recorded++;
		hn_buf_fini(&steps);
		hn_arena_fini(&a);
	}
	recorded_close(&r);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	struct run_args want;
	struct hn_answers answers;
	struct hn_arena a;

	if (hn_dag_flops(e->dag) > MAX_FLOPS) {
		total->big++;
		return;
	}
	hn_arena_init(&a, 0);
	each_reference(em, e->name, e->dag, &a, &want);
	if (e->folder) {
		check_recorded(em, e, &want, total);
	} else {
		hn_answers_find(e->dag, host, &a, &answers);
		for (uint32_t i = 0; i < answers.n && i < 1; i++) {
			const struct hn_state *s;
			struct hn_err err = { 0 };

			assert_int_equal(hn_state_replay(e->dag, answers.at[i].trace, &a, &s, &err), 0);
			check_state(em, e, i, s, &want, &a, total);
		}
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total total = { 0 };

	(void)state;
	each_case(check_case, &total);
	print_message("%u programs as C, %u of them recorded; %u wrong, %u cases too big\n", total.n,
		      total.n_recorded, total.wrong, total.big);
	assert_true(total.n > 0);
	assert_true(!cases_are_here() || getenv("RUN_ONLY") || total.n_recorded >= 100);
	assert_int_equal(total.wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	n_of_case = argc > 1 ? (uint32_t)atoi(argv[1]) : n_of_case;
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("lower C cases", tests, NULL, NULL);
}
