/* What the NPU's vector unit is given a program of: axes in any order and anywhere, indices that are
 * linear, sums over tiles, several types, functions without an instruction.  Each program is judged,
 * and its numbers are the interpreter's, with any plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_bed.h"

static const struct hn_npu_plan plans[] = {
	{ .order = HN_NPU_FLAGS, .slots = 2, .reuse = true }, { .order = HN_NPU_FLAGS, .slots = 1 }, { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tile = 3 },
	{ .order = HN_NPU_BARRIERS, .slots = 1, .reuse = true },
};

static const struct hn_dag *dag_of(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err;

	if (hn_dag_from_text("t", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	return dag;
}

/* The cores that the last plan's program uses. */
static uint32_t right_on(const char *text, const struct hn_npu_profile *m)
{
	struct hn_npu_vector_facts facts = { 0 };
	const struct hn_dag *dag;
	struct npu_bed b;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	dag = dag_of(text, &a);
	assert_int_equal(npu_bed_open(&b, dag, m, 1), 0);
	for (size_t i = 0; i < HN_COUNT_OF(plans); i++) {
		const struct hn_npu_program *p;
		struct hn_npu_result r;

		if (hn_npu_vector(dag, m, &plans[i], &a, &p, &facts, &b.err) != 0 ||
		    npu_bed_run(&b, p, i == 0 ? 9 : 0, true, &a, &r) != 0 || npu_bed_compare(&b) < 0) {
			fail_msg("plan %zu: %s\n%s", i, b.err.msg, text);
		}
	}
	npu_bed_close(&b);
	hn_arena_fini(&a);
	return facts.cores;
}

static uint32_t right(const char *text)
{
	struct hn_npu_profile tiny;
	struct hn_err err;

	assert_int_equal(hn_npu_profile_of("tiny", &tiny, &err), 0);
	return right_on(text, &tiny);
}

static void axes_in_any_order(void **state)
{
	struct hn_npu_profile five;
	struct hn_err err;

	(void)state;
	right("f(float32 A[40,56]) -> C { C(j,i) = A(i,j) }");
	right("f(int32 A[40,33]) -> C { C(j,i) = A(i,j) }");
	right("f(float16 A[33,17]) -> C { C(j,i) = A(i,j) }");
	right("f(float32 A[6,7,40]) -> C { C(j,i,k) = A(i,j,k) * 2.0 }");
	right("f(float32 A[5,16,24], float32 B[24,5]) -> C { C(k,i,j) = A(i,j,k) + B(k,i) }");
	right("f(float16 A[3,4,16,16], float16 B[64,48]) -> C { C(m1,n1,a,b) = A(n1,m1,a,b) * "
	      "B(m1*16+a,n1*16+b) }");
	right("f(float32 A[48,32]) -> C { C(a,b,c,d) = A(b*16+c,a*16+d)  "
	      "where a in 0:2, b in 0:3, c in 0:16, d in 0:16 }");
	right("f(float32 A[30,30]) -> C { T(i,j) = exp(A(i,j)) C(i,j) = T(i,j) + T(j,i) }");
	/* the last core has fewer tiles of an axis, and what lacks another is made again for each of that */
	assert_int_equal(hn_npu_profile_of("tiny", &five, &err), 0);
	five.cores = 5;
	right_on("f(float32 A[32,31,2], float32 B[2,31,16,32], float32 D[31,16]) -> C { T(i,j,k,l) = "
		 "D(i,15 - j) + B(k,i,j,l)  where i in 0:31, j in 0:16, k in 0:2, l in 0:32 "
		 "C(i,j,k,l) = float16(T(i,j,k,l) + A(l,30 - i,k))  "
		 "where i in 0:31, j in 0:16, k in 0:2, l in 0:32 }", &five);
	/* one number, no number, one column */
	right("f(float32 A[1]) -> C { C(i) = A(i) * 3.0 }");
	right("f(float32 A[1,1]) -> C { C(i,j) = A(0,0) + 1.0  where i in 0:70, j in 0:9 }");
	right("f(float32 A[70,1], float32 B[70,5]) -> C { C(i,j) = A(i,0) * B(i,j) }");
}

static void indices_that_are_linear(void **state)
{
	(void)state;
	right("f(float32 A[64]) -> C { C(i) = A(i) + A(63 - i) }");
	right("f(float32 A[40,41]) -> C { C(i,j) = A(2*i+1,j+3)  where i in 0:19, j in 0:37 }");
	right("f(float32 A[10,64]) -> C { C(i,j) = A(i,2*j)  where i in 0:10, j in 0:32 }");
	right("f(float32 A[6,34]) -> C { C(i,j) max=! A(i,2*j+k)  where i in 0:6, j in 0:16, k in 0:3 }");
	right("f(float32 A[12,12]) -> C { C(i,j) +=! A(i+k,j+l)  where i in 0:10, j in 0:10, k in 0:3, l in 0:3 }");
	right("f(float32 A[96]) -> C { C(i,j) = A(i*8+j)  where i in 0:12, j in 0:8 }");
}

static void conditions_on_where_a_point_is(void **state)
{
	(void)state;
	right("f(float32 A[20,30]) -> C { C(i,j) = (i >= 2 && i < 22 && j >= 3 && j < 33) ? A(i-2,j-3) : 0.5  "
	      "where i in 0:25, j in 0:40 }");
	right("f(float32 A[9,16], float32 B[9,24]) -> C { C(i,j) = j < 16 ? A(i,j) : B(i,j-16)  where i in 0:9, j in 0:40 }");
	right("f(float32 A[500], float32 B[41], float32 D[8]) -> C { C(i) = i < 500 ? A(i) : i < 541 ? B(i-500) : D(i-541) "
	      " where i in 0:549 }");
	right("f(float32 A[12,12]) -> C { P(i,j) = (i >= 1 && i < 13 && j >= 1 && j < 13) ? A(i-1,j-1) : 0.0  "
	      "where i in 0:14, j in 0:14 C(i,j) = P(i,j) * 2.0 + P(i+0,j) }");
	right("f(float32 A[8,9]) -> C { C(i,j) = select(i != 3 || j == 2, A(i,j), 1.0) }");
}

/* A window that reaches over the border, what is put behind each other and then summed, and sums over
 * some of the points. */
static void conditions_within_sums(void **state)
{
	(void)state;
	right("f(float32 A[2,9,11,24], float32 W[3,3,24]) -> C { P(n,h,w,c) = (h >= 1 && h < 10 && w >= 1 && w < 12) "
	      "? A(n,h-1,w-1,c) : 0.0  where h in 0:11, w in 0:13 C(n,h,w,c) +=! P(n,h+r,w+s,c) * W(r,s,c)  where h in "
	      "0:9, w in 0:11 }");
	right("f(float32 A[10,12,8]) -> C { P(h,w,c) = (h >= 1 && h < 11 && w >= 1 && w < 13) ? A(h-1,w-1,c) : -1e30  "
	      "where h in 0:12, w in 0:14 C(h,w,c) max=! P(2*h+r,2*w+s,c)  where h in 0:5, w in 0:6, r in 0:3, s in "
	      "0:3 }");
	right("f(float32 A[4,6,20], float32 W[8,4,3]) -> C { P(b,c,w) = (w >= 4 && w < 24) ? A(b,c,w-4) : 0.0  where w "
	      "in 0:28, c in 0:4, b in 0:4 C(b,o,w) +=! P(b,c,w+4*s) * W(o,c,s)  where w in 0:20 }");
	right("f(float32 A[7,40], float32 B[7,33]) -> C { D(i,k) = k < 40 ? A(i,k) : B(i,k-40)  where k in 0:73 "
	      "C(i) +=! D(i,k) * D(i,k) }");
	right("f(float32 A[9,40]) -> C, D { C(i) max=! k < 17 ? A(i,k) D(i) +=! k >= 2 && i < 5 ? A(i,k) }");
	right("f(float32 A[6,12]) -> C { C(i) +=! k <= i ? A(i,k) }");
	/* the same axis summed and kept */
	right("f(float32 A[8,20]) -> C { P(i,j) = j >= 3 ? A(i,j-3) : 0.0  where j in 0:23 S(i) +=! P(i,j) C(i,j) = "
	      "P(i,j) * S(i) }");
}

static void sums_over_any_axes(void **state)
{
	uint32_t cores;

	(void)state;
	right("f(float32 A[50,24]) -> C { C(j) +=! A(i,j) }");
	right("f(float32 A[9,20,16]) -> C { C(i,k) +=! A(i,j,k) }");
	right("f(float32 A[4,6,8,16]) -> C { C(j,k) max=! A(i,j,k,l) }");
	right("f(float32 A[16,5,7,16]) -> M, S { M(i,k) max=! A(i,j,k,l) S(j) +=! A(i,j,k,l) }");
	right("f(float32 A[3,7,16,16]) -> C { M(i,k) max=! A(i,j,k,l) E(i,j,k,l) = exp(A(i,j,k,l) - M(i,k)) "
	      "S(i,k) +=! E(i,j,k,l) C(i,j,k,l) = E(i,j,k,l) / S(i,k) }");
	right("f(float32 A[12,10]) -> C { C(i) *=! A(i,j) * 0.9 }");
	right("f(int32 A[12,40]) -> C { C(j) +=! A(i,j) }");
	right("f(uint8 A[40,60]) -> C { T(j) min=! A(i,j) C(j) = T(j) != uint8(0) }");
	right("f(float32 A[24,24], float32 B[24,24]) -> C { C(i,j) +=! A(i,k) * B(k,j) }");
	/* what leaves one number is one core's; else cores share another axis */
	cores = right("f(float32 A[4096]) -> C { C() +=! A(i) }");
	assert_int_equal(cores, 1);
	cores = right("f(float32 A[30,64]) -> C { C(j) +=! A(i,j) }");
	assert_int_equal(cores, 1);
	cores = right("f(float32 A[30,512]) -> C { C(j) +=! A(i,j) }");
	assert_int_equal(cores, 2);
}

/* Where no dimension is in all results, groups of them have cores of their own: a border, and a sum over
 * what another result keeps.  Not where two would store to one block. */
static void results_in_groups(void **state)
{
	struct hn_npu_profile m;
	struct hn_err err;

	(void)state;
	assert_int_equal(hn_npu_profile_of("dv910", &m, &err), 0);
	assert_true(right_on("f(float32 A[40,30,24], float32 W[3,3,24]) -> C { P(h,w,c) = (h >= 1 && h < 41 && w "
				  ">= 1 && w < 31) ? A(h-1,w-1,c) : 0.0  where h in 0:42, w in 0:32 C(h,w,c) +=! "
				  "P(h+r,w+s,c) * W(r,s,c)  where h in 0:40, w in 0:30 }", &m) > 16);
	assert_true(right_on("f(float32 A[64,96]) -> C, D { C(i,j) = A(i,j) * 2.0 D() +=! A(i,j) }", &m) > 16);
	/* what one result is made of is a result of the other group */
	assert_true(right_on("f(float32 A[40,5000], float32 R[1]) -> B, C { B(i) = 1.0 / R(i) S(j) +=! A(i,j) C(j) = "
			     "S(j) * B(0) }", &m) > 16);
	assert_int_equal(right_on("f(float32 A[17,13]) -> C { C(i,j) = (i >= 8 && i < 25) ? A(i-8,j) : 0.5  where i in "
				  "0:33, j in 0:13 }", &m), 1);
}

/* More than the buffer holds: sums are over tiles, and softmax walks over them three times. */
static void sums_over_tiles(void **state)
{
	(void)state;
	right("f(float32 A[3,30000]) -> C { C(i) +=! A(i,j) }");
	right("f(float32 A[2,30001]) -> C { M(i) max=! A(i,j) E(i,j) = exp(A(i,j) - M(i)) S(i) +=! E(i,j) "
	      "C(i,j) = E(i,j) / S(i) }");
	right("f(float32 A[3000,40], float32 G[40]) -> C { S(j) +=! A(i,j) C(i,j) = A(i,j) - S(j) * G(j) }");
	right("f(float32 A[200000]) -> C { S() +=! A(i) C(i) = A(i) * S() }");
}

static void types_and_functions(void **state)
{
	static const char *const calls[] = { "erf", "sin", "cos", "atan", "sinh", "cosh", "tanh", "sigmoid",
					     "floor", "ceil", "trunc", "round", "nearbyint", "exp2" };
	static const char *const positive[] = { "log", "log2", "log10", "log1p", "sqrt", "rsqrt" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(calls); i++) {
		snprintf(text, sizeof(text), "f(float32 A[300]) -> C { C(i) = %s(A(i) * 3.0) }", calls[i]);
		right(text);
	}
	for (size_t i = 0; i < HN_COUNT_OF(positive); i++) {
		snprintf(text, sizeof(text), "f(float32 A[300]) -> C { C(i) = %s(abs(A(i)) + 0.001) }", positive[i]);
		right(text);
	}
	right("f(float32 A[300]) -> C { C(i) = tan(A(i) * 0.7) }");
	right("f(float32 A[100], float32 B[100]) -> C { C(i) = pow(abs(A(i)), B(i)) + pow(A(i), 3.0) }");
	right("f(float32 A[100], float32 B[100]) -> C { C(i) = fmod(A(i) * 5.0, abs(B(i)) + 0.1) }");
	right("f(bool A[9,33], bool B[33]) -> C { C(i,j) = A(i,j) && !B(j) }");
	right("f(int32 A[200], int32 B[200]) -> C { C(i) = A(i) < B(i) || A(i) == 3 }");
	right("f(int32 A[200]) -> C { C(i) = select(A(i) >= 2, A(i) * 3 - 1, 1 - A(i)) }");
	right("f(float32 A[7,33]) -> C { C(i,j) = int32(A(i,j) * 100.0) }");
	right("f(uint8 A[7,40]) -> C { C(i,j) = float32(A(i,j)) * 0.5 }");
	right("f(int8 A[7,40]) -> C { C(i,j) = max(A(i,j), int8(3)) }");
	right("f(float16 A[7,40], float32 B[7]) -> C { C(i,j) = select(B(i) > 0.5, A(i,j), float16(0.25)) }");
}

static int64_t cycles_of(const char *text)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_npu_profile_of("dv910", &m, &err) != 0 ||
	    hn_npu_vector(dag_of(text, &a), &m, &plans[0], &a, &p, NULL, &err) != 0 ||
	    hn_npu_run(p, &m, &o, &a, &r, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_arena_fini(&a);
	return r.cycles;
}

/* A reshape between ops, as graphs have it, is no dimension to go through. */
/* Bytes of a row that rows share, that is wider than a repeat, that a comparison makes of fewer axes. */
static void bytes_are_spread(void **state)
{
	(void)state;
	right("f(bool M[20]) -> C { C(i,j) = M(j)  where i in 0:64, j in 0:20 }");
	right("f(bool M[300]) -> C { C(i,j) = M(j)  where i in 0:7, j in 0:300 }");
	right("f(int8 R[64]) -> C { C(i,j) = R(i)  where i in 0:64, j in 0:40 }");
	right("f(float32 A[50]) -> C { C(i,j) = A(i) > 0.0  where i in 0:50, j in 0:200 }");
	right("f(uint8 A[9,200], uint8 B[200]) -> C, D { C(i,j) = max(A(i,j), B(j)) D(i,j) = B(j)  where i in 0:9 }");
	right("f(bool M[5,1000]) -> C, D { C(i,j) = M(i,j) D(i,j) = M(i,j) }");
}

static void a_reshape_costs_nothing(void **state)
{
	int64_t with = cycles_of("f(float16 A[64,8,16,512]) -> D { M(b,k,l) max=! A(b,k,l,r) where r in 0:512 "
				 "R(b,i) = M(b,i / 16,i % 16) where i in 0:128 "
				 "D(b,k,l,c) = A(b,k,l,c) - R(b,k * 16 + l) where k in 0:8, l in 0:16 }");
	int64_t without = cycles_of("f(float16 A[64,8,16,512]) -> D { M(b,k,l) max=! A(b,k,l,r) where r in 0:512 "
				    "D(b,k,l,c) = A(b,k,l,c) - M(b,k,l) }");

	(void)state;
	assert_true(with < without + without / 20);
}

/* A condition on a sum's points takes that sum apart alone, whatever other sum over the same axis is read
 * before it in the body. */
static void only_the_sum_that_asks_is_taken_apart(void **state)
{
	int64_t before = cycles_of("f(float32 A[64,400]) -> C { S(i) +=! A(i,k) "
				   "C(i) +=! S(i) * (k < 170 ? A(i,k) : 0.5 * A(i,k)) }");
	int64_t behind = cycles_of("f(float32 A[64,400]) -> C { S(i) +=! A(i,k) "
				   "C(i) +=! (k < 170 ? A(i,k) : 0.5 * A(i,k)) * S(i) }");

	(void)state;
	right("f(float32 A[20,40]) -> C { S(i) +=! A(i,k) "
	      "C(i) +=! S(i) * (k < 17 ? A(i,k) : 0.5 * A(i,k)) }");
	assert_true(before < behind + behind / 20);
}

static void what_has_no_form_is_told(void **state)
{
	static const char *const refused[][2] = {
		{ "f(int64 A[64]) -> C { C(i) = A(i) + int64(1) }", "have a form, not int64" },
		{ "f(float16 A[64,8]) -> C { C(i) +=! A(i,j) }", "cast first" },
		{ "f(float32 A[64], int32 I[9]) -> C { C(i) = A(min(max(I(i), 0), 63)) }", "C: an index is no linear form of axes, of A" },
		{ "f(float32 A[8]) -> C { C(i) = select(i < 8, A(min(i, 7)), 0.0)  where i in 0:12 }",
		  "an index is no linear form" },
		{ "f(float32 A[8,8]) -> C { C(i,j) = select(i == j, 1.0, A(i,j)) }", "a condition on where a point is" },
		{ "f(float32 A[70,70]) -> C { C(i) +=! k <= i ? A(i,k) }", "a condition on where a point is" },
		{ "f(int32 A[64]) -> C { C(i) = A(i) / 3 }", "no instruction for floordiv" },
		{ "f(float32 A[12,8]) -> C { C(i) = A(i / 8,i % 8)  where i in 0:96 }", "an index is no linear form" },
		{ "f(float32 A[64]) -> C { C(i) = A(i) + float32(i) }", "the number of a point" },
		{ "f(int32 A[8,8], int32 B[8,8]) -> C { C(i,j) = A(i,j) + B(j,i) }", "do not lie in a row" },
	};
	struct hn_npu_profile m;
	struct hn_err err;

	(void)state;
	assert_int_equal(hn_npu_profile_of("dv910", &m, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		const struct hn_npu_program *p;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_npu_vector(dag_of(refused[i][0], &a), &m, &plans[0], &a, &p, NULL, &err),
				 -HONE_E_UNSUPPORTED);
		if (strstr(err.msg, refused[i][1]) == NULL) {
			fail_msg("%s\ndoes not say\n%s", err.msg, refused[i][1]);
		}
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_in_any_order),
		cmocka_unit_test(indices_that_are_linear),
		cmocka_unit_test(conditions_on_where_a_point_is),
		cmocka_unit_test(conditions_within_sums),
		cmocka_unit_test(sums_over_any_axes),
		cmocka_unit_test(results_in_groups),
		cmocka_unit_test(sums_over_tiles),
		cmocka_unit_test(types_and_functions),
		cmocka_unit_test(bytes_are_spread),
		cmocka_unit_test(a_reshape_costs_nothing),
		cmocka_unit_test(only_the_sum_that_asks_is_taken_apart),
		cmocka_unit_test(what_has_no_form_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
