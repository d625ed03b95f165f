/* What exporters took apart is put together again, and what only looks like it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"
#include "tests/lib/graph_needed.h"

static struct hn_arena arena;
static struct hn_graph g;
static struct hn_err err;

static const int64_t shape[] = { 2, 5, 8 };
static int32_t x;

static int set_up(void **state)
{
	(void)state;
	err = (struct hn_err){ 0 };
	hn_arena_init(&arena, 0);
	hn_graph_init(&g, &arena, "net", &err);
	g.opset = 17;
	g.simplify = hn_pass_simplify;
	x = hn_graph_input(&g, "x", HN_F32, 3, shape);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hn_arena_fini(&arena);
	return 0;
}

static int32_t reduced(const char *op, int32_t v, int64_t axis, int64_t keep)
{
	struct hn_gattr attr[] = { hn_gattr_of_ints("axes", 1, &axis),
				   hn_gattr_of_ints("keepdims", 1, &keep) };

	return hn_graph_add(&g, op, 1, &v, 2, attr);
}

static int32_t deviation(int32_t d, int64_t axis, double epsilon)
{
	int32_t square = hn_graph_2(&g, "Pow", d, hn_graph_scalar(&g, HN_F32, 2));
	int32_t mean = reduced("ReduceMean", square, axis, 1);

	return hn_graph_1(
		&g, "Sqrt",
		hn_graph_2(&g, "Add", hn_graph_scalar(&g, HN_F32, epsilon), mean));
}

static int32_t centred(int64_t axis)
{
	return hn_graph_2(&g, "Sub", x, reduced("ReduceMean", x, axis, 1));
}

static const char *needed(int32_t out)
{
	return names_needed(&g, out);
}

static int32_t times(int32_t v)
{
	static const float scale[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	return hn_graph_2(&g, "Mul", v,
			  hn_graph_const(&g, "w", HN_F32, 1, shape + 2, scale, false));
}

static int32_t power(double e)
{
	return hn_graph_2(&g, "Pow", x, hn_graph_scalar(&g, HN_F32, e));
}

/* What takes roots and products alone calls no pow(). */
static void powers_are_roots_and_products(void **state)
{
	static const struct {
		double e;
		const char *is;
	} rows[] = {
		{ 3, "Mul Mul" },	   { 0.5, "Sqrt" },	   { 0.25, "Sqrt Sqrt" },
		{ 0.75, "Sqrt Sqrt Mul" }, { 1.5, "Sqrt Mul" },
		{ 2.75, "Mul Sqrt Mul Sqrt Mul" }, { 0.3, "pow" }, { -0.5, "pow" }, { 3.25, "pow" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		tear_down(state); /* each in a graph of its own */
		set_up(state);
		assert_string_equal(needed(power(rows[i].e)), rows[i].is);
	}
}

static void a_layer_norm_is_one_node(void **state)
{
	int32_t d = centred(2);

	(void)state;
	assert_string_equal(
		needed(times(hn_graph_2(&g, "Div", d, deviation(d, 2, 1e-5)))),
		"standardize Mul");
	assert_true(hn_gattr_float(&g.node[0], "epsilon", 0) > 0.9e-5);
	assert_int_equal(hn_gattr_int(&g.node[0], "centred", 0), 1);
	assert_int_equal(g.node[0].in[0], x);
}

static void a_norm_of_squares_is_one_node(void **state)
{
	int32_t inverse = hn_graph_2(&g, "Div", hn_graph_scalar(&g, HN_F32, 1),
				     deviation(x, 1, 1e-6));

	(void)state;
	assert_string_equal(needed(hn_graph_2(&g, "Mul", inverse, x)), "standardize");
	assert_int_equal(hn_gattr_int(&g.node[0], "centred", 1), 0);
}

static void a_reciprocal_divides(void **state)
{
	int32_t d = centred(2),
		inverse = hn_graph_1(&g, "Reciprocal", deviation(d, 2, 1e-5));

	(void)state;
	assert_string_equal(needed(hn_graph_2(&g, "Mul", d, inverse)), "standardize");
}

/* Means over other dimensions, and of something else. */
static void what_is_no_norm_stays(void **state)
{
	int32_t d = centred(1), other = hn_graph_1(&g, "Tanh", x);

	(void)state;
	assert_null(strstr(needed(hn_graph_2(&g, "Div", d, deviation(other, 2, 1e-5))),
			   "standardize"));
	/* the squares' mean is a norm of d itself */
	d = centred(1);
	assert_string_equal(needed(hn_graph_2(&g, "Div", d, deviation(d, 2, 1e-5))),
			    "reduce Mul Sub standardize");
	/* a sum is no mean */
	d = hn_graph_2(&g, "Sub", x, reduced("ReduceSum", x, 2, 1));
	assert_string_equal(needed(hn_graph_2(&g, "Div", d, deviation(d, 2, 1e-5))),
			    "reduce Sub standardize");
}

static void a_softmax_is_one_node(void **state)
{
	int32_t power = hn_graph_1(
		&g, "Exp", hn_graph_2(&g, "Sub", x, reduced("ReduceMax", x, 1, 1)));
	int32_t other = hn_graph_1(
		&g, "Exp", hn_graph_2(&g, "Sub", x, reduced("ReduceMax", x, 2, 1)));

	(void)state;
	assert_null(strstr(
		needed(hn_graph_2(&g, "Div", other, reduced("ReduceSum", other, 1, 1))),
		"softmax"));
	power = hn_graph_1(&g, "Exp",
			   hn_graph_2(&g, "Sub", x, reduced("ReduceMax", x, 1, 1)));
	assert_string_equal(
		needed(hn_graph_2(&g, "Div", power, reduced("ReduceSum", power, 1, 1))),
		"softmax");
}

static void moves_are_one_or_none(void **state)
{
	static const int64_t perm[] = { 1, 2, 0 }, back[] = { 2, 0, 1 };
	static const int64_t flat[] = { 80 }, other[] = { 4, 20 };
	int32_t turned = hn_transposed(&g, x, 3, perm);

	(void)state;
	assert_int_equal(hn_transposed(&g, turned, 3, back), x);
	assert_string_equal(needed(hn_transposed(&g, turned, 3, perm)), "transpose");
	assert_memory_equal(hn_gattr_find(&g.node[0], "perm")->i, back, sizeof(back));
	assert_int_equal(hn_reshaped(&g, hn_reshaped(&g, x, 1, flat), 3, shape), x);
	assert_string_equal(
		needed(hn_reshaped(&g, hn_reshaped(&g, x, 1, flat), 2, other)),
		"reshape");
}

static int32_t part(int32_t v, int64_t begin, int64_t end, int64_t step)
{
	int32_t in[] = { v, hn_graph_ints(&g, 1, &begin), hn_graph_ints(&g, 1, &end),
			 hn_graph_ints(&g, 1, (int64_t[]){ 1 }), hn_graph_ints(&g, 1, &step) };

	return hn_graph_add(&g, "Slice", 5, in, 0, NULL);
}

static int32_t join(uint32_t n, const int32_t *in)
{
	struct hn_gattr axis = hn_gattr_of_int(&arena, "axis", 1);

	return hn_graph_add(&g, "Concat", n, in, 1, &axis);
}

/* Halves of a value with what is computed of one: the value is whole again. */
static void slices_side_by_side_are_one(void **state)
{
	int32_t a = part(x, 0, 2, 1), b = part(x, 2, 4, 1), c = part(x, 4, 5, 1);

	(void)state;
	assert_int_equal(join(3, (int32_t[]){ a, b, c }), x);
	a = hn_graph_1(&g, "Tanh", a);
	assert_string_equal(needed(join(3, (int32_t[]){ b, c, a })), "slice Tanh slice concat");
}

static void slices_join_by_where_they_lie(void **state)
{
	static const struct {
		int64_t first[3], second[3]; /* begin, end, step */
		const char *is;
	} rows[] = {
		{ { 0, 3, 2 }, { 4, 5, 2 }, "slice" }, /* every second */
		{ { 2, 4, 1 }, { 0, 2, 1 }, "slice slice concat" },
		{ { 0, 2, 1 }, { 3, 5, 1 }, "slice slice concat" },
		{ { 0, 2, 1 }, { 2, 5, 2 }, "slice slice concat" },
		{ { 0, 3, 1 }, { 2, 5, 1 }, "slice slice concat" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		const int64_t *p = rows[i].first, *q = rows[i].second;
		int32_t in[2];

		tear_down(state); /* each in a graph of its own */
		set_up(state);
		in[0] = part(x, p[0], p[1], p[2]);
		in[1] = part(x, q[0], q[1], q[2]);
		assert_string_equal(needed(join(2, in)), rows[i].is);
	}
}

static void slices_of_two_values_stay(void **state)
{
	int32_t in[] = { part(x, 0, 2, 1), part(hn_graph_1(&g, "Tanh", x), 2, 4, 1) };

	(void)state;
	assert_string_equal(needed(join(2, in)), "slice Tanh slice concat");
}

static void a_slice_of_parts_is_one_of_a_part(void **state)
{
	int32_t y = hn_graph_1(&g, "Tanh", x), all = join(2, (int32_t[]){ x, y });

	(void)state;
	assert_int_equal(part(all, 0, 5, 1), x);
	assert_int_equal(part(all, 5, 10, 1), y);
	assert_string_equal(needed(part(all, 6, 8, 1)), "Tanh slice");
}

static void a_slice_of_two_parts_stays(void **state)
{
	int32_t in[] = { x, hn_graph_1(&g, "Tanh", x) };

	(void)state;
	assert_string_equal(needed(part(join(2, in), 4, 6, 1)), "Tanh concat slice");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_layer_norm_is_one_node), TEST(a_norm_of_squares_is_one_node),
		TEST(a_reciprocal_divides),	TEST(what_is_no_norm_stays),
		TEST(a_softmax_is_one_node),	TEST(moves_are_one_or_none),
		TEST(powers_are_roots_and_products),
		TEST(slices_side_by_side_are_one),
		TEST(slices_join_by_where_they_lie),
		TEST(slices_of_two_values_stay),
		TEST(a_slice_of_parts_is_one_of_a_part),
		TEST(a_slice_of_two_parts_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
