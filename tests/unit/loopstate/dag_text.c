/* The text notation: what it means, what it infers, and every refusal with line:column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"

static const struct hn_dag *parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };

	if (hn_dag_from_text("t", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void read_matmul(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = parse("matmul(float32 A[512,256], B[256,128]) -> C { "
					 "C(i,j) +=! A(i,k) * B(k,j) }",
					 &a);
	const struct hn_op *c = dag->op[2];

	assert_int_equal(dag->n_op, 3);
	assert_int_equal(dag->n_input, 2);
	assert_int_equal(dag->n_arg, 3);
	assert_string_equal(c->id, "C");
	assert_int_equal(c->shape[0], 512);
	assert_int_equal(c->shape[1], 128);
	assert_int_equal(c->n_reduce, 1);
	assert_string_equal(c->axis[2].name, "k");
	assert_int_equal(c->axis[2].extent, 256);
	assert_int_equal(c->reduce->kind, HN_COMBINE_SUM);
	assert_true(hn_dag_flops(dag) == 2.0 * 512 * 256 * 128);
	hn_arena_fini(&a);
}

static void read_conv(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag =
		parse("# padded, stride 2\n"
		      "conv(float32 X[1,15,15,3], const W[3,3,3,8], b[8]) -> Y {\n"
		      "  P(n,h,w,c) = h>=1 && h<16 && w>=1 && w<16 ? X(n,h-1,w-1,c) : 0 "
		      "where h in 0:17, w in 0:17\n"
		      "  C(n,h,w,f) +=! P(n, 2*h+r, 2*w+s, c) * W(r,s,c,f); // strides\n"
		      "  Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0)\n"
		      "}\n",
		      &a);
	const struct hn_op *c = dag->op[4];

	assert_string_equal(c->id, "C");
	assert_int_equal(c->shape[1], 8);
	assert_int_equal(c->shape[3], 8);
	assert_int_equal(dag->op[3]->shape[3], 3);
	assert_string_equal(hn_op_attr(c, "layout_free_placeholders")->json, "[\"W\"]");
	assert_null(hn_op_attr(dag->op[3], "layout_free_placeholders"));
	assert_int_equal(dag->op[3]->body[0]->op, HN_EXPR_IF);
	hn_arena_fini(&a);
}

static void read_forms(void **state)
{
	static const char *const good[] = {
		"s(float32 A[7]) -> s0 { s0 +=! A(k) }",
		"s(float32 A[7]) -> m { m() max=! A(k) }",
		"s(float64 A[7]) -> m { m() *=! A(k) * 0.5 }",
		"s(int64 A[7]) -> m { m() min=! A(k) / 2 }",
		"s(uint8 A[7]) -> m { m() min=! A(k) }",
		"s(float32 a, float32 A[7]) -> B { B(i) = a * A(i) }",
		"s(float32 a[], A[7]) -> B { B(i) = a() * A(i) }",
		"s(float32 A[7]) -> (B, C) { B(i) = -A(i) C(i) = B(i) == 0 ? inf : "
		"1/B(i) }",
		"s(float32 A[7]) -> B, C { B(i) = A(6-i) C(i) = select(B(i) < 1e-3, .5, "
		"2.) }",
		"s(float32 A[7]) -> B { B(i) = A(i + 2) }",
		"s(int32 A[7]) -> B { B(i) = float32(A(i)) + pow(2.0, float32(i % 3)) }",
		"s() -> I { I(i,j) = float32(i == j) where i in 0:4, j in 0:4 }",
		"s(float32 A[4]) -> B { B(i) +=! A(i + k) where k in 0:2 }",
		"s(float32 A[1]) -> B { B(i) = A(i) }",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(good); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		parse(good[i], &a);
		hn_arena_fini(&a);
	}
}

static void infer_sizes(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = parse(
		"s(float32 A[20], W[3]) -> B { B(i) +=! A(3*i + 2*r + 1) * W(r) }", &a);

	assert_int_equal(dag->op[2]->shape[0], 5); /* 3 i + 4 + 1 <= 19 */
	dag = parse("s(float32 A[20]) -> B { B(i) = A(19 - 2*i) }", &a);
	assert_int_equal(dag->op[1]->shape[0], 10);
	dag = parse("s(float32 A[20]) -> B { B(i) = A(i) where i in 0:5 }", &a);
	assert_int_equal(dag->op[1]->shape[0], 5);
	dag = parse("s(float32 A[20]) -> B { B(i) = i < 3 ? A(i) : 0.0 }", &a);
	assert_int_equal(dag->op[1]->shape[0], 20);
	hn_arena_fini(&a);
}

struct bad {
	const char *text, *message;
};

static const struct bad bads[] = {
	{ "s(float32 A[7]) -> B { B(i) = A(i) + A(q) }",
	  "t:1:40: index 'q' is bound by nothing" },
	{ "s(float32 A[7]) -> B {\n  B(i,q) = A(i) }", "t:2:7: index 'q' has no size" },
	{ "s(float32 A[4,5], B[6,7]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	  "t:1:54: index 'k' runs over 6 here and over 5 at 1:45: the sizes do not "
	  "agree" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) + A(i+1) }",
	  "t:1:24: ops[1] (B).body[0].load(A) index 0: reaches 7" },
	{ "s(float32 A[7]) -> B { B(i) = B(i) }", "t:1:31: 'B' reads itself (a cycle)" },
	{ "s(float32 A[7]) -> B { B(i) = C(i) C(i) = A(i) }",
	  "t:1:31: there is no tensor or function 'C' up to here" },
	{ "s(float32 A[7]) -> B { B(i) += A(i) }",
	  "t:1:29: '+=' would add to an old value; write '+=!'" },
	{ "s(float32 A[7]) -> B { B(i) +=! A(i) }", "t:1:24: nothing to reduce" },
	{ "s(float32 A[7]) -> B { B(i,i) = A(i) }",
	  "t:1:28: index 'i' is on the left twice" },
	{ "s(float32 A[7]) -> B { A(i) = 1.0 }", "t:1:24: 'A' is defined already" },
	{ "s(float32 A[0]) -> B { B(i) = A(i) }",
	  "t:1:13: an extent is a whole number of at least 1" },
	{ "s(float32 A[-1]) -> B { B(i) = A(i) }",
	  "t:1:13: an extent is a whole number of at least 1" },
	{ "s(A[7]) -> B { B(i) = A(i) }", "t:1:3: 'A' needs a type" },
	{ "s(half A[7]) -> B { B(i) = A(i) }", "t:1:3: unknown type 'half'; known types are bool, int8, int16, int32, int64, uint8, uint16, "
	  "uint32, uint64, float32, float64, float16 and bfloat16" },
	{ "s(flaot32 A[7]) -> B { B(i) = A(i) }",
	  "t:1:3: unknown type 'flaot32' (did you mean float32?); known types are bool, " },
	{ "s(float32 A[7], A[7]) -> B { B(i) = A(i) }",
	  "t:1:17: ops[1] (A): duplicate id" },
	{ "s(float32 A[7]) -> C { B(i) = A(i) }",
	  "t:1:20: output 'C' is never computed" },
	{ "s(float32 A[7]) -> A { B(i) = A(i) }", "t:1:20: output 'A' is an input" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) D(i) = A(i) }",
	  "t: inputs_outputs: 'D' is missing" },
	{ "s(float32 A[7]) -> B { B(i) = A(i,i) }",
	  "t:1:31: 'A' has 1 dimensions, 2 indices are given" },
	{ "s(float32 A[7]) -> B { B(i) = A(1.5) }",
	  "t:1:33: a fraction where int32 is needed" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) + 1e39 }", "t:1:38: 1e+39 does not fit float32" },
	{ "s(float64 A[7]) -> B { B(i) = A(i) + 1e399 }", "t:1:38: not a number: '1e399'" },
	{ "s(float64 A[7]) -> B { B(i) = A(i) + 1e308*10 }", "t:1:43: the number is too large" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) + 1e30*1e30 }", "1e+60 does not fit float32" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) + i }",
	  "t:1:36: operands are float32 and int32" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) * (1/3) }",
	  "t:1:40: a quotient of two whole numbers" },
	{ "s(float32 A[7]) -> B { B(i) = A(i % 0) where i in 0:2 }", "divides by zero" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) ? 1.0 : 2.0 }",
	  "t:1:36: the condition is float32" },
	{ "s(float32 A[7]) -> B { B(i) = foo(A(i)) }",
	  "t:1:31: there is no tensor or function 'foo' up to here; known functions are exp, exp2, " },
	{ "s(float32 A[7]) -> B { B(i) = sqr(A(i)) }",
	  "t:1:31: there is no tensor or function 'sqr' up to here (did you mean sqrt?); known" },
	{ "s(float32 A[7]) -> B { B() argmx=! A(k) }",
	  "t:1:28: there is no reduction 'argmx=!' (did you mean argmax?); known reductions are max, min, "
	  "argmax, argmin and reduce" },
	{ "s(float32 A[7]) -> B { B() argmax=! A(k) }",
	  "t:1:24: argmax=! is of 2 values, 1 on the left" },
	{ "s(float32 A[7]) -> V, I { V, I max=! A(k), k }",
	  "t:1:27: max=! is of 1 value, 2 on the left" },
	{ "s(float32 A[7]) -> V, I { V, I argmax=! A(k) }", "t:1:46: expected ',', found '}'" },
	{ "s(float32 A[7,7]) -> V, I { V(i), I(j) argmax=! A(i,k), k }",
	  "t:1:37: the outputs of a statement have the same indices" },
	{ "s(float32 A[7,7]) -> V, I { V(i), I argmax=! A(i,k), k }",
	  "the outputs of a statement have the same indices" },
	{ "s(float32 A[7,7]) -> V, I { V, I(i) argmax=! A(i,k), k }",
	  "the outputs of a statement have the same indices" },
	{ "s(float32 A[7]) -> V, V { V, V argmax=! A(k), k }", "t:1:30: 'V' is on the left twice" },
	{ "s(float32 A[7]) -> I, V { V, I argmax=! A(k), k }",
	  "t:1:20: the outputs of a statement are listed together, as in it: 'I' comes out of "
	  "order" },
	{ "s(float32 A[7]) -> V { V, I argmax=! A(k), k }", "is listed 1 times, has 2 outputs" },
	{ "s(float32 A[7]) -> B { B reduce=! A(k) by (x), (x) -> x from 0 }",
	  "t:1:49: the combiner's argument 'x' is there twice" },
	{ "s(float32 A[7]) -> B { B reduce=! A(k) by (x), (y) -> x + k from 0 }",
	  "t:1:59: 'k' is no argument of the combiner, which names nothing else" },
	{ "s(float32 A[7]) -> B { B reduce=! A(k) by (x), (y) -> x > y from 0 }",
	  "t:1:55: this is bool, the value float32" },
	{ "s(float32 A[7]) -> B { B reduce=! A(k) by (x), (y) -> x + y from A(0) }",
	  "t:1:66: a reduction starts from a constant" },
	{ "s(float32 A[7]) -> B { B reduce=! A(k) }", "t:1:40: expected 'by', found '}'" },
	{ "s(float32 A[7]) -> B { B +=! [k,k] A(k) }", "t:1:33: index 'k' is there twice" },
	{ "s(float32 A[7]) -> B { B(i) +=! [i] A(i) }", "t:1:34: index 'i' is on the left twice" },
	{ "s(float32 A[7]) -> B { B(i) = i > 2 ? A(i) }", "t:1:44: expected ':', found '}'" },
	{ "s(float32 A[7]) -> B { B +=! k + 1 ? A(k) }", "the expression is int32, bool is needed" },
	{ "s(float32 A[7]) -> B { @bitwse B(i) = A(i) }",
	  "t:1:25: there is no attribute 'bitwse' (did you mean bitwise?); known attributes are " },
	{ "s(float32 A[7]) -> B { @bitwise @bitwise B(i) = A(i) }",
	  "t:1:34: the attribute 'bitwise' is there twice" },
	{ "s(float32 A[7]) -> B { @bitwise(i) B(i) = A(i) }", "takes no items" },
	{ "s(float32 A[7]) -> B { @auto_scheduler_always_unroll_inner(q) B(i) = A(i) }",
	  "t:1:25: 'q' is no index of this statement" },
	{ "s(float32 A[7]) -> B { @FLOP(A) B(i) = A(i) }", "t:1:25: 'FLOP' takes a number" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) input A }", "t:1:31: 'A' is read before `input A`" },
	{ "s(float32 Weight[7]) -> B { B(i) = Wieght(i) }",
	  "t:1:36: there is no tensor or function 'Wieght' up to here (did you mean Weight?)" },
	{ "s(float32 A[7]) -> B { B(i) = let x = A(i) }", "t:1:44: expected 'in', found '}'" },
	{ "s(float32 A[7]) -> B { B(i) = 9223372036854775808 }", "t:1:31: not a number" },
	{ "s(float32 A[7]) -> B { B(i) = -9223372036854775809 }", "t:1:32: not a number" },
	{ "s(float32 A[7]) -> B { B(i) = exp(A(i), 1) }",
	  "t:1:31: exp takes 1 argument" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) where q in 0:2 }",
	  "t:1:42: 'q' is no index of this statement" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) where i in 2:2 }",
	  "t:1:42: the range of 'i' is empty" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) where i in 1:3 }",
	  "starts at 1, spatial axes start at 0" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) where i in 0:9 }",
	  "index 0: reaches 8, the extent is 7" },
	{ "s(float32 A[7]) -> B { B(i) = A(i + 9) }",
	  "t:1:31: no value of index 'i' stays inside 'A'" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) ",
	  "t:1:36: expected the name of a tensor, found 'the end'" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) } x",
	  "t:1:38: expected the end, found 'x'" },
	{ "s(float32 A[7]) -> B { B(i) = 1x }", "t:1:31: not a number: '1'" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) $ 2 }", "t:1:36: unexpected '$'" },
	{ "s(float32 A[7]) -> B { B(i) = A(i) @ 2 }",
	  "t:1:38: expected the name of an attribute, found '2'" },
	{ "s(float32 A[99999999999999999999]) -> B { B(i) = A(i) }",
	  "t:1:13: not a number" },
	{ "s(float32 A[4611686018427387904,9]) -> B { B(i) = 1.0 }",
	  "t:1:11: ops[0] (A).shape: the product of the extents passes 2^62" },
	{ "", "t:1:1: expected the name of the computation" },
	{ "s(float32 A[7]) -> B { }", "t:1:20: output 'B' is never computed" },
};

static void refuse_each(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bads); i++) {
		const struct hn_dag *dag = NULL;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		int rc = hn_dag_from_text("t", bads[i].text, strlen(bads[i].text), 0, &a,
					  &dag, &err);

		if (rc >= 0 || dag != NULL || strstr(err.msg, bads[i].message) == NULL) {
			print_error("%s\n  wanted \"%s\"\n  got    \"%s\"\n",
				    bads[i].text, bads[i].message, err.msg);
			n_wrong++;
		}
		hn_arena_fini(&a);
	}
	assert_int_equal(n_wrong, 0);
}

/* A statement with `n` times `part` in the middle. */
static int parse_repeated(const char *head, const char *part, size_t n, const char *tail)
{
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_buf b;

	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	hn_buf_puts(&b, head);
	for (size_t i = 0; i < n; i++) {
		hn_buf_puts(&b, part);
	}
	hn_buf_puts(&b, tail);
	int rc = hn_dag_from_text("t", b.s, b.n, 0, &a, &dag, NULL);

	hn_buf_fini(&b);
	hn_arena_fini(&a);
	return rc;
}

static void refuse_depth(void **state)
{
	(void)state;
	assert_int_equal(
		parse_repeated("s(float32 A[7]) -> B { B(i) = ", "(", 100000, "A(i)"),
		-HONE_E_INVALID);
	assert_int_equal(
		parse_repeated("s(float32 A[7]) -> B { B(i) = ", "-", 100000, "A(i) }"),
		-HONE_E_INVALID);
	assert_int_equal(
		parse_repeated("s(float32 A[7]) -> B { B(i) = A(i)", "+A(0)", 20000, "}"),
		-HONE_E_INVALID);
	assert_int_equal(
		parse_repeated("s(float32 A[7]) -> B { B(i) = A(i)", "+A(0)", 200, "}"),
		0);
	assert_int_equal(
		parse_repeated("s(float32 A[7]) -> B { B(i) = ", "true ? ", 50000, "1"),
		-HONE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_matmul), cmocka_unit_test(read_conv),
		cmocka_unit_test(read_forms),  cmocka_unit_test(infer_sizes),
		cmocka_unit_test(refuse_each), cmocka_unit_test(refuse_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
