/* The record form of traces: read, written, compared, refused. */
#include "tests/lib/state_util.h"

#include "base/rng.h"

static void assert_reparses(const char *text, struct hn_arena *a)
{
	const struct hn_trace *t = trace_of_text(text, a), *again;
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_trace_write(t, &buf);
	assert_string_equal(buf.s, text);
	again = trace_of_text(buf.s, a);
	assert_true(hn_trace_equal(t, again));
	assert_int_equal(hn_trace_hash(t), hn_trace_hash(again));
	assert_true(hn_trace_equal(t, hn_trace_copy(t, a)));
	hn_buf_fini(&buf);
}

static void test_each_step_reparses(void **state)
{
	static const char *const text[] = {
		"[]",
		"[[\"AN\", 3, 0, 11]]",
		"[[\"FU\", 3, [0, 1, 2]], [\"FU\", 1, []]]",
		"[[\"PR\", 2, 0, \"auto_unroll_max_step$64\"]]",
		"[[\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]]]",
		"[[\"SP\", 2, 0, 512, [4, 2, 8], 1], [\"SP\", 2, 1, 0, [null, 7], 0]]",
		"[[\"FSP\", 3, 3, 2, 2]]",
		"[[\"FFSP\", 6, 1, [3, 4], 2, 1]]",
		"[[\"SA\", 2, 1, 8, 4]]",
		"[[\"CA\", 2, 3, 3]]",
		"[[\"CI\", 2], [\"CR\", 2]]",
		"[[\"CHR\", 1, \"shared\", [2, 5]], [\"CHW\", 2, \"local\"]]",
		"[[\"RF\", 1, 2, 0]]",
		"[[\"TE\", 2, [3], \"vpdpbusd\"], [\"TE\", 2, [4, 5, 6, 7], \"tdpbusd\"]]",
		"[[\"FR\", 2, \"tile\"]]",
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		assert_reparses(text[i], &a);
	}
	hn_arena_fini(&a);
}

static void test_bad_records_are_refused_with_their_place(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"{}", "t: a trace is an array of steps, not an object"},
		{"[1]", "t: step 0: a step is an array that begins with its tag"},
		{"[[]]", "t: step 0: a step is an array that begins with its tag"},
		{"[[\"CI\", 1], [\"XX\", 1]]", "t: step 1: unknown step \"XX\""},
		{"[[\"CI\"]]", "t: step 0: CI has 1 items after its tag, not 0"},
		{"[[\"CI\", 1, 2]]", "t: step 0: CI has 1 items after its tag, not 2"},
		{"[[\"CI\", \"1\"]]",
		 "t: step 0: CI: stage is a string; it must be a whole"},
		{"[[\"CI\", 1.5]]", "t: step 0: CI: stage is not a whole number"},
		{"[[\"CI\", -1]]", "t: step 0: CI: stage is -1; it must lie in 0.."},
		{"[[\"CI\", 4294967296]]",
		 "t: step 0: CI: stage is 4294967296; it must lie"},
		{"[[\"SP\", 2, 0, 512, 4, 1]]",
		 "t: step 0: SP: lens is a number; it must be"},
		{"[[\"SP\", 2, 0, 512, [0], 1]]",
		 "t: step 0: SP: lens is 0; it must lie in 1.."},
		{"[[\"SP\", 2, 0, 512, [-1], 1]]",
		 "t: step 0: SP: lens is -1; it must lie"},
		{"[[\"SP\", 2, 0, 512, [1e300], 1]]",
		 "t: step 0: SP: lens is not a whole"},
		{"[[\"SP\", 2, 0, 512, [4], 2]]",
		 "t: step 0: SP: inner_to_outer is 2; it must"},
		{"[[\"RE\", 2, [null]]]",
		 "t: step 0: RE: order is null; it must be a whole"},
		{"[[\"TE\", 3, 3, \"vpdpbusd\"]]",
		 "t: step 0: TE: iters is a number; it must be a list of whole numbers"},
		{"[[\"PR\", 2, 0, 7]]",
		 "t: step 0: PR: pragma is a number; it must be a string"},
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_trace *t = NULL;
		struct hn_err err = {0};

		assert_int_equal(hn_trace_parse("t", bad[i].text, strlen(bad[i].text), &a,
						&t, &err),
				 -HONE_E_INVALID);
		assert_null(t);
		if (strncmp(err.msg, bad[i].message, strlen(bad[i].message)) != 0) {
			fail_msg("%s: got \"%s\", want \"%s\"", bad[i].text, err.msg,
				 bad[i].message);
		}
	}
	hn_arena_fini(&a);
}

static void test_huge_records_are_refused(void **state)
{
	struct hn_arena a;
	struct hn_buf buf;
	const struct hn_trace *t = NULL;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&buf);
	hn_buf_puts(&buf, "[[\"CI\", 1]");
	for (int i = 0; i < HN_TRACE_MAX_STEPS; i++) {
		hn_buf_puts(&buf, ", [\"CI\", 1]");
	}
	hn_buf_puts(&buf, "]");
	assert_int_equal(hn_trace_parse("t", buf.s, buf.n, &a, &t, NULL),
			 -HONE_E_INVALID);
	hn_buf_reset(&buf);
	hn_buf_puts(&buf, "[[\"RE\", 1, [0");
	for (int i = 0; i < HN_STEP_MAX_LIST; i++) {
		hn_buf_puts(&buf, ", 1");
	}
	hn_buf_puts(&buf, "]]]");
	assert_int_equal(hn_trace_parse("t", buf.s, buf.n, &a, &t, NULL),
			 -HONE_E_INVALID);
	hn_buf_fini(&buf);
	hn_arena_fini(&a);
}

static void test_difference_shows_in_equal_and_hash(void **state)
{
	static const char *const base =
		"[[\"SP\", 2, 0, 512, [4, 2], 1], [\"CHW\", 2, \"local\"]]";
	static const char *const other[] = {
		"[[\"SP\", 2, 0, 512, [4, 2], 0], [\"CHW\", 2, \"local\"]]",
		"[[\"SP\", 2, 1, 512, [4, 2], 1], [\"CHW\", 2, \"local\"]]",
		"[[\"SP\", 3, 0, 512, [4, 2], 1], [\"CHW\", 2, \"local\"]]",
		"[[\"SP\", 2, 0, 512, [4], 1], [\"CHW\", 2, \"local\"]]",
		"[[\"SP\", 2, 0, 512, [4, null], 1], [\"CHW\", 2, \"local\"]]",
		"[[\"SP\", 2, 0, 512, [4, 2], 1], [\"CHW\", 2, \"locah\"]]",
		"[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, [4, 2], 1]]",
		"[[\"SP\", 2, 0, 512, [4, 2], 1]]",
		"[]",
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(other); i++) {
		const struct hn_trace *x = trace_of_text(base, &a);
		const struct hn_trace *y = trace_of_text(other[i], &a);

		assert_false(hn_trace_equal(x, y));
		assert_true(hn_trace_hash(x) != hn_trace_hash(y));
	}
	hn_arena_fini(&a);
}

static void test_append_with_and_complete_leave_the_old_alone(void **state)
{
	struct hn_arena a;
	int64_t len[2] = {HN_HOLE, 4};
	struct hn_step step = {
		.kind = HN_STEP_split, .stage = 2, .n_list = 2, .list = len};

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_trace *none = hn_trace_append(NULL, &step, &a);
	const struct hn_trace *two = hn_trace_append(none, &step, &a);

	assert_int_equal(none->n_step, 1);
	assert_int_equal(two->n_step, 2);
	assert_ptr_equal(two->step[0], none->step[0]);
	assert_false(hn_trace_complete(two));
	len[0] = 8; /* the traces hold copies */
	assert_int_equal(two->step[1]->list[0], HN_HOLE);

	const struct hn_trace *filled = hn_trace_with(two, 0, &step, &a);

	assert_int_equal(two->step[0]->list[0], HN_HOLE);
	assert_int_equal(filled->step[0]->list[0], 8);
	assert_false(hn_trace_complete(filled));
	assert_true(hn_trace_complete(hn_trace_with(filled, 1, &step, &a)));
	hn_arena_fini(&a);
}

/* Random damage to the text: refused, or a trace that can be written, read again and
 * tried. */
static void test_damaged_text_never_harms(void **state)
{
	static const char text[] =
		"[[\"SP\", 2, 2, 10, [3], 1], [\"RF\", 2, 3, 0], [\"CHW\", 3, "
		"\"local\"], "
		"[\"SP\", 3, 0, 16, [2, null], 1], [\"RE\", 3, [1, 0, 2, 3, 4]], "
		"[\"FSP\", 4, 0, 3, 2], [\"FFSP\", 4, 1, [3], 0, 1], [\"CA\", 3, 4, 1], "
		"[\"CHR\", 0, \"shared\", [2]], [\"FU\", 5, [0, 1]], [\"PR\", 5, 0, "
		"\"auto_unroll_max_step$16\"], [\"AN\", 5, 0, 3], [\"SA\", 4, 0, 8, 1]]";
	static const char bytes[] = "0123456789,,,[]\"-e. SPFUREACHIWnul";
	struct hn_arena job, a;
	int n_read = 0, n_applied = 0;

	(void)state;
	hn_arena_init(&job, 0);
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(16, 12, 10, &job);

	for (uint64_t round = 0; round < 6000; round++) {
		struct hn_rng r = hn_rng_stream(11, 0, 0, round);
		char damaged[sizeof(text)];
		const struct hn_trace *t = NULL;
		const struct hn_state *s = NULL;

		memcpy(damaged, text, sizeof(text));
		for (uint64_t n = 1 + hn_rng_below(&r, 2); n > 0; n--) {
			damaged[hn_rng_below(&r, sizeof(text) - 1)] =
				bytes[hn_rng_below(&r, sizeof(bytes) - 1)];
		}
		hn_arena_reset(&a);
		if (hn_trace_parse("t", damaged, sizeof(text) - 1, &a, &t, NULL) != 0) {
			continue;
		}
		struct hn_buf buf;

		n_read++;
		hn_buf_init(&buf);
		hn_trace_write(t, &buf);
		assert_true(hn_trace_equal(t, trace_of_text(buf.s, &a)));
		hn_buf_fini(&buf);
		if (hn_state_replay(dag, t, &a, &s, NULL) == 0) {
			hn_state_check(s);
			n_applied++;
		}
	}
	assert_in_range(n_read, 300, 5000);
	assert_in_range(n_applied, 100, n_read - 100);
	hn_arena_fini(&a);
	hn_arena_fini(&job);
}

/* docs/trace.md shows each step's fields as its table has them. */
static void test_the_page_agrees_with_the_field_tables(void **state)
{
	struct hn_buf page, row;
	struct hn_err err = {0};

	(void)state;
	hn_buf_init(&page);
	hn_buf_init(&row);
	if (hn_file_read(HONE_SOURCE_DIR "/docs/trace.md", 1 << 20, &page, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	for (int kind = 0; kind < HN_N_STEP; kind++) {
		const struct hn_step_ops *ops = hn_step_ops((enum hn_step_kind)kind);

		hn_buf_reset(&row);
		hn_buf_printf(&row, "| %s | %s | `", ops->tag, ops->name);
		for (const struct hn_field *f = ops->field; f->kind != HN_FIELD_END;
		     f++) {
			bool list = f->kind == HN_FIELD_LIST || f->kind == HN_FIELD_LENS;
			bool text = f->kind == HN_FIELD_TEXT;

			hn_buf_printf(&row, "%s%s%s%s", f > ops->field ? ", " : "",
				      list   ? "["
				      : text ? "\""
					     : "",
				      f->name,
				      list   ? "]"
				      : text ? "\""
					     : "");
		}
		hn_buf_puts(&row, "` |");
		if (strstr(page.s, row.s) == NULL) {
			fail_msg("docs/trace.md has no row %s", row.s);
		}
	}
	hn_buf_fini(&page);
	hn_buf_fini(&row);
}

struct tally {
	int n_record;
};

static void reparse_file(const char *name, const char *file, struct tally *tally)
{
	struct hn_json *json = case_json(name, file);
	const struct hn_json *states = hn_json_get(json, "states");
	struct hn_arena a;

	hn_arena_init(&a, 0);
	for (const struct hn_json *s = hn_json_first(states); s != NULL;
	     s = hn_json_next(s)) {
		const struct hn_json *record = hn_json_get(s, "record");
		struct hn_json *doc;
		const struct hn_json *steps = record_steps(record, &doc);
		const struct hn_trace *t = NULL;
		struct hn_err err = {0};
		struct hn_buf buf;

		if (hn_trace_from_json(name, steps, &a, &t, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		hn_buf_init(&buf);
		hn_trace_write(t, &buf);
		/* The record's own bytes hold the written text, so the spacing is right
		 * too. */
		if (strstr(hn_json_string(record), buf.s) == NULL) {
			fail_msg("%s/%s: %s is not in %s", name, file, buf.s,
				 hn_json_string(record));
		}
		hn_buf_fini(&buf);
		hn_json_free(doc);
		tally->n_record++;
	}
	hn_arena_fini(&a);
	hn_json_free(json);
}

static void reparse_case(const char *name, void *ctx)
{
	reparse_file(name, "llvm.json", ctx);
	reparse_file(name, "cuda.json", ctx);
}

static void test_records_of_ansor_reparse_to_the_same_bytes(void **state)
{
	struct tally tally = {0};

	(void)state;
	need_cases();
	for_each_case(reparse_case, &tally);
	print_message("%d records\n", tally.n_record);
	assert_true(tally.n_record > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_step_reparses),
		cmocka_unit_test(test_bad_records_are_refused_with_their_place),
		cmocka_unit_test(test_huge_records_are_refused),
		cmocka_unit_test(test_difference_shows_in_equal_and_hash),
		cmocka_unit_test(test_append_with_and_complete_leave_the_old_alone),
		cmocka_unit_test(test_damaged_text_never_harms),
		cmocka_unit_test(test_the_page_agrees_with_the_field_tables),
		cmocka_unit_test(test_records_of_ansor_reparse_to_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
