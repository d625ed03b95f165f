/* Building a graph: shapes, equal nodes, constants, what is swept away, and the text of nodes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/ir/graph.h"
#include "graph/ir/text.h"
#include "graph/op/build.h"
#include "tests/lib/graph_bed.h"

static int32_t input(const char *name, uint32_t rank, const int64_t *shape)
{
	return hn_graph_input(&g, name, HN_F32, rank, shape);
}

static const int64_t two_three[] = { 2, 3 }, three[] = { 3 }, four[] = { 4 };

static void an_equal_node_is_found_again(void **state)
{
	int32_t x = input("x", 2, two_three), y = input("y", 1, three);
	int32_t sum = hn_graph_2(&g, "Add", x, y);

	(void)state;
	assert_int_equal(hn_graph_2(&g, "Add", x, y), sum);
	assert_int_not_equal(hn_graph_2(&g, "Add", y, x), sum);
	assert_int_not_equal(hn_graph_2(&g, "Sub", x, y), sum);
	assert_int_equal(g.n_node, 3);
	/* constants are equal by their elements */
	assert_int_equal(hn_graph_2(&g, "Mul", x, hn_graph_scalar(&g, HN_F32, 2)),
			 hn_graph_2(&g, "Mul", x, hn_graph_scalar(&g, HN_F32, 2)));
	assert_int_not_equal(hn_graph_2(&g, "Mul", x, hn_graph_scalar(&g, HN_F32, 2)),
			     hn_graph_2(&g, "Mul", x, hn_graph_scalar(&g, HN_F32, 3)));
	assert_int_equal(g.n_node, 5);
}

static void constants_are_computed(void **state)
{
	static const float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 10, 20, 30 };
	int32_t x = hn_graph_const(&g, "a", HN_F32, 2, two_three, a, false);
	int32_t y = hn_graph_const(&g, "b", HN_F32, 1, three, b, false);
	int32_t sum = hn_graph_2(&g, "Add", x, y);
	double v;

	(void)state;
	assert_int_equal(g.n_node, 0);
	for (int64_t i = 0; i < 6; i++) {
		assert_true(hn_gvalue_number(&g.value[sum], i, &v));
		assert_true(v == (double)(a[i] + b[i % 3]));
	}
	assert_false(hn_gvalue_number(&g.value[sum], 6, &v));
}

/* 2^38 elements, which no memory holds. */
static void equal_elements_stay_one(void **state)
{
	static const int64_t huge[] = { 1 << 19, 1 << 19 };
	static const float one = 1.5f;
	int32_t x = hn_graph_const(&g, "a", HN_F32, 2, huge, &one, true);
	int32_t y = hn_graph_2(&g, "Mul", x, hn_graph_scalar(&g, HN_F32, 2));
	double v;

	(void)state;
	assert_false(g.failed);
	assert_true(g.value[y].fill);
	assert_true(hn_gvalue_number(&g.value[y], (int64_t)1 << 37, &v) && v == 3);
	assert_true(arena.used_bytes < (1 << 20));
}

/* It is the compiled network's work then. */
static void too_much_work_stays_a_node(void **state)
{
	static const float a[] = { 1, 2, 3, 4, 5, 6 };
	int32_t x = hn_graph_const(&g, "a", HN_F32, 2, two_three, a, false), sum;

	(void)state;
	g.work_left = 60; /* 6 elements, of 3 expressions and 4 bytes in, 4 out: 66 */
	sum = hn_graph_1(&g, "Exp", x);
	assert_false(g.failed);
	assert_null(g.value[sum].data);
	assert_int_equal(g.n_node, 1);
	assert_int_equal(g.work_left, 60);
	g.work_left = 1000;
	sum = hn_graph_1(&g, "Abs", x);
	assert_non_null(g.value[sum].data);
	assert_int_equal(g.n_node, 1);
	assert_true(g.work_left < 1000);
}

static void what_has_no_elements_is_known(void **state)
{
	static const int64_t none[] = { 0, 3 };
	int32_t x = hn_graph_const(&g, "x", HN_F32, 2, none, "", false);
	int32_t y = hn_graph_2(&g, "Add", x, input("y", 1, three));
	int32_t in[] = { y, input("z", 2, two_three) };
	struct hn_gattr axis = hn_gattr_of_int(&arena, "axis", 0);

	(void)state;
	assert_non_null(g.value[y].data);
	assert_int_equal(hn_gvalue_elements(&g.value[y]), 0);
	assert_int_equal(hn_graph_add(&g, "Concat", 2, in, 1, &axis), in[1]);
	assert_int_equal(g.n_node, 0);
	assert_int_equal(hn_graph_1(&g, "MaxPool", y), HN_BAD);
}

static void numbers_are_cut_to_their_type(void **state)
{
	static const struct {
		double v;
		uint8_t t;
		int64_t is;
	} row[] = {
		{ 1e30, HN_I64, INT64_MAX }, { -1e30, HN_I64, INT64_MIN }, { 300, HN_U8, 255 },
		{ -3, HN_U8, 0 },	     { -129, HN_I8, -128 },	   { NAN, HN_I32, 0 },
		{ 0.5, HN_BOOL, 1 },	     { 1e30, HN_U64, -1 },	   { 7.9, HN_I32, 7 },
	};
	int64_t v;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		int32_t n = hn_graph_scalar(&g, row[i].t, row[i].v);

		assert_true(hn_gvalue_int(&g.value[n], 0, &v));
		assert_int_equal(v, row[i].is);
	}
}

/* Nothing is added up, but bytes become what their sums are. */
static void sums_of_one_element_are_that(void **state)
{
	static const int64_t shape[] = { 1, 1, 3 }, axes[] = { 0, 1 };
	static const int8_t data[] = { 5, -6, 7 };
	int32_t x = hn_graph_const(&g, "x", HN_I8, 3, shape, data, false), y;
	int64_t i;

	(void)state;
	y = hn_reduced(&g, x, "+=!", 2, axes, false);
	assert_false(g.failed);
	assert_int_equal(g.value[y].dtype, HN_I32);
	assert_int_equal(g.value[y].rank, 1);
	assert_true(hn_gvalue_int(&g.value[y], 1, &i));
	assert_int_equal(i, -6);
	x = hn_graph_const(&g, "x", HN_I8, 2, shape, data + 1, false); /* a number in the text */
	y = hn_reduced(&g, x, "+=!", 1, axes + 1, true);
	assert_false(g.failed);
	assert_true(hn_gvalue_int(&g.value[y], 0, &i));
	assert_int_equal(i, -6);
}

/* The least integer of a type is no number's opposite: padding is that to a maximum. */
static void the_least_integer_is_written(void **state)
{
	static const enum hn_dtype types[] = { HN_I8, HN_I16, HN_I32, HN_I64 };
	static const int64_t shape[] = { 1, 1, 2, 2 }, kernel[] = { 2, 2 }, pads[] = { 1, 1, 0, 0 };
	struct hn_gattr attr[] = { hn_gattr_of_ints("kernel_shape", 2, kernel),
				   hn_gattr_of_ints("pads", 4, pads) };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(types); i++) {
		static const int64_t least[] = { INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN };
		int32_t x = hn_graph_const(&g, "x", types[i], 4, shape, &least[i], true), y;
		int64_t v;

		y = hn_graph_add(&g, "MaxPool", 1, &x, 2, attr);
		assert_false(g.failed);
		assert_true(hn_gvalue_int(&g.value[y], 3, &v));
		assert_true(v == least[i]);
	}
}

static void what_nobody_needs_goes(void **state)
{
	int32_t x = input("x", 2, two_three), kept, out[1];

	(void)state;
	hn_graph_1(&g, "Relu", x);
	kept = hn_graph_1(&g, "Tanh", x);
	hn_graph_1(&g, "Exp", kept);
	out[0] = hn_graph_1(&g, "Abs", kept);
	g.output = out;
	g.n_output = 1;
	hn_graph_sweep(&g);
	assert_int_equal(g.n_node, 2);
	assert_int_equal(g.value[kept].node, 0);
	assert_int_equal(g.value[out[0]].node, 1);
}

static void nodes_become_a_computation(void **state)
{
	static const uint8_t channels_last[] = { 0, 2, 3, 1 };
	static const int64_t image[] = { 1, 8, 5, 5 }, weights[] = { 4, 8, 3, 3 };
	struct hn_gattr pads = hn_gattr_of_ints("pads", 4, (int64_t[]){ 1, 0, 1, 0 });
	float *w = hn_arena_alloc(&arena, 4 * 8 * 9 * sizeof(float));
	int32_t in[2] = { input("x", 4, image), hn_graph_const(&g, "w", HN_F32, 4, weights, w, false) };
	int32_t conv = hn_graph_add(&g, "Conv", 2, in, 1, &pads);
	int32_t out = hn_graph_1(&g, "Relu", conv);
	const uint32_t node[] = { 0, 1 };
	const struct hn_dag *dag;
	struct hn_gtext t;

	(void)state;
	g.value[in[0]].order = g.value[conv].order = g.value[out].order = channels_last;
	assert_int_equal(hn_graph_text(&g, "net", 2, node, 1, &out, &arena, &t, &err), 0);
	assert_string_equal(
		t.text,
		"net(float32 T1[1,5,5,8], const float32 T2[4,8,3,3]) -> T4 {\n"
		"\tP1(i0,i2,i3,i1) = i2 >= 1 && i2 < 6 ? T1(i0,i2 - 1,i3,i1) : float32(0)"
		"  where i0 in 0:1, i1 in 0:8, i2 in 0:7, i3 in 0:5\n"
		"\tT3(i0,i2,i3,i1) +=! P1(i0,i2 + k0,i3 + k1,c) * T2(i1,c,k0,k1)"
		"  where i0 in 0:1, i2 in 0:5, i3 in 0:3, i1 in 0:4, k0 in 0:3, k1 in 0:3, c in 0:8\n"
		"\tT4(i0,i2,i3,i1) = max(T3(i0,i2,i3,i1), 0)"
		"  where i0 in 0:1, i2 in 0:5, i3 in 0:3, i1 in 0:4\n}\n");
	assert_int_equal(hn_graph_dag(&t, "net", &arena, &dag, &err), 0);
	assert_int_equal(t.n_in, 2);
	assert_int_equal(t.arg[2], out);
}

static void what_is_wrong_is_one_line(void **state)
{
	int32_t x = input("x", 2, two_three), y = input("y", 1, four), bad;

	(void)state;
	bad = hn_graph_2(&g, "Add", x, y);
	assert_int_equal(bad, HN_BAD);
	assert_string_equal(err.msg, "here: Add: shapes [2,3] and [4] do not broadcast");
	assert_int_equal(hn_graph_1(&g, "Relu", bad), HN_BAD); /* and stays the first */
	assert_int_equal(hn_graph_1(&g, "Relu", x), HN_BAD);
	assert_string_equal(err.msg, "here: Add: shapes [2,3] and [4] do not broadcast");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(an_equal_node_is_found_again), TEST(constants_are_computed),
		TEST(equal_elements_stay_one),	    TEST(what_nobody_needs_goes),
		TEST(too_much_work_stays_a_node),   TEST(what_has_no_elements_is_known),
		TEST(numbers_are_cut_to_their_type),
		TEST(sums_of_one_element_are_that), TEST(the_least_integer_is_written),
		TEST(nodes_become_a_computation),   TEST(what_is_wrong_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
