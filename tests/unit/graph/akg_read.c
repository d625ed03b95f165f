/* Files of AKG: what is read of one, what is told, and what is refused and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "graph/akg/import.h"
#include "tests/lib/akg_seeds.h"

static struct hn_err err;

static struct hn_akg *read_text(const char *s)
{
	struct hn_akg *k = NULL;

	err = (struct hn_err){ 0 };
	if (hn_akg_parse("k.info", s, strlen(s), &k, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return k;
}

static void a_kernel_is_read(void **state)
{
	struct hn_akg *a = read_text(akg_seeds[1]);
	const struct hn_akg_kernel *k = hn_akg_kernel(a);

	(void)state;
	assert_string_equal(k->name, "Fused_seed");
	assert_string_equal(k->process, "cuda");
	assert_int_equal(k->n_in, 2);
	assert_string_equal(k->in[0].name, "x");
	assert_int_equal(k->in[0].rank, 2);
	assert_int_equal(k->in[0].shape[0], -1);
	assert_string_equal(k->in[0].symbol[0], "batch");
	assert_string_equal(k->in[0].symbol[1], "");
	assert_int_equal(k->n_op, 4);
	assert_string_equal(k->op[3].at, "op_desc[3]");
	assert_int_equal(k->op[3].n_in, 3);
	assert_int_equal(k->op[3].n_attr, 1);
	assert_non_null(k->op[0].in[1].value);
	assert_int_equal(k->n_note, 0);
	hn_akg_close(a);
}

#define X "[" AKG_T("x", "float32", "[2]") "]"
#define Y AKG_T("y", "float32", "[2]")

static void what_means_nothing_is_told(void **state)
{
	static const char text[] =
		"{\"op\":\"f\",\"color\":1,\"input_desc\":[" X "],\"output_desc\":[" Y "],\"op_desc\":["
		"{\"name\":\"Abs\",\"attr\":{\"visited\":true,\"taste\":2},\"shade\":[],\"input_desc\":[" X "],"
		"\"output_desc\":[" Y "]},"
		"{\"name\":\"Abs\",\"attr\":[{\"name\":\"taste\",\"value\":1}],\"input_desc\":[[" Y "]],"
		"\"output_desc\":[{\"tensor_name\":\"z\",\"data_type\":\"float32\",\"shape\":[2]}]}]}";
	static const char *const notes[] = { "member \"color\" of the kernel",
					     "member \"shade\" of an operator", "attribute taste of Abs" };
	struct hn_akg *a = read_text(text);
	const struct hn_akg_kernel *k = hn_akg_kernel(a);

	(void)state;
	assert_int_equal(k->n_note, HN_COUNT_OF(notes));
	for (uint32_t i = 0; i < k->n_note; i++) {
		assert_string_equal(k->note[i].what, notes[i]);
	}
	assert_int_equal(k->note[2].n, 2);
	assert_string_equal(k->note[2].at, "op_desc[0]");
	hn_akg_close(a);
}

/* -- what is refused -------------------------------------------------------------------- */

#define TOP(rest) "{\"op\":\"f\",\"output_desc\":[" Y "],\"op_desc\":[]" rest "}"
#define IN(tensor) TOP(",\"input_desc\":[[" tensor "]]")
#define OPS(op) "{\"op\":\"f\",\"input_desc\":[" X "],\"output_desc\":[" Y "],\"op_desc\":[" op "]}"

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "k.info:1:1: " },
	{ "{\"op\":1,\"op\":2}", "k.info:1:9: " },
	{ "[]", "k.info: at the top: the kernel is wanted, and this is an array" },
	{ "{\"op_desc\":[],\"output_desc\":[]}", "k.info: at the top: it has no \"op\"" },
	{ "{\"op\":\"f\",\"output_desc\":[]}", "k.info: at the top: it has no \"op_desc\"" },
	{ "{\"op\":\"f\",\"op_desc\":{}}",
	  "k.info: at the top: \"op_desc\" is an object; it has to be a list" },
	{ "{\"op\":\"a\\u0007b\",\"op_desc\":[],\"output_desc\":[]}",
	  "k.info: at the top: \"op\" has a control character" },
	{ TOP(",\"input_desc\":[{}]"),
	  "k.info: input_desc[0]: a list of tensors is wanted, and this is an object" },
	{ IN("7"), "k.info: input_desc[0][0]: a tensor is wanted, and this is a number" },
	{ IN("{\"data_type\":\"float32\",\"shape\":[]}"),
	  "k.info: input_desc[0][0]: it has no \"tensor_name\"" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\"}"),
	  "k.info: input_desc[0][0]: it has no \"shape\"" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float12\",\"shape\":[]}"),
	  "k.info: input_desc[0][0]: \"data_type\" float12 is none that hone has" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[0]}"),
	  "k.info: input_desc[0][0]: dimension 0 of \"shape\" is no length, nor -1" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[2,-2]}"),
	  "k.info: input_desc[0][0]: dimension 1 of \"shape\" is no length, nor -1" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[1,1,1,1,1,1,1,1,1]}"),
	  "k.info: input_desc[0][0]: 9 dimensions; hone has 8" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[1],\"value\":\"7\"}"),
	  "k.info: input_desc[0][0]: \"value\" is neither a number nor a list of numbers" },
	{ IN("{\"tensor_name\":\"x\",\"data_type\":\"float32\",\"shape\":[1],\"symbolic_shape\":[]}"),
	  "k.info: input_desc[0][0]: \"symbolic_shape\" names 0 of 1 dimensions" },
	{ OPS("{\"output_desc\":[]}"), "k.info: op_desc[0]: it has no \"name\"" },
	{ OPS("{\"name\":\"Abs\"}"), "k.info: op_desc[0]: it has no \"output_desc\"" },
	{ OPS("{\"name\":\"Abs\",\"attr\":[{\"name\":\"a\"}]}"),
	  "k.info: op_desc[0].attr[0]: it has no \"value\"" },
	{ OPS("{\"name\":\"Abs\",\"attr\":[{\"name\":\"a\",\"value\":1},{\"name\":\"a\",\"value\":1}]}"),
	  "k.info: op_desc[0].attr[1]: a is there twice" },
};

static void what_is_damaged_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct hn_akg *k = NULL;

		err = (struct hn_err){ 0 };
		int rc = hn_akg_parse("k.info", bad[i].text, strlen(bad[i].text), &k, &err);

		if (rc == 0 || rc != -err.code || strncmp(err.msg, bad[i].says, strlen(bad[i].says)) != 0) {
			fail_msg("%s\nsays: %s\n not: %s", bad[i].text, err.msg, bad[i].says);
		}
	}
}

/* -- what is no kernel, as it is put together ------------------------------------------- */

#define ONE(op, attr, in, out) OPS(AKG_OP(op, attr, in, out))

/* y = op(x, w), z = y * v of open dimensions. */
#define OPEN(op, x, w, y)                                                                           \
	"{\"op\":\"f\",\"input_desc\":[[" AKG_T("x", "float32", x) "],[" AKG_T("w", "float32", w) "],["       \
	AKG_T("v", "float32", "[-1,1]") "]],\"output_desc\":[" AKG_T("z", "float32", y) "],\"op_desc\":["   \
	"{\"name\":\"" op "\",\"input_desc\":[[" AKG_T("x", "float32", x) "],[" AKG_T("w", "float32", w)      \
	"]],\"output_desc\":[" AKG_T("y", "float32", y) "]},{\"name\":\"Mul\",\"input_desc\":[["             \
	AKG_T("y", "float32", y) "],[" AKG_T("v", "float32", "[-1,1]") "]],\"output_desc\":["              \
	AKG_T("z", "float32", y) "]}]}"

static const struct {
	const char *text, *says;
} wrong[] = {
	{ ONE("Abs", "null", "[" AKG_T("w", "float32", "[2]") "]", Y),
	  "Abs: operand w is no input and no result of an operator before (node op_desc[0])" },
	{ ONE("Abs", "null", "[" AKG_T("x", "int32", "[2]") "]", Y),
	  "Abs: operand x has another type or shape where it is defined (node op_desc[0])" },
	{ ONE("Abs", "null", X, AKG_T("y", "float32", "[3]")),
	  "Abs: result y is [2] by its operands, and the file says [3] (node op_desc[0])" },
	{ ONE("Abs", "null", X, AKG_T("x", "float32", "[2]")),
	  "Abs: result x is there already (node op_desc[0])" },
	{ ONE("Abs", "null", X "," X, Y), "Abs: 2 operands and 1 results (node op_desc[0])" },
	{ ONE("Abs", "null", X, Y "," AKG_T("z", "float32", "[2]")), "Abs: 2 results (node op_desc[0])" },
	{ ONE("Frobnicate", "null", X, Y), "Frobnicate: not an operator that hone has (node op_desc[0])" },
	{ ONE("Custom", "{\"func_type\":\"hybrid\"}", X, Y),
	  "Custom: a program of its own in an attribute; hone reads operators (node op_desc[0])" },
	{ ONE("ReduceSum", "{\"axis\":[1]}", X, Y),
	  "ReduceSum: axis 1 of a tensor with 1 dimensions (node op_desc[0])" },
	{ ONE("ReduceSum", "{\"axis\":\"all\"}", X, Y),
	  "ReduceSum: axis is no list of at most 64 integers (node op_desc[0])" },
	{ ONE("Transpose", "null", X "," "[" AKG_T("x", "float32", "[2]") "]", Y),
	  "Transpose: perm is computed: shapes have to be known (node op_desc[0])" },
	{ ONE("Assign", "null", "[" AKG_L("c", "float32", "1") "]," X, Y),
	  "Assign: c is written, and is no tensor (node op_desc[0])" },
	{ OPS(""), "output y is not computed" },
	{ "{\"op\":\"f\",\"input_desc\":[" X "," X "],\"output_desc\":[],\"op_desc\":[]}",
	  "input x is there twice" },
	{ "{\"op\":\"f\",\"input_desc\":[" X "],\"output_desc\":[],\"op_desc\":[]}",
	  "a kernel without outputs" },
	{ "{\"op\":\"f\",\"input_desc\":[[" AKG_T("x", "float32", "[-1,3,-1]")
	  "]],\"output_desc\":[],\"op_desc\":[]}",
	  "the model leaves dimensions open; give their sizes: --dim x:0=.. --dim x:2=.. (it takes x[?, 3, "
	  "?])" },
	/* what has to be alike is asked for once, also by way of a result */
	{ OPEN("Add", "[-1,4]", "[4,-1,4]", "[4,-1,4]"),
	  "the model leaves dimensions open; give their sizes: --dim x:0=.. (it takes x[x:0, 4], w[4, x:0, 4], "
	  "v[x:0, 1])" },
	{ OPEN("MatMul", "[-1,-1]", "[-1,-1]", "[-1,-1]"),
	  "the model leaves dimensions open; give their sizes: --dim x:0=.. --dim x:1=.. --dim w:0=.. --dim w:1=.. "
	  "--dim v:0=.. (it takes x[?, ?], w[?, ?], v[?, 1])" },
};

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(wrong); i++) {
		struct hn_akg *k = read_text(wrong[i].text);
		struct hn_import im = { 0 };
		struct hn_arena a;
		struct hn_graph g;

		hn_arena_init(&a, 0);
		hn_graph_init(&g, &a, "net", &err);
		int rc = hn_akg_import(k, &im, &g, &err);

		if (rc == 0 || rc != -err.code || strncmp(err.msg, wrong[i].says, strlen(wrong[i].says)) != 0) {
			fail_msg("%s\nsays: %s\n not: %s", wrong[i].text, err.msg, wrong[i].says);
		}
		hn_arena_fini(&a);
		hn_akg_close(k);
	}
}

/* An input that is written is an output, too, where none has its value. */
static void what_is_written_is_an_output(void **state)
{
	struct hn_import_dim dim[] = { { .name = "batch", .value = 3 } };
	struct hn_import im = { .dim = dim, .n_dim = 1 };
	struct hn_akg *k = read_text(akg_seeds[1]);
	struct hn_arena a;
	struct hn_graph g;

	(void)state;
	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "net", &err);
	assert_int_equal(hn_akg_import(k, &im, &g, &err), 0);
	assert_int_equal(g.n_output, 2);
	assert_string_equal(g.output_name[0], "y");
	assert_string_equal(g.output_name[1], "w");
	assert_true(g.value[g.output[1]].node >= 0);
	hn_arena_fini(&a);
	hn_akg_close(k);
}

/* One size serves all dimensions that have to be alike. */
static void one_size_is_for_all_alike(void **state)
{
	struct hn_import_dim dim[] = { { .name = "x:0", .value = 3 } };
	struct hn_import im = { .dim = dim, .n_dim = 1 };
	struct hn_akg *k = read_text(OPEN("Add", "[-1,4]", "[4,-1,4]", "[4,-1,4]"));
	struct hn_arena a;
	struct hn_graph g;

	(void)state;
	hn_arena_init(&a, 0);
	hn_graph_init(&g, &a, "net", &err);
	assert_int_equal(hn_akg_import(k, &im, &g, &err), 0);
	assert_int_equal(g.value[g.input[1]].shape[1], 3);
	assert_int_equal(g.value[g.input[2]].shape[0], 3);
	hn_arena_fini(&a);
	hn_akg_close(k);
}

static void kernels_are_told_from_other_files(void **state)
{
	static const struct {
		const char *head;
		bool is;
	} rows[] = {
		{ "{\"composite\": true", true },
		{ " \n{\"a\\\"b\":[{\"op_desc\":1}],\"input_desc\" :", true },
		{ "{\"a\":[{\"op_desc\":1}],\"b\":\"op_desc\"", false },
		{ "{\"format\":\"compute-dag/1\",\"ops\":[]}", false },
		{ "[{\"op_desc\":[]}]", false },
		{ "{\"op_desc", false },
		{ "{\"op_desc\\", false },
		{ "conv(", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (hn_akg_is(rows[i].head, strlen(rows[i].head)) != rows[i].is) {
			fail_msg("%s", rows[i].head);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_read),
		cmocka_unit_test(what_means_nothing_is_told),
		cmocka_unit_test(what_is_damaged_is_refused),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(what_is_written_is_an_output),
		cmocka_unit_test(one_size_is_for_all_alike),
		cmocka_unit_test(kernels_are_told_from_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
