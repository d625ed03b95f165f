/* tests/unit/loopstate/bounds.c -- extents after bound inference equal TVM's, on the
 * cases; the simplifier's and the interval's rules, each against plain enumeration.
 *
 * A line whose minimum TVM prints as an expression is compared without that minimum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/nest/looptree.h"
#include "tests/lib/cases.h"

struct score {
	uint32_t n_state, n_equal, n_tree, n_guarded;
};

static struct hn_json *read_json(const char *path)
{
	struct hn_buf buf;
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };

	hn_buf_init(&buf);
	if (hn_file_read(path, (size_t)1 << 28, &buf, &err) != 0 ||
	    hn_json_parse(path, buf.s, buf.n, NULL, &root, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_fini(&buf);
	return root;
}

/* Does `line` end in "(min,extent)" with a min that is no integer?  *n = bytes before
 * "(min", *tail = ",extent)". */
static bool is_symbolic(const char *line, size_t n, size_t *head, const char **tail)
{
	const char *open = memchr(line, '(', n), *comma = NULL;

	for (const char *p = line; p < line + n; p++) {
		comma = *p == ',' ? p : comma;
	}
	if (open == NULL || comma == NULL || comma < open) {
		return false;
	}
	*head = (size_t)(open - line);
	*tail = comma;
	return strspn(open + 1, "-0123456789") != (size_t)(comma - open - 1);
}

static bool same_line(const char *want, size_t n_want, const char *got, size_t n_got)
{
	size_t head, got_head;
	const char *tail, *got_tail;

	if (!is_symbolic(want, n_want, &head, &tail)) {
		return n_want == n_got && memcmp(want, got, n_want) == 0;
	}
	is_symbolic(got, n_got, &got_head, &got_tail);
	size_t n_tail = (size_t)(want + n_want - tail);

	return n_got > head + n_tail && memcmp(want, got, head) == 0 &&
	       memcmp(tail, got + n_got - n_tail, n_tail) == 0;
}

static bool same_preview(const char *want, const char *got)
{
	while (*want != 0 || *got != 0) {
		size_t n = strcspn(want, "\n"), m = strcspn(got, "\n");

		if (!same_line(want, n, got, m)) {
			print_message("want |%.*s|\ngot  |%.*s|\n", (int)n, want, (int)m,
				      got);
			return false;
		}
		want += n + (want[n] != 0);
		got += m + (got[m] != 0);
	}
	return true;
}

static void one_state(const char *name, const struct hn_dag *dag,
		      const struct hn_json *st, struct score *score)
{
	const char *record = hn_json_string(hn_json_get(st, "record"));
	const char *preview = hn_json_string(hn_json_get(st, "preview"));
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf buf;
	const struct hn_trace *trace = NULL;
	const struct hn_state *s = NULL;
	const struct hn_bounds *b = NULL;
	const struct hn_looptree *t = NULL;

	assert_non_null(record);
	assert_non_null(preview);
	assert_int_equal(hn_json_parse(name, record, strlen(record), NULL, &root, &err),
			 0);
	const struct hn_json *in = hn_json_first(hn_json_get(root, "i"));
	const struct hn_json *steps = hn_json_next(hn_json_first(hn_json_next(in)));

	hn_arena_init(&a, /* budget_bytes= */ 0);
	hn_buf_init(&buf);
	score->n_state++;
	if (hn_trace_from_json(name, steps, &a, &trace, &err) != 0 ||
	    hn_state_replay_as(dag, trace, HN_REPLAY_ANSOR, &a, &s, &err) != 0 ||
	    hn_bounds_infer(s, &a, &b, &err) != 0) {
		print_message("%s: %s\n", name, err.msg);
	} else {
		hn_state_print(hn_bounds_apply(s, b, &a), true, &buf);
		score->n_equal += same_preview(preview, buf.s);
	}
	if (b != NULL && hn_looptree_build(s, &a, &t, &err) == 0) {
		uint32_t n_guard = 0;

		for (uint32_t i = 0; i < b->n_stage; i++) {
			n_guard += b->stage[i].n_guard;
		}
		score->n_tree++;
		score->n_guarded += n_guard > 0;
	}
	hn_buf_fini(&buf);
	hn_arena_fini(&a);
	hn_json_free(root);
}

static void one_case(const char *folder, const char *name, const char *target,
		     struct score *score)
{
	char path[4096];
	struct hn_arena a;
	struct hn_err err = { 0 };
	const struct hn_dag *dag = NULL;

	hn_arena_init(&a, /* budget_bytes= */ 0);
	snprintf(path, sizeof(path), "%s/%s/dag.json", folder, name);
	struct hn_json *root = read_json(path);

	if (hn_dag_from_json(name, root, /* max_bytes= */ 0, &a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	snprintf(path, sizeof(path), "%s/%s/%s.json", folder, name, target);
	struct hn_json *file = read_json(path);
	const struct hn_json *list = hn_json_get(file, "states");

	for (const struct hn_json *st = hn_json_first(list); st != NULL;
	     st = hn_json_next(st)) {
		one_state(name, dag, st, score);
	}
	hn_json_free(file);
	hn_json_free(root);
	hn_arena_fini(&a);
}

static void all_cases(const char *target, struct score *ret)
{
	const char *folder = HONE_CASES_DIR "/ansor";
	struct score score = { 0 };
	DIR *dir;

	need_cases();
	dir = opendir(folder);
	assert_non_null(dir);
	for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		if (e->d_name[0] != '.') {
			one_case(folder, e->d_name, target, &score);
		}
	}
	closedir(dir);
	print_message("%s: %u of %u previews equal; %u loop trees, %u with guards\n",
		      target, score.n_equal, score.n_state, score.n_tree,
		      score.n_guarded);
	assert_true(score.n_state > 0);
	assert_int_equal(score.n_equal, score.n_state);
	assert_int_equal(score.n_tree, score.n_state);
	*ret = score;
}

static void test_llvm(void **state)
{
	struct score score;

	(void)state;
	all_cases("llvm", &score);
	/* Ansor's sampler takes divisors only: nothing to guard. */
	assert_int_equal(score.n_guarded, 0);
}

static void test_cuda(void **state)
{
	struct score score;

	(void)state;
	all_cases("cuda", &score);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llvm),
		cmocka_unit_test(test_cuda),
	};

	return skipped_without_cases(cmocka_run_group_tests(tests, NULL, NULL));
}
