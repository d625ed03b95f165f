/* The analytic model of GPUs, by the programs of the rules: what it says lies above what no kernel can
 * pass and not far from it, neighbours cost less than what lies apart, and memory is read once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "costmodel/model.h"
#include "loopstate/nest/looptree.h"
#include "loopstate/read/dag_read.h"
#include "search/auto.h"

#define CORES 132.0
#define HZ 1.7e9

/* Seconds of the automatic schedule by the model. */
static double seconds_of(const char *text)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	const struct hn_looptree *tree;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_features f;
	struct hn_target gpu;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda -isa=sm_90 -num_cores=132", &a, &gpu, &err), 0);
	if (hn_dag_parse("test", text, strlen(text), 0, &a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	assert_true(hn_auto(dag, &gpu, &a, trace) > 0);
	assert_int_equal(hn_state_replay(dag, trace[0], &a, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, &a, &tree, &err), 0);
	assert_true(hn_features_of(tree, &gpu, &a, &f));
	double ret = 1 / hn_model_analytic_score(&f);

	hn_arena_fini(&a);
	return ret;
}

static void large_products_are_near_the_peak(void **state)
{
	double s = seconds_of("f(float32 A[4096,4096], float32 B[4096,4096]) -> C {"
			      " C(i,j) +=! A(i,k) * B(k,j) }");
	double peak = 4096.0 * 4096.0 * 4096.0 / (CORES * 128 * HZ);

	(void)state;
	if (s < peak || s > 2 * peak) {
		fail_msg("%g s, at the peak %g", s, peak);
	}
}

static void copies_are_near_memory(void **state)
{
	double bytes = 2.0 * 4 * 8192 * 8192, best = bytes / (14 * CORES * HZ);
	double s = seconds_of("f(float32 A[8192,8192]) -> B { B(i,j) = A(i,j) }");

	(void)state;
	if (s < best || s > 2 * best) {
		fail_msg("%g s, by memory %g", s, best);
	}
	assert_true(seconds_of("f(float32 A[8192,8192]) -> B { B(i,j) = A(j,i) }") > 1.5 * s);
	assert_true(seconds_of("f(float32 A[16384,8192]) -> B { B(i,j) = A(i,j) }") > 1.8 * s);
}

/* B = A, by the steps. */
static double seconds_of_copy(const char *steps)
{
	static const char text[] = "f(float32 A[8192,8192]) -> B { B(i,j) = A(i,j) }";
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_features f;
	struct hn_target gpu;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda -isa=sm_90 -num_cores=132", &a, &gpu, &err), 0);
	if (hn_dag_parse("test", text, strlen(text), 0, &a, &dag, &err) < 0 ||
	    hn_trace_parse("steps", steps, strlen(steps), &a, &trace, &err) < 0 ||
	    hn_state_replay(dag, trace, &a, &s, &err) < 0 ||
	    hn_looptree_build(s, &a, &tree, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	assert_true(hn_features_of(tree, &gpu, &a, &f));
	double ret = 1 / hn_model_analytic_score(&f);

	hn_arena_fini(&a);
	return ret;
}

/* Memory gives 32 bytes at once, 8 numbers: threads that take places 8192 apart bring in eight times
 * what they use, of what they read and of what they write. */
static void neighbours_share_what_memory_gives(void **state)
{
	double near = seconds_of_copy("[[\"SP\",1,1,8192,[256],1],[\"FU\",1,[0,1]],[\"AN\",1,0,5],"
				      "[\"AN\",1,1,6]]");
	double apart = seconds_of_copy("[[\"SP\",1,0,8192,[256],1],[\"RE\",1,[0,2,1]],"
				       "[\"FU\",1,[0,1]],[\"AN\",1,0,5],[\"AN\",1,1,6]]");

	(void)state;
	/* the second cache gives it at some four times the speed of memory */
	if (!(apart > 1.5 * near)) {
		fail_msg("neighbours %g s, apart %g s", near, apart);
	}
}

static void rows_are_read_once(void **state)
{
	double one = seconds_of("f(float32 X[16384,1024]) -> s { s(i) +=! X(i,k) }");
	double softmax = seconds_of("f(float32 X[16384,1024]) -> Y { m(i) max=! X(i,k)"
				    " e(i,j) = exp(X(i,j) - m(i)) s(i) +=! e(i,k)"
				    " Y(i,j) = e(i,j) / s(i) }");

	(void)state;
	assert_true(softmax > 1.5 * one && softmax < 4 * one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_products_are_near_the_peak),
		cmocka_unit_test(copies_are_near_memory),
		cmocka_unit_test(neighbours_share_what_memory_gives),
		cmocka_unit_test(rows_are_read_once),
	};

	return cmocka_run_group_tests_name("search_simt", tests, NULL, NULL);
}
