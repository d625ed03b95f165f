/* Extents over outer axes: what they become, how many points they are, what is refused; and
 * adaptive pooling as TVM writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "loopstate/dag/dag.h"
#include "loopstate/dag/ragged.h"
#include "loopstate/dag/size.h"
#include "loopstate/expr/at.h"
#include "loopstate/read/dag_read.h"

static int read_text(const char *text, struct hn_arena *a, const struct hn_dag **ret,
		     struct hn_err *err)
{
	return hn_dag_parse("t", text, strlen(text), 0, a, ret, err);
}

static const struct hn_dag *parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };

	if (read_text(text, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void assert_same_key(const struct hn_dag *x, const struct hn_dag *y)
{
	char kx[HN_KEY_BYTES], ky[HN_KEY_BYTES];

	hn_dag_key(x, kx);
	hn_dag_key(y, ky);
	assert_string_equal(kx, ky);
}

/* Both notations give the dag back. */
static void assert_written(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_dag_write_json(dag, &buf);
	assert_same_key(dag, parse(hn_arena_strdup(a, buf.s), a));
	hn_buf_fini(&buf);
	hn_buf_init(&buf);
	hn_dag_write_text(dag, "t", &buf);
	assert_same_key(dag, parse(hn_arena_strdup(a, buf.s), a));
	hn_buf_fini(&buf);
}

/* Points at which the condition holds, one by one. */
static double count(const struct hn_op *op)
{
	int64_t point[HN_DAG_MAX_ITERS], holds = 1, sum = 0;
	uint32_t n = op->n_spatial + op->n_reduce, i = 0;

	for (uint32_t k = 0; k < n; k++) {
		point[k] = op->axis[k].min;
	}

	while (i < n) {
		assert_true(hn_expr_at(op->reduce->condition, point, n, &holds));
		sum += holds;
		for (i = 0; i < n && ++point[i] == op->axis[i].min + op->axis[i].extent; i++) {
			point[i] = op->axis[i].min;
		}
	}
	return (double)sum;
}

/* statement; the greatest extent of its last axis; whether a condition is left */
static const struct {
	const char *text;
	int64_t extent;
	bool condition;
} row[] = {
	{ "t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 0:i + 1 }", 9, true },
	{ "t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 0:i }", 8, true },
	{ "t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 2:i + 1 }", 7, true },
	{ "t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 0:min(i + 4, 6) }", 6, true },
	{ "t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 0:i - i + 3 }", 3, false },
	{ "t(float32 A[7]) -> S { S(i) +=! A(i * 7 / 5 + k) where i in 0:5,"
	  " k in 0:((i + 1) * 7 + 4) / 5 - i * 7 / 5 }", 3, true },
	{ "t(float32 A[8]) -> S { S(i) +=! A(i * 8 / 4 + k) where i in 0:4,"
	  " k in 0:((i + 1) * 8 + 3) / 4 - i * 8 / 4 }", 2, false },
	{ "t(float32 A[6]) -> S { S(i) +=! A(i * 6 / 4 + k) where i in 0:4,"
	  " k in 0:((i + 1) * 6 + 3) / 4 - i * 6 / 4 }", 2, false },
	{ "t(float32 A[9,9,9]) -> S { S(i) +=! A(i,j,k) where j in 0:i + 1, k in 0:j + 1 }", 9,
	  true },
	{ "t(float32 A[9,9]) -> S { S(i) +=! k != 3 ? A(i,k) where k in 0:i + 1 }", 9, true },
};

static void extents(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = parse(row[i].text, &a);
		const struct hn_op *op = dag->op[dag->n_op - 1];

		assert_int_equal(op->axis[op->n_spatial + op->n_reduce - 1].extent,
				 row[i].extent);
		assert_int_equal(op->reduce->condition != NULL, row[i].condition);
		assert_written(dag, &a);
		if (row[i].condition) {
			double all = hn_dag_flops(dag), points = count(op);

			assert_true(all > points - 1e-6 && all < points + 1e-6);
		}
		hn_arena_fini(&a);
	}
}

/* Beside sizes: the greatest extent is that of the largest. */
static void sizes(void **state)
{
	static const char text[] =
		"t(N in [1, 64], float32 A[N,N]) -> S { S(i) +=! A(i,k) where k in 0:i + 1 }";
	const struct hn_dag *dag, *number;
	struct hn_err err = { 0 };
	const int64_t nine = 9;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	if (hn_dag_from_text("t", text, strlen(text), 0, &a, &dag, &err) != 0 ||
	    hn_dag_instantiate(dag, &nine, &a, &number, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(dag->op[1]->axis[1].extent, 64);
	assert_true(hn_dag_flops(number) == hn_dag_flops(parse(row[0].text, &a)));
	hn_arena_fini(&a);
}

/* The two notations, and a condition written by hand. */
static void one_key(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_same_key(parse("t(float32 A[9,9]) -> S { S(i) +=! A(i,k) where k in 0:i + 1 }", &a),
			parse("t(float32 A[9,9]) -> S { S(i) +=! k < i + 1 ? A(i,k) }", &a));
	hn_arena_fini(&a);
}

/* Too many points to count: a triangle of 2^17 rows, twice. */
static void estimated(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag =
		parse("t(float32 A[131072]) -> S { S(i) +=! A(k) where i in 0:131072,"
		      " k in 0:i + 1 }", &a);
	double share = hn_ragged_share(dag->op[1]);

	assert_true(share > 0.49 && share < 0.51);
	assert_true(share == hn_ragged_share(dag->op[1]));
	hn_arena_fini(&a);
}

/* -- as TVM writes it ------------------------------------------------------------------- */

#define V(x) "[\"var\",\"" x "\"]"
#define N(x) "[\"int\"," x ",\"int32\"]"
#define OP(op, x, y) "[\"" op "\"," x "," y "]"
#define FROM(x, in, out) OP("floordiv", OP("mul", V(x), N(in)), N(out))
#define PAST(x, in) OP("mul", OP("add", V(x), N("1")), N(in))
#define TO(x, in, out)                                                                    \
	"[\"select\"," OP("eq", OP("floormod", PAST(x, in), N(out)), N("0")) ","          \
	OP("floordiv", PAST(x, in), N(out)) ","                                           \
	OP("add", OP("floordiv", PAST(x, in), N(out)), N("1")) "]"
#define SUM                                                                               \
	"\"reduce\":{\"lhs\":[\"x\"],\"rhs\":[\"y\"],\"result\":[" OP("add", V("x"), V("y"))  \
	"],\"identity\":[[\"float\",0,\"float32\"]]},\"condition\":[\"int\",1,\"bool\"]," \
	"\"init\":[],\"value_index\":0"
#define POOL(in, out, extent_h, extent_w, source)                                         \
	"{\"format\":\"compute-dag/1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"X\","  \
	"\"shape\":[1,4," in "," in "],\"dtype\":\"float32\"},{\"kind\":\"compute\","     \
	"\"id\":\"adaptive_pool_sum\",\"tag\":\"adaptive_pool_sum\",\"shape\":[1,4," out  \
	"," out "],\"dtype\":[\"float32\"],\"axes\":[[\"ax0\",0,1],[\"ax1\",0,4],"        \
	"[\"ax2\",0," out "],[\"ax3\",0," out "]],\"reduce_axes\":[[\"rv0\",0," extent_h  \
	"],[\"rv1\",0," extent_w "]],\"body\":[{" SUM ",\"source\":[" source "]}]}],"     \
	"\"inputs_outputs\":[\"X\",\"adaptive_pool_sum\"]}"
#define WINDOW(in, out)                                                                   \
	POOL(in, out, OP("sub", TO("ax2", in, out), FROM("ax2", in, out)),                \
	     OP("sub", TO("ax3", in, out), FROM("ax3", in, out)),                         \
	     "[\"load\",\"X\"," V("ax0") "," V("ax1") ","                                 \
	     OP("add", FROM("ax2", in, out), V("rv0")) ","                                \
	     OP("add", FROM("ax3", in, out), V("rv1")) "]")

static void adaptive_pooling(void **state)
{
	static const char text[] =
		"t(float32 X[1,4,7,7]) -> S { S(n,c,h,w) +=! X(n, c, h * 7 / 5 + r, w * 7 / 5 + s)"
		" where h in 0:5, w in 0:5, r in 0:((h + 1) * 7 + 4) / 5 - h * 7 / 5,"
		" s in 0:((w + 1) * 7 + 4) / 5 - w * 7 / 5 }";
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = parse(WINDOW("7", "5"), &a), *same = parse(text, &a);
	const struct hn_op *op = dag->op[1];
	const struct hn_attr *attr = hn_op_attr(op, HN_RAGGED_AXES);

	assert_int_equal(op->axis[4].extent, 3);
	assert_int_equal(op->axis[5].extent, 3);
	assert_true(hn_dag_flops(dag) == 4 * (2 + 2 + 3 + 2 + 2) * (2 + 2 + 3 + 2 + 2));
	assert_true(hn_dag_flops(dag) == hn_dag_flops(same));
	assert_non_null(attr);
	assert_string_equal(attr->json, "[\"rv0\",\"rv1\"]");
	assert_written(dag, &a);

	/* of one element: the extents are numbers, but for Ansor */
	dag = parse(POOL("7", "1", OP("sub", PAST("ax2", "7"), OP("mul", V("ax2"), N("7"))),
			 OP("sub", PAST("ax3", "7"), OP("mul", V("ax3"), N("7"))),
			 "[\"load\",\"X\"," V("ax0") "," V("ax1") ","
			 OP("add", OP("mul", V("ax2"), N("7")), V("rv0")) ","
			 OP("add", OP("mul", V("ax3"), N("7")), V("rv1")) "]"), &a);
	op = dag->op[1];
	assert_int_equal(op->axis[4].extent, 7);
	assert_null(op->reduce->condition);
	assert_non_null(hn_op_attr(op, HN_RAGGED_AXES));
	assert_true(hn_dag_flops(dag) == 4 * 49);
	hn_arena_fini(&a);
}

#define LOAD "[\"load\",\"X\"," V("ax0") "," V("ax1") "," V("rv0") "," V("rv1") "]"

static void refusals(void **state)
{
#define RANGE(end) "t(float32 A[9,9], int32 B[9]) -> S { S(i) +=! A(i,k) where k in 0:" end " }"
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ RANGE("B(i)"), "the range of 'k': the extent is not affine" },
		{ RANGE("i * i"), "the range of 'k': the extent is not affine" },
		{ RANGE("i / (i + 1)"), "the range of 'k': the extent is not affine" },
		{ RANGE("k + 1"), "the range of 'k' cannot end at 'k', which is no index outside" },
		{ RANGE("q + 1"), "the range of 'k' cannot end at 'q', which is no index outside" },
		{ RANGE("i - 8"), "the range of 'k': the extent is below 1 everywhere" },
		{ RANGE("i + 2"), "load(A) index 1: may reach 9, the extent is 9" },
		{ RANGE("0"), "the range of 'k' is empty or too large" },
		{ "t(float32 A[9,9]) -> S { S(i,j) = A(i,j) where j in 0:i + 1 }",
		  "the range of 'j' cannot end at 'i'" },
		{ "t(float32 A[9]) -> S { S(i) +=! A(k) where k in 0:i + 1 }",
		  "index 'i' has no size" },
	};
	static const struct {
		const char *text, *message;
	} json[] = {
		{ "null", "ops[1] (adaptive_pool_sum).reduce_axes[0]: the extent must be a whole "
			   "number, or an expression over axes outside" },
		{ V("rv0"), "reduce_axes[0]: variable 'rv0' is not an axis" },
		{ V("rv1"), "reduce_axes[0]: variable 'rv1' is not an axis" },
		{ OP("mul", V("ax2"), V("ax2")), "reduce_axes[0]: the extent is not affine" },
		{ OP("sub", V("ax2"), N("9")), "reduce_axes[0]: the extent is below 1" },
	};
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad) + HN_COUNT_OF(json); i++) {
		bool is_text = i < HN_COUNT_OF(bad);
		const char *message =
			is_text ? bad[i].message : json[i - HN_COUNT_OF(bad)].message;
		const char *text = is_text ? bad[i].text
					   : hn_arena_printf(&a, POOL("9", "9", "%s", "9", "%s"),
							     json[i - HN_COUNT_OF(bad)].text, LOAD);

		if (read_text(text, &a, &dag, &err) == 0 || strstr(err.msg, message) == NULL ||
		    strchr(err.msg, '\n') != NULL) {
			fail_msg("%s: \"%s\", not \"%s\"", text, err.msg, message);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents),	   cmocka_unit_test(one_key),
		cmocka_unit_test(sizes),
		cmocka_unit_test(estimated),	   cmocka_unit_test(adaptive_pooling),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests_name("loopstate ragged", tests, NULL, NULL);
}
