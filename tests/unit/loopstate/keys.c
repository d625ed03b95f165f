/* Workload keys never change (tests/data/keys.golden), ignore names, and tell apart what
 * Ansor's hash confuses. */
#include "loopstate/dag/dag.h"
#include "loopstate/dag/mark.h"

#include "loopstate/read/dag_read.h"
#include "tests/lib/state_util.h"

static const struct hn_dag *parse(const char *what, const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse(what, text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static void key_of(const char *text, char key[HN_KEY_BYTES])
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_dag_key(parse("program", text, &a), key);
	hn_arena_fini(&a);
}

static void read_file(const char *path, struct hn_buf *buf)
{
	char full[1024];
	struct hn_err err = { 0 };

	snprintf(full, sizeof(full), "%s/%s", HONE_SOURCE_DIR, path);
	if (hn_file_read(full, (size_t)64 << 20, buf, &err) != 0) {
		fail_msg("%s", err.msg);
	}
}

/* A line: KEY `file` PATH, or KEY `text` PROGRAM. */
static void check_line(const char *line)
{
	const char *kind = line + HN_KEY_BYTES, *rest = kind + 5;
	char key[HN_KEY_BYTES];
	struct hn_buf file;

	assert_true(strlen(line) > HN_KEY_BYTES + 5);
	hn_buf_init(&file);
	if (strncmp(kind, "file ", 5) == 0) {
		read_file(rest, &file);
		key_of(file.s, key);
	} else {
		assert_memory_equal(kind, "text ", 5);
		key_of(rest, key);
	}
	if (strncmp(key, line, HN_KEY_BYTES - 1) != 0) {
		fail_msg("the key of %s has become %s", line, key);
	}
	hn_buf_fini(&file);
}

static void keys_never_change(void **state)
{
	struct hn_buf golden;
	unsigned n = 0;
	char *save = NULL;

	(void)state;
	hn_buf_init(&golden);
	read_file("tests/data/keys.golden", &golden);
	for (char *l = strtok_r(golden.s, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		if (l[0] != '#') {
			check_line(l);
			n++;
		}
	}
	assert_true(n >= 19);
	hn_buf_fini(&golden);
}

static void names_do_not_count(void **state)
{
	char x[HN_KEY_BYTES], y[HN_KEY_BYTES];

	(void)state;
	key_of("mm(float32 A[8,4], B[4,6]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", x);
	key_of("foo(float32 P[8,4], Q[4,6]) -> R { R(a,b) +=! P(a,c) * Q(c,b) }", y);
	assert_string_equal(x, y);
}

/* Each pair has one hash in Ansor (md5 of the simple print, shapes beside it equal). */
static void ansors_collisions_do_not_collide(void **state)
{
	static const char *const pair[][2] = {
		{ "p(float32 A[8]) -> B { B(i) = i >= 1 && i < 9 ? A(i-1) : 0 where i in "
		  "0:10 }",
		  "p(float32 A[8]) -> B { B(i) = i >= 2 && i < 10 ? A(i-2) : 0 where i "
		  "in "
		  "0:10 }" },
		{ "e(float32 A[8]) -> B { B(i) = exp(A(i) * 2) }",
		  "e(float32 A[8]) -> B { B(i) = exp(A(i) + 2) }" },
		{ "e(float32 A[8]) -> B { B(i) = A(i) }",
		  "e(float64 A[8]) -> B { B(i) = A(i) }" },
		{ "m(float32 A[8,8], B[8,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  "m(float32 A[8,8], const B[8,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		{ "t(float32 A[4,4]) -> C { B(i,j) = A(i,0) where j in 0:2 C(i,j) = "
		  "B(i,0)"
		  " where j in 0:2 }",
		  "t(float32 A[4,4]) -> C { B(i,j) = A(i,0) where j in 0:3 C(i,j) = "
		  "B(i,0)"
		  " where j in 0:2 }" },
	};
	char x[HN_KEY_BYTES], y[HN_KEY_BYTES];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(pair); i++) {
		key_of(pair[i][0], x);
		key_of(pair[i][1], y);
		assert_string_not_equal(x, y);
	}
}

static void structure_of(const char *text, char key[HN_KEY_BYTES])
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_dag_structure_key(parse("program", text, &a), key);
	hn_arena_fini(&a);
}

/* Sizes do not count, nor integers that follow from them; all else does. */
static void structures_ignore_sizes(void **state)
{
	static const char *const same[][2] = {
		{ "m(float32 A[8,4], B[4,6]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  "m(float32 A[64,3], B[3,9]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		{ "p(float32 A[8]) -> B { B(i) = i >= 1 && i < 9 ? A(i-1) : 0 where i in "
		  "0:10 }",
		  "p(float32 A[32]) -> B { B(i) = i >= 2 && i < 34 ? A(i-2) : 0 where i "
		  "in 0:36 }" },
	};
	static const char *const other[][2] = {
		{ "m(float32 A[8,8], B[8,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
		  "m(float32 A[8,8], B[8,8]) -> C { C(i,j) +=! A(i,k) * B(j,k) }" },
		{ "e(float32 A[8]) -> B { B(i) = A(i) }",
		  "e(float64 A[8]) -> B { B(i) = A(i) }" },
		{ "e(float32 A[8]) -> B { B(i) = A(i) * 2 }",
		  "e(float32 A[8]) -> B { B(i) = A(i) * 3 }" },
		{ "e(float32 A[8]) -> B { B(i) = A(i) }",
		  "e(float32 A[8,8]) -> B { B(i,j) = A(i,j) }" },
	};
	char x[HN_KEY_BYTES], y[HN_KEY_BYTES];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(same); i++) {
		structure_of(same[i][0], x);
		structure_of(same[i][1], y);
		assert_string_equal(x, y);
	}
	for (size_t i = 0; i < HN_COUNT_OF(other); i++) {
		structure_of(other[i][0], x);
		structure_of(other[i][1], y);
		assert_string_not_equal(x, y);
	}
}

/* A marked dag is a task of its own, whichever mark came first, and also when it was written
 * and read again. */
static void marks_make_tasks_of_their_own(void **state)
{
	static const char *const mark[] = { HN_MARK_COLD, HN_MARK_BITWISE };
	char key[4][HN_KEY_BYTES], structure[4][HN_KEY_BYTES], other[HN_KEY_BYTES];
	struct hn_arena a;
	struct hn_buf json;

	(void)state;
	hn_arena_init(&a, 0);
	for (int set = 0; set < 4; set++) {
		const struct hn_dag *dag = parse("mm", "mm(float32 A[4,5], float32 B[5,6]) -> C "
						       "{ C(i,j) +=! A(i,k) * B(k,j) }", &a);
		const struct hn_dag *back = dag;

		for (int i = 0; i < 2; i++) {
			dag = set >> i & 1 ? hn_dag_mark(dag, mark[i], &a) : dag;
			back = set >> (1 - i) & 1 ? hn_dag_mark(back, mark[1 - i], &a) : back;
		}
		hn_dag_key(dag, key[set]);
		hn_dag_key(back, other);
		assert_string_equal(key[set], other);
		hn_buf_init(&json);
		hn_dag_write_json(dag, &json);
		back = parse("written", json.s, &a);
		hn_buf_fini(&json);
		hn_dag_key(back, other);
		assert_string_equal(key[set], other);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(hn_dag_marked(back, mark[i]), set >> i & 1);
			assert_true(!(set >> i & 1) || hn_dag_mark(back, mark[i], &a) == back);
		}
		for (int before = 0; before < set; before++) {
			assert_string_not_equal(key[set], key[before]);
		}
		/* how it is timed is no part of its structure: programs go from one to the other */
		hn_dag_structure_key(dag, structure[set]);
		assert_int_equal(strcmp(structure[set], structure[set & 2]), 0);
		assert_int_equal(strcmp(structure[set], structure[0]) == 0, (set & 2) == 0);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_never_change),
		cmocka_unit_test(names_do_not_count),
		cmocka_unit_test(ansors_collisions_do_not_collide),
		cmocka_unit_test(structures_ignore_sizes),
		cmocka_unit_test(marks_make_tasks_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
