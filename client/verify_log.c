/* client/verify_log.c -- the records of a log, to be proved on one computation. */
#include "client/log.h"
#include "client/verify.h"
#include "loopstate/record/record.h"

int hn_verify_log(struct hn_verify *v, const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_record_reader r;
	struct hn_input in;
	struct hn_buf steps;
	FILE *file;
	int item, rc = hn_input_read(o, &v->arena, &in, err);

	rc = rc != 0 ? rc : hn_log_open(o->records, &file, err);
	if (rc != 0) {
		return rc;
	}
	hn_record_reader_init(&r, file, o->records);
	hn_buf_init(&steps);
	while ((item = hn_record_next(&r, &record, err)) != HN_RECORD_END &&
	       item != -HONE_E_IO) {
		if (item < 0) {
			fprintf(stderr, "hone: %s\n", err->msg);
			v->n_unread++;
			v->n_failed++;
		} else if (item == HN_RECORD_RECORD) {
			hn_buf_reset(&steps);
			hn_trace_write(record->trace, &steps);
			hn_prover_ask(&v->prover, v->n == 0 ? in.json : NULL, steps.s);
			hn_verify_add(v, (struct hn_verify_item){ .id = (int64_t)r.line,
					      .workload = "",
					      .target = "",
					      .certificate = "" });
		}
	}
	hn_buf_fini(&steps);
	hn_record_reader_fini(&r);
	hn_log_close(file);
	return item == -HONE_E_IO ? item : 0;
}

