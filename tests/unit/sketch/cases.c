/* Every sketch of the stored workloads: number, order and preview text against what TVM's
 * auto-scheduler makes of them.  Skipped when no folder of cases was configured. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/read/dag_read.h"
#include "sketch/sketch.h"
#include "tests/lib/cases.h"

static struct hn_json *load(const char *folder, const char *name, const char *file)
{
	struct hn_buf text;
	struct hn_json *json = NULL;
	struct hn_err err = { 0 };
	char path[1024];

	snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
	hn_buf_init(&text);
	if (hn_file_read(path, 64 << 20, &text, &err) < 0 ||
	    hn_json_parse(path, text.s, text.n, NULL, &json, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_fini(&text);
	return json;
}

/* Returns how many sketches differ; prints the first difference. */
static uint32_t compare(const char *folder, const char *name, const char *file,
			const struct hn_target *t)
{
	struct hn_json *dag_json = load(folder, name, "dag.json");
	struct hn_json *want_json = load(folder, name, file);
	const struct hn_json *want = hn_json_get(want_json, "sketches");
	struct hn_arena a;
	const struct hn_dag *dag;
	struct hn_sketches got;
	struct hn_err err = { 0 };
	uint32_t bad = 0, i = 0;
	struct hn_buf text;

	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	if (hn_dag_from_json(name, dag_json, 0, &a, &dag, &err) < 0 ||
	    hn_sketch_generate(dag, t, &a, &got, &err) < 0) {
		fail_msg("%s: %s", name, err.msg);
	}
	if (got.n != hn_json_count(want)) {
		print_message("%s: %u sketches, want %u\n", name, got.n,
			      hn_json_count(want));
		bad++;
	}
	for (const struct hn_json *w = hn_json_first(want); w && i < got.n;
	     w = hn_json_next(w), i++) {
		hn_buf_reset(&text);
		hn_state_print(got.sketch[i].state, /* delete_trivial_loops= */ true,
			       &text);
		if (strcmp(text.s, hn_json_string(w)) != 0) {
			if (bad++ == 0) {
				print_message("%s: sketch %u [%s]:\n%s--- want\n%s", name,
					      i, got.sketch[i].rules, text.s,
					      hn_json_string(w));
			}
		}
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	hn_json_free(dag_json);
	hn_json_free(want_json);
	return bad;
}

/* The hardware parameters that the cases were made for. */
static struct hn_target target_of(const char *kind, const int64_t hardware[8],
				  struct hn_arena *a)
{
	struct hn_target t;
	struct hn_err err = { 0 };

	if (hn_target_parse(kind, a, &t, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	memcpy(t.param, hardware, 8 * sizeof *hardware);
	return t;
}

static void all_cases(const char *file, const char *kind, const int64_t hardware[8])
{
	char folder[800];
	struct hn_arena a;
	uint32_t bad = 0, n = 0;

	snprintf(folder, sizeof folder, "%s/ansor", HONE_CASES_DIR);
	need_cases();
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(kind, hardware, &a);
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		if (e->d_name[0] != '.') {
			bad += compare(folder, e->d_name, file, &t);
			n++;
		}
	}
	closedir(dir);
	hn_arena_fini(&a);
	assert_true(n > 0);
	assert_int_equal(bad, 0);
}

static void llvm_is_equal(void **state)
{
	const int64_t hardware[8] = { 4, 64, 64, 0, 0, 0, 0, 0 };

	(void)state;
	all_cases("llvm.json", "cpu", hardware);
}

static void cuda_is_equal(void **state)
{
	const int64_t hardware[8] = { -1, 16, 64, 49152, 2147483647, 1024, 8, 32 };

	(void)state;
	all_cases("cuda.json", "cuda", hardware);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(llvm_is_equal),
					    cmocka_unit_test(cuda_is_equal) };

	return skipped_without_cases(cmocka_run_group_tests(tests, NULL, NULL));
}
