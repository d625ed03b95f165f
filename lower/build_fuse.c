/* lower/build_fuse.c -- `hone-build --fuse`: one answer, a JSON object.  See build.h. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "lower/build.h"
#include "lower/fuse.h"

#define MAX_TEXT_BYTES (64u << 20)
#define ATTEMPT_MS 500 /* three of them stay below two seconds */

int hn_build_fuse(const char *path, const char *target, struct hn_err *err)
{
	const struct hn_fuse_limits limits = { .ms = ATTEMPT_MS };
	enum hn_fuse_how how = HN_FUSE_NONE;
	const struct hn_dag *dag;
	const char *steps = "";
	struct hn_target t;
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(path, MAX_TEXT_BYTES, &text, err);

	rc = rc ? rc : hn_target_parse(target, &a, &t, err);
	rc = rc ? rc : hn_dag_parse(path, text.s, text.n, 0, &a, &dag, err);
	rc = rc ? rc : hn_fuse_history(dag, &t, &limits, &a, &steps, &how, err);
	if (rc == 0) {
		printf("{\"how\":\"%s\",\"steps\":%s}\n", hn_fuse_how_name(how), steps);
	}
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	return rc;
}
