/* search_dags.h -- computations that the tests of sketch, cost model and search share,
 * written as compute-dag/1 for any extents.  Each returns a dag in the arena; a bad one
 * fails the test.
 */
#ifndef HN_TESTS_SEARCH_DAGS_H
#define HN_TESTS_SEARCH_DAGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"

#define PLACEHOLDER(id, shape)                                                           \
	"{\"kind\":\"placeholder\",\"id\":\"" id "\",\"shape\":" shape                   \
	",\"dtype\":\"float32\"}"
#define COMPUTE(id, shape, axes, reduce, body)                                           \
	"{\"kind\":\"compute\",\"id\":\"" id "\",\"shape\":" shape                       \
	",\"dtype\":[\"float32\"],"                                                      \
	"\"axes\":" axes ",\"reduce_axes\":" reduce ",\"body\":[" body "]}"
#define REDUCE(op, identity, source)                                                     \
	"{\"reduce\":{\"lhs\":[\"x\"],\"rhs\":[\"y\"],\"result\":[[\"" op                \
	"\",[\"var\",\"x\"],[\"var\",\"y\"]]],\"identity\":[[\"float\"," identity        \
	",\"float32\"]]},\"source\":[" source "],\"condition\":[\"int\",1,\"bool\"],"    \
	"\"init\":[],\"value_index\":0}"
#define SUM(source) REDUCE("add", "0", source)
#define V(n) "[\"var\",\"" n "\"]"

static inline const struct hn_dag *dag_of(struct hn_arena *a, const char *args,
					  const char *ops)
{
	const struct hn_dag *dag;
	struct hn_err err = {0};
	const char *text = hn_arena_printf(
		a, "{\"format\":\"compute-dag/1\",\"ops\":[%s],\"inputs_outputs\":[%s]}",
		ops, args);

	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* C[i,j] = sum A[i,k] * B[k,j] */
static inline const struct hn_dag *dag_matmul(struct hn_arena *a, int n, int m, int k)
{
	return dag_of(
		a, "\"A\",\"B\",\"C\"",
		hn_arena_printf(
			a,
			PLACEHOLDER("A", "[%d,%d]") "," PLACEHOLDER("B", "[%d,%d]") "," COMPUTE(
				"C", "[%d,%d]", "[[\"i\",0,%d],[\"j\",0,%d]]",
				"[[\"k\",0,%d]]",
				SUM("[\"mul\",[\"load\",\"A\"," V("i") "," V(
					"k") "],"
					     "[\"load\",\"B\"," V("k") "," V("j") "]]")),
			n, k, k, m, n, m, n, m, k));
}

/* D = A * B, E = D * C, all n x n */
static inline const struct hn_dag *dag_double_matmul(struct hn_arena *a, int n)
{
	return dag_of(
		a, "\"A\",\"B\",\"C\",\"E\"",
		hn_arena_printf(
			a,
			PLACEHOLDER("A", "[%d,%d]") "," PLACEHOLDER("B", "[%d,%d]") "," PLACEHOLDER("C", "[%d,%d]") "," COMPUTE(
				"D", "[%d,%d]", "[[\"i\",0,%d],[\"j\",0,%d]]",
				"[[\"k\",0,%d]]",
				SUM("[\"mul\",[\"load\",\"A\"," V("i") "," V(
					"k") "],"
					     "[\"load\",\"B\"," V("k") "," V(
						     "j") "]]")) "," COMPUTE("E",
									     "[%d,%d]",
									     "[[\"i\",0,%"
									     "d],[\"j\","
									     "0,%d]]",
									     "[[\"k\",0,%"
									     "d]]",
									     SUM("[\"mul"
										 "\",["
										 "\"load"
										 "\","
										 "\"D\""
										 "," V("i") "," V(
											 "k") "],"
											      "[\"load\",\"C\"," V("k") "," V(
												      "j") "]]")),
			n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n));
}

/* Channels-last convolution, 3x3, padded by 1, with bias and relu: h x h x c -> h x h x f
 */
static inline const struct hn_dag *dag_conv(struct hn_arena *a, int h, int c, int f)
{
	int p = h + 2;

	return dag_of(a, "\"X\",\"W\",\"bias\",\"Y\"",
		      hn_arena_printf(a,
				      PLACEHOLDER("X", "[%d,%d,%d]") "," COMPUTE(
					      "pad", "[%d,%d,%d]",
					      "[[\"p\",0,%d],[\"q\",0,%d],[\"r\",0,%d]]",
					      "[]",
					      "[\"if\",[\"and\",[\"and\",[\"ge\"," V(
						      "p") ",[\"int\",1,\"int32\"]],"
							   "[\"lt\"," V("p") ",[\"int\",%"
									     "d,"
									     "\"int32\"]]"
									     "],[\"and\","
									     "[\"ge\"," V("q") ",[\"int\",1,\"int32\"]],[\"lt\"," V(
										     "q") ",[\"int\",%d,\"int32\"]]]],"
											  "[\"load\",\"X\",[\"sub\"," V(
												  "p") ",[\"int\",1,\"int32\"]],[\"sub\"," V("q") ",[\"int\",1,\"int32\"]]," V("r") "],[\"float\",0,\"float32\"]]") "," PLACEHOLDER("W",
																												    "[3,3,%d,%d]") "," COMPUTE("conv",
																															       "[%d,%d,%d]", "[[\"y\",0,%d],[\"x\",0,%d],[\"f\",0,%d]]", "[[\"ry\",0,3],[\"rx\",0,3],[\"rc\",0,%d]]",
																															       SUM(
																																       "[\"mul\",[\"load\",\"pad\",[\"add\"," V("y") "," V("ry") "],[\"add\"," V("x") "," V("rx") "]," V("rc") "],[\"load\",\"W\"," V("ry") "," V("rx") "," V(
																																	       "rc") "," V("f") "]]")) "," PLACEHOLDER("bias", "[%d]") "," COMPUTE("Y",
																																										   "[%d,%d,%d]",
																																										   "[[\"y\",0,%d],[\"x\",0,%d],[\"f\",0,%d]]",
																																										   "[]", "[\"max\",[\"add\",[\"load\",\"conv\"," V("y") "," V("x") "," V("f") "],[\"load\",\"bias\"," V("f") "]],[\"float\",0,\"float32\"]]"),
				      h, h, c, p, p, c, p, p, c, h + 1, h + 1, c, f, h, h,
				      f, h, h, f, c, f, h, h, f, h, h, f));
}

/* 2x2 maximum, stride 1, channels first */
static inline const struct hn_dag *dag_max_pool(struct hn_arena *a, int c, int h)
{
	return dag_of(
		a, "\"X\",\"Y\"",
		hn_arena_printf(
			a,
			PLACEHOLDER("X", "[%d,%d,%d]") "," COMPUTE(
				"Y", "[%d,%d,%d]",
				"[[\"c\",0,%d],[\"y\",0,%d],[\"x\",0,%d]]",
				"[[\"ry\",0,2],[\"rx\",0,2]]",
				REDUCE("max", "\"-inf\"",
				       "[\"load\",\"X\"," V("c") ",[\"add\"," V("y") "," V(
					       "ry") "],[\"add\"," V("x") "," V("rx") "]"
										      "]")),
			c, h + 1, h + 1, c, h, h, c, h, h));
}

/* Row-wise softmax of n x m */
static inline const struct hn_dag *dag_softmax(struct hn_arena *a, int n, int m)
{
	return dag_of(
		a, "\"A\",\"norm\"",
		hn_arena_printf(
			a,
			PLACEHOLDER("A", "[%d,%d]") "," COMPUTE("most", "[%d]", "[[\"i\",0,%d]]", "[[\"k\",0,%d]]", REDUCE("max", "\"-inf\"", "[\"load\",\"A\"," V("i") "," V("k") "]")) "," COMPUTE(
				"exp", "[%d,%d]", "[[\"i\",0,%d],[\"j\",0,%d]]", "[]",
				"[\"call\",\"exp\",\"float32\",[\"sub\",[\"load\","
				"\"A\"," V("i") "," V("j") "],[\"load\",\"most\"," V(
					"i") "]]]") "," COMPUTE("sum", "[%d]",
								"[[\"i\",0,%d]]",
								"[[\"k\",0,%d]]",
								SUM("[\"load\","
								    "\"exp\"," V("i") "," V(
									    "k") "]")) "," COMPUTE("norm",
												   "[%d,%d]",
												   "[[\"i\",0,%d],[\"j\",0,%d]]",
												   "[]",
												   "[\"div\",[\"load\",\"exp\"," V(
													   "i") "," V("j") "],[\"load\",\"sum\"," V("i") "]]"),
			n, m, n, n, m, n, m, n, m, n, n, m, n, m, n, m));
}

/* Minimum of each row of n x m */
static inline const struct hn_dag *dag_row_min(struct hn_arena *a, int n, int m)
{
	return dag_of(
		a, "\"A\",\"B\"",
		hn_arena_printf(a,
				PLACEHOLDER("A", "[%d,%d]") "," COMPUTE(
					"B", "[%d]", "[[\"i\",0,%d]]", "[[\"k\",0,%d]]",
					REDUCE("min", "\"inf\"",
					       "[\"load\",\"A\"," V("i") "," V("k") "]")),
				n, m, n, n, m));
}

/* Sum of n numbers into a scalar */
static inline const struct hn_dag *dag_total(struct hn_arena *a, int n)
{
	return dag_of(a, "\"A\",\"B\"",
		      hn_arena_printf(a,
				      PLACEHOLDER("A", "[%d]") "," COMPUTE(
					      "B", "[]", "[]", "[[\"k\",0,%d]]",
					      SUM("[\"load\",\"A\"," V("k") "]")),
				      n, n));
}

/* A scalar computed from a scalar: rank 0, no loop at all */
static inline const struct hn_dag *dag_scalar(struct hn_arena *a)
{
	return dag_of(a, "\"A\",\"B\"",
		      PLACEHOLDER("A", "[1]") "," COMPUTE(
			      "B", "[]", "[]", "[]",
			      "[\"add\",[\"load\",\"A\",[\"int\",0,\"int32\"]],"
			      "[\"float\",1,\"float32\"]]"));
}

#endif
