/* client/cmd_poly.c -- `hone poly`: a computation, or a history of it, as polyhedra.
 *
 * hone-build, which links isl, makes the text; a history need not be legal to be shown.
 */
#include <stdio.h>
#include <string.h>

#include "base/jw.h"
#include "client/builder.h"
#include "client/cmd.h"
#include "client/history.h"
#include "client/log.h"
#include "loopstate/record/record.h"

/* Steps of record `index`, from 1, of the log. */
static int steps_of_log(const char *log, int64_t index, struct hn_buf *ret,
			struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_record_reader r;
	int64_t n = 0;
	FILE *file;
	int item = 0, rc = hn_log_open(log, &file, err);

	if (rc != 0) {
		return rc;
	}
	hn_record_reader_init(&r, file, log);
	while (n < index && (item = hn_record_next(&r, &record, err)) != HN_RECORD_END &&
	       item >= 0) {
		n += item == HN_RECORD_RECORD;
	}
	if (item < 0) {
		rc = item;
	} else if (n < index) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "%s: it has %lld record%s, not %lld",
			     log, (long long)n, n == 1 ? "" : "s", (long long)index);
	} else {
		hn_trace_write(record->trace, ret);
	}
	hn_record_reader_fini(&r);
	hn_log_close(file);
	return rc;
}

/* What is to be shown: --record, --records with --index, or no step at all. */
static int read_steps(const struct hn_opts *o, struct hn_arena *a, struct hn_buf *ret,
		      struct hn_err *err)
{
	if (o->record && o->records) {
		return hn_fail(err, HONE_E_INVALID,
			       "poly: --record or --records, not both");
	}
	if (o->index && !o->records) {
		return hn_fail(err, HONE_E_INVALID,
			       "poly: --index counts the records of --records LOG");
	}
	if (o->record) {
		const struct hn_trace *trace;
		int rc = hn_history_read(o->record, a, &trace, err);

		if (rc == 0) {
			hn_trace_write(trace, ret);
		}
		return rc;
	}
	if (o->records) {
		return steps_of_log(o->records, o->index ? o->index : 1, ret, err);
	}
	hn_buf_puts(ret, "[]");
	return 0;
}

/* hone-build's text of one view, or of all. */
static int ask(const struct hn_input *in, const char *steps, const char *form, struct hn_buf *ret,
	       struct hn_err *err)
{
	char *words[] = { "--poly", (char *)form, NULL };

	hn_buf_reset(ret);
	return hn_builder_ask("poly", in->json, steps, words, ret, err);
}

/* Each view a text; --as chooses one. */
static int put_json(const struct hn_opts *o, const struct hn_input *in, const char *steps,
		    struct hn_err *err)
{
	static const char *const form[] = { "statements", "dependences", "schedule", "ast",
					    "legality" };
	bool all = o->as == NULL || strcmp(o->as, "all") == 0;
	struct hn_buf b, text;
	struct hn_jw w;
	int rc = 0;

	hn_buf_init(&b);
	hn_buf_init(&text);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", in->name);
	hn_jw_str(&w, "key", in->key);
	hn_jw_json(&w, "steps", steps);
	for (size_t i = 0; i < HN_COUNT_OF(form) && rc == 0; i++) {
		if (all || strcmp(o->as, form[i]) == 0) {
			rc = ask(in, steps, form[i], &text, err);
			hn_jw_str(&w, form[i], text.s);
		}
	}
	if (rc == 0 && all) {
		hn_jw_bool(&w, "legal", strcmp(text.s, "legal\n") == 0);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	if (rc == 0) {
		puts(b.s);
	}
	hn_buf_fini(&text);
	hn_buf_fini(&b);
	return rc;
}

int cmd_poly(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_buf steps, text;
	struct hn_arena a;
	struct hn_input in;

	hn_arena_init(&a, 0);
	hn_buf_init(&steps);
	hn_buf_init(&text);
	int rc = hn_input_read(o, &a, &in, err);

	rc = rc != 0 ? rc : read_steps(o, &a, &steps, err);
	rc = rc != 0 ? rc : ask(&in, steps.s, o->as ? o->as : "all", &text, err);
	if (rc == 0 && o->json) {
		rc = put_json(o, &in, steps.s, err);
	} else if (rc == 0) {
		fputs(text.s, stdout);
	}
	hn_buf_fini(&steps);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}
