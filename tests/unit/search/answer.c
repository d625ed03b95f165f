/* Which answer comes first where operands lie in caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "loopstate/read/dag_read.h"
#include "search/answer.h"

/* Places in the order that comes out. */
static void expect(const struct hn_answer *from, uint32_t n, const char *places)
{
	struct hn_answers all = { .n = n };

	memcpy(all.at, from, n * sizeof(*from));
	hn_answers_prefer_warm(&all);
	assert_int_equal(all.n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(all.at[i].place, places[i] - '0');
	}
}

static void a_tenth_more_comes_first(void **state)
{
	static const struct hn_answer better[] = {
		{ .place = 0, .shown = true, .predicted_ns = 1200 },
		{ .place = 1, .shown = true, .predicted_ns = 1000 },
		{ .place = 2, .shown = true, .predicted_ns = 900 },
		{ .place = 3, .shown = false, .predicted_ns = 100 },
		{ .place = 4, .shown = true, .predicted_ns = 0 },
	};
	static const struct hn_answer alike[] = {
		{ .place = 0, .shown = true, .predicted_ns = 1000 },
		{ .place = 1, .shown = true, .predicted_ns = 950 },
	};

	(void)state;
	expect(better, 5, "20134"); /* not what is not shown, or not known */
	expect(better, 2, "10");
	expect(alike, 2, "01");
	expect(alike, 0, "");
}

/* Values of attention at 16 tokens: the program whose loops are in common goes through memory less,
 * and adds up without vectors. */
static void vectors_where_operands_are_near(void **state)
{
	static const char text[] =
		"f(float32 P[12,16,16], float32 V[12,16,64]) -> Y {"
		" C(b,i,j) +=! P(b,i,k) * V(b,k,j) Y(i,b,j) = C(b,i,j) where i in 0:16 }";
	const struct hn_dag *dag = NULL;
	struct hn_target target;
	struct hn_answers all;
	struct hn_err err = { 0 };
	struct hn_arena a;
	double first;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=2 -vector_unit_bytes=64",
					 &a, &target, &err), 0);
	assert_int_equal(hn_dag_parse("f", text, strlen(text), 0, &a, &dag, &err), 0);
	hn_answers_find(dag, &target, &a, &all);
	first = all.at[0].predicted_ns;
	hn_answers_prefer_warm(&all);
	for (uint32_t i = 1; i < all.n; i++) {
		assert_true(!all.at[i].shown ||
			    all.at[0].predicted_ns < 1.11 * all.at[i].predicted_ns);
	}
	assert_true(all.at[0].shown && all.at[0].predicted_ns <= first);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_tenth_more_comes_first),
					    cmocka_unit_test(vectors_where_operands_are_near) };

	return cmocka_run_group_tests_name("search answer", tests, NULL, NULL);
}
