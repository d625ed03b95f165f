/* Liberties: the document's table is the code's, each is a task of its own, and reductions keep
 * their order where another is forbidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "tests/lib/dag_form.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/state/state.h"
#include "loopstate/dag/mark.h"
#include "loopstate/state/trace.h"

static const struct {
	const char *name, *text;
	bool float32, float64;
} table[] = {
#define LIBERTY(name, float32, float64, text) { #name, text, float32, float64 },
#include "loopstate/dag/liberties.def"
#undef LIBERTY
};

static void the_document_has_the_table(void **state)
{
	struct hn_buf doc;
	struct hn_err err;
	const char *at;

	(void)state;
	hn_buf_init(&doc);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/math.md", 1 << 20, &doc, &err), 0);
	at = strstr(doc.s, "| liberty | float32 | float64 | what a kernel may do |\n|---|---|---|---|\n");
	assert_non_null(at);
	at = strchr(strchr(at, '\n') + 1, '\n') + 1;
	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		char row[400];

		snprintf(row, sizeof row, "| `%s` | %s | %s | %s |\n", table[i].name,
			 table[i].float32 ? "yes" : "no", table[i].float64 ? "yes" : "no",
			 table[i].text);
		if (strncmp(at, row, strlen(row)) != 0) {
			fail_msg("docs/math.md has %.*s instead of %s", (int)strcspn(at, "\n"), at, row);
		}
		at += strlen(row);
	}
	assert_int_not_equal(*at, '|');
	hn_buf_fini(&doc);
}

static void words_are_read(void **state)
{
	struct hn_err err = { 0 };
	uint32_t got;

	(void)state;
	assert_int_equal(hn_liberties_parse("zeros,contraction", &got, &err), 0);
	assert_int_equal(got, 1u << HN_LIBERTY_zeros | 1u << HN_LIBERTY_contraction);
	assert_int_not_equal(hn_liberties_parse("zeros,", &got, &err), 0);
	assert_int_not_equal(hn_liberties_parse("", &got, &err), 0);
	assert_int_not_equal(hn_liberties_parse("zeros,contracton", &got, &err), 0);
	assert_string_equal(err.msg, "'contracton' is no liberty (did you mean contraction?); there are "
				     "contraction, reassociation, reciprocal, zeros, minmax, functions, subnormals");
}

static const char sums[] = "f(float32 A[8,9], int32 B[8,9]) -> S, M, T { S(i) +=! A(i,k) "
			   "M(i) max=! A(i,k) T(i) +=! B(i,k) }";

/* Each set of liberties is a task of its own; all of them are one, however they were named. */
static void sets_are_tasks(void **state)
{
	static char key[HN_LIBERTIES_ALL + 1][HN_KEY_BYTES];
	char other[HN_KEY_BYTES];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *plain = dag_open(sums, &a);

	for (uint32_t set = 0; set <= HN_LIBERTIES_ALL; set++) {
		const struct hn_dag *dag = hn_dag_forbid(plain, set, &a), *again = dag;

		assert_int_equal(hn_dag_forbidden(dag), set);
		assert_ptr_equal(hn_dag_forbid(dag, set, &a), dag);
		for (uint32_t i = 0; i < HN_N_LIBERTY; i++) {
			again = hn_dag_forbid(again, 1u << i, &a);
		}
		hn_dag_key(again, other);
		hn_dag_key(hn_dag_mark(plain, HN_MARK_BITWISE, &a), key[set]);
		assert_string_equal(other, key[set]);
		hn_dag_key(dag, key[set]);
		for (uint32_t i = 0; i < set; i++) {
			assert_string_not_equal(key[i], key[set]);
		}
	}
	hn_arena_fini(&a);
}

/* Of sums, extremes and integers: who may not be turned nor cut. */
static void reductions_keep_their_order(void **state)
{
	static const struct {
		const char *forbidden;
		bool kept[3];
	} row[] = {
		{ "contraction,reciprocal,zeros,functions", { false, false, false } },
		{ "reassociation", { true, false, false } },
		{ "minmax", { false, true, false } },
		{ "minmax,reassociation", { true, true, false } },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_err err = { 0 };
		uint32_t set;

		assert_int_equal(hn_liberties_parse(row[i].forbidden, &set, &err), 0);
		const struct hn_dag *dag = hn_dag_forbid(dag_open(sums, &a), set, &a);

		for (uint32_t k = 0; k < 3; k++) {
			const struct hn_op *op = dag->op[2 + k];
			const struct hn_trace *trace;
			const struct hn_state *s;
			char steps[100];

			assert_int_equal(hn_keeps_order(dag, op), row[i].kept[k]);
			assert_int_equal(hn_against_parts(dag, op) != NULL, row[i].kept[k]);
			snprintf(steps, sizeof steps,
				 "[[\"SP\", %u, 1, 9, [3], 1], [\"RF\", %u, 1, 1]]", 2 + k, 2 + k);
			assert_int_equal(hn_trace_parse("steps", steps, strlen(steps), &a, &trace,
							&err), 0);
			assert_int_equal(hn_state_replay(dag, trace, &a, &s, &err) != 0,
					 row[i].kept[k]);
			assert_true(!row[i].kept[k] || strstr(err.msg, "the task forbids ") != NULL);
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_has_the_table),
		cmocka_unit_test(words_are_read),
		cmocka_unit_test(sets_are_tasks),
		cmocka_unit_test(reductions_keep_their_order),
	};

	return cmocka_run_group_tests_name("liberty", tests, NULL, NULL);
}
