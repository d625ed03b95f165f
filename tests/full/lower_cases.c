/* Every state of the recorded cases under a bound on its work: lowered, run on random
 * inputs, compared with the naive program. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/full/each_case.h"

#define MAX_FLOPS 3e9
#define TOLERANCE 5e-5

struct total {
	uint32_t n, wrong, refused, big;
	int64_t worst_ns;
};

static const char *state_steps(const struct hn_json *state, struct hn_json **ret_record,
			       struct hn_buf *buf)
{
	const struct hn_json *r = hn_json_get(state, "record");
	struct hn_err err;

	*ret_record = NULL;
	if (hn_json_string(r)) {
		const char *text = hn_json_string(r);

		assert_int_equal(hn_json_parse("record", text, strlen(text), NULL,
					       ret_record, &err),
				 0);
		r = *ret_record;
	}
	/* {"i": [[key, target, ...], [[], [steps]]], ...} */
	const struct hn_json *i = hn_json_first(hn_json_get(r, "i"));
	const struct hn_json *steps = hn_json_next(hn_json_first(hn_json_next(i)));

	hn_json_write(steps, buf);
	return buf->s;
}

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

		if (rc || d > TOLERANCE || !run_guards_hold(&got)) {
			print_message(
				"%s state %u: rc %d, differs by %g%s\n", name, i, rc, d,
				run_guards_hold(&got) ? "" : ", wrote out of bounds");
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

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const char *name, void *ctx)
{
	struct total *total = ctx;
	struct hn_buf text, states;
	struct hn_arena a;
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct run_args want;
	struct hn_json *doc;
	char path[600];

	(void)host;
	hn_buf_init(&text);
	hn_buf_init(&states);
	hn_arena_init(&a, 0);
	snprintf(path, sizeof(path), "%s/ansor/%s/dag.json", HONE_CASES_DIR, name);
	assert_int_equal(hn_file_read(path, 1 << 26, &text, &err), 0);
	assert_int_equal(hn_dag_parse(name, text.s, text.n, 0, &a, &dag, &err), 0);
	if (hn_dag_flops(dag) > MAX_FLOPS) {
		total->big++;
	} else {
		snprintf(path, sizeof(path), "%s/ansor/%s/llvm.json", HONE_CASES_DIR,
			 name);
		assert_int_equal(hn_file_read(path, 1 << 26, &states, &err), 0);
		assert_int_equal(
			hn_json_parse(name, states.s, states.n, NULL, &doc, &err), 0);
		each_reference(em, name, dag, &a, &want);
		uint32_t i = 0;

		for (const struct hn_json *s = hn_json_first(hn_json_get(doc, "states"));
		     s; s = hn_json_next(s), i++) {
			struct hn_json *record;
			struct hn_buf steps;

			hn_buf_init(&steps);
			check_state(em, name, i, dag, state_steps(s, &record, &steps),
				    &want, total);
			hn_json_free(record);
			hn_buf_fini(&steps);
		}
		run_args_free(&want);
		hn_json_free(doc);
	}
	hn_buf_fini(&text);
	hn_buf_fini(&states);
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total total = { 0 };

	(void)state;
	each_case(check_case, &total);
	print_message("%u states, %u wrong, %u refused, slowest build %.1f ms, %u cases "
		      "too big\n",
		      total.n, total.wrong, total.refused, (double)total.worst_ns / 1e6,
		      total.big);
	assert_int_equal(total.wrong, 0);
	assert_int_equal(total.refused, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("lower cases", tests, NULL, NULL);
}
