/* lower/build/build_verify.c -- histories proved anew, many in one process.  See build.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jw.h"
#include "lower/build/build.h"

#define ARENA_BYTES ((size_t)1 << 30)

static int read_line(const char *what, const char *line, size_t n, struct hn_buf *dag,
		     struct hn_buf *steps, struct hn_err *err)
{
	struct hn_json *json;
	int rc = hn_json_parse(what, line, n, NULL, &json, err);

	if (rc != 0) {
		return rc;
	}
	const char *d = hn_json_string(hn_json_get(json, "dag"));
	const char *s = hn_json_string(hn_json_get(json, "steps"));

	if (d) {
		hn_buf_reset(dag);
		hn_buf_puts(dag, d);
	}
	hn_buf_reset(steps);
	hn_buf_puts(steps, s ? s : "");
	hn_json_free(json);
	return s && dag->n > 0
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%s: want {\"dag\": TEXT, \"steps\": TEXT}", what);
}

static void answer(const struct hn_build_answer *ans)
{
	struct hn_buf text;
	struct hn_jw w;

	hn_buf_init(&text);
	hn_jw_init(&w, &text);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "verdict", hn_verdict_name(ans->verdict));
	hn_jw_str(&w, "detail", ans->why.msg);
	hn_jw_str(&w, "certificate", ans->certificate ? ans->certificate : "");
	hn_jw_end(&w);
	puts(text.failed ? "{}" : text.s);
	hn_buf_fini(&text);
}

int hn_build_verify(const char *path, unsigned long operations, struct hn_err *err)
{
	FILE *file = fopen(path, "re");
	struct hn_buf dag, steps;
	struct hn_arena a;
	char *line = NULL, what[300];
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	if (!file) {
		return hn_fail(err, HONE_E_NOT_FOUND, "%s: cannot be opened", path);
	}
	hn_buf_init(&dag);
	hn_buf_init(&steps);
	hn_arena_init(&a, ARENA_BYTES);
	for (uint64_t i = 1; rc == 0 && (n = getline(&line, &cap, file)) > 0; i++) {
		struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };

		snprintf(what, sizeof(what), "%.200s:%llu", path, (unsigned long long)i);
		rc = read_line(what, line, (size_t)n, &dag, &steps, err);
		if (rc == 0) {
			struct hn_build_request r = { .dag = dag.s,
						      .dag_bytes = dag.n,
						      .steps = steps.s,
						      .steps_bytes = steps.n,
						      .operations = operations };

			hn_arena_reset(&a);
			hn_build_prove(&r, &a, &ans);
			answer(&ans);
		}
	}
	free(line);
	fclose(file);
	hn_buf_fini(&dag);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
	return rc;
}
