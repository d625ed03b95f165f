/* Kernels against the reference interpreter: small dags with odd extents, each under its
 * naive program and under many random histories. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

static uint64_t n_histories = 3; /* the plain loops among them; or argv[1] */

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
	/* What is prepared before the first call must not read what the call computes. */
	{ "constant that reads an output",
	  "f(const int32 W[8], int32 A[8]) -> (O, C) { O(i) = W(i) * 2 P(i) = O(i) + 1"
	  " C(i) = P(i) * A(i) }" },
	{ "product with an output of constants",
	  "f(const float32 W[16,16], float32 A[4,16]) -> (Q, C) { Q(i,j) = max(W(i,j), 0)"
	  " C(n,j) +=! A(n,k) * Q(k,j) }" },
	{ "narrowed", "f(int64 A[1,17]) -> B { B(i,j) = int32(A(i,j)) }" },
	/* The lanes share both numbers, and not whether they are wanted. */
	{ "divided where wanted",
	  "f(int32 A[5], int32 D[5], int32 B[5,19]) -> Y {"
	  " Y(i,j) = B(i,j) > 0 ? A(i) / (D(i) * D(i) + 1) : 0 }" },
	{ "depthwise", "f(float32 X[1,9,9,12], W[3,3,12]) -> Y {"
		       " Y(n,h,w,c) +=! X(n,h+r,w+s,c) * W(r,s,c) }" },
};

/* Widths below the machine's run too, so that the emitter's logic for machines that are not
 * here is tested. */
static const struct width {
	int64_t vector_bytes, registers;
} widths[] = { { 32, 16 }, { 16, 16 } };

/* One of the machine, one for each width below its own. */
struct emitters {
	uint32_t n;
	struct hn_emitter *em[1 + HN_COUNT_OF(widths)];
};

static void add_emitter(struct emitters *to, const struct hn_target *target)
{
	struct hn_err err;

	assert_int_equal(hn_emitter_new(target, &to->em[to->n++], &err), 0);
}

static void make_emitters(const struct hn_target *host, struct emitters *ret)
{
	ret->n = 0;
	add_emitter(ret, host);
	for (size_t i = 0; i < HN_COUNT_OF(widths); i++) {
		struct hn_target t = *host;

		t.param[HN_PARAM_VECTOR_UNIT_BYTES] = widths[i].vector_bytes;
		t.param[HN_PARAM_VECTOR_REGISTERS] = widths[i].registers;
		if (widths[i].vector_bytes < host->param[HN_PARAM_VECTOR_UNIT_BYTES]) {
			add_emitter(ret, &t);
		}
	}
}

static void on_each(const struct history *h, void *ctx)
{
	const struct emitters *e = ctx;

	for (uint32_t i = 0; i < e->n; i++) {
		if (h->number == 0) {
			check_history(e->em[i], h, /* scalar= */ true, false);
		}
		check_history(e->em[i], h, /* scalar= */ false, h->number % 2 == 0);
	}
}

static void histories(void **state)
{
	struct fixture *f = *state;
	struct emitters e;

	make_emitters(&f->host, &e);
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		each_history(dag_forms[i].json, n_histories, on_each, &e);
	}
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		each_history(programs[i].json, n_histories, on_each, &e);
	}
	for (uint32_t i = 0; i < e.n; i++) {
		hn_emitter_free(e.em[i]);
	}
}

/* A vector that no register holds is refused: LLVM would split it (lower/cpu/emit_object.c). */
static void wider_than_registers(void **state)
{
	static const struct {
		const char *line;
		bool right;
	} want[] = {
		{ "cpu -isa=x86-64-baseline -vector_unit_bytes=16", true },
		{ "cpu -isa=x86-64-baseline -vector_unit_bytes=32", false },
		{ "cpu -isa=x86-64-avx2 -vector_unit_bytes=32", true },
		{ "cpu -isa=x86-64-avx2 -vector_unit_bytes=64", false },
		{ "cpu -isa=x86-64-avx512 -vector_unit_bytes=64", true },
		{ "cpu -isa=x86-64-avx512 -vector_unit_bytes=128", false },
		{ "cpu -isa=aarch64-neon -vector_unit_bytes=16", true },
		{ "cpu -isa=aarch64-neon -vector_unit_bytes=32", false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct hn_emitter *em = NULL;
		struct hn_err err = { 0 };
		struct hn_target t;

		assert_int_equal(hn_target_parse(want[i].line, &f->arena, &t, &err), 0);
		if ((hn_emitter_new(&t, &em, &err) == 0) != want[i].right) {
			fail_msg("%s: %s", want[i].line, err.msg);
		}
		assert_true(want[i].right || strstr(err.msg, "vector_unit_bytes"));
		hn_emitter_free(em);
	}
}

#ifdef LOWER_FORMS_X86
/* The 17th element alone in its vector: LLVM would store it and the one behind it. */
static void one_lane_is_one_element(void **state)
{
	const char *ir = ir_of(*state, "f(int64 A[1,17]) -> B { B(i,j) = int32(A(i,j)) }");

	assert_null(strstr(ir, "call void @llvm.masked.store"));
}

static int setup_avx512(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-avx512 -vector_unit_bytes=64");
}
#endif

/* Every function, scalar and over lanes with a tail, on arguments of its domain. */
static void functions(void **state)
{
	struct fixture *f = *state;

	for (int fn = 0; fn < HN_N_FN; fn++) {
		char text[300];
		struct run_args want;
		struct hn_arena a;
		const char *second = hn_fn_arity(fn) == 2 ? ", 1.5" : "";

		hn_arena_init(&a, 0);
		snprintf(text, sizeof(text),
			 "f(float32 x[5,23]) -> y { y(i,j) = %s(x(i,j) * x(i,j) + "
			 "0.25%s) }",
			 hn_fn_name(fn), second);
		struct history h = { .text = text,
				     .dag = dag_open(text, &a),
				     .want = &want,
				     .tolerance = 1e-6,
				     .a = &a };

		form_answer(h.dag, &want);
		check_history(f->em, &h, /* scalar= */ true, false);
		check_history(f->em, &h, /* scalar= */ false, true);
		run_args_free(&want);
		hn_arena_fini(&a);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(wider_than_registers, setup, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(one_lane_is_one_element, setup_avx512, teardown),
#endif
		cmocka_unit_test_setup_teardown(functions, setup, teardown),
	};

	n_histories = argc > 1 ? strtoull(argv[1], NULL, 10) : n_histories;
	return cmocka_run_group_tests_name("lower emit", tests, NULL, NULL);
}
