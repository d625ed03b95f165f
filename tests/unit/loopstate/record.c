/* Ansor's records: every version read and written again, every kind of damage refused
 * with its place, and logs that go on after a bad line. */
#include "loopstate/record/record.h"

#include "tests/lib/state_util.h"

#define KEY "\"[\\\"matmul\\\", 512, 512, 512]\""
#define HW "[4, 64, 64, 0, 0, 0, 0, 0]"
#define STATE                                                                            \
	"[[], [[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 512, [4, 2, 8], 1], [\"FU\", 3, " \
	"[]], [\"PR\", 2, 0, \"auto_unroll_max_step$64\"], [\"FFSP\", 2, 0, [1], 0, "    \
	"1]]]"
#define RESULT "\"r\": [[0.00123], 0, 0.52, 1700000000]"
#define LINE(task) "{\"i\": [[" task "], " STATE "], " RESULT ", \"v\": \"v0.6\"}"

static const char *const same[] = {
	LINE(KEY ", \"llvm -keys=cpu\""),
	LINE(KEY ", \"llvm\", " HW),
	LINE(KEY ", \"llvm\", " HW ", \"llvm -mcpu=a \\\\ b\""),
	LINE(KEY ", \"llvm\", " HW ", \"\", 1"),
	LINE(KEY ", \"llvm\", " HW ", \"\", 0, []"),
	LINE(KEY ", \"llvm\", " HW ", \"\", 2, [\"Index\", \"a\\tb\\r\\n\"]"),
	LINE(KEY ", \"cuda\", [-1, 16, 64, 49152, 2147483647, 1024, 8, 32], \"\", 2, []"),
	"{\"i\": [[\"k\", \"t\"], [[], []]], \"r\": [[1e+10], 6, 15.0021, "
	"1700000000], \"v\": \"v0.6\"}",
	"{\"i\": [[\"k\", \"t\"], [[], []]], \"r\": [[1.5e-05, 0.00123456789012, 1E10, "
	"0, 1.0], 0, -0.5, 1.7e+09]}",
	"{\"i\": [[\"\", \"\"], [[], [[\"PK\", 1, [1, 4]]]]], \"r\": [[1], 0, 2, 3], "
	"\"v\": \"hone-1\"}",
	"{\"i\": [[\"\", \"\"], [[], [[\"PF\", 2, 2, 1, 8]]]], \"r\": [[1], 0, 2, 3], "
	"\"v\": \"hone-1\"}",
	"{\"v\": \"v0.2\", \"r\": [[1], 0, 2, 3], \"i\": [[\"\", \"\"], [[], []]]}",
	"{\"i\": [[\"\xc3\xa9\", \"\x01\"], [[], []]], \"r\": [[1], 0, 2, 3], \"v\": "
	"\"v0.6\"}",
};

static const struct hn_log_record *parse(const char *line, struct hn_arena *a)
{
	const struct hn_log_record *r = NULL;
	struct hn_err err = { 0 };

	if (hn_record_parse("log", 7, line, strlen(line), a, &r, &err) != 0) {
		fail_msg("%s\n%s", line, err.msg);
	}
	return r;
}

static void assert_written(const struct hn_log_record *r, const char *want)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_record_write(r, &buf);
	assert_string_equal(buf.s, want);
	hn_buf_fini(&buf);
}

static void every_version_is_written_as_read(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(same); i++) {
		assert_written(parse(same[i], &a), same[i]);
	}
	hn_arena_fini(&a);
}

static void fields_are_read(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_log_record *r = parse(same[5], &a);

	assert_string_equal(r->workload_key, "[\"matmul\", 512, 512, 512]");
	assert_string_equal(r->target, "llvm");
	assert_int_equal(r->n_hardware, 8);
	assert_int_equal(r->hardware[1], 64);
	assert_string_equal(r->host, "");
	assert_int_equal(r->layout, 2);
	assert_int_equal(r->n_input, 2);
	assert_string_equal(r->input[1], "a\tb\r\n");
	assert_int_equal(r->trace->n_step, 5);
	assert_int_equal(r->n_cost, 1);
	assert_true(r->cost[0].value == 0.00123 && r->all_cost.value == 0.52);
	assert_true(r->timestamp.value == 1700000000);
	assert_string_equal(r->version, "v0.6");
	r = parse(same[0], &a);
	assert_int_equal(r->n_hardware, 0);
	assert_null(r->host);
	assert_int_equal(r->layout, -1);
	assert_false(r->has_inputs);
	hn_arena_fini(&a);
}

static void spelling_is_normalized(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_written(parse(" {\"i\":[[\"a\\/\\u0041\",\"t\",[1,2,3,4,5,6,7,8]],[[ ],[[ "
			     "\"CR\",2]]]] ,\"r\":[[ 1 ],0,2,3]}\r",
			     &a),
		       "{\"i\": [[\"a/A\", \"t\", [1, 2, 3, 4, 5, 6, 7, 8]], [[], "
		       "[[\"CR\", 2]]]], \"r\": [[1], 0, 2, 3]}");
	hn_arena_fini(&a);
}

/* What hone measured itself is printed as Ansor would. */
static void own_numbers_have_six_digits(void **state)
{
	struct hn_record_number cost[] = { { 0.00123456789, NULL }, { 1e10, NULL } };
	struct hn_trace none = { 0 };
	struct hn_log_record r = { .workload_key = "k",
			       .target = "t",
			       .layout = -1,
			       .trace = &none,
			       .n_cost = 2,
			       .cost = cost,
			       .all_cost = { 1.25, NULL },
			       .timestamp = { 1700000000.75, NULL },
			       .version = "v0.6",
			       .n_member = 3,
			       .member = { HN_RECORD_INPUT, HN_RECORD_RESULT,
					   HN_RECORD_VERSION } };

	(void)state;
	assert_written(&r, "{\"i\": [[\"k\", \"t\"], [[], []]], \"r\": [[0.00123457, "
			   "1e+10], 0, 1.25, 1700000000], \"v\": \"v0.6\"}");
}

#define TASK "[\"k\", \"t\"]"
#define OK_R "\"r\": [[1], 0, 2, 3]"

static const struct {
	const char *line, *want;
} bad[] = {
	{ "", "log:7:1: record: `{` expected, not the end of the line" },
	{ "{", "log:7:2: record: `\"` expected, not the end of the line" },
	{ "{}", "log:7:2: record: `\"` expected, not `}`" },
	{ "[]", "log:7:1: record: `{` expected, not `[`" },
	{ "{\"x\": 1}", "log:7:2: unknown member \"x\"" },
	{ "{" OK_R "}", "no member \"i\"" },
	{ "{\"i\": [" TASK ", [[], []]]}", "no member \"r\"" },
	{ "{" OK_R ", " OK_R "}", "log:7:23: member \"r\" twice" },
	{ "{\"i\": [" TASK ", [[], []]], " OK_R "} x", "text behind the record" },
	{ "{\"i\": [[\"k\"], [[], []]], " OK_R "}", "task: only 1 of its items" },
	{ "{\"i\": [" TASK ", [[]]], " OK_R "}", "state: only 1 of its items" },
	{ "{\"i\": [" TASK "], " OK_R "}", "i: a task and a state expected" },
	{ "{\"i\": [" TASK ", [[1], []]], " OK_R "}", "log:7:22: stages: must be empty" },
	{ "{\"i\": [[\"k\", \"t\", [1, 2]], [[], []]], " OK_R "}", "2 of 8" },
	{ "{\"i\": [[\"k\", \"t\", [1, 2, 3, 4, 5, 6, 7, 8, 9]], [[], []]], " OK_R "}",
	  "more than 8 items" },
	{ "{\"i\": [[\"k\", \"t\", [1, 2, 3, 4, 5, 6, 7, 9223372036854775808]], [[], "
	  "[]]], " OK_R "}",
	  "9223372036854775808 is not a whole number of 64 bits" },
	{ "{\"i\": [[\"k\", \"t\", " HW ", \"\", 3], [[], []]], " OK_R "}",
	  "layout rewrite option: 3 must lie in 0..2" },
	{ "{\"i\": [[\"k\", \"t\", " HW ", \"\", 1, [], 1], [[], []]], " OK_R "}",
	  "task: more than 6 items" },
	{ "{\"i\": [" TASK ", [[], [[\"XX\", 1]]]], " OK_R "}",
	  "log:7:25: steps: step 0: unknown step \"XX\"" },
	{ "{\"i\": [" TASK ", [[], [[\"CR\", -1]]]], " OK_R "}", "it must lie in 0.." },
	{ "{\"i\": [" TASK ", [[], [[\"CR\", 9223372036854775808]]]], " OK_R "}",
	  "not a whole number of at most 53 bits" },
	{ "{\"i\": [" TASK ", [[], [[\"FU\", 1, [[0]]]]]], " OK_R "}",
	  "nested too deep" },
	{ "{\"i\": [" TASK ", [[], [[\"CR\", 1]", "steps: the array does not end" },
	{ "{\"r\": [[nan], 0, 2, 3]}", "log:7:9: cost: a number expected, not \"nan\"" },
	{ "{\"r\": [[NaN], 0, 2, 3]}", "cost: a number expected, not \"NaN\"" },
	{ "{\"r\": [[inf], 0, 2, 3]}", "cost: a number expected, not \"inf\"" },
	{ "{\"r\": [[-1], 0, 2, 3]}", "cost: -1 seconds is no time" },
	{ "{\"r\": [[1e999], 0, 2, 3]}", "1e999 is past the greatest number" },
	{ "{\"r\": [[], 0, 2, 3]}", "costs: none" },
	{ "{\"r\": [[01], 0, 2, 3]}", "a number expected" },
	{ "{\"r\": [[1], 9, 2, 3]}", "error number: 9 must lie in 0..8" },
	{ "{\"r\": [[1], 0.5, 2, 3]}", "0.5 is not a whole number" },
	{ "{\"r\": [[1], 0, 2]}", "r: only 3 of its 4 items" },
	{ "{\"i\": [" TASK ", [[], [[\"PK\", 1, [1, 4]]]]], " OK_R ", \"v\": \"v0.6\"}",
	  "step 0: PK is no step of Ansor's" },
	{ "{\"i\": [" TASK ", [[], [[\"PK\", 1, [1, 4]]]]], " OK_R "}",
	  "the version of a record that has it is \"hone-1\"" },
	{ "{\"i\": [" TASK ", [[], [[\"PF\", 2, 2, 1, 8]]]], " OK_R ", \"v\": \"v0.6\"}",
	  "step 0: PF is no step of Ansor's" },
	{ "{\"v\": \"v0.6}", "log:7:7: v: the string does not end" },
	{ "{\"v\": \"\\x\"}", "log:7:8: v: unknown escape" },
	{ "{\"v\": \"\\u00e9\"}", "unknown escape" },
	{ "{\"v\": \"\\u0000\"}", "unknown escape" },
	{ "{\"v\": 1}", "v: `\"` expected, not `1`" },
};

static void damage_is_placed(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_log_record *r = NULL;
		struct hn_err err = { 0 };
		int rc = hn_record_parse("log", 7, bad[i].line, strlen(bad[i].line), &a,
					 &r, &err);

		if (rc == 0 || strstr(err.msg, bad[i].want) == NULL ||
		    strncmp(err.msg, "log:7:", 6) != 0) {
			fail_msg("%s\ngot  %s\nwant %s", bad[i].line, err.msg,
				 bad[i].want);
		}
		assert_null(r);
	}
	hn_arena_fini(&a);
}

/* Each prefix is refused; each changed byte is refused or read as something that is
 * written the same twice. */
static void damage_anywhere(void **state)
{
	const char *line = same[5];
	size_t n = strlen(line);
	struct hn_arena a;
	struct hn_buf once, twice;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	for (size_t i = 0; i < n; i++) {
		const struct hn_log_record *r;
		char *copy = hn_arena_strndup(&a, line, i);

		assert_int_not_equal(hn_record_parse("log", 1, copy, i, &a, &r, NULL), 0);
		for (int c = 0; c < 256; c += 1 + (int)(i % 5)) {
			copy = hn_arena_strdup(&a, line);
			copy[i] = (char)c;
			if (hn_record_parse("log", 1, copy, n, &a, &r, NULL) != 0) {
				continue;
			}
			hn_buf_reset(&once);
			hn_buf_reset(&twice);
			hn_record_write(r, &once);
			assert_int_equal(
				hn_record_parse("log", 1, once.s, once.n, &a, &r, NULL),
				0);
			hn_record_write(r, &twice);
			assert_string_equal(once.s, twice.s);
		}
		hn_arena_reset(&a);
	}
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}

static void put_many(FILE *f, const char *before, const char *what, long n,
		     const char *after)
{
	fputs(before, f);
	for (long i = 0; i < n; i++) {
		fputs(what, f);
	}
	fputs(after, f);
}

static void assert_next(struct hn_record_reader *r, int item, const char *want,
			uint64_t line)
{
	const struct hn_log_record *record;
	struct hn_err err = { 0 };
	int got = hn_record_next(r, &record, &err);

	if (got != item || (want != NULL && strstr(err.msg, want) == NULL)) {
		fail_msg("line %u: %d, not %d: %s (want %s)", (unsigned)r->line, got,
			 item, err.msg, want != NULL ? want : "");
	}
	assert_int_equal(r->line, line);
	assert_true(r->text.cap <= 3 * HN_RECORD_MAX_LINE);
}

static void logs_go_on_after_bad_lines(void **state)
{
	struct hn_record_reader r;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	fprintf(f, "# a comment\n\n%s\nrubbish\n%s\n  another\n\r\n", same[0], same[4]);
	put_many(f, "{\"i\": [" TASK ", [[], [", "[\"CR\", 1], ", 5000,
		 "[\"CR\", 1]]]], " OK_R "}\n");
	put_many(f, "{\"i\": [" TASK ", [[], [", "[\"CR\", 1], ", 1000000,
		 "[\"CR\", 1]]]], " OK_R "}\n");
	put_many(f, "{\"i\": [" TASK ", [[], [", "[\"CR\", 1], ", 200000,
		 "[\"CR\", 1]]]], " OK_R "}\n");
	put_many(f, "{\"i\": ", "[", 1000000, "\n");
	put_many(f, "{\"i\": [" TASK ", [[], ", "[", 1000000, "\n");
	put_many(f, "", "x", 12000000, "\n");
	fprintf(f, "%s\n{\"i\": [[\"k", same[0]);
	rewind(f);
	hn_record_reader_init(&r, f, "log");
	assert_next(&r, HN_RECORD_COMMENT, NULL, 1);
	assert_next(&r, HN_RECORD_RECORD, NULL, 3);
	assert_next(&r, -HONE_E_INVALID, "log:4:1: record: `{` expected, not `r`", 4);
	assert_next(&r, HN_RECORD_RECORD, NULL, 5);
	assert_next(&r, HN_RECORD_COMMENT, NULL, 6);
	assert_next(&r, -HONE_E_INVALID, "5001 steps; 4096 is the limit", 8);
	assert_next(&r, -HONE_E_QUOTA, "log:9:4194305: a line of 11000059 bytes", 9);
	assert_next(&r, -HONE_E_INVALID, "log:10:", 10);
	assert_next(&r, -HONE_E_INVALID, "log:11:9: workload key: `\"` expected, not `[`",
		    11);
	assert_next(&r, -HONE_E_INVALID, "nested too deep", 12);
	assert_next(&r, -HONE_E_QUOTA, "a line of 12000000 bytes", 13);
	assert_next(&r, HN_RECORD_RECORD, NULL, 14);
	assert_next(&r, -HONE_E_INVALID, "the string does not end", 15);
	assert_next(&r, HN_RECORD_END, NULL, 15);
	hn_record_reader_fini(&r);
	fclose(f);
}

static void same_record(const char *name, void *ctx)
{
	static const char *const file[] = { "llvm.json", "cuda.json" };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(file); i++) {
		struct hn_json *json = case_json(name, file[i]);
		const struct hn_json *e = hn_json_first(hn_json_get(json, "states"));

		for (; e != NULL; e = hn_json_next(e)) {
			const char *line = hn_json_string(hn_json_get(e, "record"));

			assert_written(parse(line, &a), line);
			++*(unsigned *)ctx;
		}
		hn_json_free(json);
	}
	hn_arena_fini(&a);
}

static void stored_records(void **state)
{
	unsigned n = 0;

	(void)state;
	need_cases();
	for_each_case(same_record, &n);
	print_message("%u records\n", n);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_is_written_as_read),
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(spelling_is_normalized),
		cmocka_unit_test(own_numbers_have_six_digits),
		cmocka_unit_test(damage_is_placed),
		cmocka_unit_test(damage_anywhere),
		cmocka_unit_test(logs_go_on_after_bad_lines),
		cmocka_unit_test(stored_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
