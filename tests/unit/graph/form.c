/* Forms of numbers.  A float32 network in bfloat16: what is multiplied is rounded where it is made,
 * once, and everything else computes and leaves in float32.  A quantized one in integers, or as it is
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "graph/form/form.h"
#include "graph/ir/op.h"
#include "graph/net/numbers.h"
#include "graph/pass/pass.h"
#include "tests/lib/graph_bed.h"

static const int64_t square[] = { 4, 4 };
static float weight[16];

static int32_t input(const char *name)
{
	static int32_t in[4];

	in[g.n_input] = hn_graph_input(&g, name, HN_F32, 2, square);
	g.input = in;
	return in[g.n_input++];
}

/* As they lie in a model's file: anywhere. */
static int32_t weights(void)
{
	static char file[1 + sizeof(weight)];

	for (int i = 0; i < 16; i++) {
		weight[i] = 1.0f / (float)(3 + i);
	}
	memcpy(file + 1, weight, sizeof(weight));
	return hn_graph_const(&g, "w", HN_F32, 2, square, file + 1, false);
}

static int32_t transposed(int32_t v)
{
	struct hn_gattr perm = hn_gattr_of_ints("perm", 2, (int64_t[]){ 1, 0 });

	return hn_graph_add(&g, "Transpose", 1, &v, 1, &perm);
}

/* The network's kernels in bfloat16, as text. */
static const char *in_bfloat16(struct hn_net *net, uint32_t n, const int32_t *out)
{
	static const char *const names[] = { "y", "z" };
	struct hn_buf b;
	const char *text;

	g.output = HN_NEW_ARRAY(&arena, int32_t, n);
	memcpy(g.output, out, n * sizeof(*out));
	g.output_name = (const char **)names;
	g.n_output = n;
	hn_form_bfloat16(&g);
	assert_false(g.failed);
	assert_int_equal(hn_net_make(&g, net, &err), 0);
	hn_buf_init(&b);
	for (uint32_t i = 0; i < net->n_task; i++) {
		hn_buf_puts(&b, net->task[i].text);
	}
	text = hn_arena_strndup(&arena, b.s, b.n);
	hn_buf_fini(&b);
	return text;
}

static void sums_keep_float32(void **state)
{
	int32_t y = hn_graph_2(&g, "MatMul", input("x"), weights());
	struct hn_net net;
	const char *text = in_bfloat16(&net, 1, &y);

	(void)state;
	assert_int_equal(net.n_step, 2); /* the input is rounded before */
	assert_non_null(strstr(text, "(bfloat16 T1[4,4], const bfloat16 T2[4,4]) -> T3 {\n"
				     "	T3(i0,i1) +=! float32(T1(i0,k)) * float32(T2(k,i1))"));
	assert_int_equal(g.value[g.output[0]].dtype, HN_F32);
	assert_int_equal(g.value[g.input[0]].dtype, HN_F32);
}

static void a_weight_is_rounded_once(void **state)
{
	int32_t y = hn_graph_2(&g, "MatMul", input("x"), weights());
	struct hn_net net;
	const struct hn_gvalue *w;

	(void)state;
	in_bfloat16(&net, 1, &y);
	w = &g.value[net.step[1].arg[1]];
	assert_int_equal(w->dtype, HN_BF16);
	assert_non_null(w->data);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(((const uint16_t *)w->data)[i], hn_bfloat_of_float(weight[i]));
	}
}

static void groups_of_a_convolution_keep_float32(void **state)
{
	static const int64_t image[] = { 1, 4, 3, 3 }, kernel[] = { 4, 2, 1, 1 };
	static const uint16_t numbers[8];
	int32_t in[] = { hn_graph_input(&g, "x", HN_BF16, 4, image),
			 hn_graph_const(&g, "w", HN_BF16, 4, kernel, numbers, false) };
	struct hn_gattr group = hn_gattr_of_ints("group", 1, (int64_t[]){ 2 });
	int32_t y = hn_graph_add(&g, "Conv", 2, in, 1, &group);
	struct hn_net net;

	(void)state;
	g.input = in;
	g.n_input = 1;
	assert_non_null(strstr(in_bfloat16(&net, 1, &y), " +=! float32(T1("));
	assert_int_equal(g.value[g.output[0]].dtype, HN_BF16);
}

/* The three channels of an image become four, in the kernel that rounds it; weights
 * get zeros. */
static void an_odd_channel_gets_another(void **state)
{
	static const int64_t image[] = { 1, 3, 3, 3 }, kernel[] = { 2, 3, 1, 1 };
	static const float numbers[6] = { 1, 2, 3, 4, 5, 6 };
	int32_t in[] = { hn_graph_input(&g, "x", HN_F32, 4, image),
			 hn_graph_const(&g, "w", HN_F32, 4, kernel, numbers, false) };
	const struct hn_gvalue *w;
	int32_t y;
	struct hn_net net;

	(void)state;
	g.input = in;
	g.n_input = 1;
	g.simplify = hn_pass_simplify;
	y = hn_graph_add(&g, "Conv", 2, in, 0, NULL);
	assert_non_null(strstr(in_bfloat16(&net, 1, &y), "(bfloat16 T1[1,4,3,3], const bfloat16"));
	assert_int_equal(net.n_step, 2);
	w = &g.value[net.step[1].arg[1]];
	assert_int_equal(w->shape[1], 4);
	assert_int_equal(((const uint16_t *)w->data)[2], hn_bfloat_of_float(3));
	assert_int_equal(((const uint16_t *)w->data)[3], 0);
	assert_int_equal(((const uint16_t *)w->data)[4], hn_bfloat_of_float(4));
}

/* The activation is rounded in the kernel that makes it, behind a transposition too; a residual that
 * reads it, and is no product, reads the same memory. */
static void a_factor_is_rounded_where_it_is_made(void **state)
{
	int32_t w = weights(), x = input("x");
	int32_t act = hn_graph_1(&g, "Relu", hn_graph_2(&g, "MatMul", x, w));
	int32_t sum = hn_graph_2(&g, "Add", hn_graph_2(&g, "MatMul", transposed(act), w), act);
	struct hn_net net;
	const char *text = in_bfloat16(&net, 1, &sum);

	(void)state;
	assert_int_equal(net.n_step, 3);
	assert_non_null(strstr(text, "_matmul_relu_cast("));
	assert_null(strstr(text, "float32 T1[4,4], const"));
	assert_int_equal(g.value[net.step[2].arg[0]].dtype, HN_BF16);
	assert_int_equal(g.value[net.step[2].arg[net.step[2].n_in - 1]].dtype, HN_BF16);
}

/* Of two sums that are added the first waits in memory for the second. */
static void a_sum_that_waits_is_rounded(void **state)
{
	int32_t w = weights(), x = input("x");
	int32_t first = hn_graph_2(&g, "MatMul", x, w);
	int32_t second = hn_graph_2(&g, "MatMul", transposed(x), w);
	int32_t sum = hn_graph_2(&g, "Add", second, first);
	struct hn_net net;

	(void)state;
	in_bfloat16(&net, 1, &sum);
	assert_int_equal(net.n_step, 3);
	assert_int_equal(g.value[net.step[2].arg[net.step[2].n_in - 1]].dtype, HN_BF16);
	assert_int_equal(g.value[g.output[0]].dtype, HN_F32);
}

/* What no product reads is not rounded: the output of a softmax, and one that is a factor as well. */
static void outputs_are_not_rounded(void **state)
{
	int32_t w = weights(), first = hn_graph_2(&g, "MatMul", input("x"), w);
	int32_t out[] = { first, hn_graph_2(&g, "MatMul", first, w) };
	struct hn_net net;

	(void)state;
	in_bfloat16(&net, 2, out);
	assert_int_equal(g.value[g.output[0]].dtype, HN_F32);
	assert_string_equal(g.node[g.value[g.output[0]].node].op->name, "matmul");
	assert_int_equal(g.value[g.output[1]].dtype, HN_F32);
}

static void steps_have_the_numbers_of_their_nodes(void **state)
{
	int32_t w = weights(), x = input("x");
	int32_t act = hn_graph_1(&g, "Relu", hn_graph_2(&g, "MatMul", x, w));
	int32_t sum = hn_graph_2(&g, "Add", hn_graph_2(&g, "MatMul", transposed(act), w), act);
	const struct hn_step_numbers *step;
	const char *why;
	struct hn_net net;

	(void)state;
	in_bfloat16(&net, 1, &sum);
	assert_int_equal(hn_net_numbers(&net, &step, &why, &err), 0);
	for (uint32_t i = 0; i < net.n_step; i++) {
		assert_true(step[i].computed);
		assert_true(step[i].error <= step[i].allowed);
	}
}

/* -- quantized ------------------------------------------------------------------------------- */

static int32_t through_bytes(int32_t v)
{
	int32_t scale = hn_graph_scalar(&g, HN_F32, 0.01), zero = hn_graph_scalar(&g, HN_I8, 0);
	int32_t q = hn_graph_add(&g, "QuantizeLinear", 3, (int32_t[]){ v, scale, zero }, 0, NULL);

	return hn_graph_add(&g, "DequantizeLinear", 3, (int32_t[]){ q, scale, zero }, 0, NULL);
}

enum pairs { NO_PAIRS, WEIGHTS_ALONE, ALL_PAIRS };

/* A product of matrices in that form; the types of the factors that it has then. */
static void put_product(const char *form, enum pairs pairs, enum hn_dtype factor[2])
{
	const struct hn_form *f = hn_form_find(form, &err);
	int32_t w = weights(), x = input("x");
	static int32_t out;

	g.simplify = f->as_written ? hn_pass_simplify_as_written : hn_pass_simplify;
	w = pairs >= WEIGHTS_ALONE ? through_bytes(w) : w;
	x = pairs == ALL_PAIRS ? through_bytes(x) : x;
	out = hn_graph_2(&g, "MatMul", x, w);
	g.output = &out;
	g.n_output = 1;
	hn_graph_sweep(&g);
	f->apply(&g);
	for (uint32_t i = 0; i < g.n_node; i++) {
		for (uint32_t k = 0; strcmp(g.node[i].op->name, "matmul") == 0 && k < 2; k++) {
			factor[k] = (enum hn_dtype)g.value[g.node[i].in[k]].dtype;
		}
	}
}

static void a_quantized_model_multiplies_integers(void **state)
{
	enum hn_dtype factor[2] = { HN_N_DTYPE, HN_N_DTYPE };

	(void)state;
	put_product("int8-qdq", ALL_PAIRS, factor);
	assert_false(g.failed);
	assert_int_equal(factor[0], HN_I8);
	assert_int_equal(factor[1], HN_I8);
}

static void as_it_is_written_it_multiplies_floats(void **state)
{
	enum hn_dtype factor[2] = { HN_N_DTYPE, HN_N_DTYPE };

	(void)state;
	put_product("float32", ALL_PAIRS, factor);
	assert_false(g.failed);
	assert_int_equal(factor[0], HN_F32);
	assert_int_equal(factor[1], HN_F32);
}

/* Layers that differ in their scales alone are one kernel, in bfloat16, too. */
static void scales_stay_operands(void **state)
{
	enum hn_dtype factor[2] = { HN_N_DTYPE, HN_N_DTYPE };
	uint32_t n = 0;

	(void)state;
	put_product("bfloat16", ALL_PAIRS, factor);
	assert_false(g.failed);
	assert_int_equal(factor[0], HN_I8);
	for (uint32_t v = 0; v < g.n_value; v++) {
		n += g.value[v].operand;
	}
	assert_true(n > 0);
}

static void a_model_without_pairs_has_no_integers(void **state)
{
	enum hn_dtype factor[2];

	(void)state;
	put_product("int8-qdq", NO_PAIRS, factor);
	assert_true(g.failed);
	assert_non_null(strstr(err.msg, "no product of the model is of integers; quantize its"));
}

static void weights_alone_make_no_integers(void **state)
{
	enum hn_dtype factor[2];

	(void)state;
	put_product("int8-qdq", WEIGHTS_ALONE, factor);
	assert_true(g.failed);
}

/* What else was taken apart is put together as ever. */
static void as_written_other_rules_apply(void **state)
{
	int32_t x = input("x");

	(void)state;
	g.simplify = hn_pass_simplify_as_written;
	assert_int_equal(transposed(transposed(x)), x);
}

static void an_unknown_form_is_refused(void **state)
{
	(void)state;
	assert_non_null(hn_form_find("bfloat16", &err));
	assert_null(hn_form_find("bfloat", &err));
	assert_non_null(strstr(err.msg, "--dtype: \"bfloat\" is none of: bfloat16, float32, int8-qdq"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_keep_float32),
		TEST(a_weight_is_rounded_once),
		TEST(groups_of_a_convolution_keep_float32),
		TEST(an_odd_channel_gets_another),
		TEST(a_factor_is_rounded_where_it_is_made),
		TEST(a_sum_that_waits_is_rounded),
		TEST(outputs_are_not_rounded),
		TEST(steps_have_the_numbers_of_their_nodes),
		TEST(a_quantized_model_multiplies_integers),
		TEST(as_it_is_written_it_multiplies_floats),
		TEST(scales_stay_operands),
		TEST(a_model_without_pairs_has_no_integers),
		TEST(weights_alone_make_no_integers),
		TEST(as_written_other_rules_apply),
		TEST(an_unknown_form_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
