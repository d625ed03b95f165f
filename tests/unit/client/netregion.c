/* The part of a network that another layout is for, from the steps that gain; and the network that
 * is made so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/netrival.h"
#include "tests/lib/graph_bed.h"

#define CHANNELS 4
#define LAST 1 /* step of the second convolution */

static struct hn_net rules, rival;

static int32_t conv_relu(int32_t x)
{
	static float weights[CHANNELS * CHANNELS];
	static const int64_t shape[] = { CHANNELS, CHANNELS, 1, 1 };
	int32_t w = hn_graph_const(&g, "w", HN_F32, 4, shape, weights, false);

	return hn_graph_1(&g, "Relu", hn_graph_2(&g, "Conv", x, w));
}

/* An image, two convolutions of it one behind the other, and the mean of that. */
static void make_nets(struct hn_netplaces *ret)
{
	static const int64_t in[] = { 1, CHANNELS, 6, 8 };
	static const char *const name[] = { "y" };
	const struct hn_net_choice by = { .row_major = true };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 4, in), y;

	y = conv_relu(conv_relu(hn_graph_1(&g, "Sigmoid", x)));
	y = hn_graph_1(&g, "GlobalAveragePool", y);
	g.output = HN_NEW_ARRAY(&arena, int32_t, 1);
	g.output[0] = y;
	g.output_name = (const char **)name;
	g.n_output = 1;
	assert_int_equal(hn_net_make(&g, &rules, &err), 0);
	assert_int_equal(hn_net_make_by(&g, &by, &rival, &err), 0);
	hn_netplaces_find(&rules, &rival, &arena, ret);
}

/* Which steps write values that are said. */
static uint32_t writers_of(const uint8_t *plain)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < rules.n_step; i++) {
		const struct hn_ggroup *group = &rules.part.group[i];

		for (uint32_t k = 0; k < group->n_node; k++) {
			uint32_t said = plain[g.node[group->node[k]].out[0]];

			/* all of a step, or nothing */
			assert_int_equal(said, plain[g.node[group->node[0]].out[0]]);
			bits |= said << i;
		}
	}
	return bits;
}

/* The step of the second convolution gains. */
static uint32_t region(const struct hn_netplaces *p, uint32_t step, bool wide, double least_ns,
		       uint8_t *plain)
{
	double *gain = HN_NEW_ARRAY(&arena, double, p->n);

	gain[p->of[0][step]] = 10;
	return hn_netplaces_region(p, &rules, gain, least_ns, wide, &arena, plain)
		       ? writers_of(plain)
		       : 0;
}

static uint32_t step_of(uint32_t convolution)
{
	uint32_t step = UINT32_MAX;

	for (uint32_t i = 0; i < rules.n_step; i++) {
		const struct hn_ggroup *group = &rules.part.group[i];

		for (uint32_t k = 0; k < group->n_node; k++) {
			if (hn_gattr_find(&g.node[group->node[k]], "kernel") != NULL &&
			    convolution-- == 0) {
				step = i;
			}
		}
	}
	assert_int_not_equal(step, UINT32_MAX);
	return step;
}

static void results_or_operands_too(void **state)
{
	struct hn_netplaces p;
	uint8_t *plain;
	uint32_t first, second;

	(void)state;
	make_nets(&p);
	first = step_of(0);
	second = step_of(LAST);
	assert_int_not_equal(p.of[0][second], HN_NO_PLACE);
	plain = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);
	assert_int_equal(region(&p, second, false, 10, plain), 1u << second);
	plain = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);
	assert_int_equal(region(&p, second, true, 10, plain), 1u << first | 1u << second);
	plain = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);
	assert_int_equal(region(&p, second, true, 11, plain), 0); /* gains too little */
}

/* As many kernels as by rule, and only the part's are row-major. */
static void a_part_is_laid_out_by_itself(void **state)
{
	struct hn_netplaces p;
	struct hn_net mixed;
	uint8_t *plain;
	uint32_t n_plain = 0, n_last = 0;

	(void)state;
	make_nets(&p);
	plain = HN_NEW_ARRAY(&arena, uint8_t, g.n_value);
	assert_int_not_equal(region(&p, step_of(LAST), false, 10, plain), 0);

	const struct hn_net_choice by = { .plain = plain };

	assert_int_equal(hn_net_make_by(&g, &by, &mixed, &err), 0);
	assert_int_equal(mixed.n_step, rules.n_step);
	for (uint32_t v = 0; v < g.n_value; v++) {
		const struct hn_gvalue *x = &g.value[v];

		if (x->node >= 0 && x->rank == 4 && x->shape[2] > 1) {
			assert_true(plain[v] == 0 || x->order == NULL);
			n_plain += x->order == NULL;
			n_last += x->order != NULL;
		}
	}
	assert_true(n_plain > 0 && n_last > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(results_or_operands_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_is_laid_out_by_itself, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("netregion", tests, NULL, NULL);
}
