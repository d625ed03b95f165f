/* The reference interpreter against plain C written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "tests/lib/dag_form.h"
#include "lower/interp/interp.h"
#include "lower/lower.h"

static void fill(float *x, size_t n, uint64_t seed)
{
	struct hn_rng r = hn_rng_stream(seed, 0, 0, 0);

	for (size_t i = 0; i < n; i++) {
		x[i] = (float)(2 * hn_rng_unit(&r) - 1);
	}
}

static void run(const struct hn_dag *dag, void *const *arg)
{
	struct hn_err err = { 0 };

	if (hn_interpret(dag, arg, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

static void multiply(void **state)
{
	enum { N = 61, M = 53, K = 47 };
	static float x[N * K], y[K * M], z[N * M];
	void *arg[] = { x, y, z };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	fill(x, N * K, 1);
	fill(y, K * M, 2);
	run(dag_open("f(float32 A[61,47], B[47,53]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  &a),
	    arg);
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < M; j++) {
			double s = 0;

			for (int k = 0; k < K; k++) {
				s += (double)x[i * K + k] * (double)y[k * M + j];
			}
			assert_true(z[i * M + j] == (float)s);
		}
	}
	hn_arena_fini(&a);
}

static void convolve(void **state)
{
	enum { H = 9, C = 3, F = 4, O = 5 };
	static float x[H * H * C], w[9 * C * F], b[F], y[O * O * F];
	void *arg[] = { x, w, b, y };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	fill(x, H * H * C, 1);
	fill(w, 9 * C * F, 2);
	fill(b, F, 3);
	run(dag_open("f(float32 X[1,9,9,3], W[3,3,3,4], b[4]) -> Y {"
		  " P(n,h,w,c) = h>=1 && h<10 && w>=1 && w<10 ? X(n,h-1,w-1,c) : 0 where "
		  "h in 0:11, w in 0:11"
		  " K(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * W(r,s,c,f)"
		  " Y(n,h,w,f) = max(K(n,h,w,f) + b(f), 0) }",
		  &a),
	    arg);
	for (int i = 0; i < O * O * F; i++) {
		int f = i % F, wo = i / F % O, h = i / F / O;
		double s = 0;

		for (int k = 0; k < 9 * C; k++) {
			int c = k % C, iw = 2 * wo + k / C % 3 - 1,
			    ih = 2 * h + k / C / 3 - 1;

			if (iw >= 0 && iw < H && ih >= 0 && ih < H) {
				s += (double)x[(ih * H + iw) * C + c] *
				     (double)w[k * F + f];
			}
		}
		double v = (double)(float)s + (double)b[f];

		assert_true(y[i] == (float)(v > 0 ? v : 0));
	}
	hn_arena_fini(&a);
}

static void soften(void **state)
{
	static float x[6 * 11], y[6 * 11];
	void *arg[] = { x, y };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	fill(x, 66, 4);
	run(dag_open("f(float32 x[6,11]) -> y { m(i) max=! x(i,k) e(i,j) = exp(x(i,j) - "
		  "m(i))"
		  " s(i) +=! e(i,k) y(i,j) = e(i,j) / s(i) }",
		  &a),
	    arg);
	for (int i = 0; i < 6; i++) {
		double s = 0, sum = 0;

		for (int j = 0; j < 11; j++) {
			s += exp((double)x[i * 11 + j]);
			sum += (double)y[i * 11 + j];
		}
		assert_true(fabs(sum - 1) < 1e-6);
		for (int j = 0; j < 11; j++) {
			assert_true(fabs((double)y[i * 11 + j] -
					 exp((double)x[i * 11 + j]) / s) < 1e-6);
		}
	}
	hn_arena_fini(&a);
}

/* Types, wrapping, casts, rounding down, gathers, ranges that start above 0, rank 0. */
static void mix_types(void **state)
{
	uint8_t u[4] = { 200, 100, 7, 255 };
	int32_t k[4] = { -7, 9, 2147483647, -1 }, sum = 1, q[4];
	uint8_t wrapped[4];
	float table[3] = { 1, 2, 4 }, g[4];
	void *arg[] = { u, k, table, wrapped, q, g, &sum };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	run(dag_open("f(uint8 U[4], int32 K[4], float32 T[3]) -> w, q, g, s {"
		  " w(i) = U(i) + 100 q(i) = K(i) / 2 + K(i) % 4 + (K(i) + 1) * 0"
		  " g(i) = T(min(max(K(i), 0), 2)) + float32(U(i))"
		  " s() +=! K(i) * 1 where i in 2:4 }",
		  &a),
	    arg);
	for (int i = 0; i < 4; i++) {
		int64_t x = k[i];
		int64_t down = (x - ((x % 2 + 2) % 2)) / 2;

		assert_int_equal(wrapped[i], (uint8_t)(u[i] + 100));
		assert_int_equal(q[i], (int32_t)(down + (x % 4 + 4) % 4));
		assert_true(g[i] == table[x < 0 ? 0 : x > 2 ? 2 : x] + (float)u[i]);
	}
	assert_int_equal(sum, 2147483646);
	hn_arena_fini(&a);
}

static const char argmax[] =
	"{\"format\":\"compute-dag/1\",\"ops\":["
	"{\"kind\":\"placeholder\",\"id\":\"A\",\"shape\":[5,7],\"dtype\":\"float32\"},"
	"{\"kind\":\"compute\",\"id\":\"M\",\"shape\":[5],\"dtype\":[\"int32\","
	"\"float32\"],"
	"\"axes\":[[\"i\",0,5]],\"reduce_axes\":[[\"k\",0,7]],\"body\":[%s,%s]}],"
	"\"inputs_outputs\":[\"A\",\"M.v0\",\"M.v1\"]}";
static const char argmax_body[] =
	"{\"reduce\":{\"lhs\":[\"i0\",\"v0\"],\"rhs\":[\"i1\",\"v1\"],\"result\":["
	"[\"select\",[\"ge\",[\"var\",\"v0\"],[\"var\",\"v1\"]],[\"var\",\"i0\"],["
	"\"var\",\"i1\"]],"
	"[\"max\",[\"var\",\"v0\"],[\"var\",\"v1\"]]],"
	"\"identity\":[[\"int\",-1,\"int32\"],[\"float\",\"-inf\",\"float32\"]]},"
	"\"source\":[[\"var\",\"k\"],[\"let\",\"t\",[\"load\",\"A\",[\"var\",\"i\"],["
	"\"var\",\"k\"]],"
	"[\"mul\",[\"var\",\"t\"],[\"var\",\"t\"]]]],"
	"\"condition\":[\"ne\",[\"var\",\"k\"],[\"int\",3,\"int32\"]],\"init\":[],"
	"\"value_index\":%d}";

static void find_maximum(void **state)
{
	static float x[35], best[5];
	int32_t at[5];
	void *arg[] = { x, at, best };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	fill(x, 35, 9);
	char *b0 = hn_arena_printf(&a, argmax_body, 0),
	     *b1 = hn_arena_printf(&a, argmax_body, 1);

	run(dag_open(hn_arena_printf(&a, argmax, b0, b1), &a), arg);
	for (int i = 0; i < 5; i++) {
		int want = -1;
		double v = -INFINITY;

		for (int k = 0; k < 7; k++) {
			double s = (double)x[i * 7 + k] * (double)x[i * 7 + k];

			if (k != 3 && s > v) {
				v = s;
				want = k;
			}
		}
		assert_int_equal(at[i], want);
		assert_true(best[i] == (float)v);
	}
	hn_arena_fini(&a);
}

/* Single elements, in any order, are those of the whole. */
static void compute_elements_alone(void **state)
{
	enum { N = 7, M = 11 };
	static float x[N * M], want[N * M], got[N * M];
	void *all[] = { x, want }, *some[] = { x, got };
	struct hn_err err = { 0 };
	struct hn_interp *in;
	struct hn_arena a;
	int64_t fuel = 1000000, before;

	(void)state;
	hn_arena_init(&a, 0);
	fill(x, N * M, 4);
	const struct hn_dag *dag =
		dag_open("f(float32 X[7,11]) -> Y { m(i) max=! X(i,j) E(i,j) = exp(X(i,j) - m(i))"
		      " s(i) +=! E(i,j) Y(i,j) = E(10-j>=0 ? i : 0, 10-j) / s(i) }",
		      &a);

	run(dag, all);
	assert_int_equal(hn_interp_open(dag, some, HN_INTERP_WIDE, &in, &err), 0);
	for (int k = 0; k < N * M; k++) {
		int64_t at = 30 * k % (N * M);

		assert_int_equal(hn_interp_element(in, dag->n_op - 1, at, &fuel), HN_INTERP_OK);
		assert_true(got[at] == want[at]);
		before = fuel;
		assert_int_equal(hn_interp_element(in, dag->n_op - 1, at, &fuel), HN_INTERP_OK);
		assert_int_equal(fuel, before);
	}
	hn_interp_close(in);
	fuel = 20;
	assert_int_equal(hn_interp_open(dag, some, HN_INTERP_WIDE, &in, &err), 0);
	assert_int_equal(hn_interp_element(in, dag->n_op - 1, 3, &fuel), HN_INTERP_LONG);
	hn_interp_close(in);
	hn_arena_fini(&a);
}

/* Rounded: a sum of float32 stands still where it does in C. */
static void round_each_operation(void **state)
{
	static const float x[4] = { 16777216, 1, 1, 1 };
	float sum, next[4] = { 0 };
	void *arg[] = { (void *)x, &sum, next };
	struct hn_err err = { 0 };
	struct hn_interp *in;
	struct hn_arena a;
	int64_t fuel = 1000;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(
		"f(float32 X[4]) -> s, T { s() +=! X(i) T(i) = (X(i) + 1) - X(i) }", &a);

	assert_int_equal(hn_interp_open(dag, arg, HN_INTERP_ROUNDED, &in, &err), 0);
	assert_int_equal(hn_interp_element(in, 1, 0, &fuel), HN_INTERP_OK);
	assert_int_equal(hn_interp_element(in, 2, 0, &fuel), HN_INTERP_OK);
	assert_true(sum == 16777216);
	assert_true(next[0] == 0);
	hn_interp_close(in);
	hn_arena_fini(&a);
}

/* What C leaves undefined is told of what rests on it, and of nothing else: a cast that saturates
 * is defined here. */
static void tell_the_undefined(void **state)
{
	static const int32_t x[6] = { 1, 0, -1, 5, 7, INT32_MIN };
	static const float f[6] = { 1, 200, -129, -128.5f, 127.9f, 3 };
	static const bool bad[3][6] = { { false, true, true, false, false, false },
					{ false, false, false, false, false, false },
					{ false, true, true, true, true, true } };
	int32_t y[6] = { 0 };
	int8_t z[6] = { 0 };
	int32_t w[6] = { 0 };
	void *arg[] = { (void *)x, (void *)f, y, z, w };
	struct hn_err err = { 0 };
	struct hn_interp *in;
	struct hn_arena a;
	int64_t fuel = 1000;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag =
		dag_open("g(int32 X[6], float32 F[6]) -> Y, Z, W { Y(i) = X(5) / X(i)"
			 " Z(i) = int8(F(i)) W(i) +=! (k <= i ? Y(k) : 0) where i in 0:6, k in 0:6 }",
			 &a);

	assert_int_equal(hn_interp_open(dag, arg, HN_INTERP_WIDE, &in, &err), 0);
	for (uint32_t op = 0; op < 3; op++) {
		for (int i = 0; i < 6; i++) {
			assert_int_equal(hn_interp_element(in, 2 + op, i, &fuel),
					 bad[op][i] ? HN_INTERP_UNDEFINED : HN_INTERP_OK);
		}
	}
	hn_interp_close(in);
	hn_arena_fini(&a);
}

/* Numbers of loops are compared in 64 bits: what a condition allows, a load relies on. */
static void compare_loops_without_wrapping(void **state)
{
	static const char text[] = "f(float32 A[128]) -> S { S(i) = i * 16777216 < 2147483647 ? A(i) : 3.0 where "
				   "i in 0:1024 }";
	static float a[128], s[1024];
	const struct hn_dag *dag;
	struct hn_arena arena;
	struct hn_err err;

	(void)state;
	hn_arena_init(&arena, 0);
	fill(a, 128, 5);
	assert_int_equal(hn_dag_from_text("f", text, sizeof(text) - 1, 0, &arena, &dag, &err), 0);
	run(dag, (void *const[]){ a, s });
	for (int i = 0; i < 1024; i++) {
		assert_float_equal(s[i], i < 128 ? a[i] : 3, 0);
	}
	hn_arena_fini(&arena);
}

static void be_quick_enough(void **state)
{
	enum { N = 128 };
	static float x[N * N], y[N * N], z[N * N];
	void *arg[] = { x, y, z };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_open(
		"f(float32 A[128,128], B[128,128]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		&a);
	int64_t start = hn_clock_ns();

	run(dag, arg);
	double rate = (double)N * N * N / (double)(hn_clock_ns() - start) * 1e3;

	/* Tens of millions; far below that even under a sanitizer something is wrong. */
	print_message("%.0f M evaluations/s\n", rate);
	assert_true(rate > 1);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multiply),	cmocka_unit_test(convolve),
		cmocka_unit_test(soften),	cmocka_unit_test(mix_types),
		cmocka_unit_test(find_maximum), cmocka_unit_test(be_quick_enough),
		cmocka_unit_test(compare_loops_without_wrapping),
		cmocka_unit_test(compute_elements_alone),
		cmocka_unit_test(round_each_operation),
		cmocka_unit_test(tell_the_undefined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
