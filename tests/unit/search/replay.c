/* The policy that hands out a log: its programs in its order, each once, whatever else stands
 * in it; then nothing more. */
#include "tests/lib/search_dags.h"

#include <unistd.h>

#include "base/file.h"
#include "loopstate/record/record.h"
#include "search/policy.h"

struct fixture {
	struct hn_arena a;
	struct hn_target target;
	struct hn_task task;
	char path[40];
	const struct hn_policy_ops *ops;
	struct hn_policy *p;
};

static void setup(struct fixture *f)
{
	hn_arena_init(&f->a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2", &f->a,
					 &f->target, NULL),
			 0);
	strcpy(f->path, "/tmp/hone-replay-XXXXXX");
	int fd = mkstemp(f->path);

	assert_true(fd >= 0);
	close(fd);
	f->task = (struct hn_task){ .dag = dag_matmul(&f->a, 64, 64, 64),
				    .target = &f->target,
				    .records = f->path };
	f->ops = hn_policy_ops("replay");
}

static void teardown(struct fixture *f)
{
	f->ops->destroy(f->p);
	unlink(f->path);
	hn_arena_fini(&f->a);
}

#define RECORD(key, target, steps, error)                                                \
	"{\"i\": [[\"" key "\", \"" target "\"], [[], " steps "]], "                       \
	"\"r\": [[0.001], " error ", 0.001, 1795331111], \"v\": \"v0.6\"}\n"
#define LINE(steps) RECORD("[\\\"mm\\\"]", "cpu", steps, "0")

static void write_log(const struct fixture *f, const char *text)
{
	struct hn_err err;

	assert_int_equal(hn_file_replace(f->path, text, strlen(text), &err), 0);
}

static const char *steps_of(struct fixture *f, const struct hn_candidate *c)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_trace_write(c->trace, &b);
	const char *text = hn_arena_strndup(&f->a, b.s, b.n);

	hn_buf_fini(&b);
	return text;
}

static void programs_in_order(void **state)
{
	static const char *const want[] = { "[[\"SP\", 2, 0, 64, [8], 1]]",
					    "[[\"SP\", 2, 0, 64, [4], 1]]", "[]",
					    "[[\"AN\", 2, 0, 3]]" };
	struct hn_candidate c[8];
	struct fixture f;
	struct hn_err err;

	(void)state;
	setup(&f);
	write_log(&f, "# a comment\n" LINE("[[\"SP\", 2, 0, 64, [8], 1]]") "\n"
		      LINE("[[\"SP\", 2, 0, 64, [4], 1]]")
		      LINE("[[\"SP\", 9, 0, 64, [4], 1]]") /* of another computation */
		      "not a record\n"
		      LINE("[[\"SP\", 2, 0, 64, [8], 1]]") /* again */
		      LINE("[[\"SP\", 2, 0, 64, [null], 1]]") /* a sketch */
		      LINE("[]") LINE("[[\"AN\", 2, 0, 3]]"));
	assert_int_equal(f.ops->create(&f.task, &f.p, &err), 0);
	assert_int_equal(f.ops->ask(f.p, 3, &f.a, c), 3);
	assert_int_equal(f.ops->ask(f.p, 5, &f.a, c + 3), 1);
	for (uint32_t i = 0; i < HN_COUNT_OF(want); i++) {
		assert_string_equal(steps_of(&f, &c[i]), want[i]);
		assert_string_equal(c[i].origin, "replay");
		assert_true(c[i].score > 0);
	}
	assert_int_equal(f.ops->ask(f.p, 5, &f.a, c), 0);
	assert_int_equal(f.ops->ask(f.p, 5, &f.a, c), 0);
	teardown(&f);
}

/* What a store has measured already is not measured again. */
static void stored_ones_are_left_out(void **state)
{
	struct hn_candidate c[8];
	static const char *const stored[] = { "[]", "[[\"AN\", 2, 0, 3]]" };
	struct hn_told told[2];
	struct fixture f;
	struct hn_err err;

	(void)state;
	setup(&f);
	write_log(&f, LINE("[]") LINE("[[\"AN\", 2, 0, 3]]") LINE("[[\"AN\", 2, 1, 2]]"));
	for (int i = 0; i < 2; i++) {
		told[i] = (struct hn_told){ .verdict = HN_VERDICT_OK, .median_ns = 1e6 };
		assert_int_equal(hn_trace_parse("t", stored[i], strlen(stored[i]), &f.a,
						&told[i].trace, &err),
				 0);
	}
	assert_int_equal(f.ops->create(&f.task, &f.p, &err), 0);
	f.ops->tell(f.p, told, 2);
	assert_int_equal(f.ops->ask(f.p, 8, &f.a, c), 1);
	assert_string_equal(steps_of(&f, &c[0]), "[[\"AN\", 2, 1, 2]]");
	teardown(&f);
}

/* With a key: that key's alone, of this kind of target, measured without an error, for loops as long
 * as ours. */
static void a_key_imports(void **state)
{
	struct hn_candidate c[8];
	struct fixture f;
	struct hn_err err;

	(void)state;
	setup(&f);
	f.task.records_key = "[\"ours\"]";
	write_log(&f, LINE("[[\"AN\", 2, 1, 2]]")
		      RECORD("[\\\"ours\\\"]", "cuda", "[[\"AN\", 2, 1, 3]]", "0")
		      RECORD("[\\\"ours\\\"]", "llvm -keys=cpu", "[[\"AN\", 2, 1, 1]]", "4")
		      RECORD("[\\\"ours\\\"]", "llvm", "[[\"SP\", 2, 0, 128, [8], 1]]", "0")
		      RECORD("[\\\"ours\\\"]", "llvm -keys=cpu", "[[\"AN\", 2, 0, 3]]", "0")
		      RECORD("[\\\"ours\\\", 1]", "llvm", "[[\"AN\", 2, 0, 2]]", "0"));
	assert_int_equal(f.ops->create(&f.task, &f.p, &err), 0);
	assert_int_equal(f.ops->ask(f.p, 8, &f.a, c), 1);
	assert_string_equal(steps_of(&f, &c[0]), "[[\"AN\", 2, 0, 3]]");
	assert_string_equal(c[0].origin, "imported");
	teardown(&f);
}

static void refuses(struct fixture *f, int code, const char *word)
{
	struct hn_err err = { 0 };

	f->p = NULL;
	assert_int_equal(f->ops->create(&f->task, &f->p, &err), -code);
	if (!strstr(err.msg, word)) {
		fail_msg("'%s' says nothing of '%s'", err.msg, word);
	}
}

static void refusals_name_the_log(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	refuses(&f, HONE_E_NOT_FOUND, f.path); /* it is empty */
	write_log(&f, LINE("[[\"SP\", 9, 0, 64, [4], 1]]") "{\n");
	refuses(&f, HONE_E_NOT_FOUND, "none of its 2 lines");
	f.task.records = "/tmp";
	refuses(&f, HONE_E_INVALID, "directory");
	f.task.records = "/tmp/hone/is/not/there";
	refuses(&f, HONE_E_NOT_FOUND, f.task.records);
	f.task.records = NULL;
	refuses(&f, HONE_E_INVALID, "--records");
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_in_order),
		cmocka_unit_test(stored_ones_are_left_out),
		cmocka_unit_test(a_key_imports),
		cmocka_unit_test(refusals_name_the_log),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
