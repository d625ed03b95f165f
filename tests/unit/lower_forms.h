/* Programs under their plain loops and random histories, held against the reference
 * interpreter: what the emitter's tests of one matter each share.  The program includes
 * <cmocka.h> and what it needs before this. */
#ifndef HN_TESTS_LOWER_FORMS_H
#define HN_TESTS_LOWER_FORMS_H

#include "looptree_dags.h"
#include "looptree_eval.h"
#include "lower_histories.h"
#include "lower_run.h"

struct fixture {
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena arena;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&f->arena, 0);
	hn_target_host(&f->arena, &f->host);
	*state = f;
	return hn_emitter_new(&f->host, &f->em, &err);
}

/* For what is read and not run: the code of a machine that this one need not be, so that
 * no machine passes the test by.  LLVM is started for this machine's family alone, hence
 * LOWER_FORMS_X86 around such tests. */
#if defined(__x86_64__)
#define LOWER_FORMS_X86 1
static inline int setup_on(void **state, const char *line)
{
	struct fixture *f;
	struct hn_err err;

	if (setup(state) != 0) {
		return -1;
	}
	f = *state;
	hn_emitter_free(f->em);
	f->em = NULL;
	return hn_target_parse(line, &f->arena, &f->host, &err) != 0
		       ? -1
		       : hn_emitter_new(&f->host, &f->em, &err);
}
#endif

static int teardown(void **state)
{
	struct fixture *f = *state;

	hn_emitter_free(f->em);
	hn_arena_fini(&f->arena);
	free(f);
	return 0;
}

static inline void check_history(struct fixture *f, const struct hn_dag *dag,
				 const struct hn_trace *trace,
				 const struct run_args *want, const char *text,
				 struct hn_arena *a)
{
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct run_args got;
	int32_t workers = 2;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };
	double d;

	if (run_build(f->em, dag, trace, false, a, &k, &err)) {
		fail_msg("%s: %s", text, err.msg);
	}
	run_args_make(dag, 11, &got);
	assert_int_equal(k.fn(got.at, &env), 0);
	d = run_difference(want, &got);
	if (d > 1e-5 || !run_guards_hold(&got)) {
		struct hn_buf b;

		hn_buf_init(&b);
		hn_trace_write(trace, &b);
		fail_msg("%s: differs by %g under %s", text, d, b.s);
	}
	run_args_free(&got);
	run_unload(&k);
}

static inline void check_form(struct fixture *f, const char *text, uint64_t n_histories)
{
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct run_args want;
	struct eval meaning;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_parse(text, text, strlen(text), 0, &a, &dag, &err)) {
		fail_msg("%s", err.msg);
	}
	run_args_make(dag, 11, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	eval_dag(&meaning, dag);
	for (uint64_t i = 0; i < n_histories; i++) {
		const struct hn_state *s =
			i == 0 ? hn_state_init(dag, &a) : random_history(dag, i, &a);
		const struct hn_looptree *t;

		if (hn_looptree_build(s, &a, &t, &err) == 0 && tree_right(t, &meaning)) {
			check_history(f, dag, s->trace, &want, text, &a);
		}
	}
	eval_free(&meaning);
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* The LLVM text of the plain program. */
static inline const char *ir_of(struct fixture *f, const char *text)
{
	struct hn_emit_options o = { .symbol = "k", .want_ir = true };
	struct hn_err err = { 0 };
	struct hn_artefact ret;
	const struct hn_looptree *t;
	const struct hn_dag *dag;

	if (hn_dag_parse(text, text, strlen(text), 0, &f->arena, &dag, &err) ||
	    hn_looptree_build(hn_state_init(dag, &f->arena), &f->arena, &t, &err) ||
	    hn_emit(f->em, t, &o, &f->arena, &ret, &err)) {
		fail_msg("%s: %s", text, err.msg);
	}
	return ret.ir;
}

#endif
