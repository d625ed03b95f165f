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
#include "dag_form.h"
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
