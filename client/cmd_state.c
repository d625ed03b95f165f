/* client/cmd_state.c -- `hone state`: the records of a log, replayed on a computation.
 *
 * One answer a record, in the log's order: a rendering, or why there is none.  Records
 * come from Ansor, so its defects are repeated where they show
 * (docs/ansor-differences.md).
 */
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/cmd.h"
#include "client/log.h"
#include "costmodel/ansor.h"
#include "loopstate/nest/looptree.h"
#include "loopstate/record/record.h"
#include "loopstate/state/te_text.h"

#define RECORD_BYTES ((size_t)256 << 20) /* memory that one record may take */

typedef int (*form_fn)(const struct hn_dag *dag, const struct hn_trace *trace,
		       struct hn_arena *a, struct hn_buf *b, struct hn_err *err);

static int replay(const struct hn_dag *dag, const struct hn_trace *trace,
		  struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	return hn_state_replay_as(dag, trace, HN_REPLAY_ANSOR, a, ret, err);
}

static int as_preview(const struct hn_dag *dag, const struct hn_trace *trace,
		      struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	const struct hn_bounds *bounds;
	const struct hn_state *s;
	int rc = replay(dag, trace, a, &s, err);

	rc = rc != 0 ? rc : hn_bounds_infer(s, a, &bounds, err);
	if (rc == 0) {
		hn_state_print(hn_bounds_apply(s, bounds, a),
			       /* delete_trivial_loops= */ true, b);
	}
	return rc;
}

static int as_te(const struct hn_dag *dag, const struct hn_trace *trace,
		 struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	const struct hn_trace none = { 0 };
	const struct hn_state *s;
	int rc = replay(dag, &none, a, &s, err);

	return rc != 0 ? rc : hn_te_print(s, trace, a, b, err);
}

static int as_steps(const struct hn_dag *dag, const struct hn_trace *trace,
		    struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	const struct hn_state *s;
	int rc = replay(dag, trace, a, &s, err);

	if (rc == 0) {
		hn_trace_write(trace, b);
	}
	return rc;
}

static int as_tree(const struct hn_dag *dag, const struct hn_trace *trace,
		   struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	int rc = replay(dag, trace, a, &s, err);

	rc = rc != 0 ? rc : hn_looptree_build(s, a, &tree, err);
	if (rc == 0) {
		hn_looptree_print(tree, b);
	}
	return rc;
}

static int put_features(const struct hn_dag *dag, const struct hn_trace *trace,
			enum hn_ansor_defects defects, struct hn_arena *a,
			struct hn_buf *b, struct hn_err *err)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_target target;
	struct hn_ansor f;
	int rc = replay(dag, trace, a, &s, err);

	rc = rc != 0 ? rc : hn_looptree_build(s, a, &tree, err);
	if (rc != 0) {
		return rc;
	}
	hn_target_host(a, &target);
	if (!hn_ansor_of(tree, &target, defects, a, &f)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "no features: nothing is stored, or more than %d loops deep",
			       HN_ANSOR_MAX_LOOPS);
	}
	hn_ansor_print(&f, tree->dag, b);
	return 0;
}

static int as_features(const struct hn_dag *dag, const struct hn_trace *trace,
		       struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	return put_features(dag, trace, HN_ANSOR_DEFECTS, a, b, err);
}

static int as_corrected(const struct hn_dag *dag, const struct hn_trace *trace,
			struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	return put_features(dag, trace, HN_ANSOR_CORRECTED, a, b, err);
}

static const struct {
	const char *name;
	form_fn put;
} form[] = {
	{ "preview", as_preview },
	{ "te", as_te },
	{ "steps", as_steps },
	{ "tree", as_tree },
	{ "features", as_features },
	{ "corrected", as_corrected },
};

static form_fn find_form(const char *name, struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(form); i++) {
		if (name == NULL || strcmp(form[i].name, name) == 0) {
			return form[i].put;
		}
	}
	hn_fail(err, HONE_E_INVALID,
		"--as: \"%.40s\" is unknown; known: preview, te, steps, tree, "
		"features, corrected", name);
	return NULL;
}

static void answer(const struct hn_record_reader *r, int rc, const struct hn_buf *text,
		   const struct hn_err *err, bool json)
{
	struct hn_buf out;
	struct hn_jw w;

	hn_buf_init(&out);
	if (!json) {
		hn_buf_printf(&out, "line %llu%s%s\n%s", (unsigned long long)r->line,
			      rc != 0 ? ": " : "", rc != 0 ? err->msg : "",
			      rc == 0 ? text->s : "");
	} else if (rc == 0) {
		hn_jw_init(&w, &out);
		hn_jw_str(&w, NULL, text->s);
	} else {
		hn_jw_init(&w, &out);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "error", err->msg);
		hn_jw_end(&w);
	}
	if (out.n > 0 && out.s[out.n - 1] != '\n') {
		hn_buf_putc(&out, '\n');
	}
	fwrite(out.s, 1, out.n, stdout);
	hn_buf_fini(&out);
}

static int answer_all(const struct hn_dag *dag, struct hn_record_reader *r, form_fn put,
		      bool json, struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_err why = { 0 };
	struct hn_arena a;
	struct hn_buf text;
	int item, rc;

	hn_arena_init(&a, RECORD_BYTES);
	hn_buf_init(&text);
	while ((item = rc = hn_record_next(r, &record, &why)) != HN_RECORD_END &&
	       rc != -HONE_E_IO && !ferror(stdout)) {
		if (item == HN_RECORD_COMMENT) {
			continue;
		}
		hn_arena_reset(&a);
		hn_buf_reset(&text);
		if (item == HN_RECORD_RECORD) {
			rc = put(dag, record->trace, &a, &text, &why);
			rc = rc != 0 ? hn_err_within(&why, "%s:%llu", r->what,
						     (unsigned long long)r->line)
				     : 0;
		}
		answer(r, rc, &text, &why, json);
	}
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc == -HONE_E_IO ? hn_fail(err, HONE_E_IO, "%s", why.msg) : 0;
}

int cmd_state(const struct hn_opts *o, struct hn_err *err)
{
	form_fn put = find_form(o->as, err);
	struct hn_record_reader r;
	struct hn_arena a;
	struct hn_input in;
	FILE *file;
	int rc;

	if (put == NULL) {
		return -HONE_E_INVALID;
	}
	if (o->records == NULL) {
		return hn_fail(err, HONE_E_INVALID, "give --records LOG");
	}
	hn_arena_init(&a, 0);
	rc = hn_input_read(o, &a, &in, err);
	rc = rc != 0 ? rc : hn_log_open(o->records, &file, err);
	if (rc == 0) {
		hn_record_reader_init(&r, file, o->records);
		rc = answer_all(in.dag, &r, put, o->json, err);
		hn_record_reader_fini(&r);
		hn_log_close(file);
	}
	hn_arena_fini(&a);
	return rc;
}
