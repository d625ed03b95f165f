/* Programs under their plain loops and random histories, held against the reference
 * interpreter: what the emitter's tests of one matter each share.  The program includes
 * <cmocka.h> and what it needs before this. */
#ifndef HN_TESTS_LOWER_FORMS_H
#define HN_TESTS_LOWER_FORMS_H

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/nest/quick.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/lower_run.h"

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

/* Around tests that run code of lesser x86-64 processors. */
#if defined(__x86_64__)
#define LOWER_FORMS_X86 1
#endif

/* For what is read and not run: the code of a machine that this one need not be, so that
 * no machine passes the test by. */
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

static int teardown(void **state)
{
	struct fixture *f = *state;

	hn_emitter_free(f->em);
	hn_arena_fini(&f->arena);
	free(f);
	return 0;
}

/* A history of a program, to be built and run. */
struct history {
	const char *text;
	const struct hn_dag *dag;
	const struct hn_trace *trace; /* NULL = none: the plain loops */
	uint64_t number;
	const struct run_args *want; /* the interpreter's outputs */
	double tolerance;
	struct hn_arena *a;
};

/* Arguments as every test has them, and the interpreter's answer in them. */
static inline void form_answer(const struct hn_dag *dag, struct run_args *ret)
{
	struct hn_err err = { 0 };

	run_args_make(dag, 11, ret);
	assert_int_equal(hn_interpret(dag, ret->at, &err), 0);
}

static inline double tolerance_of(const struct hn_dag *dag)
{
	enum hn_dtype t = (enum hn_dtype)dag->op[dag->arg[dag->n_arg - 1]]->dtype[0];

	return hn_dtype_is_narrow(t) ? hn_dag_tolerance(dag) : t == HN_F64 ? 1e-12 : 1e-5;
}

/* One call gives the answer and touches nothing else. */
static inline void check_call(const struct history *h, const struct run_kernel *k,
			      const struct hone_env *env, const char *how)
{
	struct run_args got;
	double d;

	run_args_make(h->dag, 11, &got);
	assert_int_equal(k->fn(got.at, env), 0);
	d = run_difference(h->want, &got);
	if (d > h->tolerance || !run_redzones_hold(&got)) {
		struct hn_buf b;

		hn_buf_init(&b);
		if (h->trace) {
			hn_trace_write(h->trace, &b);
		}
		fail_msg("%s, history %d, %s: differs by %g, bounds %s\n%s", h->text,
			 (int)h->number, how, d,
			 run_redzones_hold(&got) ? "kept" : "broken", b.s ? b.s : "");
	}
	run_args_free(&got);
}

static inline struct hone_env two_workers(void)
{
	static int32_t workers = 2;

	return (struct hone_env){ .abi = HONE_KERNEL_ABI,
				  .n_workers = workers,
				  .parallel_for = run_backwards,
				  .ctx = &workers };
}

/* Its kernel (scalar: the naive program's) gives the answer. */
static inline void check_history(struct hn_emitter *em, const struct history *h,
				 bool scalar, bool parallel)
{
	struct hone_env env = two_workers();
	struct hn_err err = { 0 };
	struct run_kernel k;

	if (run_build(em, h->dag, h->trace, scalar, h->a, &k, &err)) {
		fail_msg("%s, history %d: %s", h->text, (int)h->number, err.msg);
	}
	check_call(h, &k, parallel ? &env : NULL, parallel ? "two workers" : "alone");
	run_unload(&k);
}

/* Whether the order of a reduction decides, which the evaluation of a tree does not see. */
static inline bool order_decides(const struct hn_dag *dag)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (hn_keeps_order(dag, dag->op[i])) {
			return true;
		}
	}
	return false;
}

/* Hand over the plain loops (number 0) and random histories up to number n - 1, but those
 * whose loop tree is neither shown to be legal nor, evaluated as it stands, the program. */
static inline void each_history(const char *text, uint64_t n,
				void (*use)(const struct history *h, void *ctx),
				void *ctx)
{
	struct run_args want;
	struct hn_quick *quick = hn_quick_new();
	struct eval meaning;
	struct hn_arena a;
	uint64_t n_used = 0;

	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(text, &a);

	form_answer(dag, &want);
	eval_dag(&meaning, dag);
	for (uint64_t i = 0; i < n; i++) {
		const struct hn_state *s =
			i == 0 ? hn_state_init(dag, &a) : random_history(dag, i, &a);
		struct history h = { text, dag, s->trace, i, &want, tolerance_of(dag), &a };
		const struct hn_looptree *t;
		struct hn_err err;

		if (hn_looptree_build(s, &a, &t, &err) == 0 &&
		    (hn_quick_legal(quick, t, NULL) ||
		     (!order_decides(dag) && tree_right(t, &meaning)))) {
			use(&h, ctx);
			n_used++;
		}
	}
	assert_true(n_used * 4 > n);
	hn_quick_free(quick);
	eval_free(&meaning);
	run_args_free(&want);
	hn_arena_fini(&a);
}

static inline void check_form_one(const struct history *h, void *ctx)
{
	struct fixture *f = ctx;

	check_history(f->em, h, /* scalar= */ false, /* parallel= */ true);
}

static inline void check_form(struct fixture *f, const char *text, uint64_t n_histories)
{
	each_history(text, n_histories, check_form_one, f);
}

/* The LLVM text of the plain program. */
static inline const char *ir_with(struct fixture *f, const char *text, struct hn_emit_options o)
{
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

static inline const char *ir_of(struct fixture *f, const char *text)
{
	return ir_with(f, text, (struct hn_emit_options){ .symbol = "k", .want_ir = true });
}

#endif
