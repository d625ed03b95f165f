/* States as replays: the initial one, Ansor's records, previews, sharing. */
#include "loopstate/read/dag_read.h"
#include "tests/lib/state_util.h"

static void test_initial_state_of_a_matmul(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s = hn_state_init(matmul_relu(8, 7, 1, &a), &a);

	hn_state_check(s);
	assert_int_equal(s->n_stage, 4);
	assert_int_equal(s->stage[0]->n_iter, 0);
	assert_int_equal(s->stage[2]->iter[2].kind, HN_ITER_REDUCE);
	assert_true(s->concrete);
	assert_preview(s, "Placeholder: A, B\nfor i (0,8)\n  for j (0,7)\n    C = ...\n"
			  "for i (0,8)\n  for j (0,7)\n    D = ...\n");
	hn_arena_fini(&a);
}

static void test_axis_names_are_cleaned(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = dag_of_json(
		"{\"format\": \"compute-dag/1\", \"ops\": [{\"kind\": \"placeholder\", "
		"\"id\": "
		"\"A\", \"name\": \"A\", \"shape\": [3, 4], \"dtype\": \"float32\"}, "
		"{\"kind\": "
		"\"compute\", \"id\": \"B\", \"name\": \"B\", \"tag\": \"\", \"axes\": "
		"[[\"i.outer.c\", 0, 3], [\"router@inner\", 0, 4]], \"reduce_axes\": [], "
		"\"shape\": [3, 4], \"dtype\": [\"float32\"], \"body\": [[\"load\", "
		"\"A\", "
		"[\"var\", \"i.outer.c\"], [\"var\", \"router@inner\"]]], \"attrs\": "
		"{}}], "
		"\"inputs_outputs\": [\"A\", \"B\"]}",
		&a);

	assert_preview(
		hn_state_init(dag, &a),
		"Placeholder: A\nfor i_o_c (0,3)\n  for ro_i (0,4)\n    B = ...\n");
	hn_arena_fini(&a);
}

/* Ansor's two CPU sketches of a matmul of 512, and a record of one, before bounds. */
static void test_sketches_of_a_matmul(void **state)
{
	static const char *const plain = "[[\"SP\", 2, 0, 512, [null, null, null], 1], "
					 "[\"SP\", 2, 4, 512, [null, null, "
					 "null], 1], [\"SP\", 2, 8, 512, [null], 1], "
					 "[\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, "
					 "9, 3, 7]]]";
	static const char *const cached = "[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, "
					  "[null, null, null], 1], [\"SP\", "
					  "2, 4, 512, [null, null, null], 1], [\"SP\", "
					  "2, 8, 512, [null], 1], [\"RE\", 2, "
					  "[0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], [\"FSP\", 3, "
					  "0, 1, 1], [\"FSP\", 3, 2, 2, 1], "
					  "[\"RE\", 3, [0, 2, 1, 3]], [\"CA\", 2, 3, 1]]";
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(512, 512, 512, &a);
	const struct hn_state *s = state_of(dag, plain, &a);

	assert_false(s->concrete);
	assert_preview(
		s,
		"Placeholder: A, B\nfor i.0 (None)\n  for j.0 (None)\n    for i.1 "
		"(None)\n"
		"      for j.1 (None)\n        for k.0 (None)\n          for i.2 (None)\n"
		"            for j.2 (None)\n              for k.1 (None)\n"
		"                for i.3 (None)\n                  for j.3 (None)\n"
		"                    C = ...\n"
		"for i (0,512)\n  for j (0,512)\n    D = ...\n");
	assert_preview(
		state_of(dag, cached, &a),
		"Placeholder: A, B\nfor i.0 (None)\n  for j.0 (None)\n    for i_c.0 "
		"(None)\n"
		"      for j_c.0 (None)\n        for i_c.1 (None)\n          for j_c.1 "
		"(None)\n"
		"            for k.0 (None)\n              for i_c.2 (None)\n"
		"                for j_c.2 (None)\n                  for k.1 (None)\n"
		"                    for i_c.3 (None)\n                      for j_c.3 "
		"(None)\n"
		"                        C.local = ...\n    for i.1 (None)\n"
		"      for j.1 (None)\n        C = ...\n"
		"for i (0,512)\n  for j (0,512)\n    D = ...\n");
	hn_arena_fini(&a);
}

/* The GPU sketch: copies land before the stage they serve, ids move, attachments follow.
 */
static void test_gpu_sketch_of_a_matmul(void **state)
{
	static const char *const steps =
		"[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, [null, null, null, null], "
		"1], "
		"[\"SP\", 2, 5, 512, [null, null, null, null], 1], [\"SP\", 2, 10, 512, "
		"[null, "
		"null], 1], [\"RE\", 2, [0, 5, 1, 6, 2, 7, 10, 11, 3, 8, 12, 4, 9]], "
		"[\"FSP\", "
		"3, 0, 1, 3], [\"FSP\", 3, 4, 2, 3], [\"RE\", 3, [0, 4, 1, 5, 2, 6, 3, "
		"7]], "
		"[\"CA\", 2, 3, 5], [\"CHR\", 1, \"shared\", [2]], [\"CA\", 2, 3, 6], "
		"[\"CHR\", 0, \"shared\", [3]], [\"CA\", 1, 4, 6]]";
	static const char *const name[] = {"A",	      "A.shared", "B", "B.shared",
					   "C.local", "C",	  "D"};
	struct hn_arena a;
	int32_t consumer[4];

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_state *s = state_of(matmul_relu(512, 512, 512, &a), steps, &a);

	assert_int_equal(s->n_stage, HN_COUNT_OF(name));
	for (size_t i = 0; i < HN_COUNT_OF(name); i++) {
		assert_string_equal(s->dag->op[i]->name, name[i]);
	}
	const struct hn_attached *at = hn_state_attached_at(s, 4, 6);

	assert_non_null(at);
	assert_int_equal(at->n, 2); /* in the order they were attached: B.shared first */
	assert_int_equal(at->child[0], 3);
	assert_int_equal(at->child[1], 1);
	assert_int_equal(s->stage[4]->at_stage, 5);
	assert_int_equal(s->stage[4]->at_iter, 5);
	assert_int_equal(s->dag->arg[2], 6);
	assert_int_equal(s->root_dag->n_op, 4);
	assert_int_equal(hn_state_consumers(s, 0, consumer, 4), 1);
	assert_int_equal(consumer[0], 1);
	assert_true(hn_state_stage_tiled(s, 4));
	assert_false(hn_state_stage_tiled(s, 1));
	hn_arena_fini(&a);
}

static void test_replay_goes_on_from_a_common_beginning(void **state)
{
	struct hn_arena a, b;
	struct hn_err err = {0};
	const struct hn_state *s = NULL, *same = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	hn_arena_init(&b, 0);
	const struct hn_dag *dag = matmul_relu(8, 8, 8, &a);
	const struct hn_trace *t =
		trace_of_text("[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 8, [4], 1], "
			      "[\"SP\", 2, 9, 8, [2], 1]]",
			      &a);
	struct hn_trace first = {2, t->step};

	assert_int_equal(hn_state_replay(dag, &first, &a, &s, &err), 0);
	assert_int_equal(hn_state_replay_from(s, t, &b, &same, &err), -HONE_E_INVALID);
	assert_string_equal(err.msg,
			    "step 2: SP stage 2 (C.local) iter 9: the stage has 4 "
			    "iterators");
	assert_null(same);
	assert_int_equal(hn_state_replay_from(s, &first, &b, &same, &err), 0);
	assert_ptr_equal(same, s);
	hn_arena_fini(&b);
	hn_arena_fini(&a);
}

static void test_apply_never_edits_its_input(void **state)
{
	struct hn_arena a;
	struct hn_buf before, after;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&before);
	hn_buf_init(&after);
	const struct hn_state *s =
		state_of(matmul_relu(16, 16, 16, &a),
			 "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 1]]", &a);
	static const char *const next[] = {
		"[\"SP\", 3, 0, 16, [4, 2], 1]",
		"[\"RE\", 3, [1, 0]]",
		"[\"CR\", 2]",
		"[\"AN\", 3, 1, 3]",
		"[\"CHR\", 2, \"shared\", [3]]",
		"[\"SP\", 2, 2, 16, [4], 1]",
		"[\"CA\", 2, 4, 0]",
		"[\"PR\", 3, 0, \"auto_unroll_max_step$4\"]",
	};

	hn_state_print(s, false, &before);
	for (size_t i = 0; i < HN_COUNT_OF(next); i++) {
		const struct hn_trace *t =
			trace_of_text(hn_arena_printf(&a, "[%s]", next[i]), &a);
		const struct hn_state *changed = NULL;
		struct hn_err err = {0};

		if (hn_state_apply(s, t->step[0], &a, &changed, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		hn_state_check(changed);
		hn_state_check(s);
		assert_int_equal(changed->trace->n_step, 3);
		hn_buf_reset(&after);
		hn_state_print(s, false, &after);
		assert_string_equal(before.s, after.s);
		hn_buf_reset(&after);
		hn_state_print(changed, false, &after);
		assert_string_not_equal(before.s, after.s);
	}
	hn_buf_fini(&before);
	hn_buf_fini(&after);
	hn_arena_fini(&a);
}

static void test_a_replay_stays_in_its_budget(void **state)
{
	struct hn_arena a, small;
	struct hn_err err = {0};
	const struct hn_state *s = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	hn_arena_init(&small, 20000);
	const struct hn_dag *dag = matmul_relu(8, 8, 8, &a);
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_buf_puts(&buf, "[[\"SP\", 2, 0, 8, [2], 1]");
	for (int i = 0; i < 100; i++) {
		hn_buf_puts(&buf, ", [\"CR\", 3]");
	}
	hn_buf_putc(&buf, ']');
	assert_int_equal(hn_state_replay(dag, trace_of_text(buf.s, &a), &small, &s, &err),
			 -HONE_E_QUOTA);
	hn_buf_fini(&buf);
	hn_arena_fini(&small);
	hn_arena_fini(&a);
}

/* Text lines of a preview, without indent and ranges. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (end == NULL) {
		return NULL;
	}
	*end = '\0';
	*text = end + 1;
	while (*line == ' ') {
		line++;
	}
	char *range = strstr(line, " (");

	if (range != NULL) {
		*range = '\0';
		range[1] = 1; /* was a loop */
	}
	return line;
}

/* `mine` prints all loops, `theirs` leaves those of one iteration out, after bounds: each
 * line of theirs must come in mine, in order, and what is left over must be loops. */
static void assert_same_structure(const char *what, const char *mine_text,
				  const char *theirs_text)
{
	char *mine = strdup(mine_text), *theirs = strdup(theirs_text), *at = mine,
	     *in = theirs;

	for (char *want = next_line(&in); want != NULL; want = next_line(&in)) {
		char *line = next_line(&at);

		while (line != NULL && strcmp(line, want) != 0) {
			if (strstr(line, "= ...") != NULL) {
				line = NULL;
				break;
			}
			line = next_line(&at);
		}
		if (line == NULL) {
			fail_msg("%s: no line \"%s\" in\n%s\nwanted\n%s", what, want,
				 mine_text, theirs_text);
		}
	}
	for (char *line = next_line(&at); line != NULL; line = next_line(&at)) {
		fail_msg("%s: one line more: %s", what, line);
	}
	free(mine);
	free(theirs);
}

struct tally {
	int n_dag, n_record, n_skipped;
};

/* Ansor drops the reduction loops of a stage whose empty list of loops is fused; we do
 * not, so such previews differ by design (step/fuse.c). */
static bool fuses_nothing(const struct hn_trace *t)
{
	for (uint32_t i = 0; i < t->n_step; i++) {
		if (t->step[i]->kind == HN_STEP_fuse && t->step[i]->n_list == 0) {
			return true;
		}
	}
	return false;
}

static void replay_file(const char *name, const char *file, const struct hn_dag *dag,
			struct tally *tally)
{
	struct hn_json *json = case_json(name, file);
	const struct hn_json *states = hn_json_get(json, "states");
	struct hn_buf buf;

	hn_buf_init(&buf);
	for (const struct hn_json *c = hn_json_first(states); c != NULL;
	     c = hn_json_next(c)) {
		struct hn_json *doc;
		const struct hn_json *steps =
			record_steps(hn_json_get(c, "record"), &doc);
		const struct hn_trace *t = NULL;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		assert_int_equal(hn_trace_from_json(name, steps, &a, &t, NULL), 0);

		const struct hn_state *s = replay_checked(name, dag, t, &a),
				      *again = NULL;

		assert_true(s->concrete);
		hn_buf_reset(&buf);
		hn_state_print(s, /* delete_trivial_loops= */ false, &buf);
		if (!fuses_nothing(t)) {
			assert_same_structure(name, buf.s,
					      hn_json_string(hn_json_get(c, "preview")));
		} else {
			tally->n_skipped++;
		}
		assert_int_equal(hn_state_replay(dag, t, &a, &again, NULL), 0);
		assert_true(hn_trace_equal(again->trace, t));
		hn_arena_fini(&a);
		hn_json_free(doc);
		tally->n_record++;
	}
	hn_buf_fini(&buf);
	hn_json_free(json);
}

static void replay_case(const char *name, void *ctx)
{
	struct tally *tally = ctx;
	struct hn_json *json = case_json(name, "dag.json");
	const struct hn_dag *dag = NULL;
	struct hn_err err = {0};
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_from_json(name, json, 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_preview(hn_state_init(dag, &a),
		       hn_json_string(hn_json_get(json, "init_preview")));
	replay_file(name, "llvm.json", dag, tally);
	replay_file(name, "cuda.json", dag, tally);
	tally->n_dag++;
	hn_json_free(json);
	hn_arena_fini(&a);
}

static void test_records_of_ansor_replay(void **state)
{
	struct tally tally = {0};

	(void)state;
	need_cases();
	for_each_case(replay_case, &tally);
	print_message("%d dags, %d records, %d of them not compared\n", tally.n_dag,
		      tally.n_record, tally.n_skipped);
	assert_true(tally.n_record > 10 * tally.n_skipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial_state_of_a_matmul),
		cmocka_unit_test(test_axis_names_are_cleaned),
		cmocka_unit_test(test_sketches_of_a_matmul),
		cmocka_unit_test(test_gpu_sketch_of_a_matmul),
		cmocka_unit_test(test_replay_goes_on_from_a_common_beginning),
		cmocka_unit_test(test_apply_never_edits_its_input),
		cmocka_unit_test(test_a_replay_stays_in_its_budget),
		cmocka_unit_test(test_records_of_ansor_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
