/* Size parameters: both notations, keys, dags with numbers for sizes, refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/size.h"

#define CONV(sizes, n, h, w, edge_h, edge_w)                                              \
	"f(" sizes "float32 X[" n "," h "," w ",4], F[3,3,4,8]) -> C {"                    \
	" P(n,h,w,c) = h >= 1 && h < " edge_h " && w >= 1 && w < " edge_w                   \
	" ? X(n,h-1,w-1,c) : 0 where h in 0:" h " + 2, w in 0:" w " + 2"                    \
	" C(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * F(r,s,c,f) }"

static int parse(const char *text, struct hn_arena *a, const struct hn_dag **ret,
		 struct hn_err *err)
{
	return hn_dag_parse_sized("t", text, strlen(text), 0, a, ret, err);
}

static const struct hn_dag *must_parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err;

	if (parse(text, a, &dag, &err)) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* Written as compute-dag/1 and read back. */
static const struct hn_dag *reread(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_dag_write_json(dag, &text);
	const struct hn_dag *ret = must_parse(text.s, a);

	hn_buf_fini(&text);
	return ret;
}

static bool same_key(const struct hn_dag *x, const struct hn_dag *y)
{
	char key[2][HN_KEY_BYTES];

	hn_dag_key(x, key[0]);
	hn_dag_key(y, key[1]);
	return strcmp(key[0], key[1]) == 0;
}

static const char *const forms[] = {
	"f(N in [1, 9], M in [1, 8], K in [2, 7], float32 A[N,K], B[K,M]) -> C {"
	" C(i,j) +=! A(i,k) * B(k,j) }",
	CONV("N in [1, 2], H in [1, 9], W in [3, 9], ", "N", "H", "W", "H + 1", "W + 1"),
	"f(N in [2, 9], float32 x[3*N - 4, N / 2]) -> y { y(i) +=! x(i,k) * float32(N) }",
};

static void notations(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = must_parse(forms[i], &a);
		const struct hn_dag *again = reread(dag, &a);

		assert_true(same_key(dag, again));
		assert_true(same_key(again, reread(again, &a)));
		hn_arena_fini(&a);
	}
}

/* The range of a size is part of the computation's name; the sizes' names are not. */
static void keys(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *x = must_parse(
		"f(N in [1, 9], float32 x[N]) -> y { y(i) = x(i) }", &a);
	const struct hn_dag *renamed = must_parse(
		"f(Q in [1, 9], float32 x[Q]) -> y { y(i) = x(i) }", &a);
	const struct hn_dag *least = must_parse(
		"f(N in [2, 9], float32 x[N]) -> y { y(i) = x(i) }", &a);
	const struct hn_dag *number =
		must_parse("f(float32 x[9]) -> y { y(i) = x(i) }", &a);

	assert_true(same_key(x, renamed));
	assert_false(same_key(x, least));
	assert_false(same_key(x, number));
	hn_arena_fini(&a);
}

/* With numbers for its sizes a dag is the one that was written with them. */
static void numbers(void **state)
{
	const struct {
		const char *with, *plain;
		int64_t value[3];
	} rows[] = {
		{ forms[0],
		  "f(float32 A[5,3], B[3,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  { 5, 8, 3 } },
		{ forms[1],
		  "f(float32 X[1,7,4,4], F[3,3,4,8]) -> C {"
		  " P(n,h,w,c) = h >= 1 && h < 7 + 1 && w >= 1 && w < 4 + 1"
		  " ? X(n,h-1,w-1,c) : 0 where h in 0:9, w in 0:6"
		  " C(n,h,w,f) +=! P(n,2*h+r,2*w+s,c) * F(r,s,c,f) }",
		  { 1, 7, 4 } },
		{ forms[2],
		  "f(float32 x[17, 3]) -> y { y(i) +=! x(i,k) * float32(int32(7)) }",
		  { 7 } },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		const struct hn_dag *dag;
		struct hn_err err;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *sized = must_parse(rows[i].with, &a);

		assert_int_equal(hn_dag_instantiate(sized, rows[i].value, &a, &dag, &err), 0);
		assert_null(dag->sizes);
		assert_int_equal(hn_dag_check("t", dag, 0, &err), 0);
		/* the constant 7 + 1 is one number where it was parsed, so shapes are asked */
		const struct hn_dag *plain = must_parse(rows[i].plain, &a);

		assert_int_equal(dag->n_op, plain->n_op);
		for (uint32_t k = 0; k < dag->n_op; k++) {
			const struct hn_op *x = dag->op[k], *y = plain->op[k];

			assert_int_equal(x->n_dim, y->n_dim);
			assert_memory_equal(x->shape, y->shape, x->n_dim * sizeof(int64_t));
			for (uint32_t n = 0; n < x->n_spatial + x->n_reduce; n++) {
				assert_int_equal(x->axis[n].extent, y->axis[n].extent);
			}
		}
		hn_arena_fini(&a);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{ "f(N in [0, 4], float32 x[N]) -> y { y(i) = x(i) }", "no range" },
		{ "f(N in [5, 4], float32 x[N]) -> y { y(i) = x(i) }", "no range" },
		{ "f(N in [1, 4], N in [1, 4], float32 x[N]) -> y { y(i) = x(i) }", "twice" },
		{ "f(N in [1, 4], float32 N[N]) -> y { y(i) = N(i) }", "names a size" },
		{ "f(float32 x[4], N in [1, 4]) -> y { y(i) = x(i) }", "sizes first" },
		{ "f(N in [1, 4], float32 x[M]) -> y { y(i) = x(i) }", "no size 'M'" },
		{ "f(N in [1, 4], float32 x[N*N]) -> y { y(i) = x(i) }", "multiples" },
		{ "f(N in [2, 4], float32 x[N-2]) -> y { y(i) = x(i) }", "below 1" },
		{ "f(N in [1, 4], float32 x[N]) -> y { y(N) = x(N) }", "is a size" },
		{ "f(N in [1, 4], M in [1, 4], float32 x[N], float32 z[M]) -> y {"
		  " y(i) = x(i) + z(i) }",
		  "another size" },
		{ "f(N in [1, 4], float32 x[4]) -> y { y(i) = x(i) where i in 0:N+1 }",
		  "reach" },
		{ "f(N in [1, 4], float32 x[N]) -> y { y(i) = x(i) where i in 0:4 }",
		  "for some sizes" },
		{ "f(N in [2, 4], float32 x[N]) -> y { y(i) = x(i) + x(1) where i in 0:N }",
		  NULL },
		{ "f(N in [1, 4], float32 x[N]) -> y { y(i) = x(i) + x(1) where i in 0:N }",
		  "for some sizes" },
		{ "f(N in [1, 4], float32 x[N], float32 z[N+2]) -> y {"
		  " y(i) = z(i+r) where r in 0:3 }",
		  "bound by nothing" },
		{ "f(N in [1, 4], float32 x[N]) -> y { y(i) = x(N-i) where i in 0:N }",
		  "reach" },
		{ "{\"format\": \"compute-dag/1\", \"sizes\": [[\"N\", 1]], \"ops\": [], "
		  "\"inputs_outputs\": []}",
		  "[name, least, largest]" },
		{ "{\"format\": \"compute-dag/1\", \"sizes\": [[\"N\", 1, 4]], \"ops\": [{\"kind\": "
		  "\"placeholder\", \"id\": \"x\", \"shape\": [[\"var\", \"M\"]], \"dtype\": "
		  "\"float32\"}], \"inputs_outputs\": []}",
		  "variable 'M'" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		int rc = parse(bad[i].text, &a, &dag, &err);

		if ((rc != 0) != (bad[i].word != NULL) ||
		    (rc != 0 && !strstr(err.msg, bad[i].word))) {
			fail_msg("%s: %d: %s", bad[i].text, rc, err.msg);
		}
		hn_arena_fini(&a);
	}
}

/* Who needs numbers gets none of these dags; a value out of its range is refused. */
static void need_of_numbers(void **state)
{
	const struct hn_dag *dag;
	struct hn_err err;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_not_equal(
		hn_dag_parse("t", forms[0], strlen(forms[0]), 0, &a, &dag, &err), 0);
	assert_int_equal(err.code, HONE_E_UNSUPPORTED);
	const struct hn_dag *sized = must_parse(forms[0], &a);

	assert_int_not_equal(hn_dag_instantiate(sized, (int64_t[]){ 1, 1, 1 }, &a, &dag, &err),
			     0);
	assert_non_null(strstr(err.msg, "size K is 1, it may be 2 to 7"));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notations), cmocka_unit_test(keys),
		cmocka_unit_test(numbers),   cmocka_unit_test(refusals),
		cmocka_unit_test(need_of_numbers),
	};

	return cmocka_run_group_tests_name("loopstate size", tests, NULL, NULL);
}
