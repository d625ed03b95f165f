/* Every recorded state of a shared case, and sketches of the project's own programs filled at
 * random, under a bound on their work: lowered, run on random inputs, compared with the naive
 * program.  argv[1], in GFLOP: the programs above that bound and up to this one instead. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sketch/sketch.h"
#include "tests/lib/each_case.h"
#include "tests/lib/recorded.h"

#define MAX_FLOPS 3e9 /* what a minute is enough for */
#define N_DRAWS 8 /* of a program that has no recorded states */
#define TOLERANCE 5e-5

static double least_flops = 0, most_flops = MAX_FLOPS;

struct total {
	uint32_t n, n_drawn, wrong, refused, big;
	int64_t worst_ns;
};

static void check_state(struct hn_emitter *em, const char *name, uint32_t i,
			const struct hn_dag *dag, const char *steps,
			const struct run_args *want, struct total *total)
{
	struct run_kernel k = { 0 };
	struct run_args got;
	struct hn_arena a;
	struct hn_err err = { 0 };
	const struct hn_trace *trace;
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	hn_arena_init(&a, 0);
	int rc = hn_trace_parse(name, steps, strlen(steps), &a, &trace, &err);

	rc = rc ? rc : run_build(em, dag, trace, false, &a, &k, &err);
	total->n++;
	if (rc) {
		print_message("%s state %u: %s\n", name, i, err.msg);
		total->refused++;
	} else {
		run_args_make(dag, 7, &got);
		rc = k.fn(got.at, i % 2 ? &env : NULL);
		double d = run_difference(want, &got);

		if (rc || d > TOLERANCE || !run_redzones_hold(&got)) {
			print_message(
				"%s state %u: rc %d, differs by %g%s\n", name, i, rc, d,
				run_redzones_hold(&got) ? "" : ", wrote out of bounds");
			total->wrong++;
		}
		total->worst_ns =
			k.build_ns > total->worst_ns ? k.build_ns : total->worst_ns;
		if (getenv("RUN_VERBOSE")) {
			print_message("%s state %u: %.1f ms, differs by %g\n", name, i,
				      (double)k.build_ns / 1e6, d);
		}
		run_args_free(&got);
	}
	run_unload(&k);
	hn_arena_fini(&a);
}

static void check_recorded(struct hn_emitter *em, const struct each *e,
			   const struct run_args *want, struct total *total)
{
	struct recorded r;
	uint32_t n = recorded_open(e->folder, &r);

	for (uint32_t i = 0; i < n; i++) {
		struct hn_buf steps;

		hn_buf_init(&steps);
		recorded_steps(&r, i, &steps);
		check_state(em, e->name, i, e->dag, steps.s, want, total);
		hn_buf_fini(&steps);
	}
	recorded_close(&r);
}

static void check_drawn(struct hn_emitter *em, const struct hn_target *host,
			const struct each *e, const struct run_args *want,
			struct total *total)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_buf steps;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_buf_init(&steps);
	assert_int_equal(hn_sketch_generate(e->dag, host, &a, &sketches, &err), 0);
	for (uint32_t i = 0; i < N_DRAWS; i++) {
		struct hn_rng rng = hn_rng_stream(5, i, 0, 0);
		const struct hn_state *s;

		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], host, &rng, &a, &s) !=
			    HN_VERDICT_OK ||
		    !s->trace) {
			continue;
		}
		hn_buf_reset(&steps);
		hn_trace_write(s->trace, &steps);
		check_state(em, e->name, i, e->dag, steps.s, want, total);
		total->n_drawn++;
	}
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *total = ctx;
	struct run_args want;
	struct hn_arena a;

	if (hn_dag_flops(e->dag) <= least_flops) {
		return;
	}
	if (hn_dag_flops(e->dag) > most_flops) {
		total->big++;
		return;
	}
	hn_arena_init(&a, 0);
	each_reference(em, e->name, e->dag, &a, &want);
	if (e->folder) {
		check_recorded(em, e, &want, total);
	} else {
		check_drawn(em, host, e, &want, total);
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total total = { 0 };

	(void)state;
	each_case(check_case, &total);
	print_message("%u states (%u drawn), %u wrong, %u refused, slowest build %.1f ms, %u "
		      "programs too big\n",
		      total.n, total.n_drawn, total.wrong, total.refused, (double)total.worst_ns / 1e6,
		      total.big);
	assert_true(total.n > 0);
	assert_int_equal(total.wrong, 0);
	assert_int_equal(total.refused, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	if (argc > 1) {
		least_flops = MAX_FLOPS;
		most_flops = strtod(argv[1], NULL) * 1e9;
	}
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("lower cases", tests, NULL, NULL);
}
