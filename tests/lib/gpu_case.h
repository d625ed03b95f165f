/* gpu_case.h -- a computation and its steps as a device program: made, run, printed, read back, and
 * assembled where NVIDIA's assembler is; for tests of products by warps and warpgroups. */
#ifndef HN_TESTS_GPU_CASE_H
#define HN_TESTS_GPU_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/read/dag_read.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "tests/lib/gpu_bed.h"
#include "tests/lib/lower_run.h"
#include "tests/ptx/ptx.h"

#define FUEL 200000000
#define LIMIT_MS 20000

static inline const struct hn_looptree *gpu_case_tree(const char *text, const char *steps,
						      struct hn_arena *a,
						      const struct hn_dag **dag)
{
	const struct hn_trace *trace;
	const struct hn_looptree *t = NULL;
	const struct hn_state *s;
	struct hn_err err;

	if (hn_dag_from_text("dag", text, strlen(text), 0, a, dag, &err) != 0 ||
	    hn_trace_parse("steps", steps, strlen(steps), a, &trace, &err) != 0 ||
	    hn_state_replay(*dag, trace, a, &s, &err) != 0 ||
	    hn_looptree_build(s, a, &t, &err) != 0) {
		fail_msg("%s\n%s\n%s", err.msg, text, steps);
	}
	return t;
}

/* In so many orders of threads, against the interpreter of dags. */
static inline void gpu_case_runs(const char *what, const struct hn_dag *dag,
				 const struct hn_device *d, uint32_t n_order)
{
	struct run_args want, got;
	struct hn_err err;

	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	for (uint32_t order = 0; order < n_order; order++) {
		run_args_make(dag, 7, &got);
		if (hn_device_interpret(d, got.at, order, FUEL, &err) != 0) {
			fail_msg("%s: %s", what, err.msg);
		}
		if (!(run_difference(&want, &got) <= hn_dag_tolerance(dag))) {
			fail_msg("%s: it differs by %g", what, run_difference(&want, &got));
		}
		run_args_free(&got);
	}
	run_args_free(&want);
}

static inline int gpu_case_print(const struct hn_device *d, enum hn_gpu_form form, const char *isa,
				 struct hn_arena *a, struct hn_gpu_module *ret, struct hn_err *err)
{
	struct hn_gpu_options how = { .contracts = true };
	struct hn_target gpu;
	char line[60];

	snprintf(line, sizeof(line), "cuda -isa=%s", isa);
	assert_int_equal(hn_target_parse(form == HN_GPU_OPENCL ? "opencl" : line, a, &gpu, err), 0);
	return hn_gpu_print(d, form, &gpu, &how, a, ret, err);
}

/* Its PTX as well, in so many orders of warps. */
static inline void gpu_case_runs_ptx(const char *what, const struct hn_dag *dag,
				     const struct hn_device *d, const char *isa, uint32_t n_order)
{
	struct ptx_counts ran = { 0 };
	struct run_args want, got;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	assert_int_equal(gpu_case_print(d, HN_GPU_PTX, isa, &a, &m, &err), 0);
	for (uint32_t order = 0; order < n_order; order++) {
		run_args_make(dag, 7, &got);
		if (ptx_run_module(&m, got.at, order, 0, &ran, &err) != 0) {
			fail_msg("%s: %s\n%s", what, err.msg, (const char *)m.code);
		}
		if (!(run_difference(&want, &got) <= hn_dag_tolerance(dag))) {
			fail_msg("%s: its PTX differs by %g\n%s", what, run_difference(&want, &got),
				 (const char *)m.code);
		}
		run_args_free(&got);
	}
	assert_true(ran.products > 0);
	run_args_free(&want);
	hn_arena_fini(&a);
}

static inline bool gpu_case_has_ptxas(void)
{
	bool has = system("command -v ptxas >/dev/null") == 0;

	if (!has) {
		fputs("no ptxas: PTX is printed, and assembled by nobody\n", stderr);
	}
	return has;
}

/* With all of its arrays in registers, and products of warpgroups that do not wait for each other:
 * the assembler says a word of wgmma where they do. */
static inline bool gpu_case_assembles(const struct hn_gpu_module *m, const char *isa)
{
	char folder[] = "/tmp/hone-case-XXXXXX", path[60], command[300];
	struct hn_err err;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/k.ptx", folder);
	assert_int_equal(hn_file_replace(path, m->code, m->code_bytes, &err), 0);
	snprintf(command, sizeof(command),
		 "ptxas -v -arch=%s %s -o %s/k.cubin >%s/said 2>&1 && grep -q ' 0 bytes stack frame, "
		 "0 bytes spill stores, 0 bytes spill loads' %s/said && ! grep -qi gmma %s/said",
		 isa, path, folder, folder, folder, folder);
	int rc = system(command);

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	return rc == 0;
}

/* Legal, verified; its text reads back, and has these words. */
static inline const struct hn_device *gpu_case_place(struct bed *b, const char *text,
						     const char *steps, const char *const *has,
						     size_t n_has, const struct hn_dag **dag)
{
	const struct hn_device *d, *again;
	const struct hn_looptree *t = gpu_case_tree(text, steps, &b->a, dag);
	struct hn_buf once, twice;
	struct hn_err err = { 0 };

	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK ||
	    hn_device_place(t, &b->a, &d, &err) != 0) {
		fail_msg("%s\n%s\n%s", err.msg, text, steps);
	}
	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_device_print(d, &once);
	if (hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0) {
		fail_msg("%s\n%s", err.msg, once.s);
	}
	assert_int_equal(hn_device_parse("t", once.s, once.n, &b->a, &again, &err), 0);
	hn_device_print(again, &twice);
	assert_string_equal(once.s, twice.s);
	for (size_t k = 0; k < n_has; k++) {
		if (strstr(once.s, has[k]) == NULL) {
			fail_msg("it has no '%s'\n%s", has[k], once.s);
		}
	}
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	return d;
}

#endif
