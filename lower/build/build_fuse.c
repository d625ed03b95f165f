/* lower/build/build_fuse.c -- `hone-build --fuse`: one answer, a JSON object.  See build.h. */
#include <stdio.h>

#include "base/file.h"
#include "base/jw.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "lower/prove/fuse.h"

#define MAX_TEXT_BYTES (64u << 20)
#define ATTEMPT_MS 500 /* three of them stay below two seconds */

static void put_group(const struct hn_dag *dag, const struct hn_fused_op *op, int32_t host,
		      struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_list(w, "ops");
	for (int32_t i = 0; i <= host; i++) {
		if (op[i].host == host) {
			hn_jw_str(w, NULL, dag->op[i]->name);
		}
	}
	hn_jw_end(w);
	hn_jw_list(w, "loops");
	for (uint32_t k = 0; k < op[host].n; k++) {
		hn_jw_str(w, NULL, dag->op[host]->axis[op[host].axis[k]].name);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

static void print_groups(const struct hn_dag *dag, const struct hn_fusion *f)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "how", hn_fuse_how_name(f->how));
	hn_jw_list(&w, "groups");
	for (int32_t i = 0; i < (int32_t)dag->n_op; i++) {
		if (f->op[i].host == i) {
			put_group(dag, f->op, i, &w);
		}
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

int hn_build_fuse(const char *path, struct hn_err *err)
{
	const struct hn_fuse_limits limits = { .ms = ATTEMPT_MS };
	const struct hn_dag *dag;
	struct hn_fusion f;
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(path, MAX_TEXT_BYTES, &text, err);

	rc = rc ? rc : hn_dag_parse(path, text.s, text.n, 0, &a, &dag, err);
	if (rc == 0) {
		bool *skip = HN_NEW_ARRAY(&a, bool, dag->n_op);

		hn_fuse_groups(dag, skip, &limits, &a, &f);
		print_groups(dag, &f);
	}
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	return rc;
}
