/* docs/json.md and the verbs: each verb is run, and every member of its answer must be in the table
 * of that name, of the kind that it states; every row that is not "at times" must be met. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/lib/onnx_writer.h"

#define MOST_ROWS 600

struct row {
	char table[40], path[80], kind[40];
	bool at_times, met;
};

/* The document, and the answers' place; this file's test alone uses them. */
static struct row row[MOST_ROWS];
static uint32_t n_row;
static char dir[] = "/tmp/hone-json-XXXXXX";

/* "| `path` | kind | unit | meaning |" */
static void read_row(const char *table, const char *line)
{
	struct row *r = &row[n_row];
	char kind[60];
	const char *comma;

	assert_true(n_row < MOST_ROWS);
	*r = (struct row){ 0 };
	if (strncmp(line, "| `` |", 6) == 0) {
		assert_int_equal(sscanf(line, "| `` | %59[^|]", kind), 1);
	} else {
		assert_int_equal(sscanf(line, "| `%79[^`]` | %59[^|]", r->path, kind), 2);
	}
	snprintf(r->table, sizeof r->table, "%s", table);
	comma = strchr(kind, ',');
	r->at_times = comma != NULL;
	assert_true(comma == NULL || strncmp(comma, ", at times", 10) == 0);
	snprintf(r->kind, sizeof r->kind, "%.*s",
		 (int)strcspn(kind, comma != NULL ? "," : ""), kind);
	for (size_t n = strlen(r->kind); n > 0 && r->kind[n - 1] == ' '; n--) {
		r->kind[n - 1] = '\0';
	}
	n_row++;
}

static void read_document(void)
{
	char table[40] = "", *save = NULL;
	struct hn_buf b;
	struct hn_err err;

	hn_buf_init(&b);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/json.md", 1 << 20, &b, &err), 0);
	for (char *line = strtok_r(b.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "## ", 3) == 0) {
			snprintf(table, sizeof table, "%.39s", line + 3);
		} else if (strncmp(line, "| `", 3) == 0) {
			read_row(table, line);
		}
	}
	hn_buf_fini(&b);
	assert_true(n_row > 100);
}

/* One name for `*`, else letter by letter. */
static bool fits(const char *pattern, const char *path)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '*') {
			path += strcspn(path, ".");
		} else if (*path++ != *pattern) {
			return false;
		}
	}
	return *path == '\0';
}

static struct row *find_row(const char *table, const char *path)
{
	for (uint32_t i = 0; i < n_row; i++) {
		if (strcmp(row[i].table, table) == 0 && fits(row[i].path, path)) {
			return &row[i];
		}
	}
	return NULL;
}

static bool is_table(const char *kind)
{
	for (uint32_t i = 0; i < n_row; i++) {
		if (strcmp(row[i].table, kind) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_kind(const struct hn_json *v, const char *kind)
{
	size_t n = strcspn(kind, "?");
	int64_t whole;

	switch (hn_json_kind(v)) {
	case HN_JSON_NULL:
		return kind[n] == '?';
	case HN_JSON_BOOL:
		return strncmp(kind, "flag", n) == 0;
	case HN_JSON_STRING:
		return strncmp(kind, "text", n) == 0;
	case HN_JSON_NUMBER:
		return strncmp(kind, "number", n) == 0 ||
		       (strncmp(kind, "whole", n) == 0 && hn_json_int(v, &whole));
	case HN_JSON_ARRAY:
		return strncmp(kind, "list", n) == 0;
	default:
		return false;
	}
}

static uint32_t n_wrong;

static void wrong(const char *table, const char *path, const char *what)
{
	printf("docs/json.md, %s: `%s`: %s\n", table, path, what);
	n_wrong++;
}

/* The value at `path` of an answer that `table` tells of. */
static void look_up(const struct hn_json *v, const char *table, const char *path)
{
	enum hn_json_kind kind = hn_json_kind(v);
	bool whole = *path == '\0' && (kind == HN_JSON_OBJECT || kind == HN_JSON_ARRAY);
	struct row *r = whole ? NULL : find_row(table, path);
	char inner[40], next[200];

	if (r != NULL) {
		r->met = true;
		if (kind == HN_JSON_OBJECT && strcmp(r->kind, "object") == 0) {
			return; /* another page's */
		}
		snprintf(inner, sizeof inner, "%.*s", (int)strcspn(r->kind, "?"), r->kind);
		if (kind == HN_JSON_OBJECT && is_table(inner)) {
			look_up(v, inner, "");
			return;
		}
		if (is_table(inner) ? kind != HN_JSON_NULL || strchr(r->kind, '?') == NULL
				    : !is_kind(v, r->kind)) {
			wrong(table, path, "is of another kind");
		}
	}
	if (kind != HN_JSON_OBJECT && kind != HN_JSON_ARRAY) {
		if (r == NULL) {
			wrong(table, path, "is not there");
		}
		return;
	}
	if (r != NULL && (strcmp(path, "steps") == 0 || strstr(path, ".steps") != NULL)) {
		return; /* docs/trace.md's */
	}
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		if (kind == HN_JSON_ARRAY) {
			snprintf(next, sizeof next, "%s[]", path);
		} else {
			snprintf(next, sizeof next, "%s%s%s", path, *path != '\0' ? "." : "",
				 hn_json_key(c));
		}
		look_up(c, table, next);
	}
}

/* Run it and look up each line of its answer. */
static void run(const char *table, const char *arguments)
{
	char command[2000], *line = NULL;
	uint32_t n_line = 0;
	size_t cap = 0;
	FILE *answer;

	snprintf(command, sizeof command, "cd %s && %s/hone %s", dir, HONE_BIN_DIR, arguments);
	answer = popen(command, "r");
	assert_non_null(answer);
	while (getline(&line, &cap, answer) > 0) {
		struct hn_json *v = NULL;
		struct hn_err err = { 0 };

		line[strcspn(line, "\n")] = '\0';
		if (hn_json_parse(arguments, line, strlen(line), NULL, &v, &err) != 0) {
			wrong(table, arguments, err.msg);
		} else {
			look_up(v, table, "");
		}
		hn_json_free(v);
		n_line++;
	}
	free(line);
	pclose(answer);
	if (n_line == 0) {
		wrong(table, arguments, "no answer");
	}
}

static void write_file(const char *name, const char *text)
{
	char path[100];
	struct hn_err err;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(hn_file_replace(path, text, strlen(text), &err), 0);
}

/* y = relu(x). */
static void write_network(void)
{
	char path[100];
	struct hn_err err;
	struct hn_buf b;

	snprintf(path, sizeof path, "%s/net.onnx", dir);
	hn_buf_init(&b);
	put_notation(&b, "1:8 8{ 2:13 } 7{ 1{ 1'x' 2'y' 4'Relu' } 2'net' "
			 "11{ 1'x' 2{ 1{ 1:1 2{ 1{ 1:4 } 1{ 1:5 } } } } } 12{ 1'y' 2{ 1{ 1:1 } } } }");
	assert_int_equal(hn_file_replace(path, b.s, b.n, &err), 0);
	hn_buf_fini(&b);
}

/* Each verb: the table, and how it is run.  On fake boards, which fail now and then. */
static const struct {
	const char *table, *arguments;
} verb[] = {
	{ "tune", "tune a --target fake -n 40 -q -j" },
	{ "tune of several", "tune a b --target fake -n 60 -q -j" },
	{ "tune --trials 0", "tune a -n 0 -j" },
	{ "tune --trials 0", "tune -n 0 -j --target npu --text 'f(int64 A[64]) -> B { B(i) = A(i) + int64(1) }' 2>/dev/null" },
	{ "query", "query a --target fake -j" },
	{ "query", "query a --target 'fake -num_cores=3' -j" },
	{ "ls", "ls -j" },
	{ "model", "model net.onnx -j" },
	{ "compile", "compile net.onnx -o net -j 2>/dev/null" },
	{ "final", "final net.onnx -j" },
	{ "replay", "replay a --auto -o out -j" },
	{ "check of a network", "check net.onnx --auto -j" },
	{ "explain", "explain a --target fake --features -j" },
	{ "explain", "explain --auto --json --target 'npu -isa=tiny' --text 'f(float32 A[64]) -> B { B(i) = A(i) + 1 }'" },
	{ "explain", "explain --auto --json --target npu --text 'f(int64 A[64]) -> B { B(i) = A(i) + int64(1) }'" },
	{ "explain", "explain --auto --json --target cuda --text 'f(float32 A[64]) -> B { B(i) = A(i) + 1 }'" },
	{ "explain", "explain a --auto --asm -j" },
	{ "explain", "explain a --target 'fake -num_cores=3' -j" },
	{ "explain", "explain --record 1 -j" },
	{ "dag", "dag a -j" },
	{ "sketch", "sketch a -j" },
	{ "state", "state a --records log -j" },
	{ "poly", "poly a -j" },
	{ "npu", "npu -e 'f(float32 X[64]) -> Y { Y(i) = X(i) }' -j" },
	{ "why-failed", "why-failed a --target fake -j" },
	{ "measure", "measure 1 -j" },
	{ "verify", "verify -j" },
	{ "verify", "verify a --records log -j 2>/dev/null" },
	{ "ping", "ping -j 2>/dev/null || { " HONE_BIN_DIR "/honed --log served >/dev/null 2>&1 & sleep 2; " HONE_BIN_DIR
		  "/hone ping -j; }" },
	{ "jobs", "tune a --target fake -n 60 -q >/dev/null; " HONE_BIN_DIR "/hone jobs --all -j" },
	{ "boards", "boards -j" },
	{ "cancel", "cancel $(" HONE_BIN_DIR "/hone jobs -j | grep -o '\"job\":\"[^\"]*' | head -1 | "
		    "cut -d'\"' -f4) -j" },
	{ "stop", "stop -j" },
	{ "board probe", "board probe -j --home probed" },
};

static void verbs_say_what_is_documented(void **state)
{
	(void)state;
	read_document();
	for (size_t i = 0; i < HN_COUNT_OF(verb); i++) {
		if (strcmp(verb[i].table, "board probe") == 0) {
			unsetenv("HONE_BOARD"); /* a fake board has nothing to probe */
		}
		run(verb[i].table, verb[i].arguments);
	}
	for (uint32_t i = 0; i < n_row; i++) {
		if (!row[i].at_times && !row[i].met) {
			wrong(row[i].table, row[i].path, "was never said");
		}
	}
	assert_int_equal(n_wrong, 0);
}

static int set_up(void **state)
{
	char path[100];

	(void)state;
	if (access(HONE_BIN_DIR "/honed", X_OK) != 0) {
		return 77;
	}
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/home", dir);
	setenv("HONE_HOME", path, 1);
	snprintf(path, sizeof path, "%s/run/s", dir);
	setenv("HONE_SOCKET", path, 1);
	snprintf(path, sizeof path, "%s/log.honed", dir);
	setenv("HONE_LOG", path, 1);
	setenv("HONE_BOARD", "fake", 1);
	setenv("HONE_TEST_HOOKS", "1", 1);
	setenv("HONE_TEST_FAKE", "wrong=0.2,crash=0.2", 1);
	write_file("a", "mm(float32 A[64,48], float32 B[48,80]) -> C { C(i,j) +=! A(i,k) * B(k,j) }\n");
	write_file("b", "n(float32 A[6,8], const float32 B[8,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }\n");
	write_network();
	write_file("log", "{\"i\": [[\"k\", \"llvm\"], [[], [[\"AN\", 2, 0, 3]]]], \"r\": [[0.1], 0, 0.1, 1], "
			  "\"v\": \"v0.2\"}\n"
			  "{\"i\": [[\"k\", \"llvm\"], [[], [[\"AN\", 7, 0, 3]]]], \"r\": [[0.1], 0, 0.1, 1], "
			  "\"v\": \"v0.2\"}\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(verbs_say_what_is_documented) };

	if (access(HONE_BIN_DIR "/honed", X_OK) != 0) {
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
