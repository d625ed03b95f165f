/* The seam between dags and measuring, and the ring of events. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/ring.h"
#include "daemon/workload.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/dag/tolerance.h"

static double tolerance_of(const char *text)
{
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_err err;
	double tolerance;

	hn_arena_init(&a, 0);
	if (hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	tolerance = hn_dag_tolerance(dag);
	hn_arena_fini(&a);
	return tolerance;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 + 1e-9 * want)) {
		fail_msg("%g, not %g", got, want);
	}
}

/* Grows with the root of what is summed, adds up along chains, is exact for integers. */
static void test_tolerance(void **state)
{
	(void)state;
	near(tolerance_of("f(float32 A[8]) -> C { C(i) = A(i) }"), 1e-5);
	near(tolerance_of("f(float32 A[8,400]) -> C { C(i) +=! A(i,k) }"), 1e-5 * 20);
	near(tolerance_of("f(float32 A[8,20,20]) -> C { C(i) +=! A(i,k,l) }"), 1e-5 * 20);
	near(tolerance_of("f(float64 A[8,400]) -> C { C(i) +=! A(i,k) }"), 1e-13 * 20);
	near(tolerance_of("f(int32 A[8,400]) -> C { C(i) +=! A(i,k) }"), 0);
	near(tolerance_of("f(float32 A[8,300], float32 B[8,100]) -> C { T(i) +=! A(i,k)\n"
			  "C(i) +=! T(i) * B(i,k) }"),
	     1e-5 * 20);
	near(tolerance_of("f(float32 A[2,9000000]) -> C { C(i) +=! A(i,k) }"), 1e-2);
}

static void test_arguments(void **state)
{
	static const char text[] =
		"f(float32 A[3,5], int8 B[7]) -> C { C(i,j) = A(i,j) }";
	const struct hn_dag *dag;
	struct hn_workload w;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	if (hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	w = hn_workload_of(dag, "key", "{}", &a);
	assert_int_equal(w.n_arg, dag->n_arg);
	assert_string_equal(w.arg[0].name, "A");
	assert_string_equal(w.arg[0].dtype, "float32");
	assert_int_equal(w.arg[0].n_dim, 2);
	assert_int_equal(w.arg[0].shape[1], 5);
	assert_false(w.arg[0].output);
	assert_true(w.arg[w.n_arg - 1].output);
	assert_string_equal(w.arg[w.n_arg - 1].name, "C");
	hn_arena_fini(&a);
}

/* An op with several outputs is an argument once for each, each of its own type. */
static void test_outputs_of_their_own_type(void **state)
{
	static const char json[] =
		"{\"format\":\"compute-dag/"
		"1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"A\","
		"\"shape\":[4],\"dtype\":\"float64\"},{\"kind\":\"compute\",\"id\":\"M\","
		"\"name\":\"M\","
		"\"shape\":[4],\"dtype\":[\"int32\",\"float64\"],\"axes\":[[\"i\",0,4]],"
		"\"reduce_axes\":[],\"body\":[[\"var\",\"i\"],[\"load\",\"A\",[\"var\","
		"\"i\"]]]}],"
		"\"inputs_outputs\":[\"A\",\"M.v0\",\"M.v1\"]}";
	const struct hn_dag *dag;
	struct hn_workload w;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	if (hn_dag_parse("t", json, strlen(json), 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	w = hn_workload_of(dag, "key", json, &a);
	assert_int_equal(w.n_arg, 3);
	assert_string_equal(w.arg[1].dtype, "int32");
	assert_string_equal(w.arg[2].dtype, "float64");
	hn_arena_fini(&a);
}

static void test_ring(void **state)
{
	struct hn_ring r;
	char data[24];

	(void)state;
	hn_ring_init(&r, 3);
	assert_null(hn_ring_at(&r, 0));
	assert_null(hn_ring_at(&r, 1));
	for (int i = 1; i <= 5; i++) {
		snprintf(data, sizeof(data), "{\"i\":%d}", i);
		assert_int_equal(
			hn_ring_add(&r, i == 5 ? HN_EVENT_done : HN_EVENT_progress, data),
			i);
		assert_int_equal(hn_ring_first(&r), i <= 3 ? 1 : i - 2);
	}
	assert_null(hn_ring_at(&r, 2));
	assert_string_equal(hn_ring_at(&r, 3)->data, "{\"i\":3}");
	assert_string_equal(hn_ring_at(&r, 5)->data, "{\"i\":5}");
	assert_int_equal(hn_ring_at(&r, 5)->type, HN_EVENT_done);
	assert_null(hn_ring_at(&r, 6));
	hn_ring_trim(&r, 5);
	assert_int_equal(hn_ring_first(&r), 3);
	hn_ring_trim(&r, 1);
	assert_int_equal(hn_ring_first(&r), 5);
	assert_null(hn_ring_at(&r, 4));
	assert_string_equal(hn_ring_at(&r, 5)->data, "{\"i\":5}");
	assert_int_equal(hn_ring_add(&r, HN_EVENT_gap, "{}"), 6);
	assert_int_equal(hn_ring_first(&r), 6); /* it stays as small */
	assert_null(hn_ring_at(&r, 5));
	assert_non_null(hn_ring_at(&r, 6));
	hn_ring_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_outputs_of_their_own_type),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
