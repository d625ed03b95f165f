/* The parts of `hone explain`: differences of histories, lines of ancestors as honed tells them,
 * statements by name beside their features. */
#include "tests/lib/search_dags.h"

#include <stdio.h>

#include "base/json.h"
#include "client/explain.h"
#include "loopstate/nest/looptree.h"
#include "sketch/heuristic.h"
#include "target/target.h"

static void differ(const char *const *from, uint32_t m, const char *const *to, uint32_t n,
		   const char *const *want, uint32_t k)
{
	struct hn_sentences x = { m, from }, y = { n, to }, got;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	got = hn_explain_diff(&x, &y, &a);
	for (uint32_t i = 0; i < got.n && i < k; i++) {
		assert_string_equal(got.text[i], want[i]);
	}
	assert_int_equal(got.n, k);
	hn_arena_fini(&a);
}

static void histories_differ_in_words(void **state)
{
	static const char *const old[] = { "split loop i of C into 3 loops, the rest x 16 x 4",
					   "order the loops of C as i.0, j, i.1",
					   "mark loop j of C: vectorize",
					   "compute A inside loop i.0 of C" };
	static const char *const new[] = { "split loop i of C into 3 loops, the rest x 8 x 4",
					   "order the loops of C as i.0, j, i.1",
					   "copy B into blocks of 8 x 32 for all its readers",
					   "mark loop j of C: vectorize" };
	static const char *const want[] = {
		"split loop i of C into 3 loops, the rest x [16 -> 8] x 4",
		"+ copy B into blocks of 8 x 32 for all its readers",
		"- compute A inside loop i.0 of C",
	};
	static const char *const all[] = { "+ a", "+ b" };
	static const char *const longer[] = { "split loop i of C into 2 loops, the rest x 4 x 4" };
	static const char *const shorter[] = { "split loop i of C into 2 loops, the rest x 4" };
	static const char *const grown[] = {
		"split loop i of C into 2 loops, the rest x [4 -> 4 x 4]" };

	(void)state;
	differ(old, 4, new, 4, want, 3);
	differ(old, 4, old, 4, NULL, 0);
	differ(NULL, 0, (const char *const[]){ "a", "b" }, 2, all, 2);
	differ(NULL, 0, NULL, 0, NULL, 0);
	differ(shorter, 1, longer, 1, grown, 1);
}

/* What is printed of an answer of honed's, as text or as JSON members. */
static void lineage(const char *answer, bool json, struct hn_buf *b)
{
	struct hn_explain_lineage l;
	struct hn_json *v = NULL;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_json_parse("answer", answer, strlen(answer), NULL, &v, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_explain_lineage(v, dag_matmul(&a, 64, 64, 64), &a, &l);
	hn_buf_reset(b);
	if (json) {
		struct hn_jw w;

		hn_jw_init(&w, b);
		hn_jw_object(&w, NULL);
		hn_explain_lineage_json(&l, &w);
		hn_jw_end(&w);
		hn_jw_done(&w);
	} else {
		hn_explain_lineage_text(&l, b);
	}
	hn_json_free(v);
	hn_arena_fini(&a);
}

#define STEPS(len) "\"steps\":[[\"SP\",2,0,64,[" #len "],1]]"
#define CHILD                                                                            \
	"{\"record\":9,\"hash\":\"aa\",\"origin\":\"mutate:tile\",\"changes\":"          \
	"\"crossover mutate:tile\",\"model\":\"learned\",\"predicted_ns\":2000,"         \
	"\"verdict\":\"OK\",\"median_ns\":3000," STEPS(8) ",\"parents\":["               \
	"{\"hash\":\"bb\",\"record\":4},{\"hash\":\"cc\",\"record\":5}]},"
#define PARENT(origin, changes, parents)                                                 \
	"{\"record\":4,\"hash\":\"bb\",\"origin\":\"" origin "\",\"changes\":\"" changes \
	"\",\"model\":\"\",\"predicted_ns\":0,\"verdict\":\"OK\",\"median_ns\":4000,"    \
	STEPS(4) ",\"parents\":[" parents "]}"
#define ANSWER(origin, changes, parents, whole)                                          \
	"{\"lineage\":[" CHILD PARENT(origin, changes, parents) "],\"whole\":" whole "}"

static void a_line_is_told(void **state)
{
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	lineage(ANSWER("guard", "", "", "true"), false, &b);
	assert_non_null(strstr(b.s, "  9          2.000 us   3.000 us  crossover mutate:tile "
				    "(other parent: record 5): split loop i of C into 2 loops, "
				    "the rest x [4 -> 8]\n"));
	assert_non_null(strstr(b.s, "  4          not kept   4.000 us  heuristic schedule\n"));
	assert_non_null(strstr(b.s, "before it: nothing, it is a heuristic schedule\n"));
	lineage(ANSWER("guard", "", "", "true"), true, &b);
	assert_non_null(strstr(b.s, "\"mate\":\"cc\",\"mate_record\":5"));
	assert_non_null(strstr(b.s, "\"differences\":[\"split loop i of C into 2 loops, the "
				    "rest x [4 -> 8]\"]"));
	hn_buf_fini(&b);
}

static void the_end_of_a_line_says_why(void **state)
{
	static const struct {
		const char *answer, *end;
	} x[] = {
		{ ANSWER("sample", "sample", "", "true"), "nothing, it is a sample" },
		{ ANSWER("near", "", "", "true"), "a record of a near workload" },
		/* records of schema 4, and of schema 1 */
		{ ANSWER("mutate:tile", "", "", "true"), "not kept by the version" },
		{ ANSWER("", "", "", "true"), "not kept by the version" },
		{ ANSWER("mutate:tile", "sample mutate:tile",
			 "{\"hash\":\"dd\",\"record\":0}", "true"),
		  "program dd, a sample that was not measured itself" },
		{ ANSWER("mutate:tile", "mutate:tile", "{\"hash\":\"dd\",\"record\":0}", "true"),
		  "program dd, which is not in this store" },
		{ ANSWER("mutate:tile", "mutate:tile", "{\"hash\":\"dd\",\"record\":3}", "false"),
		  "older ones are left out" },
	};
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	for (size_t i = 0; i < HN_COUNT_OF(x); i++) {
		lineage(x[i].answer, false, &b);
		assert_non_null(strstr(b.s, x[i].end));
	}
	hn_buf_fini(&b);
}

/* Steps that this version cannot read or replay leave the differences out, no more. */
static void unreadable_steps_are_survived(void **state)
{
	static const char *const steps[] = { "null", "[[\"XX\",2]]", "[[\"SP\",9,0,64,[4],1]]" };
	char answer[500];
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	for (size_t i = 0; i < HN_COUNT_OF(steps); i++) {
		snprintf(answer, sizeof answer,
			 "{\"lineage\":[" CHILD "{\"record\":4,\"hash\":\"0\",\"steps\":%s}],"
			 "\"whole\":true}",
			 steps[i]);
		lineage(answer, false, &b);
		assert_non_null(strstr(b.s, "record 5)\n"));
		assert_non_null(strstr(b.s, "\n  4 "));
	}
	hn_buf_fini(&b);
}

/* Names stand beside the rows that are theirs: the kind of a statement is a feature, too. */
static void check_names(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_target t;
	const struct hn_state *heuristic[HN_HEURISTIC_MAX];
	struct hn_err err = { 0 };

	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2", a, &t, NULL), 0);
	uint32_t n = hn_heuristics(dag, &t, a, heuristic);

	assert_true(n > 0);
	for (uint32_t g = 0; g < n; g++) {
		struct hn_explain_cost c;

		if (hn_explain_cost(heuristic[g], &t, a, &c, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		for (uint32_t i = 0; i < c.features.n; i++) {
			float kind = c.features.x[(size_t)i * HN_N_FEATURE + HN_FEATURE_kind];
			const char *s = strrchr(c.statement[i], ' ');

			assert_string_equal(s ? s : "", kind == 1   ? " init"
							: kind == 2 ? " update"
								    : "");
		}
		assert_true(c.predicted_ns > 0);
	}
}

static void statements_are_named(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dags[] = { dag_matmul(&a, 128, 96, 64), dag_softmax(&a, 30, 100),
					dag_conv(&a, 14, 16, 16), dag_total(&a, 127),
					dag_scalar(&a) };

	for (size_t i = 0; i < HN_COUNT_OF(dags); i++) {
		check_names(dags[i], &a);
	}
	hn_arena_fini(&a);
}

static void features_that_are_zero_are_left_out(void **state)
{
	static const char *const name[] = { "C update" };
	float x[HN_N_FEATURE] = { [HN_FEATURE_points] = 64, [HN_FEATURE_l2_cycles] = 2.5 };
	double cycles[] = { 12 };
	struct hn_explain_cost c = { .statement = name, .features = { .n = 1, .x = x, .cycles = cycles }, .predicted_ns = 4 };
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	struct hn_jw w;

	hn_explain_features_text(&c, /* all= */ false, &b);
	assert_non_null(strstr(b.s, "  points                       64         product"));
	assert_non_null(strstr(b.s, "  l2_cycles                   2.5 cycles  of traffic"));
	assert_null(strstr(b.s, "  loops "));
	hn_buf_reset(&b);
	hn_explain_features_text(&c, /* all= */ true, &b);
	assert_non_null(strstr(b.s, "  loops                         0 "));
	hn_buf_reset(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_explain_features_json(&c, /* all= */ false, &w);
	hn_jw_end(&w);
	assert_string_equal(b.s, "{\"features\":[{\"statement\":\"C update\",\"points\":"
				 "{\"value\":64,\"unit\":\"\"},\"l2_cycles\":{\"value\":2.5,"
				 "\"unit\":\"cycles\"}}]}");
	hn_buf_reset(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_explain_cost_json(&c, &w);
	hn_jw_end(&w);
	assert_string_equal(b.s, "{\"cycles\":[{\"statement\":\"C update\",\"all\":12,"
				 "\"compute\":0,\"l2\":2.5,\"l3\":0,\"memory\":0,"
				 "\"parallel\":0}]}");
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories_differ_in_words),
		cmocka_unit_test(a_line_is_told),
		cmocka_unit_test(the_end_of_a_line_says_why),
		cmocka_unit_test(unreadable_steps_are_survived),
		cmocka_unit_test(statements_are_named),
		cmocka_unit_test(features_that_are_zero_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
