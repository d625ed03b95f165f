/* compute-dag/1: the real cases read, write back equal, and count the operations TVM
 * counts; keys tell apart what TVM's keys mix up. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <glob.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/dag/constant.h"
#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/cases.h"

static const struct hn_dag *parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };

	if (hn_dag_parse("t", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static bool same_exprs(const struct hn_expr *const *x, const struct hn_expr *const *y,
		       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!hn_expr_equal(x[i], y[i])) {
			return false;
		}
	}
	return true;
}

static void assert_same_op(const struct hn_op *x, const struct hn_op *y)
{
	assert_string_equal(x->id, y->id);
	assert_string_equal(x->name, y->name);
	assert_string_equal(x->tag, y->tag);
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->n_dim, y->n_dim);
	assert_int_equal(x->n_out, y->n_out);
	assert_int_equal(x->n_reduce, y->n_reduce);
	assert_int_equal(x->n_attr, y->n_attr);
	for (uint32_t i = 0; i < x->n_attr; i++) {
		assert_string_equal(x->attr[i].name, y->attr[i].name);
		assert_string_equal(x->attr[i].json, y->attr[i].json);
		assert_int_equal(x->attr[i].n_item, y->attr[i].n_item);
	}
	for (uint32_t i = 0; i < x->n_spatial + x->n_reduce; i++) {
		assert_string_equal(x->axis[i].name, y->axis[i].name);
		assert_int_equal(x->axis[i].extent, y->axis[i].extent);
	}
	assert_int_equal(x->reduce != NULL, y->reduce != NULL);
	if (x->reduce != NULL) {
		assert_int_equal(x->reduce->kind, y->reduce->kind);
		assert_true(same_exprs(x->reduce->source, y->reduce->source, x->n_out));
		assert_true(same_exprs(x->reduce->result, y->reduce->result, x->n_out));
		assert_true(
			same_exprs(x->reduce->identity, y->reduce->identity, x->n_out));
		assert_int_equal(x->reduce->condition != NULL,
				 y->reduce->condition != NULL);
	} else if (x->kind == HN_OP_COMPUTE) {
		assert_true(same_exprs(x->body, y->body, x->n_out));
	}
}

/* Written and read again: equal, and the same bytes when written once more. */
static void assert_round_trip(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_buf once, twice;
	char key[HN_KEY_BYTES], key2[HN_KEY_BYTES];

	hn_buf_init(&once);
	hn_buf_init(&twice);
	hn_dag_write_json(dag, &once);
	const struct hn_dag *again = parse(once.s, a);

	hn_dag_write_json(again, &twice);
	assert_string_equal(once.s, twice.s);
	assert_int_equal(dag->n_op, again->n_op);
	assert_int_equal(dag->n_arg, again->n_arg);
	assert_int_equal(dag->n_input, again->n_input);
	assert_memory_equal(dag->arg, again->arg, dag->n_arg * sizeof(*dag->arg));
	for (uint32_t i = 0; i < dag->n_op; i++) {
		assert_same_op(dag->op[i], again->op[i]);
	}
	hn_dag_key(dag, key);
	hn_dag_key(again, key2);
	assert_string_equal(key, key2);
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
}

static void check_case(const char *path)
{
	struct hn_json *json;
	struct hn_arena a;
	struct hn_buf text;
	double flops;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	assert_int_equal(hn_file_read(path, 1 << 24, &text, NULL), 0);
	const struct hn_dag *dag = parse(text.s, &a);

	assert_round_trip(dag, &a);
	assert_int_equal(hn_json_parse(path, text.s, text.n, NULL, &json, NULL), 0);
	assert_true(hn_json_double(hn_json_get(json, "flop_count"), &flops));
	if (flops != hn_dag_flops(dag)) {
		fail_msg("%s: %f operations, TVM counts %f", path, hn_dag_flops(dag),
			 flops);
	}
	hn_json_free(json);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

static void read_cases(void **state)
{
	glob_t g;

	(void)state;
	need_cases();
	assert_int_equal(glob(HONE_CASES_DIR "/ansor/*/dag.json", 0, NULL, &g), 0);
	assert_true(g.gl_pathc >= 67);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		check_case(g.gl_pathv[i]);
	}
	globfree(&g);
}

static void read_examples(void **state)
{
	static const struct {
		const char *name;
		double flops;
	} table[] = {
		{ "resnet50-conv.json",
		  2.0 * 28 * 28 * 128 * 9 * 128 + 4.0 * 28 * 28 * 128 },
		{ "softmax.json", 4.0 * 128 * 1000 },
		{ "depthwise.json", 2.0 * 112 * 112 * 32 * 9 },
		{ "matmul.txt", 2.0 * 512 * 512 * 512 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		char path[512];
		struct hn_arena a;
		struct hn_buf text;

		snprintf(path, sizeof(path), "%s/examples/%s", HONE_SOURCE_DIR,
			 table[i].name);
		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		assert_int_equal(hn_file_read(path, 1 << 20, &text, NULL), 0);
		const struct hn_dag *dag = parse(text.s, &a);

		assert_true(hn_dag_flops(dag) == table[i].flops);
		assert_round_trip(dag, &a);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

static const char argmax[] =
	"{\"format\":\"compute-dag/1\",\"ops\":["
	"{\"kind\":\"placeholder\",\"id\":\"A\",\"shape\":[5,7],\"dtype\":\"float32\"},"
	"{\"kind\":\"compute\",\"id\":\"M\",\"tag\":\"t\",\"shape\":[5],\"dtype\":["
	"\"int32\",\"float32\"],"
	"\"axes\":[[\"i\",0,5]],\"reduce_axes\":[[\"k\",1,6]],"
	"\"attrs\":{\"mine\":{\"x\":[1,\"two\"]},\"layout_free_placeholders\":[\"A\"]},"
	"\"body\":["
	"%s,%s]}],\"inputs_outputs\":[\"A\",\"M.v0\",\"M.v1\"]}";
static const char argmax_body[] =
	"{\"reduce\":{\"lhs\":[\"i0\",\"v0\"],\"rhs\":[\"i1\",\"v1\"],\"result\":["
	"[\"select\",[\"ge\",[\"var\",\"v0\"],[\"var\",\"v1\"]],[\"var\",\"i0\"],["
	"\"var\",\"i1\"]],"
	"[\"max\",[\"var\",\"v0\"],[\"var\",\"v1\"]]],"
	"\"identity\":[[\"int\",-1,\"int32\"],[\"float\",\"-inf\",\"float32\"]]},"
	"\"source\":[[\"var\",\"k\"],[\"let\",\"t\",[\"load\",\"A\",[\"var\",\"i\"],["
	"\"var\",\"k\"]],"
	"[\"mul\",[\"var\",\"t\"],[\"var\",\"t\"]]]],"
	"\"condition\":[\"ne\",[\"var\",\"k\"],[\"int\",3,\"int32\"]],\"init\":[],"
	"\"value_index\":%d}";

static void read_argmax(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	char *b0 = hn_arena_printf(&a, argmax_body, 0),
	     *b1 = hn_arena_printf(&a, argmax_body, 1);
	const struct hn_dag *dag = parse(hn_arena_printf(&a, argmax, b0, b1), &a);
	const struct hn_op *op = dag->op[1];

	assert_int_equal(op->n_out, 2);
	assert_int_equal(op->reduce->kind, HN_COMBINE_GENERAL);
	assert_int_equal(op->axis[1].min, 1);
	assert_non_null(op->reduce->condition);
	assert_int_equal(dag->n_arg, 3);
	assert_string_equal(hn_op_attr(op, "mine")->json, "{\"x\":[1,\"two\"]}");
	assert_string_equal(hn_op_attr(op, "layout_free_placeholders")->item[0], "A");
	assert_int_equal((int)hn_dag_arg_bytes(dag), 5 * 7 * 4 + 5 * 4 + 5 * 4);
	assert_round_trip(dag, &a);
	hn_arena_fini(&a);
}

/* One reduction whose combiner is written as given. */
static enum hn_combiner kind_of(const char *result, struct hn_arena *a)
{
	const char *fmt =
		"{\"format\":\"compute-dag/"
		"1\",\"ops\":[{\"kind\":\"compute\",\"id\":\"S\","
		"\"shape\":[],\"dtype\":[\"int64\"],\"axes\":[],\"reduce_axes\":[[\"k\","
		"0,3]],"
		"\"body\":[{\"reduce\":{\"lhs\":[\"x\"],\"rhs\":[\"y\"],\"result\":[%s],"
		"\"identity\":[[\"int\",0,\"int64\"]]},\"source\":[[\"cast\",\"int64\","
		"[\"var\",\"k\"]]]}]}],\"inputs_outputs\":[\"S\"]}";

	return parse(hn_arena_printf(a, fmt, result), a)->op[0]->reduce->kind;
}

static void know_combiners(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(kind_of("[\"add\",[\"var\",\"x\"],[\"var\",\"y\"]]", &a),
			 HN_COMBINE_SUM);
	assert_int_equal(kind_of("[\"add\",[\"var\",\"y\"],[\"var\",\"x\"]]", &a),
			 HN_COMBINE_SUM);
	assert_int_equal(kind_of("[\"mul\",[\"var\",\"y\"],[\"var\",\"x\"]]", &a),
			 HN_COMBINE_PROD);
	assert_int_equal(kind_of("[\"min\",[\"var\",\"x\"],[\"var\",\"y\"]]", &a),
			 HN_COMBINE_MIN);
	assert_int_equal(kind_of("[\"max\",[\"var\",\"y\"],[\"var\",\"x\"]]", &a),
			 HN_COMBINE_MAX);
	assert_int_equal(kind_of("[\"add\",[\"var\",\"x\"],[\"var\",\"x\"]]", &a),
			 HN_COMBINE_GENERAL);
	assert_int_equal(kind_of("[\"sub\",[\"var\",\"x\"],[\"var\",\"y\"]]", &a),
			 HN_COMBINE_GENERAL);
	hn_arena_fini(&a);
}

static void key_of(const char *text, char key[HN_KEY_BYTES])
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_dag_key(parse(text, &a), key);
	hn_arena_fini(&a);
}

/* "W" is the id of one input and the name of another: the id counts. */
static void constants_are_meant_by_id(void **state)
{
#define INPUT(id, name)                                                                      \
	"{\"kind\":\"placeholder\",\"id\":\"" id "\",\"name\":\"" name                        \
	"\",\"shape\":[5],\"dtype\":\"int32\"},"
#define TEXT(first, second, attrs)                                                           \
	"{\"format\":\"compute-dag/1\",\"ops\":[" INPUT(first, "W") INPUT(second, "B")            \
	"{\"kind\":\"compute\",\"id\":\"C\",\"shape\":[5],\"dtype\":[\"int32\"],"               \
	"\"axes\":[[\"i\",0,5]],\"reduce_axes\":[],\"body\":[[\"add\",[\"load\",\"" first       \
	"\",[\"var\",\"i\"]],[\"load\",\"" second "\",[\"var\",\"i\"]]]],\"attrs\":{"            \
	attrs "}}],\"inputs_outputs\":[\"" first                                                  \
	"\",\"" second "\",\"C\"]}"
#define LAYOUT(meant) "\"layout_free_placeholders\":[\"" meant "\"]"
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *by_id = parse(TEXT("X", "W", LAYOUT("W")), &a);
	const struct hn_dag *by_name = parse(TEXT("X", "Y", LAYOUT("W")), &a);

	assert_false(hn_dag_arg_is_constant(by_id, 0));
	assert_true(hn_dag_arg_is_constant(by_id, 1));
	assert_true(hn_dag_arg_is_constant(by_name, 0));
	assert_false(hn_dag_arg_is_constant(by_name, 1));
	hn_arena_fini(&a);
}

/* What an attribute names must be there: a task with a name of nothing could not be written
 * and read again with the same key. */
static void attributes_name_what_is_there(void **state)
{
	static const struct {
		const char *text, *message;
	} table[] = {
		{ TEXT("X", "Y", LAYOUT("Z")), "t: 'C': the attribute 'layout_free_placeholders' "
					       "names 'Z', and there is no such op" },
		{ TEXT("X", "Y", "\"layout_free_placeholders\":3"),
		  "t: 'C': the attribute 'layout_free_placeholders' must be a list of strings" },
		{ TEXT("X", "Y", "\"layout_free_placeholders\":[3]"),
		  "t: 'C': the attribute 'layout_free_placeholders' must be a list of strings" },
		{ TEXT("X", "Y", "\"auto_scheduler_simplify_const_tensor_indices\":[\"j\"]"),
		  "t: 'C': the attribute 'auto_scheduler_simplify_const_tensor_indices' names "
		  "'j', and there is no such axis of this op" },
		{ TEXT("X", "Y", "\"auto_scheduler_simplify_const_tensor_indices\":[\"i\"]"), "" },
		{ TEXT("X", "Y", "\"layout_free_placeholders\":[]"), "" },
		{ TEXT("X", "Y", "\"some_hint\":[\"Z\"]"), "" }, /* unknown: kept, ignored */
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct hn_err err = { 0 };
		const struct hn_dag *dag;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_dag_parse("t", table[i].text, strlen(table[i].text), 0, &a,
					      &dag, &err),
				 table[i].message[0] ? -HONE_E_INVALID : 0);
		assert_string_equal(err.msg, table[i].message);
		hn_arena_fini(&a);
	}
}

/* A list that names nothing is no list: the notation has no way to write it. */
static void an_empty_list_is_none(void **state)
{
	char with[HN_KEY_BYTES], without[HN_KEY_BYTES], one[HN_KEY_BYTES];

	(void)state;
	key_of(TEXT("X", "Y", "\"layout_free_placeholders\":[]"), with);
	key_of(TEXT("X", "Y", ""), without);
	key_of(TEXT("X", "Y", LAYOUT("X")), one);
	assert_string_equal(with, without);
	assert_string_not_equal(one, without);
}

static void tell_apart(void **state)
{
	/* Every one differs from every other; TVM's keys mix up the first three (padding,
	 * the argument of exp, types). */
	static const char *const different[] = {
		"f(float32 A[9]) -> B { B(i) = i >= 1 && i < 8 ? A(i - 1) : 0.0 where i "
		"in 0:9 }",
		"f(float32 A[9]) -> B { B(i) = i >= 2 && i < 9 ? A(i - 2) : 0.0 where i "
		"in 0:9 }",
		"f(float32 A[9]) -> B { B(i) = i >= 1 && i < 8 ? A(i - 1) : 1.0 where i "
		"in 0:9 }",
		"f(float32 A[9]) -> B { B(i) = exp(A(i)) }",
		"f(float32 A[9]) -> B { B(i) = exp(A(i) * 2) }",
		"f(float64 A[9]) -> B { B(i) = exp(A(i)) }",
		"f(float64 A[9]) -> B { B(i) = exp2(A(i)) }",
		"f(float32 A[9], B[9]) -> C { C(i) = A(i) - B(i) }",
		"f(float32 A[9], B[9]) -> C { C(i) = B(i) - A(i) }",
		"f(float32 A[9], const B[9]) -> C { C(i) = A(i) - B(i) }",
		"f(float32 A[9,9]) -> C { C(i) +=! A(i,k) }",
		"f(float32 A[9,9]) -> C { C(i) +=! A(i,k) where k in 1:9 }",
		"f(float32 A[9,9]) -> C { C(i) +=! A(i,k) where k in 0:8 }",
		"f(float32 A[9,9]) -> C { C(i) max=! A(i,k) }",
		"f(float32 A[9]) -> (B, C) { B(i) = A(i) + 1; C(i) = A(i) + 2 }",
		"f(float32 A[9]) -> (C, B) { B(i) = A(i) + 1; C(i) = A(i) + 2 }",
	};
	char key[HN_COUNT_OF(different)][HN_KEY_BYTES];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(different); i++) {
		key_of(different[i], key[i]);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(key[i], key[j]);
		}
	}
	char again[HN_KEY_BYTES];

	key_of("g(float32 left[9], const right[9]) -> out { out(q) = left(q) - right(q) "
	       "}",
	       again);
	assert_string_equal(again, key[9]);
}

static void count_operations(void **state)
{
	static const struct {
		const char *text;
		double flops;
	} table[] = {
		{ "f(float32 A[9,9]) -> B { B(i,j) = A(i,j) > 0 ? A(i,j) : 0 }", 81 },
		{ "f(float32 A[9]) -> B { B(i) = select(A(i) > 0, A(i) * 2 + 1, A(i) * "
		  "3) }",
		  27 },
		{ "f(float32 A[9]) -> B { B(i) = A(i) > 0 ? A(i) * 2 + 1 : A(i) * 3 }",
		  36 },
		{ "f(float32 A[9]) -> B { B(i) = exp(A(i) + 1) }", 9 },
		{ "f(float32 A[9]) -> B { B(i) = float32(i + 1) * A((i + 4) % 9) where i "
		  "in 0:9 }",
		  9 },
		{ "f(int32 A[9]) -> B { B(i) = A(i) * 2 + i }", 18 },
		{ "f(float32 A[9,5]) -> B { B(i) max=! A(i,k) * 2 }", 90 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_true(hn_dag_flops(parse(table[i].text, &a)) == table[i].flops);
		hn_arena_fini(&a);
	}
}

/* Zeros that need no data to be known are not needed: padding, a transposed convolution's;
 * what depends on data is.  An estimate, from below. */
static void count_needed_operations(void **state)
{
	static const struct {
		const char *text;
		double share;
	} table[] = {
		{ "f(float32 A[64,64], B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  1 },
		{ "f(float32 A[64]) -> C { C() +=! (A(k) > 0 ? A(k) : 0) * 2 }", 1 },
		{ "f(float32 X[32,8], W[4,8]) -> Y { Y(h) +=! (h+r>=2 && h+r<66 &&"
		  " (h+r)%2==0 ? X((h+r)/2-1,c) : 0) * W(3-r,c) where h in 0:64 }",
		  126. / 256 },
		{ "f(float32 X[32,8], W[4,8]) -> Y {"
		  " D(h,c) = h%2==0 ? X(h/2,c) : 0 where h in 0:63"
		  " P(h,c) = h>=2 && h<65 ? D(h-2,c) : 0 where h in 0:67"
		  " Y(h) +=! P(h+r,c) * W(3-r,c) where h in 0:64 }",
		  126. / 256 },
		{ "f(float32 A[64,64]) -> C { C(i,j) +=! float32(k <= i ? 1 : 0) * A(k,j)"
		  " where i in 0:64 }",
		  65. / 128 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = parse(table[i].text, &a);
		double share = hn_dag_needed_flops(dag) / hn_dag_flops(dag);

		assert_true(share <= table[i].share);
		assert_true(share >= table[i].share - (table[i].share < 1 ? 0.05 : 0));
		hn_arena_fini(&a);
	}
}

static void limit_memory(void **state)
{
	static const char text[] =
		"f(float32 A[1000]) -> B { T(i) = A(i) + 1; B(i) = T(i) * 2 }";
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 12000, &a, &dag, &err), 0);
	assert_int_equal((int)hn_dag_temp_bytes(dag), 4000);
	assert_int_equal(hn_dag_check("t", dag, 12000, &err), 0);
	assert_int_equal(hn_dag_check("t", dag, 11999, &err), -HONE_E_QUOTA);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 3999, &a, &dag, &err),
			 -HONE_E_QUOTA);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_cases),	    cmocka_unit_test(read_examples),
		cmocka_unit_test(read_argmax),	    cmocka_unit_test(know_combiners),
		cmocka_unit_test(constants_are_meant_by_id),
		cmocka_unit_test(attributes_name_what_is_there),
		cmocka_unit_test(an_empty_list_is_none),
		cmocka_unit_test(tell_apart),	    cmocka_unit_test(limit_memory),
		cmocka_unit_test(count_operations),
		cmocka_unit_test(count_needed_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
