/* bench/history_log.c -- schedules in log files. See history.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/history.h"
#include "loopstate/record/record.h"

static const char *key_of(const char *name, struct hn_arena *a)
{
	return hn_arena_printf(a, "[\"%s\"]", name);
}

/* One more, unless it is there; the oldest makes room. */
static void add(struct hn_histories *h, const struct hn_trace *trace, struct hn_arena *a)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_trace_write(trace, &b);
	for (uint32_t i = 0; i < h->n; i++) {
		if (strcmp(h->steps[i], b.s) == 0) {
			hn_buf_fini(&b);
			return;
		}
	}
	if (h->n == HN_HISTORY_MAX) {
		memmove(h->steps, h->steps + 1, --h->n * sizeof(h->steps[0]));
	}
	h->steps[h->n++] = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
}

int hn_history_of_log(const char *path, const char *name, struct hn_arena *a,
		      struct hn_histories *ret, struct hn_err *err)
{
	FILE *f = fopen(path, "re");
	const struct hn_log_record *r;
	struct hn_record_reader reader;
	const char *key = key_of(name, a);
	int item;

	ret->n = 0;
	if (f == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	hn_record_reader_init(&reader, f, path);
	while ((item = hn_record_next(&reader, &r, err)) > HN_RECORD_END) {
		if (item == HN_RECORD_RECORD && r->error_no == 0 &&
		    strcmp(r->workload_key, key) == 0) {
			add(ret, r->trace, a);
		}
	}
	hn_record_reader_fini(&reader);
	fclose(f);
	if (item < 0) {
		return item; /* a bad line of our own log is to be mended, not skipped */
	}
	return ret->n > 0 ? 0
			  : hn_fail(err, HONE_E_NOT_FOUND, "%s: no record of \"%s\"",
				    path, name);
}

int hn_history_save(const char *path, const char *name, const char *steps, double ns,
		    struct hn_err *err)
{
	struct hn_record_number cost = { .value = ns * 1e-9 };
	struct hn_log_record r = { .target = "cpu",
				   .layout = -1,
				   .n_cost = 1,
				   .cost = &cost,
				   .all_cost = cost,
				   .timestamp = { .value = (double)time(NULL) },
				   .version = "hone-1",
				   .n_member = 3,
				   .member = { HN_RECORD_INPUT, HN_RECORD_RESULT,
					       HN_RECORD_VERSION } };
	struct hn_arena a;
	struct hn_buf b;
	FILE *f = fopen(path, "ae");
	int rc;

	if (f == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	r.workload_key = key_of(name, &a);
	rc = hn_trace_parse("steps", steps, strlen(steps), &a, &r.trace, err);
	if (rc == 0) {
		hn_record_write(&r, &b);
		hn_buf_putc(&b, '\n');
		fwrite(b.s, 1, b.n, f);
	}
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	if (fclose(f) != 0 && rc == 0) {
		rc = hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	return rc;
}
