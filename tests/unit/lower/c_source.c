/* C source of kernels, compiled as users compile it, against the reference interpreter: programs of
 * each type and construct under their plain loops and random histories (argv[1] of each), with
 * threads; to the bit where the task asks for it; with prepared data; with sizes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"
#include "tests/lib/lower_c.h"

static uint64_t n_histories = 2; /* the plain loops among them */

static const char *const programs[] = {
	"f(float32 A[23,29], B[29,31]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float64 A[9,13], B[13,7]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 X[1,9,9,3], W[3,3,3,20], b[20]) -> Y {"
	" P(n,h,w,c) = h>=1 && h<10 && w>=1 && w<10 ? X(n,h-1,w-1,c) : 0 where "
	"h in 0:11, w in 0:11"
	" K(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * W(r,s,c,f)"
	" Y(n,h,w,f) = max(K(n,h,w,f) + b(f), 0) }",
	"f(float32 X[1,4,4,2], W[4,4,2,17]) -> Y { Y(n,h,w,f) +=! (h+r>=2 && h+r<9 &&"
	" w+s>=2 && w+s<9 && (h+r)%2==0 && (w+s)%2==0 ? X(n,(h+r)/2-1,(w+s)/2-1,c) : 0)"
	" * W(3-r,3-s,c,f) where h in 0:8, w in 0:8, r in 0:4, s in 0:4 }",
	"f(float32 x[6,37]) -> y { m(i) max=! x(i,k) e(i,j) = exp(x(i,j) - m(i))"
	" s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }",
	"f(float32 X[2,19,23,3], W[3,3,3,32]) -> Y { Y(n,h,w,f) +=! (h+r>=1 && h+r<20 && w+s>=1 && w+s<24"
	" ? X(n,h+r-1,w+s-1,c) : 0) * W(r,s,c,f) where h in 0:19, w in 0:23, r in 0:3, s in 0:3 }",
	"f(float32 X[1,13,15,40], W[3,3,40]) -> Y { Y(n,h,w,c) +=! (h+r>=1 && h+r<14 && w+s>=1 && w+s<16"
	" ? X(n,h+r-1,w+s-1,c) : 2.5) * (W(r,s,c) + 1) where h in 0:13, w in 0:15, r in 0:3, s in 0:3 }",
	"f(float64 A[19,24], B[24,40]) -> C { C(i,j) +=! A(i,k) * B(k,j) - B(k,j) / 3 }",
	"f(float32 A[41]) -> B { B(i) = tanh(A(i)) + sigmoid(A(i)) * erf(A(i)) + "
	"log(A(i) * A(i) + 1) + rsqrt(abs(A(i)) + 1) + pow(2, A(i)) }",
	"f(uint8 A[13,36], const int8 B[36,21], const int32 z[21], const float32 s[21]) -> Y {\n"
	"  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	"  Y(i,j) = uint8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, 0), 255)) }",
	"f(bfloat16 A[11,33], const bfloat16 B[33,20]) -> C {\n"
	"  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))  C(i,j) = bfloat16(S(i,j)) }",
	"f(float16 A[29], bfloat16 B[29]) -> C, D { C(i) = A(i) * A(i) + 1.5  D(i) = max(B(i) - 1, B(i) * 3) }",
	"f(bfloat16 A[5,40]) -> T { T(i) +=! A(i,k) }",
	"f(int32 A[33], int64 B[33], int16 S[33], uint16 U[33]) -> C, D, E, F {"
	" C(i) = floordiv(A(i), 3) + A(i) % 5 - floordiv(i - 20, 7)  D(i) = B(32 - i) * 7"
	" E(i) = S(i) * S(i) - 3  F(i) = U(i) * U(i) + 60000 }",
	"f(int8 A[5,40]) -> T { T(i) max=! A(i,k) }",
	"f(uint32 A[7,9]) -> T { T(i) +=! A(i,k) * 4000000000 }",
	"f(int32 I[9], float32 A[4,11]) -> C { C(i,j) = A(I(i) % 4, j) }",
	"f(bool A[19], float32 x[19]) -> B, C { B(i) = A(i) || x(i) > 0.25 && x(i) < 0.5"
	" C(i) = select(A(i), x(i), -x(i)) }",
	"f(float32 X[9,31]) -> Y { Y(i) +=! k>=i && k<i+17 ? X(i,k) : 0 }",
	"f(float32 A[3,5], B[5]) -> C { C(i) reduce=! B(r) > 0.5 ? A(i, r) by (a), (b) -> a from 0.0 }",
	"f(float32 A[1,1]) -> C { C(i,j) = A(i,j) }",
	"f(float32 A[7]) -> exp, C_packed, int, k { exp(i) = exp(A(i)) C_packed(i) = A(i) * 2 "
	" int(i) = A(i) + 1 k(i) = -A(i) }",
};

/* One history's tree and object, whose figures the header has. */
static void make(struct fixture *f, const struct history *h, const char *flags,
		 struct hn_artefact *made, struct c_kernel *ret)
{
	const struct hn_state *s = hn_state_init(h->dag, h->a);
	struct hn_emit_options o = { .symbol = "k" };
	const struct hn_looptree *t;
	struct hn_err err = { 0 };

	if ((h->trace && hn_state_replay(h->dag, h->trace, h->a, &s, &err)) ||
	    hn_looptree_build(s, h->a, &t, &err) || hn_emit(f->em, t, &o, h->a, made, &err)) {
		fail_msg("%s, history %d: %s", h->text, (int)h->number, err.msg);
	}
	c_build(t, made, flags, ret);
}

static void check_one(const struct history *h, void *ctx)
{
	struct hone_env env = two_workers();
	struct hn_artefact made;
	struct c_kernel k;
	struct run_kernel as;

	bool vectors = h->text == programs[0] || h->text == programs[1] || h->text == programs[5] ||
		       h->text == programs[6] || h->text == programs[7];

	make(ctx, h, vectors ? "-O3 -march=native" : "-O0", &made, &k);
	as = (struct run_kernel){ .fn = k.fn };
	check_call(h, &as, &env, "C, two workers");
	check_call(h, &as, NULL, "C, alone");
	c_unload(&k);
}

static void the_same_answers(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		each_history(programs[i], n_histories, check_one, *state);
	}
}

/* -- to the bit ----------------------------------------------------------------------------- */

static const char *const bitwise[] = {
	"f(float32 A[7,29], B[29,31]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 A[53], B[53]) -> C { C(i) = A(i) * B(i) + exp(A(i)) / 3 - sigmoid(B(i)) }",
	"f(float16 A[7,29], B[29,11]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 A[7,29]) -> C { C(i) min=! A(i,k) * 3 - 1 }",
};

static void check_bits(const struct history *h, void *ctx)
{
	struct fixture *f = ctx;
	const struct hn_dag *dag = hn_dag_forbid(h->dag, HN_LIBERTIES_ALL, h->a);
	struct history own = *h;
	struct run_args want, got;
	struct hn_artefact made;
	struct run_kernel naive;
	struct c_kernel k;
	struct hn_err err = { 0 };
	const struct hn_state *s;

	own.dag = dag;
	if (h->trace && hn_state_replay(dag, h->trace, h->a, &s, &err) != 0) {
		return; /* it takes the liberty that is forbidden */
	}
	const struct hn_looptree *t;
	struct hn_quick *quick = hn_quick_new();

	assert_int_equal(hn_looptree_build(h->trace ? s : hn_state_init(dag, h->a), h->a, &t, &err),
			 0);
	bool legal = hn_quick_legal(quick, t, NULL);

	hn_quick_free(quick);
	if (!legal) {
		return;
	}
	assert_int_equal(run_build(f->em, dag, NULL, true, h->a, &naive, &err), 0);
	run_args_make(dag, 11, &want);
	assert_int_equal(naive.fn(want.at, NULL), 0);
	make(f, &own, "-O3 -march=native -std=gnu11", &made, &k); /* which contracts by itself */
	run_args_make(dag, 11, &got);
	assert_int_equal(k.fn(got.at, NULL), 0);
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		if (memcmp(want.at[i], got.at[i], got.bytes[i]) != 0) {
			fail_msg("%s, history %d: other bits", h->text, (int)h->number);
		}
	}
	run_args_free(&want);
	run_args_free(&got);
	run_unload(&naive);
	c_unload(&k);
}

static void the_same_bits(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(bitwise); i++) {
		each_history(bitwise[i], n_histories, check_bits, *state);
	}
}

/* -- prepared data --------------------------------------------------------------------------- */

static void check_prepared(const struct history *h, void *ctx)
{
	struct hn_artefact made;
	struct c_kernel k;
	struct run_args args;

	make(ctx, h, "-O1", &made, &k);
	assert_int_equal(made.prepared_bytes > 0, k.prepare != NULL);
	if (k.prepare != NULL) {
		void *block = aligned_alloc(64, made.prepared_bytes);
		struct hone_env env = two_workers();

		run_args_make(h->dag, 11, &args);
		assert_int_equal(k.prepare(args.at, block, &env), 0);
		memset(args.at[1], 0x7f, args.bytes[1]); /* the call reads what was prepared */
		env.prepared = block;
		env.prepared_bytes = made.prepared_bytes;
		assert_int_equal(k.fn(args.at, &env), 0);
		if (run_difference(h->want, &args) > h->tolerance) {
			fail_msg("%s, history %d: prepared", h->text, (int)h->number);
		}
		run_args_free(&args);
		free(block);
	}
	c_unload(&k);
}

static void what_is_prepared(void **state)
{
	each_history("f(float32 A[7,29], const float32 W[29,23]) -> C {"
		     " P(k,j) = W(k,j) * 2 + 1 C(i,j) +=! A(i,k) * P(k,j) }",
		     n_histories, check_prepared, *state);
}

/* -- sizes ------------------------------------------------------------------------------------ */

static void sizes_of_the_call(void **state)
{
	static const char text[] = "f(N in [1, 9], K in [1, 20], float32 A[N,K], float32 B[K,N + 2]) -> C {"
				   " C(i,j) +=! A(i,k) * B(k,j) where j in 0:N + 2 }";
	struct fixture *f = *state;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_artefact made;
	struct c_kernel k;
	float a[9 * 20], b[20 * 11], c[9 * 11];
	void *args[] = { a, b, c };

	assert_int_equal(hn_dag_parse_sized("f", text, sizeof(text) - 1, 0, &f->arena, &dag, &err), 0);
	struct history h = { text, dag, NULL, 0, NULL, 0, &f->arena };

	for (size_t i = 0; i < HN_COUNT_OF(a); i++) {
		a[i] = (float)(i % 7);
	}
	for (size_t i = 0; i < HN_COUNT_OF(b); i++) {
		b[i] = (float)(i % 5);
	}
	make(f, &h, "-O1", &made, &k);
	for (int64_t n = 1; n <= 9; n += 4) {
		int64_t sizes[] = { n, 2 * n };

		assert_int_equal(k.sized(sizes, args, NULL), 0);
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < n + 2; j++) {
				float sum = 0;

				for (int64_t q = 0; q < 2 * n; q++) {
					sum += a[i * 2 * n + q] * b[q * (n + 2) + j];
				}
				assert_true(c[i * (n + 2) + j] == sum);
			}
		}
	}
	int64_t out[] = { 10, 3 };

	assert_int_equal(k.sized(out, args, NULL), HONE_KERNEL_SIZE);
	c_unload(&k);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_prepared, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_of_the_call, setup, teardown),
	};

	n_histories = argc > 1 ? strtoull(argv[1], NULL, 10) : n_histories;
	return cmocka_run_group_tests_name("C source", tests, NULL, NULL);
}
