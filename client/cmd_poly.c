/* client/cmd_poly.c -- `hone poly`: a computation, or a history of it, as polyhedra.
 *
 * hone-build, which links isl, makes the text; a history need not be legal to be shown.
 */
#include <stdio.h>
#include <string.h>

#include "client/builder.h"
#include "client/cmd.h"
#include "client/history.h"
#include "client/log.h"
#include "loopstate/record.h"

/* Steps of record `index`, from 1, of the log. */
static int steps_of_log(const char *log, int64_t index, struct hn_buf *ret,
			struct hn_err *err)
{
	const struct hn_record *record;
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

int cmd_poly(const struct hn_opts *o, struct hn_err *err)
{
	char *words[] = { "--poly", (char *)(o->as ? o->as : "all"), NULL };
	struct hn_buf steps, text;
	struct hn_arena a;
	struct hn_input in;

	hn_arena_init(&a, 0);
	hn_buf_init(&steps);
	hn_buf_init(&text);
	int rc = hn_input_read(o, &a, &in, err);

	rc = rc != 0 ? rc : read_steps(o, &a, &steps, err);
	rc = rc != 0 ? rc : hn_builder_ask("poly", in.json, steps.s, words, &text, err);
	if (rc == 0) {
		fputs(text.s, stdout);
	}
	hn_buf_fini(&steps);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
	return rc;
}
