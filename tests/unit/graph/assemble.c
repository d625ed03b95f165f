/* The table of a compiled network: where each argument lies.  A residual network, so that values live
 * over other steps: nothing is written where something lies that is still read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/library/assemble.h"
#include "tests/lib/graph_bed.h"

#define ROWS 8
#define N_BLOCKS 5

static struct hn_net net;
static struct hn_assembly made;

static int32_t dense(int32_t x)
{
	static const int64_t shape[] = { ROWS, ROWS };
	float *w = hn_arena_alloc(&arena, ROWS * ROWS * sizeof(float));

	w[0] = (float)g.n_node; /* each its own */
	return hn_graph_2(&g, "MatMul", x,
			  hn_graph_const(&g, "w", HN_F32, 2, shape, w, false));
}

/* x + f(f(x)), some times over, and a second output from the middle. */
static void make_network(void)
{
	static const int64_t shape[] = { ROWS, ROWS };
	static const char *names[] = { "last", "middle" };
	static int32_t in, out[2];
	struct hn_kernel_facts *facts;
	int32_t x = in = hn_graph_input(&g, "x", HN_F32, 2, shape);

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		x = hn_graph_2(&g, "Add", dense(dense(x)), x);
		out[1] = i == 2 ? x : out[1];
	}
	out[0] = x;
	g.input = &in;
	g.n_input = 1;
	g.output = out;
	g.output_name = names;
	g.n_output = 2;
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	facts = HN_NEW_ARRAY(&arena, struct hn_kernel_facts, net.n_kernel);
	for (uint32_t i = 0; i < net.n_kernel; i++) {
		facts[i].symbol = net.kernel[i].name;
	}
	assert_int_equal(hn_assemble(&net, "net", facts, &arena, &made, &err), 0);
}

static const struct hone_model_arg *arg_of(uint32_t step, uint32_t i)
{
	return &made.model.step[step].arg[i];
}

static bool overlap(const struct hone_model_arg *x, const struct hone_model_arg *y)
{
	const uint64_t bytes = ROWS * ROWS * sizeof(float);

	return x->place == y->place && x->place != HONE_MODEL_WEIGHTS && x->index == y->index &&
	       x->offset < y->offset + bytes && y->offset < x->offset + bytes;
}

static bool same_value(uint32_t s, uint32_t i, uint32_t t, uint32_t k)
{
	return net.part.place[net.step[s].arg[i]].root ==
	       net.part.place[net.step[t].arg[k]].root;
}

/* Of each operand: from the step that wrote it on, no other value was written over it. */
static void nothing_is_overwritten(void **state)
{
	uint32_t checked = 0;

	(void)state;
	make_network();
	for (uint32_t s = 0; s < net.n_step; s++) {
		uint32_t out = net.step[s].n_in;

		for (uint32_t i = 0; i < out; i++) {
			assert_false(overlap(arg_of(s, i), arg_of(s, out)));
			for (uint32_t t = s; t-- > 0;) {
				uint32_t written = net.step[t].n_in;

				if (same_value(s, i, t, written)) {
					break;
				}
				assert_false(overlap(arg_of(s, i), arg_of(t, written)));
				checked++;
			}
		}
	}
	assert_true(checked > N_BLOCKS);
	assert_true(made.model.arena_bytes >= made.arena_bound);
	assert_true(made.arena_bound >= 2 * ROWS * ROWS * sizeof(float));
}

/* An input is the caller's, a weight has its number, outputs are written where they are wanted. */
static void ends_lie_with_the_caller(void **state)
{
	uint32_t last = 0, written[2] = { 0, 0 };

	(void)state;
	make_network();
	assert_int_equal(made.n_weight, 2 * N_BLOCKS);
	assert_int_equal(arg_of(0, 0)->place, HONE_MODEL_INPUT);
	for (uint32_t s = 0; s < net.n_step; s++) {
		const struct hone_model_arg *out = arg_of(s, net.step[s].n_in);

		if (out->place == HONE_MODEL_OUTPUT) {
			written[out->index]++;
			last = s;
		}
	}
	assert_int_equal(written[0], 1);
	assert_int_equal(written[1], 1);
	assert_int_equal(last, net.n_step - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_overwritten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_lie_with_the_caller, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
