/* Kernels against the reference interpreter: small dags with odd extents, each under its
 * naive program and under many random histories. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "looptree_dags.h"
#include "looptree_eval.h"
#include "lower_histories.h"
#include "lower_run.h"

struct fixture {
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena arena;
	uint32_t n_run, n_tried;
};

#define N_HISTORIES 10

/* Programs beside those of looptree_dags.h: widths of vectors and their tails, types,
 * calls. */
static const struct dag_form programs[] = {
	{ "matmul primes",
	  "f(float32 A[37,29], B[29,41]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
	{ "matmul wide",
	  "f(float32 A[24,33], B[33,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
	{ "matmul f64",
	  "f(float64 A[19,33], B[33,17]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
	{ "matmul transposed",
	  "f(float32 A[9,70], B[11,70]) -> C { C(i,j) +=! A(i,k) * B(j,k) }" },
	{ "matmul s32", "f(int32 A[9,7], B[7,11]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
	{ "sum s32", "f(int32 A[40]) -> T { T() +=! A(i) }" },
	{ "rows s64", "f(int64 A[7,31]) -> T { T(i) +=! A(i,k) }" },
	{ "rows s16", "f(int16 A[7,67]) -> T { T(i) +=! A(i,k) }" },
	{ "rows s8", "f(int8 A[5,40]) -> T { T(i) max=! A(i,k) }" },
	{ "rows u8", "f(uint8 A[5,40]) -> T { T(i) min=! A(i,k) }" },
	{ "dot s32", "f(int32 A[31,29], int32 B[29]) -> S { S(i) +=! A(i,k) * B(k) }" },
	{ "largest", "f(float32 A[5,131]) -> C { C(i) max=! A(i,k) }" },
	{ "softmax",
	  "f(float32 x[6,37]) -> y { m(i) max=! x(i,k) e(i,j) = exp(x(i,j) - m(i))"
	  " s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }" },
	{ "conv bias relu",
	  "f(float32 X[1,9,9,3], W[3,3,3,20], b[20]) -> Y {"
	  " P(n,h,w,c) = h>=1 && h<10 && w>=1 && w<10 ? X(n,h-1,w-1,c) : 0 where "
	  "h in 0:11, w in 0:11"
	  " K(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * W(r,s,c,f)"
	  " Y(n,h,w,f) = max(K(n,h,w,f) + b(f), 0) }" },
	{ "conv pad inside",
	  "f(float32 X[1,7,9,2], W[3,3,2,20]) -> Y { Y(n,h,w,f) +=! (h+r>=1 && h+r<8 &&"
	  " w+s>=1 && w+s<10 ? X(n,h+r-1,w+s-1,c) : 0) * W(r,s,c,f)"
	  " where h in 0:7, w in 0:9 }" },
	{ "conv pad inside, channels first",
	  "f(float32 X[3,10,21], W[4,3,3,3]) -> Y { Y(f,h,w) +=! W(f,c,r,s) * (h+r>=1 &&"
	  " h+r<11 && w+s>=1 && w+s<22 ? X(c,h+r-1,w+s-1) : 0)"
	  " where h in 0:10, w in 0:21 }" },
	{ "transposed conv",
	  "f(float32 X[1,4,4,2], W[4,4,2,17]) -> Y { Y(n,h,w,f) +=! (h+r>=2 && h+r<9 &&"
	  " w+s>=2 && w+s<9 && (h+r)%2==0 && (w+s)%2==0 ? X(n,(h+r)/2-1,(w+s)/2-1,c) : 0)"
	  " * W(3-r,3-s,c,f) where h in 0:8, w in 0:8, r in 0:4, s in 0:4 }" },
	{ "max pool pad inside",
	  "f(float32 X[1,9,9,20]) -> Y { Y(n,h,w,c) max=! 2*h+r>=1 && 2*h+r<10 && 2*w+s>=1"
	  " && 2*w+s<10 ? X(n,2*h+r-1,2*w+s-1,c) : -inf"
	  " where h in 0:5, w in 0:5, r in 0:3, s in 0:3 }" },
	{ "sum of a part",
	  "f(float32 X[9,31]) -> Y { Y(i) +=! k>=i && k<i+17 ? X(i,k) : 0 }" },
	{ "not nothing",
	  "f(float32 X[7,9], W[3,20]) -> Y { Y(i,j) +=! (i+r>=1 && i+r<8 ?"
	  " X(i+r-1,0) : 2) * W(r,j) where i in 0:7 }" },
	{ "depthwise", "f(float32 X[1,9,9,12], W[3,3,12]) -> Y {"
		       " Y(n,h,w,c) +=! X(n,h+r,w+s,c) * W(r,s,c) }" },
};

/* Widths other than the machine's run too (LLVM splits or shortens the vectors), so that
 * the emitter's logic for machines that are not here is tested. vector_bytes 0 = the
 * machine's. */
static int setup_width(void **state, int64_t vector_bytes, int64_t registers)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&f->arena, 0);
	hn_target_host(&f->arena, &f->host);
	if (vector_bytes) {
		f->host.param[HN_PARAM_VECTOR_UNIT_BYTES] = vector_bytes;
		f->host.param[HN_PARAM_VECTOR_REGISTERS] = registers;
	}
	*state = f;
	return hn_emitter_new(&f->host, &f->em, &err);
}

static int setup(void **state)
{
	return setup_width(state, 0, 0);
}

static int setup_64(void **state)
{
	return setup_width(state, 64, 32);
}

static int setup_16(void **state)
{
	return setup_width(state, 16, 16);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	hn_emitter_free(f->em);
	hn_arena_fini(&f->arena);
	free(f);
	return 0;
}

/* What may be run: the tree can be built, and evaluated as it stands it computes the dag.
 */
static bool right(const struct hn_state *s, const struct eval *want, struct hn_arena *a)
{
	const struct hn_looptree *t;
	struct hn_err err;

	return hn_looptree_build(s, a, &t, &err) == 0 && tree_right(t, want);
}

static void run_one(struct fixture *f, const char *name, const struct hn_dag *dag,
		    const struct hn_trace *trace, bool scalar, uint64_t seed,
		    double tolerance, const struct run_args *want)
{
	struct hn_arena a;
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct run_args got;
	int32_t workers = 2;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	hn_arena_init(&a, 0);
	if (run_build(f->em, dag, trace, scalar, &a, &k, &err)) {
		struct hn_buf b;

		hn_buf_init(&b);
		if (trace) {
			hn_trace_write(trace, &b);
		}
		fail_msg("%s, history %d: %s\n%s", name, (int)seed, err.msg, b.s);
	}
	run_args_make(dag, 11, &got);
	assert_int_equal(k.fn(got.at, seed % 2 ? &env : NULL), 0);
	double d = run_difference(want, &got);

	if (d > tolerance || !run_guards_hold(&got)) {
		struct hn_buf b;

		hn_buf_init(&b);
		if (trace) {
			hn_trace_write(trace, &b);
		}
		fail_msg("%s, history %d: differs by %g, bounds %s\n%s", name, (int)seed,
			 d, run_guards_hold(&got) ? "kept" : "broken", b.s);
	}
	run_args_free(&got);
	run_unload(&k);
	hn_arena_fini(&a);
}

static double tolerance_of(const struct hn_dag *dag)
{
	return dag->op[dag->arg[dag->n_arg - 1]]->dtype[0] == HN_F64 ? 1e-12 : 1e-5;
}

static void check_program(struct fixture *f, const struct dag_form *form)
{
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct run_args want;
	struct hn_arena a;
	struct eval meaning;
	uint32_t n_run = 0;
	char *text = strdup(form->json);

	for (char *c = text; *c && text[0] == '{'; c++) {
		*c = *c == '\'' ? '"' : *c;
	}
	hn_arena_init(&a, 0);
	if (hn_dag_parse(form->name, text, strlen(text), 0, &a, &dag, &err)) {
		fail_msg("%s", err.msg);
	}
	run_args_make(dag, 11, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	eval_dag(&meaning, dag);
	run_one(f, form->name, dag, NULL, true, 0, tolerance_of(dag), &want);
	run_one(f, form->name, dag, NULL, false, 1, tolerance_of(dag), &want);
	for (uint64_t i = 2; i < N_HISTORIES; i++) {
		const struct hn_state *s = random_history(dag, i, &a);

		if (right(s, &meaning, &a)) {
			run_one(f, form->name, dag, s->trace, false, i, tolerance_of(dag),
				&want);
			n_run++;
		}
	}
	f->n_run += n_run;
	f->n_tried += N_HISTORIES - 2;
	eval_free(&meaning);
	run_args_free(&want);
	hn_arena_fini(&a);
	free(text);
}

static void histories(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		check_program(f, &dag_forms[i]);
	}
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		check_program(f, &programs[i]);
	}
	print_message("%u histories run, %u drawn\n", f->n_run, f->n_tried);
	assert_true(f->n_run * 4 > f->n_tried);
}

/* Every function, scalar and over lanes with a tail, on arguments of its domain. */
static void functions(void **state)
{
	struct fixture *f = *state;

	for (int fn = 0; fn < HN_N_FN; fn++) {
		char text[300];
		struct hn_err err = { 0 };
		const struct hn_dag *dag;
		struct run_args want;
		struct hn_arena a;
		const char *second = hn_fn_arity(fn) == 2 ? ", 1.5" : "";

		hn_arena_init(&a, 0);
		snprintf(text, sizeof(text),
			 "f(float32 x[5,23]) -> y { y(i,j) = %s(x(i,j) * x(i,j) + "
			 "0.25%s) }",
			 hn_fn_name(fn), second);
		if (hn_dag_parse(text, text, strlen(text), 0, &a, &dag, &err)) {
			fail_msg("%s", err.msg);
		}
		run_args_make(dag, 11, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		run_one(f, text, dag, NULL, true, 0, 1e-6, &want);
		run_one(f, text, dag, NULL, false, 1, 1e-6, &want);
		run_args_free(&want);
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(histories, setup_64, teardown),
		cmocka_unit_test_setup_teardown(histories, setup_16, teardown),
		cmocka_unit_test_setup_teardown(functions, setup, teardown),
	};

	return cmocka_run_group_tests_name("lower emit", tests, NULL, NULL);
}
