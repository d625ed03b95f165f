/* Quantized nets: what becomes integers, what must not, and that numbers stay within one step of
 * the result's scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "graph/ir/op.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"
#include "tests/lib/graph_needed.h"
#include "tests/lib/net_eval.h"
#include "tests/lib/graph_bed.h"

#define N_NETS 200
#define N_NODES 7

static const int64_t image[] = { 1, 4, 6, 6 };

static int set_up_rules(void **state)
{
	set_up(state);
	g.simplify = hn_pass_simplify;
	return 0;
}

static int32_t quantized(int32_t x, double scale, enum hn_dtype t, double zero)
{
	int32_t in[] = { x, hn_graph_scalar(&g, HN_F32, scale), hn_graph_scalar(&g, t, zero) };

	return hn_graph_add(&g, "QuantizeLinear", 3, in, 0, NULL);
}

static int32_t dequantized(int32_t q, double scale, double zero)
{
	enum hn_dtype t = (enum hn_dtype)g.value[q].dtype;
	int32_t in[] = { q, hn_graph_scalar(&g, HN_F32, scale), hn_graph_scalar(&g, t, zero) };

	return hn_graph_add(&g, "DequantizeLinear", 3, in, 0, NULL);
}

static int32_t input(uint32_t rank, const int64_t *shape, double scale, double zero)
{
	return dequantized(hn_graph_input(&g, "x", HN_U8, rank, shape), scale, zero);
}

/* A constant of bytes, all kinds of them. */
static int32_t bytes(enum hn_dtype t, uint32_t rank, const int64_t *shape)
{
	struct hn_gvalue v = { .rank = rank, .shape = shape };
	int64_t n = hn_gvalue_elements(&v), *dims = HN_NEW_ARRAY(&arena, int64_t, rank);
	uint8_t *w = HN_NEW_ARRAY(&arena, uint8_t, (size_t)n);

	memcpy(dims, shape, rank * sizeof(*dims));
	for (int64_t i = 0; i < n; i++) {
		w[i] = (uint8_t)(i * 37 + i / 5);
	}
	return hn_graph_const(&g, "w", t, rank, dims, w, false);
}

/* Weights with a scale for each element of `axis`. */
static int32_t weights(enum hn_dtype t, uint32_t rank, const int64_t *shape, int64_t axis,
		       double zero)
{
	float *scale = HN_NEW_ARRAY(&arena, float, (size_t)shape[axis]);
	int64_t *n = HN_NEW(&arena, int64_t);
	uint8_t *z = HN_NEW(&arena, uint8_t);
	struct hn_gattr attr = hn_gattr_of_int(&arena, "axis", axis);
	int32_t in[3];

	*n = shape[axis];
	*z = (uint8_t)(int)zero;
	for (int64_t i = 0; i < *n; i++) {
		scale[i] = 0.00093f * (float)(1 + i % 3);
	}
	in[0] = bytes(t, rank, shape);
	in[1] = hn_graph_const(&g, "scale", HN_F32, 1, n, scale, false);
	in[2] = hn_graph_const(&g, "zero", t, 1, n, z, *n > 1);
	return hn_graph_add(&g, "DequantizeLinear", 3, in, 1, &attr);
}

static int32_t conv(int32_t x, int32_t w, int64_t group)
{
	int64_t half = g.value[w].shape[2] / 2, pads[] = { half, half, half, half };
	struct hn_gattr attr[] = { hn_gattr_of_ints("pads", 4, pads),
				   hn_gattr_of_ints("group", 1, &group) };

	return hn_graph_add(&g, "Conv", 2, (int32_t[]){ x, w }, 2, attr);
}

static const char *needed(int32_t out)
{
	return names_needed(&g, out);
}

static void a_convolution_is_one_of_integers(void **state)
{
	static const int64_t w[] = { 5, 4, 3, 3 };
	int32_t y = conv(input(4, image, 0.1, 7), weights(HN_I8, 4, w, 0, 0), 1);

	(void)state;
	y = hn_graph_1(&g, "Relu", hn_graph_2(&g, "Add", y, hn_graph_scalar(&g, HN_F32, 0.5)));
	assert_string_equal(needed(quantized(y, 0.02, HN_U8, 0)),
			    "conv Sub cast Mul Add quantize cast");
	assert_int_equal(g.value[g.node[0].in[0]].dtype, HN_U8);
	assert_int_equal(g.value[g.node[0].in[1]].dtype, HN_I8);
	assert_int_equal(hn_gattr_int(&g.node[0], "padding", 0), 7);
}

/* Weights of uint8 around 128 are int8 around 0. */
static void weights_may_be_unsigned(void **state)
{
	static const int64_t w[] = { 5, 4, 1, 1 };
	int32_t y = conv(input(4, image, 0.1, 0), weights(HN_U8, 4, w, 0, 128), 1);

	(void)state;
	assert_string_equal(needed(quantized(y, 0.02, HN_U8, 3)), "conv cast Mul quantize cast");
	assert_int_equal(g.value[g.node[0].in[1]].dtype, HN_I8);
}

/* Three channels are four, one of zeros; one channel, and groups, stay. */
static void few_channels_are_filled_up(void **state)
{
	static const int64_t three[] = { 1, 3, 6, 6 }, w[] = { 5, 3, 3, 3 }, two[] = { 4, 2, 1, 1 };

	(void)state;
	assert_string_equal(
		needed(conv(input(4, three, 0.1, 7), weights(HN_I8, 4, w, 0, 0), 1)),
		"pad conv Sub cast Mul");
	assert_int_equal(g.value[g.node[1].in[1]].shape[1], 4);
	assert_string_equal(needed(conv(input(4, image, 0.1, 0), weights(HN_I8, 4, two, 0, 0), 2)),
			    "conv cast Mul");
}

static void what_is_no_integer_sum_stays(void **state)
{
	static const int64_t w[] = { 5, 4, 1, 1 }, long_row[] = { 1, 33100 },
			     long_column[] = { 33100, 1 }, a[] = { 3, 8 }, b[] = { 8, 4 };
	int32_t y;

	(void)state;
	/* another zero point of the weights */
	y = conv(input(4, image, 0.1, 0), weights(HN_I8, 4, w, 0, 5), 1);
	assert_non_null(strstr(needed(quantized(y, 0.02, HN_U8, 3)), "dequantize conv div"));
	/* a scale for each input channel */
	y = conv(input(4, image, 0.1, 0), weights(HN_I8, 4, w, 1, 0), 1);
	assert_non_null(strstr(needed(quantized(y, 0.02, HN_U8, 3)), "dequantize conv div"));
	/* the sum may leave int32 */
	y = hn_graph_2(&g, "MatMul", input(2, long_row, 0.1, 0),
		       weights(HN_I8, 2, long_column, 1, 0));
	assert_non_null(strstr(needed(y), "dequantize matmul"));
	/* one factor is not of bytes */
	y = hn_graph_2(&g, "MatMul", hn_graph_input(&g, "f", HN_F32, 2, a),
		       weights(HN_I8, 2, b, 1, 0));
	assert_string_equal(needed(y), "dequantize matmul");
	/* a scale for each term of the sum */
	y = hn_graph_2(&g, "MatMul", input(2, a, 0.1, 0), weights(HN_I8, 2, b, 0, 0));
	assert_non_null(strstr(needed(y), "dequantize matmul"));
}

static void a_product_is_one_of_integers(void **state)
{
	static const int64_t a[] = { 2, 3, 8 }, b[] = { 8, 4 }, c[] = { 4, 8 };
	struct hn_gattr attr = hn_gattr_of_int(&arena, "transB", 1);
	int32_t y, in[2];

	(void)state;
	y = hn_graph_2(&g, "MatMul", input(3, a, 0.1, 9), weights(HN_I8, 2, b, 1, 0));
	assert_string_equal(needed(y), "matmul Sub cast Mul");
	in[0] = input(2, a + 1, 0.1, 0);
	in[1] = weights(HN_I8, 2, c, 0, 0);
	assert_string_equal(needed(hn_graph_add(&g, "Gemm", 2, in, 1, &attr)), "matmul cast Mul");
}

/* Both factors are computed: the right one is quantized to int8 at once, and the sums of its
 * columns are computed, too. */
static void a_product_of_two_computed(void **state)
{
	static const int64_t a[] = { 3, 8 }, b[] = { 8, 4 };
	int32_t x = hn_graph_input(&g, "x", HN_F32, 2, a), y = hn_graph_input(&g, "y", HN_F32, 2, b);

	(void)state;
	x = dequantized(quantized(x, 0.1, HN_U8, 0), 0.1, 0);
	y = dequantized(quantized(y, 0.1, HN_U8, 128), 0.1, 128);
	assert_string_equal(needed(hn_graph_2(&g, "MatMul", x, y)),
			    "div quantize cast div quantize cast matmul cast Mul");
	assert_int_equal(g.value[g.node[6].in[0]].dtype, HN_U8);
	assert_int_equal(g.value[g.node[6].in[1]].dtype, HN_I8);
}

static void bytes_move_as_they_are(void **state)
{
	static const int64_t perm[] = { 0, 2, 3, 1 }, flat[] = { 1, 144 };
	int32_t x = input(4, image, 0.1, 7), y = hn_transposed(&g, x, 4, perm);

	(void)state;
	assert_string_equal(needed(quantized(y, 0.1, HN_U8, 7)), "transpose");
	y = hn_reshaped(&g, input(4, image, 0.1, 7), 2, flat);
	assert_string_equal(needed(quantized(y, 0.1, HN_U8, 7)), "reshape");
	/* another scale, another zero point, another type */
	x = input(4, image, 0.1, 7);
	assert_string_equal(needed(quantized(hn_transposed(&g, x, 4, perm), 0.2, HN_U8, 7)),
			    "transpose dequantize quantize cast");
	x = input(4, image, 0.1, 7);
	assert_string_equal(needed(quantized(x, 0.1, HN_U8, 8)), "dequantize quantize cast");
	x = input(4, image, 0.1, 7);
	assert_string_equal(needed(quantized(x, 0.1, HN_I8, 7)), "dequantize quantize cast");
}

static int32_t relu_6(void)
{
	int32_t x = hn_graph_2(&g, "Mul", input(4, image, 0.1, 7), hn_graph_scalar(&g, HN_F32, 3));

	return hn_graph_2(&g, "minimum", hn_graph_1(&g, "Relu", x), hn_graph_scalar(&g, HN_F32, 6));
}

static void bounds_that_bytes_have_are_dropped(void **state)
{
	int32_t x;

	(void)state;
	x = input(4, image, 0.1, 7);
	assert_string_equal(needed(quantized(hn_graph_1(&g, "Relu", x), 0.1, HN_U8, 7)), "maximum");
	x = input(4, image, 0.1, 0);
	assert_int_equal(hn_graph_1(&g, "Relu", x), x);
	assert_string_equal(needed(quantized(relu_6(), 6 / 256.0, HN_U8, 0)),
			    "dequantize Mul quantize cast");
	/* these cut more than bytes do */
	assert_string_equal(needed(quantized(relu_6(), 6 / 200.0, HN_U8, 0)),
			    "dequantize Mul Relu minimum quantize cast");
	assert_string_equal(needed(quantized(relu_6(), 6 / 256.0, HN_U8, 5)),
			    "dequantize Mul Relu quantize cast");
}

static int32_t pooled(int32_t x, int64_t pad)
{
	static const int64_t kernel[] = { 2, 2 };
	int64_t pads[] = { pad, 0, 0, 0 };
	struct hn_gattr attr[] = { hn_gattr_of_ints("kernel_shape", 2, kernel),
				   hn_gattr_of_ints("pads", 4, pads) };

	return hn_graph_add(&g, "MaxPool", 1, &x, 2, attr);
}

static void the_greatest_is_one_of_bytes(void **state)
{
	(void)state;
	assert_string_equal(needed(quantized(pooled(input(4, image, 0.1, 7), 1), 0.1, HN_U8, 7)),
			    "pool");
	assert_non_null(strstr(needed(pooled(input(4, image, 0.1, 7), 2)), "dequantize pool"));
	assert_string_equal(needed(hn_graph_1(&g, "GlobalAveragePool", input(4, image, 0.1, 7))),
			    "reduce Add cast Mul Mul");
}

static void joined_bytes_have_one_scale(void **state)
{
	int32_t x = hn_graph_input(&g, "x", HN_U8, 4, image),
		y = hn_graph_input(&g, "y", HN_U8, 4, image), in[2];

	(void)state;
	in[0] = dequantized(x, 0.1, 7);
	in[1] = dequantized(y, 0.1, 7);
	assert_string_equal(
		needed(quantized(hn_graph_add(&g, "Concat", 2, in, 0, NULL), 0.1, HN_U8, 7)),
		"concat");
	in[0] = dequantized(x, 0.1, 7);
	in[1] = dequantized(y, 0.2, 7); /* is quantized anew in front */
	assert_string_equal(
		needed(quantized(hn_graph_add(&g, "Concat", 2, in, 0, NULL), 0.1, HN_U8, 7)),
		"dequantize quantize cast concat");
}

/* Scales and zero points are operands: layers that differ in them alone are one kernel.  A zero
 * point of 0 is left out. */
static void layers_with_other_scales_are_one_kernel(void **state)
{
	static const int64_t square[] = { 8, 8 };
	static const double scale[] = { 0.1, 0.2, 0.3, 0.4 }, zero[] = { 7, 9, 0, 0 };
	static const char *const name[] = { "out" };
	int32_t x = hn_graph_input(&g, "x", HN_U8, 2, square), *output = HN_NEW(&arena, int32_t);
	struct hn_net net;

	(void)state;
	x = dequantized(x, 0.05, 3);
	for (int i = 0; i < 4; i++) {
		x = hn_graph_2(&g, "MatMul", x, weights(HN_I8, 2, square, 1, 0));
		x = dequantized(quantized(x, scale[i], HN_U8, zero[i]), scale[i], zero[i]);
	}
	*output = hn_graph_2(&g, "MatMul", x, weights(HN_I8, 2, square, 1, 0));
	g.output = output;
	g.output_name = (const char **)name;
	g.n_output = 1;
	assert_int_equal(hn_net_make(&g, &net, &err), 0);
	assert_int_equal(net.n_step, 5);
	assert_int_equal(net.step[0].task, net.step[1].task);
	assert_int_equal(net.n_task, 4);
	assert_null(strstr(net.task[0].text, "uint8(7)"));
	assert_non_null(strstr(net.task[2].text, "uint8(0)"));
}

/* -- random networks ---------------------------------------------------------------------- */

static int32_t random_conv(struct hn_rng *r, int32_t x)
{
	int64_t channels = g.value[x].shape[1], out = 1 + hn_rng_below(r, 6);
	int64_t group = hn_rng_below(r, 4) == 0 && channels % 2 == 0 ? 2 : 1;
	bool small = hn_rng_below(r, 2);
	int64_t shape[] = { out * group, channels / group, small ? 1 : 3, small ? 1 : 3 };
	bool is_unsigned = hn_rng_below(r, 2);

	return conv(x, weights(is_unsigned ? HN_U8 : HN_I8, 4, shape, 0, is_unsigned ? 128 : 0),
		    group);
}

static int32_t random_product(struct hn_rng *r, int32_t x)
{
	int64_t shape[] = { g.value[x].shape[3], 1 + hn_rng_below(r, 6) };
	static const int64_t perm[] = { 0, 1, 3, 2 };

	switch (hn_rng_below(r, 3)) {
	case 0:
		return hn_graph_2(&g, "MatMul", x, hn_transposed(&g, x, 4, perm));
	case 1:
		return hn_graph_2(&g, "MatMul", x, weights(HN_U8, 2, shape, 1, 100));
	default:
		return hn_graph_2(&g, "MatMul", x, weights(HN_I8, 2, shape, 1, 0));
	}
}

static int32_t random_node(struct hn_rng *r, int32_t x)
{
	static const int64_t perm[] = { 0, 3, 1, 2 };
	const struct hn_gvalue *v = &g.value[x];
	int32_t same[] = { x, x };

	switch (hn_rng_below(r, 10)) {
	case 0:
	case 1:
		return random_conv(r, x);
	case 2:
	case 3:
		return random_product(r, x);
	case 4:
		return v->shape[2] > 1 && v->shape[3] > 1 ? pooled(x, hn_rng_below(r, 2)) : x;
	case 5:
		return hn_transposed(&g, x, 4, perm);
	case 6:
		return hn_graph_add(&g, "Concat", 2, same, 0, NULL);
	case 7:
		return hn_graph_2(&g, "Add", x, x);
	case 8:
		return hn_graph_1(&g, "GlobalAveragePool", x);
	default:
		return hn_graph_1(&g, "Relu", x);
	}
}

/* One network, with rules or without; the scale of its result. */
static double build(uint32_t number, bool with_rules)
{
	static const enum hn_dtype types[] = { HN_U8, HN_I8 };
	struct hn_rng r = hn_rng_stream(number, 0, 0, 0);
	double scale = 0.01, zero = 100;
	int32_t *in = HN_NEW(&arena, int32_t), *out = HN_NEW(&arena, int32_t), x;

	g.simplify = with_rules ? hn_pass_simplify : NULL;
	*in = hn_graph_input(&g, "x", HN_U8, 4, image);
	x = dequantized(*in, scale, zero);
	for (uint32_t i = 0; i < N_NODES; i++) {
		enum hn_dtype t = types[hn_rng_below(&r, 2)];

		x = random_node(&r, x);
		if (g.failed) {
			fail_msg("network %u: %s", number, err.msg);
		}
		if (hn_rng_below(&r, 4) > 0) { /* else two nodes in float32 */
			scale = hn_rng_below(&r, 2) ? 0.0101 : 0.0237;
			zero = hn_rng_below(&r, 3) == 0 ? 0 : hn_rng_below(&r, 120);
			x = dequantized(quantized(x, scale, t, zero), scale, zero);
		}
	}
	*out = x;
	g.input = in;
	g.output = out;
	g.n_input = g.n_output = 1;
	hn_graph_sweep(&g);
	return scale;
}

/* The result's elements, which the caller frees. */
static float *computed(uint32_t number, bool with_rules, int64_t *ret_n, double *ret_scale)
{
	struct memory m = { &g, NULL };
	float *ret;
	void *at;

	tear_down(NULL);
	set_up(NULL);
	*ret_scale = build(number, with_rules);
	*ret_n = hn_gvalue_elements(&g.value[g.output[0]]);
	m.at = calloc(g.n_value, sizeof(void *));
	at = memory_of(&m, g.input[0]);
	for (int i = 0; i < 144; i++) {
		((uint8_t *)at)[i] = (uint8_t)(i * 61 + i / 3);
	}
	assert_int_equal(run_nodes(&m, &err), 0);
	ret = malloc((size_t)*ret_n * sizeof(*ret));
	memcpy(ret, memory_of(&m, g.output[0]), (size_t)*ret_n * sizeof(*ret));
	memory_free(&m);
	return ret;
}

/* A step of a tensor in front becomes more steps behind it, so that few elements may be off. */
static void random_networks_keep_their_numbers(void **state)
{
	int64_t elements = 0, off = 0;

	(void)state;
	for (uint32_t number = 0; number < N_NETS; number++) {
		int64_t n, n_too;
		double scale;
		float *want = computed(number, false, &n, &scale);
		float *got = computed(number, true, &n_too, &scale);

		assert_int_equal(n, n_too);
		for (int64_t i = 0; i < n; i++) {
			off += fabs((double)(want[i] - got[i])) >
			       1e-4 * (scale + fabs((double)want[i]));
		}
		elements += n;
		free(want);
		free(got);
	}
	print_message("%lld of %lld elements differ\n", (long long)off, (long long)elements);
	assert_true(off * 200 < elements);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_rules, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_convolution_is_one_of_integers),
		TEST(weights_may_be_unsigned),
		TEST(few_channels_are_filled_up),
		TEST(what_is_no_integer_sum_stays),
		TEST(a_product_is_one_of_integers),
		TEST(a_product_of_two_computed),
		TEST(bytes_move_as_they_are),
		TEST(bounds_that_bytes_have_are_dropped),
		TEST(the_greatest_is_one_of_bytes),
		TEST(joined_bytes_have_one_scale),
		TEST(layers_with_other_scales_are_one_kernel),
		TEST(random_networks_keep_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
