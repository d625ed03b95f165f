/* tests/lib/state_util.h -- dags and cases for the tests of traces, states and steps. */
#ifndef HN_TESTS_STATE_UTIL_H
#define HN_TESTS_STATE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/state.h"
#include "loopstate/state/step.h"
#include "tests/lib/cases.h"

static inline const struct hn_dag *dag_of_json(const char *text, struct hn_arena *a)
{
	struct hn_json *json;
	const struct hn_dag *dag = NULL;
	struct hn_err err = {0};

	if (hn_json_parse("dag", text, strlen(text), NULL, &json, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	if (hn_dag_from_json("dag", json, 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_json_free(json);
	return dag;
}

#define SUM                                                                              \
	"\"reduce\": {\"lhs\": [\"x\"], \"rhs\": [\"y\"], "                              \
	"\"result\": [[\"add\", [\"var\", \"x\"], [\"var\", \"y\"]]], "                  \
	"\"identity\": [[\"float\", 0, \"float32\"]]}, "                                 \
	"\"condition\": [\"int\", 1, \"bool\"], \"init\": [], \"value_index\": 0"

/* A, B -> C = A B (n x m over k) -> D = max(C, 0); stages 0..3. */
static inline const struct hn_dag *matmul_relu(int n, int m, int k, struct hn_arena *a)
{
	return dag_of_json(
		hn_arena_printf(
			a,
			"{\"format\": \"compute-dag/1\", \"ops\": ["
			"{\"kind\": \"placeholder\", \"id\": \"A\", \"name\": \"A\", "
			"\"shape\": [%d, %d], \"dtype\": \"float32\"},"
			"{\"kind\": \"placeholder\", \"id\": \"B\", \"name\": \"B\", "
			"\"shape\": [%d, %d], \"dtype\": \"float32\"},"
			"{\"kind\": \"compute\", \"id\": \"C\", \"name\": \"C\", "
			"\"tag\": \"\", "
			"\"axes\": [[\"i\", 0, %d], [\"j\", 0, %d]], "
			"\"reduce_axes\": [[\"k\", 0, %d]], \"shape\": [%d, %d], "
			"\"dtype\": [\"float32\"], \"body\": [{" SUM
			", \"source\": [[\"mul\", "
			"[\"load\", \"A\", [\"var\", \"i\"], [\"var\", \"k\"]], "
			"[\"load\", \"B\", [\"var\", \"k\"], [\"var\", \"j\"]]]]}], "
			"\"attrs\": {}},"
			"{\"kind\": \"compute\", \"id\": \"D\", \"name\": \"D\", "
			"\"tag\": \"\", "
			"\"axes\": [[\"i\", 0, %d], [\"j\", 0, %d]], \"reduce_axes\": "
			"[], "
			"\"shape\": [%d, %d], \"dtype\": [\"float32\"], \"body\": "
			"[[\"max\", "
			"[\"load\", \"C\", [\"var\", \"i\"], [\"var\", \"j\"]], "
			"[\"float\", 0, \"float32\"]]], \"attrs\": {}}],"
			"\"inputs_outputs\": [\"A\", \"B\", \"D\"]}",
			n, k, k, m, n, m, k, n, m, n, m, n, m),
		a);
}

/* A[p, q] -> B = sum over (p, q) for each of r rows: B[i] = sum A[i, p, q]. */
static inline const struct hn_dag *row_sum(int r, int p, int q, struct hn_arena *a)
{
	return dag_of_json(
		hn_arena_printf(
			a,
			"{\"format\": \"compute-dag/1\", \"ops\": ["
			"{\"kind\": \"placeholder\", \"id\": \"A\", \"name\": \"A\", "
			"\"shape\": [%d, %d, %d], \"dtype\": \"float32\"},"
			"{\"kind\": \"compute\", \"id\": \"B\", \"name\": \"B\", "
			"\"tag\": \"\", "
			"\"axes\": [[\"i\", 0, %d]], \"reduce_axes\": [[\"p\", 0, %d], "
			"[\"q\", 0, %d]], \"shape\": [%d], \"dtype\": [\"float32\"], "
			"\"body\": [{" SUM
			", \"source\": [[\"load\", \"A\", [\"var\", \"i\"], "
			"[\"var\", \"p\"], [\"var\", \"q\"]]]}], \"attrs\": {}}],"
			"\"inputs_outputs\": [\"A\", \"B\"]}",
			r, p, q, r, p, q, r),
		a);
}

/* B = A[0] (or the sum of A[0..n)), of rank 0. */
static inline const struct hn_dag *rank0_sum(int n, struct hn_arena *a)
{
	return dag_of_json(
		hn_arena_printf(
			a,
			"{\"format\": \"compute-dag/1\", \"ops\": ["
			"{\"kind\": \"placeholder\", \"id\": \"A\", \"name\": \"A\", "
			"\"shape\": [%d], \"dtype\": \"float32\"},"
			"{\"kind\": \"compute\", \"id\": \"B\", \"name\": \"B\", "
			"\"tag\": \"\", "
			"\"axes\": [], \"reduce_axes\": [[\"k\", 0, %d]], \"shape\": [], "
			"\"dtype\": [\"float32\"], \"body\": [{" SUM ", \"source\": "
			"[[\"load\", \"A\", [\"var\", \"k\"]]]}], \"attrs\": {}}],"
			"\"inputs_outputs\": [\"A\", \"B\"]}",
			n, n),
		a);
}

static inline const struct hn_trace *trace_of_text(const char *text, struct hn_arena *a)
{
	const struct hn_trace *t = NULL;
	struct hn_err err = {0};

	if (hn_trace_parse("trace", text, strlen(text), a, &t, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return t;
}

/* Replay step by step, the invariants checked after each. */
static inline const struct hn_state *replay_checked(const char *what,
						    const struct hn_dag *dag,
						    const struct hn_trace *t,
						    struct hn_arena *a)
{
	const struct hn_state *s = hn_state_init(dag, a);
	struct hn_err err = {0};

	hn_state_check(s);
	for (uint32_t i = 0; i < t->n_step; i++) {
		const struct hn_dag *before = s->dag;

		if (hn_state_apply(s, t->step[i], a, &s, &err) != 0) {
			fail_msg("%s: step %u: %s", what, (unsigned)i, err.msg);
		}
		hn_state_check(s);
		if (s->dag != before && hn_dag_check("derived", s->dag, 0, &err) != 0) {
			fail_msg("%s: step %u: %s", what, (unsigned)i, err.msg);
		}
	}
	return s;
}

static inline const struct hn_state *state_of(const struct hn_dag *dag, const char *steps,
					      struct hn_arena *a)
{
	return replay_checked(steps, dag, trace_of_text(steps, a), a);
}

static inline void assert_preview(const struct hn_state *s, const char *want)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_state_print(s, /* delete_trivial_loops= */ true, &buf);
	assert_string_equal(buf.s, want);
	hn_buf_fini(&buf);
}

/* One JSON file of one case. */
static inline struct hn_json *case_json(const char *name, const char *file)
{
	char path[1024];
	struct hn_json *json;
	struct hn_err err = {0};
	struct hn_buf buf;

	hn_buf_init(&buf);
	snprintf(path, sizeof(path), "%s/ansor/%s/%s", HONE_CASES_DIR, name, file);
	if (hn_file_read(path, (size_t)256 << 20, &buf, &err) != 0 ||
	    hn_json_parse(path, buf.s, buf.n, NULL, &json, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_fini(&buf);
	return json;
}

/* Run `visit` for each case (a folder with a dag.json); after need_cases. */
static inline void for_each_case(void (*visit)(const char *name, void *ctx), void *ctx)
{
	DIR *dir = opendir(HONE_CASES_DIR "/ansor");
	int n = 0;

	assert_non_null(dir);
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		if (e->d_name[0] != '.') {
			visit(e->d_name, ctx);
			n++;
		}
	}
	closedir(dir);
	assert_true(n > 0);
}

/* The steps of a record line (a JSON string holding JSON), as a document of their own;
 * the caller frees *ret_doc. */
static inline const struct hn_json *record_steps(const struct hn_json *record,
						 struct hn_json **ret_doc)
{
	const char *text = hn_json_string(record);
	struct hn_err err = {0};

	assert_non_null(text);
	if (hn_json_parse("record", text, strlen(text), NULL, ret_doc, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	const struct hn_json *input = hn_json_get(*ret_doc, "i");
	const struct hn_json *state = hn_json_next(hn_json_first(input));

	return hn_json_next(hn_json_first(state));
}

#endif
