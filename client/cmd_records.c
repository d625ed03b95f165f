/* client/cmd_records.c -- `hone records`: normalize, a log read and written again; export
 * (records_export.c); or import (records_import.c).
 *
 * Records and comments pass, empty lines (which stop Ansor's reader) do not; each bad
 * line is reported on standard error and left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/cmd.h"
#include "client/log.h"
#include "client/records.h"
#include "loopstate/record/record.h"

/* The next item onto standard output: as hn_record_next. */
static int pass_item(struct hn_record_reader *r, struct hn_buf *line, struct hn_err *err)
{
	const struct hn_log_record *record;
	int item = hn_record_next(r, &record, err);

	if (item == HN_RECORD_RECORD) {
		hn_buf_reset(line);
		hn_record_write(record, line);
		hn_buf_putc(line, '\n');
		fwrite(line->s, 1, line->n, stdout);
	} else if (item == HN_RECORD_COMMENT) {
		fwrite(r->text.s, 1, r->text.n, stdout);
		putchar('\n');
	}
	return item;
}

static int normalize(FILE *file, const char *path, struct hn_err *err)
{
	struct hn_record_reader r;
	struct hn_buf line;
	uint64_t n_bad = 0;
	int item;

	hn_record_reader_init(&r, file, path);
	hn_buf_init(&line);
	do {
		item = pass_item(&r, &line, err);
		if (item < 0 && item != -HONE_E_IO) {
			n_bad++;
			fprintf(stderr, "hone: %s\n", err->msg);
		}
	} while (item != HN_RECORD_END && item != -HONE_E_IO && !ferror(stdout));
	hn_buf_fini(&line);
	hn_record_reader_fini(&r);
	if (item == -HONE_E_IO) {
		return item;
	}
	return n_bad == 0 ? 0
			  : hn_fail(err, HONE_E_INVALID,
				    "%s: %" PRIu64 " bad line%s left out", path, n_bad,
				    n_bad > 1 ? "s" : "");
}

int cmd_records(const struct hn_opts *o, struct hn_err *err)
{
	FILE *file;
	int rc;

	if (o->arg != NULL && strcmp(o->arg, "export") == 0) {
		return hn_records_export(o, err);
	}
	if (o->arg != NULL && strcmp(o->arg, "import") == 0) {
		return hn_records_import(o, err);
	}
	if (o->arg == NULL || o->arg2 == NULL || strcmp(o->arg, "normalize") != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "give `normalize` and a LOG, `import` and a LOG with --dag, or "
			       "`export` and a computation; see `hone help records`");
	}
	rc = hn_log_open(o->arg2, &file, err);
	if (rc == 0) {
		rc = normalize(file, o->arg2, err);
		hn_log_close(file);
	}
	return rc;
}
