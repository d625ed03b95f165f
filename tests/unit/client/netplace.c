/* Places where a rival's network differs from the rules', and what times say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "client/netrival.h"
#include "tests/lib/graph_bed.h"

#define ROUNDS 4

static struct hn_net rules, rival;

static int32_t product(int32_t x)
{
	static float weights[64];
	static const int64_t shape[] = { 8, 8 };

	return hn_graph_2(&g, "MatMul", x, hn_graph_const(&g, "w", HN_F32, 2, shape, weights, false));
}

/* Two residual sums behind products, and a node that stands alone. */
static void make_nets(void)
{
	static const int64_t in[] = { 6, 8 };
	static const char *const name[] = { "a", "b" };
	const struct hn_net_choice by = { .rival = hn_rival_at(0) };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, in), y;

	y = hn_graph_2(&g, "Add", product(x), x);
	y = hn_graph_2(&g, "Add", product(y), y);
	g.output = HN_NEW_ARRAY(&arena, int32_t, 2);
	g.output[0] = y;
	g.output[1] = hn_graph_1(&g, "Softmax", x);
	g.output_name = (const char **)name;
	g.n_output = 2;
	assert_int_equal(hn_net_make(&g, &rules, &err), 0);
	assert_int_equal(hn_net_make_by(&g, &by, &rival, &err), 0);
	assert_int_equal(rules.n_step, 3);
	assert_int_equal(rival.n_step, 5);
}

static void a_place_has_the_steps_of_both(void **state)
{
	struct hn_netplaces p;

	(void)state;
	make_nets();
	hn_netplaces_find(&rules, &rival, &arena, &p);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.of[0][0], p.of[1][0]); /* product and sum; product, */
	assert_int_equal(p.of[0][0], p.of[1][1]); /* and sum */
	assert_int_equal(p.of[0][1], p.of[1][2]);
	assert_int_equal(p.of[0][1], p.of[1][3]);
	assert_int_not_equal(p.of[0][0], p.of[0][1]);
	assert_int_equal(p.of[0][2], HN_NO_PLACE); /* the same kernel */
	assert_int_equal(p.of[1][4], HN_NO_PLACE);
	for (uint32_t v = 0; v < g.n_value; v++) {
		if (rival.part.said[v] != HN_NET_RULE) {
			assert_true(hn_netplaces_of_value(&p, &rival, (int32_t)v) < 2);
		}
	}
	hn_netplaces_find(&rules, &rules, &arena, &p);
	assert_int_equal(p.n, 0);
}

static void a_gain_is_of_all_steps_of_a_place(void **state)
{
	static const double five[ROUNDS] = { 5, 15, 5, 5 }, six[ROUNDS] = { 6, 18, 6, 6 },
			    ten[ROUNDS] = { 10, 30, 10, 10 }, twelve[ROUNDS] = { 12, 36, 12, 12 },
			    odd[ROUNDS] = { 4, 24, 12, 4 };
	const double *by_rule[] = { twelve, ten, ten }, *by_rival[] = { five, five, five, six, five };
	struct hn_netrun run[2];
	struct hn_netplaces p;

	(void)state;
	make_nets();
	hn_netplaces_find(&rules, &rival, &arena, &p);
	run[0] = (struct hn_netrun){ .net = &rules, .n_round = ROUNDS, .step_ns = by_rule };
	run[1] = (struct hn_netrun){ .net = &rival, .n_round = ROUNDS, .step_ns = by_rival };
	assert_true(hn_netplaces_gain(&p, p.of[0][0], run, &arena) == 2); /* 12, and 5 + 5 */
	assert_true(hn_netplaces_gain(&p, p.of[0][1], run, &arena) == 0); /* 10, and 5 + 6 */
	by_rival[1] = odd; /* faster in two rounds of four */
	assert_true(hn_netplaces_gain(&p, p.of[0][0], run, &arena) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_place_has_the_steps_of_both, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gain_is_of_all_steps_of_a_place, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("netplace", tests, NULL, NULL);
}
