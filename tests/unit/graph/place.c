/* In whose memory values lie: parts of concatenations, slices, and what may not be either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/ir/op.h"
#include "graph/library/assemble.h"
#include "graph/net/net.h"
#include "tests/lib/graph_bed.h"

static struct hn_net net;

static int32_t image(int64_t channels)
{
	int64_t *shape = HN_NEW_ARRAY(&arena, int64_t, 4);

	memcpy(shape, (int64_t[]){ 1, channels, 5, 6 }, 4 * sizeof(*shape));
	return hn_graph_input(&g, "x", HN_F32, 4, shape);
}

static int32_t conv(int32_t x, int64_t channels)
{
	int64_t *shape = HN_NEW_ARRAY(&arena, int64_t, 4);
	float *one = HN_NEW(&arena, float);
	static float all; /* no two convolutions are the same */

	*one = ++all;
	memcpy(shape, (int64_t[]){ channels, g.value[x].shape[1], 1, 1 }, 4 * sizeof(*shape));
	return hn_graph_2(&g, "Conv", x, hn_graph_const(&g, "w", HN_F32, 4, shape, one, true));
}

static int32_t relu(int32_t x)
{
	return hn_graph_1(&g, "Relu", x);
}

static int32_t join(int32_t x, int32_t y, int64_t along)
{
	struct hn_gattr axis = hn_gattr_of_int(&arena, "axis", along);

	return hn_graph_add(&g, "Concat", 2, (int32_t[]){ x, y }, 1, &axis);
}

static int32_t slice(int32_t x, int64_t axis, int64_t begin, int64_t end, int64_t step)
{
	int32_t in[] = { x, hn_graph_ints(&g, 1, &begin), hn_graph_ints(&g, 1, &end),
			 hn_graph_ints(&g, 1, &axis), hn_graph_ints(&g, 1, &step) };

	return hn_graph_add(&g, "Slice", 5, in, 0, NULL);
}

static void make_by(uint32_t n, const int32_t *output, const struct hn_net_choice *by)
{
	static const char *const names[] = { "out0", "out1", "out2", "out3" };

	g.output = HN_NEW_ARRAY(&arena, int32_t, n);
	g.output_name = (const char **)names;
	memcpy(g.output, output, n * sizeof(*output));
	g.n_output = n;
	if (hn_net_make_by(&g, by, &net, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

static void make(uint32_t n, const int32_t *output)
{
	make_by(n, output, NULL);
}

/* "conv+Relu 0:.. | pool": the nodes of each step, and strides of its arguments. */
static const char *steps(void)
{
	const char *text = "";

	for (uint32_t i = 0; i < net.n_step; i++) {
		const struct hn_ggroup *group = &net.part.group[i];
		const char *strides = net.kernel[net.step[i].kernel].strides;

		text = hn_arena_printf(&arena, "%s%s", text, i > 0 ? " | " : "");
		for (uint32_t k = 0; k < group->n_node; k++) {
			text = hn_arena_printf(&arena, "%s%s%s", text, k > 0 ? "+" : "",
					       g.node[group->node[k]].op->name);
		}
		text = strides == NULL ? text : hn_arena_printf(&arena, "%s %s", text, strides);
	}
	return text;
}

/* DenseNet: each layer's channels behind those before it, and all in the memory of the last. */
static void a_dense_block_copies_nothing(void **state)
{
	int32_t x = image(3), all, y;

	(void)state;
	all = relu(conv(x, 8));
	for (uint32_t i = 0; i < 2; i++) {
		all = join(all, conv(relu(all), 4), 1);
	}
	y = conv(all, 2);
	make(1, &y);
	assert_string_equal(steps(), "conv+Relu 2:480,96,16,1 | Relu 0:480,96,16,1 | "
				     "conv 2:480,96,16,1 | Relu 0:480,96,16,1 | conv 2:480,96,16,1 | "
				     "conv");
}

/* Where each part begins, in the table. */
static void parts_lie_one_behind_the_other(void **state)
{
	int32_t x = image(3), y, parts[2];
	struct hn_kernel_facts facts[3] = { 0 };
	const struct hn_model *m;
	struct hn_assembly made;

	(void)state;
	parts[0] = relu(conv(x, 8));
	parts[1] = conv(x, 4);
	y = conv(join(parts[0], parts[1], 1), 2);
	g.input = &x;
	g.n_input = 1;
	make(1, &y);
	assert_int_equal(net.n_kernel, 3);
	assert_int_equal(hn_assemble(&net, "net", facts, &arena, &made, &err), 0);
	m = &made.model;
	assert_int_equal(m->kernel[0].rows[2].n, 30);
	assert_int_equal(m->kernel[0].rows[2].bytes, 8 * 4);
	assert_int_equal(m->kernel[0].rows[2].pitch, 12 * 4);
	assert_int_equal(m->kernel[0].arg_bytes[2], (29 * 12 + 8) * 4);
	assert_int_equal(m->step[0].arg[2].offset, 0);
	assert_int_equal(m->step[1].arg[2].offset, 8 * 4);
	assert_int_equal(m->step[2].arg[0].offset, 0);
	assert_int_equal(m->kernel[2].rows[0].n, 0);
	assert_int_equal(made.arena_bound, 1472); /* 30 rows of 12 floats, and nothing else */
	assert_string_equal(m->kernel[1].name, "k01_conv_s1");
}

/* By choice nothing is a part: what lies where does not depend on how large others are. */
static void whole_tensors_are_copied(void **state)
{
	static const struct hn_net_choice whole = { .whole = true };
	int32_t x = image(3), all, y;

	(void)state;
	all = join(relu(conv(x, 8)), conv(x, 4), 1);
	y = conv(slice(conv(all, 9), 1, 2, 9, 1), 2);
	make(1, &y);
	assert_string_equal(steps(), "conv 2:360,72,12,1 | conv+Relu 2:360,72,12,1 | conv | "
				     "conv 0:270,54,9,1");
	make_by(1, &y, &whole);
	assert_string_equal(steps(), "conv | conv+Relu | concat | conv | slice | conv");
	for (uint32_t v = 0; v < g.n_value; v++) {
		assert_int_equal(net.part.place[v].at, 0);
		assert_null(net.part.place[v].stride);
	}
}

/* Along the outermost dimension that is larger than one all lies in a row. */
static void rows_are_joined_without_strides(void **state)
{
	int32_t x = image(3), a = relu(conv(x, 4)), b = conv(x, 4), y;

	(void)state;
	y = conv(join(a, b, 2), 2);
	make(1, &y);
	assert_string_equal(steps(), "conv+Relu | conv | conv");
}

/* An output's memory is the caller's; an operand that is none of a step's results is copied. */
static void what_stays_a_concatenation(void **state)
{
	int32_t x = image(3), a = conv(x, 4), b = relu(conv(x, 5)), y[2];

	(void)state;
	y[0] = conv(join(a, x, 1), 2); /* an input */
	y[1] = conv(join(b, b, 1), 2); /* twice */
	make(2, y);
	assert_string_equal(steps(), "conv | conv+Relu | concat | conv | concat | conv");
}

static void an_output_is_no_part(void **state)
{
	int32_t x = image(3), a = conv(x, 4), y[2];

	(void)state;
	y[0] = a;
	y[1] = conv(join(a, relu(conv(x, 5)), 1), 2);
	make(2, y);
	assert_string_equal(steps(), "conv | conv+Relu | concat | conv");
}

/* A value is a part of the last concatenation that reads it; the others copy. */
static void a_part_has_one_place(void **state)
{
	int32_t x = image(3), a = conv(x, 4), b = relu(conv(x, 4)), y[2];

	(void)state;
	y[0] = conv(join(a, b, 1), 2);
	y[1] = conv(join(b, a, 1), 2);
	make(2, y);
	assert_string_equal(steps(), "conv 2:240,48,8,1 | conv+Relu 2:240,48,8,1 | "
				     "concat 0:240,48,8,1;1:240,48,8,1 | conv | conv");
}

/* What is all element-wise is one step with the concatenation; so is what is made of a value that
 * others read, too, for it joins no convolution. */
static void light_parts_are_computed_in_the_whole(void **state)
{
	int32_t x = image(3), a = relu(x), b = hn_graph_1(&g, "Tanh", x), c, y[2];

	(void)state;
	c = conv(join(a, b, 1), 4);
	y[0] = conv(join(relu(c), hn_graph_1(&g, "Exp", x), 1), 2);
	y[1] = conv(c, 2);
	make(2, y);
	assert_string_equal(steps(), "Relu+Tanh+concat | conv | Exp+Relu+concat | conv | conv");
}

static void slices_are_read_where_they_lie(void **state)
{
	int32_t x = image(3), all = relu(conv(x, 8)), y[2];

	(void)state;
	y[0] = conv(slice(all, 1, 0, 3, 1), 2);
	y[1] = conv(slice(all, 1, 3, 8, 1), 2);
	make(2, y);
	assert_string_equal(steps(), "conv+Relu | conv 0:240,48,8,1 | conv 0:240,48,8,1");
	assert_int_equal(net.part.place[net.step[2].arg[0]].at, 3);
}

/* Every second row, and a slice that is an output, are copied. */
static void what_stays_a_slice(void **state)
{
	int32_t x = image(3), all = relu(conv(x, 8)), y[3];

	(void)state;
	y[0] = conv(slice(all, 2, 0, 5, 2), 2);
	y[1] = slice(all, 1, 0, 3, 1);
	y[2] = conv(all, 2);
	make(3, y);
	assert_string_equal(steps(), "conv+Relu | slice | conv | slice | conv");
}

/* Rows of rows have two distances: the inner slice is read where it lies, the other way is not. */
static void rows_have_one_distance(void **state)
{
	int32_t x = image(3), all = relu(conv(x, 8)), y[2];

	(void)state;
	y[0] = conv(slice(slice(all, 1, 0, 4, 1), 3, 1, 4, 1), 2);
	y[1] = conv(all, 2);
	make(2, y);
	assert_string_equal(steps(), "conv+Relu | slice 0:240,48,8,1 | conv | conv");
}

/* Heads are split off a part that is strided without a copy. */
static void a_strided_value_is_reshaped(void **state)
{
	static const int64_t rows[] = { 6, 12 }, heads[] = { 6, 3, 2 }, across[] = { 18, 2 };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, rows), part, y[3];
	struct hn_gattr shape = hn_gattr_of_ints("shape", 3, heads);
	struct hn_gattr other = hn_gattr_of_ints("shape", 2, across);

	(void)state;
	part = slice(hn_graph_1(&g, "Softmax", x), 1, 6, 12, 1);
	y[0] = hn_graph_1(&g, "Softmax", hn_graph_add(&g, "reshape", 1, &part, 1, &shape));
	y[1] = hn_graph_1(&g, "Softmax", hn_graph_add(&g, "reshape", 1, &part, 1, &other));
	y[2] = hn_graph_1(&g, "Softmax", part);
	make(3, y);
	assert_string_equal(steps(), "softmax | softmax 0:12,2,1 | reshape 0:12,1 | softmax | "
				     "softmax 0:12,1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_dense_block_copies_nothing),
		TEST(whole_tensors_are_copied),
		TEST(parts_lie_one_behind_the_other),
		TEST(rows_are_joined_without_strides),
		TEST(what_stays_a_concatenation),
		TEST(an_output_is_no_part),
		TEST(a_part_has_one_place),
		TEST(light_parts_are_computed_in_the_whole),
		TEST(slices_are_read_where_they_lie),
		TEST(what_stays_a_slice),
		TEST(rows_have_one_distance),
		TEST(a_strided_value_is_reshaped),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
