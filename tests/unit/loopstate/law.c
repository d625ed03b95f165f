/* Which reductions may be cut into parts, and why others may not; which take any order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/dag/law.h"
#include "loopstate/dag/liberty.h"

/* One carried value: x, y; two: xi, xv and yi, yv. */
#define ONE(type, result, identity)                                                            \
	"{\"format\":\"compute-dag/1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"A\","        \
	"\"shape\":[8],\"dtype\":\"" type "\"},{\"kind\":\"compute\",\"id\":\"S\",\"shape\":[],"  \
	"\"dtype\":[\"" type "\"],\"axes\":[],\"reduce_axes\":[[\"k\",0,8]],\"body\":[{\"reduce\":" \
	"{\"lhs\":[\"x\"],\"rhs\":[\"y\"],\"result\":[" result "],\"identity\":[" identity       \
	"]},\"source\":[[\"load\",\"A\",[\"var\",\"k\"]]]}]}],\"inputs_outputs\":[\"A\",\"S\"]}"
#define PAIR(i_result, v_result, k)                                                            \
	"{\"reduce\":{\"lhs\":[\"xi\",\"xv\"],\"rhs\":[\"yi\",\"yv\"],\"result\":[" i_result      \
	"," v_result "],\"identity\":[[\"int\",-1,\"int32\"],[\"float\",-3e38,\"float32\"]]},"    \
	"\"source\":[[\"var\",\"k\"],[\"load\",\"A\",[\"var\",\"k\"]]],\"value_index\":" k "}"
#define TWO(i_result, v_result)                                                                \
	"{\"format\":\"compute-dag/1\",\"ops\":[{\"kind\":\"placeholder\",\"id\":\"A\","        \
	"\"shape\":[8],\"dtype\":\"float32\"},{\"kind\":\"compute\",\"id\":\"S\",\"shape\":[],"   \
	"\"dtype\":[\"int32\",\"float32\"],\"axes\":[],\"reduce_axes\":[[\"k\",0,8]],\"body\":["  \
	PAIR(i_result, v_result, "0") "," PAIR(i_result, v_result, "1")                         \
	"]}],\"inputs_outputs\":[\"A\",\"S.v0\",\"S.v1\"]}"
#define V(x) "[\"var\",\"" x "\"]"
#define OP(op, x, y) "[\"" op "\"," x "," y "]"
#define PICK(c, x, y) "[\"select\"," c "," x "," y "]"

static const struct {
	const char *what, *text, *why; /* NULL = it may be cut */
} form[] = {
	{ "sum", ONE("int32", OP("add", V("x"), V("y")), "[\"int\",0,\"int32\"]"), NULL },
	{ "sum from 5", ONE("int32", OP("add", V("x"), V("y")), "[\"int\",5,\"int32\"]"),
	  "identity is not neutral" },
	{ "float sum", ONE("float32", OP("add", V("y"), V("x")), "[\"float\",0,\"float32\"]"),
	  NULL },
	{ "product from 2", ONE("float32", OP("mul", V("x"), V("y")), "[\"float\",2,\"float32\"]"),
	  "identity is not neutral" },
	{ "max from 5", ONE("int32", OP("max", V("x"), V("y")), "[\"int\",5,\"int32\"]"), NULL },
	{ "difference", ONE("int32", OP("sub", V("x"), V("y")), "[\"int\",0,\"int32\"]"),
	  "not known to be associative" },
	{ "the left one", ONE("int32", V("x"), "[\"int\",0,\"int32\"]"), "not commutative" },
	{ "twice the sum",
	  ONE("int32", OP("add", OP("add", V("x"), V("y")), OP("add", V("x"), V("y"))),
	      "[\"int\",0,\"int32\"]"),
	  "not known to be associative" },
	{ "max by choice",
	  ONE("int32", PICK(OP("lt", V("x"), V("y")), V("y"), V("x")), "[\"int\",0,\"int32\"]"),
	  NULL },
	{ "max and sum",
	  TWO(OP("add", V("xi"), V("yi")), OP("max", V("xv"), V("yv"))),
	  "identity is not neutral" },
	{ "argmax, the first of equals",
	  TWO(PICK(OP("ge", V("xv"), V("yv")), V("xi"), V("yi")), OP("max", V("xv"), V("yv"))),
	  "not commutative" },
	{ "argmax, the least index of equals",
	  TWO(PICK(OP("or", OP("gt", V("xv"), V("yv")),
		      OP("and", OP("eq", V("xv"), V("yv")), OP("lt", V("xi"), V("yi")))),
		   V("xi"), V("yi")),
	      OP("max", V("xv"), V("yv"))),
	  NULL },
	{ "argmax with a slip: the least index of unequals",
	  TWO(PICK(OP("or", OP("gt", V("xv"), V("yv")), OP("lt", V("xi"), V("yi"))), V("xi"),
		   V("yi")),
	      OP("max", V("xv"), V("yv"))),
	  "not commutative" },
};

/* Reductions from a text: how the second value is chosen counts, and what is neutral does not. */
static const struct {
	const char *combiner;
	bool any_order;
} told[] = {
	{ "(a, c), (b, d) -> max(a, b), max(c, d) from 3, 4", true },
	{ "(a, c), (b, d) -> a - b, c + d from 3, 4", true },
	{ "(a, c), (b, d) -> b - a, c + d from 0, 0", false },
	{ "(a, c), (b, d) -> a, c from 1, 2", true },
	{ "(a, c), (b, d) -> b, d from 1, 2", false },
	{ "(a, c), (b, d) -> max(a, b), select(a > b || (a == b && c < d), c, d) from 0, 0", true },
	{ "(a, c), (b, d) -> max(a, b), select(a >= b, c, d) from 0, 0", false },
	{ "(a, c), (b, d) -> a * b, c * b + d from 1, 0", false },
};

static void orders(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(told); i++) {
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		struct hn_arena a;
		char text[300];

		hn_arena_init(&a, 0);
		snprintf(text, sizeof text,
			 "f(int32 A[8]) -> s, t { s, t reduce=! A(k), k by %s where k in 0:8 }",
			 told[i].combiner);
		if (hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err)) {
			fail_msg("%s: %s", text, err.msg);
		}
		if (dag->op[1]->reduce->any_order != told[i].any_order ||
		    hn_keeps_order(dag, dag->op[1]) == told[i].any_order) {
			fail_msg("%s", told[i].combiner);
		}
		hn_arena_fini(&a);
	}
}

static void laws(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(form); i++) {
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		if (hn_dag_parse("t", form[i].text, strlen(form[i].text), 0, &a, &dag, &err)) {
			fail_msg("%s: %s", form[i].what, err.msg);
		}

		const char *why = hn_law_against_parts(dag->op[1]);

		if (!why != !form[i].why || (why && !strstr(why, form[i].why))) {
			fail_msg("%s: %s", form[i].what, why ? why : "may be cut");
		}
		hn_arena_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(laws), cmocka_unit_test(orders) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
