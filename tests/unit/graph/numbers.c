/* Whether layouts and fusion keep the numbers: a network where they do, faults that are planted in
 * what was chosen for it, and what is too much to compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "graph/net/numbers.h"
#include "tests/lib/graph_bed.h"

static struct hn_net net;

static int32_t conv(int32_t x, int64_t channels)
{
	int64_t *shape = HN_NEW_ARRAY(&arena, int64_t, 4), pads[] = { 1, 1, 1, 1 };
	struct hn_rng r = hn_rng_stream(1, 0, 0, (uint64_t)x);
	struct hn_gattr attr = hn_gattr_of_ints("pads", 4, pads);
	float *w;

	shape[0] = channels;
	shape[1] = g.value[x].shape[1];
	shape[2] = shape[3] = 3;
	w = HN_NEW_ARRAY(&arena, float, (size_t)(channels * shape[1] * 9));
	for (int64_t i = 0; i < channels * shape[1] * 9; i++) {
		w[i] = (float)hn_rng_unit(&r) - 0.5f;
	}
	int32_t in[] = { x, hn_graph_const(&g, "w", HN_F32, 4, shape, w, false) };

	return hn_graph_add(&g, "Conv", 2, in, 1, &attr);
}

static void end_with(const int32_t *input, int32_t output)
{
	static const char *const name[] = { "out" };

	g.input = HN_NEW_ARRAY(&arena, int32_t, 1);
	g.input[0] = *input;
	g.n_input = 1;
	g.output = HN_NEW_ARRAY(&arena, int32_t, 1);
	g.output[0] = output;
	g.output_name = (const char **)name;
	g.n_output = 1;
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
}

/* Three convolutions, with channels last between them, and sums over what a transposition only
 * renames: four steps. */
static void make_net(void)
{
	static const int64_t image[] = { 1, 3, 5, 4 }, perm[] = { 0, 2, 3, 1 };
	struct hn_gattr attr = hn_gattr_of_ints("perm", 4, perm);
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, image), y;

	y = hn_graph_1(&g, "Relu", conv(x, 4));
	y = hn_graph_1(&g, "Tanh", conv(y, 6));
	y = conv(y, 7);
	y = hn_graph_add(&g, "Transpose", 1, &y, 1, &attr);
	y = hn_graph_1(&g, "Softmax", y);
	end_with(&x, y);
	assert_int_equal(net.n_step, 4);
}

static const struct hn_step_numbers *numbers(void)
{
	const struct hn_step_numbers *s;
	const char *why;

	if (hn_net_numbers(&net, &s, &why, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_null(why);
	assert_non_null(s);
	return s;
}

static bool wrong(const struct hn_step_numbers *s)
{
	return s->error > s->allowed;
}

static void a_sound_network_has_its_nodes_numbers(void **state)
{
	const struct hn_step_numbers *s;
	const uint8_t *order;

	(void)state;
	make_net();
	order = g.value[net.step[1].arg[0]].order;
	assert_non_null(order); /* or nothing is shown of layouts */
	s = numbers();
	for (uint32_t i = 0; i < net.n_step; i++) {
		assert_false(wrong(&s[i]));
		assert_true(s[i].allowed > 0 && s[i].allowed < 1e-3);
	}
	assert_ptr_equal(g.value[net.step[1].arg[0]].order, order);
}

/* A layout that is not what the kernels were told: who writes and who reads the value differ, by
 * the value; the others do not. */
static void a_wrong_layout_is_found_where_it_is(void **state)
{
	const struct hn_step_numbers *s;
	int32_t between;

	(void)state;
	make_net();
	between = net.step[1].arg[0];
	g.value[between].order = NULL;
	s = numbers();
	assert_true(wrong(&s[0]) && wrong(&s[1]));
	assert_false(wrong(&s[2]) || wrong(&s[3]));
	assert_int_equal(s[0].value, between);
	assert_true(fabs(s[0].got - s[0].want) > 0);
}

static void a_wrong_operand_is_found(void **state)
{
	const struct hn_step_numbers *s;
	struct hn_gplace *place;

	(void)state;
	make_net();
	place = (struct hn_gplace *)net.part.place;
	place[net.step[3].arg[0]].root = net.step[3].arg[net.step[3].n_in]; /* as large */
	s = numbers();
	assert_false(wrong(&s[2]));
	assert_true(wrong(&s[3]));
}

static void a_wrong_program_is_found(void **state)
{
	const struct hn_dag *dag;
	const struct hn_step_numbers *s;
	static const int64_t shape[] = { 3, 4 };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, shape), y;

	(void)state;
	y = hn_graph_1(&g, "Softmax", hn_graph_1(&g, "Softmax", x));
	y = hn_graph_1(&g, "Softmax", hn_graph_1(&g, "Exp", y));
	end_with(&x, y);
	assert_true(net.n_task >= 2);
	dag = net.task[0].dag;
	net.task[0].dag = net.task[1].dag;
	net.task[1].dag = dag;
	s = numbers();
	assert_true(wrong(&s[0]) || wrong(&s[net.n_step - 1]));
}

/* A product that takes too long is left out; what is behind it is computed all the same. */
static void long_steps_are_left_out(void **state)
{
	static const int64_t large[] = { 1 << 10, 1 << 11 };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, large), y;
	const struct hn_step_numbers *s;
	uint32_t left_out = 0;

	(void)state;
	y = hn_graph_2(&g, "MatMul", x, hn_graph_1(&g, "Transpose", x));
	y = hn_graph_1(&g, "Softmax", y);
	end_with(&x, y);
	s = numbers();
	for (uint32_t i = 0; i < net.n_step; i++) {
		left_out += !s[i].computed;
		assert_false(wrong(&s[i]));
	}
	assert_int_equal(left_out, 1);
	assert_true(s[net.n_step - 1].computed);
}

static void too_large_is_said(void **state)
{
	static const int64_t wide[] = { 1 << 14, 1 << 15 };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, wide);
	const struct hn_step_numbers *s;
	const char *why;

	(void)state;
	end_with(&x, hn_graph_1(&g, "Relu", x));
	assert_int_equal(hn_net_numbers(&net, &s, &why, &err), 0);
	assert_null(s);
	assert_string_equal(why, "the values take 4.3 GB, and 1.1 GB are the most");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_sound_network_has_its_nodes_numbers),
		TEST(a_wrong_layout_is_found_where_it_is),
		TEST(a_wrong_operand_is_found),
		TEST(a_wrong_program_is_found),
		TEST(long_steps_are_left_out),
		TEST(too_large_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
