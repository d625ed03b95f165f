/* client/history.c -- see history.h.  The log is read once, a line at a time. */
#include "client/history.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "client/log.h"
#include "loopstate/record/record.h"
#include "search/logline.h"

#define FILE_MAX ((size_t)16 << 20)

/* One line that is a record, with nothing but comments and blanks about it. */
static int read_line(const char *path, const struct hn_buf *text, struct hn_arena *a,
		     const struct hn_trace **ret, struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_record_reader r;
	FILE *file = text->n > 0 ? fmemopen(text->s, text->n, "r") : NULL;
	int item, rc = 0;

	if (file == NULL) {
		return text->n > 0 ? hn_fail(err, HONE_E_NOMEM, "%s: out of memory", path)
				   : hn_fail(err, HONE_E_INVALID, "%s: empty", path);
	}
	*ret = NULL;
	hn_record_reader_init(&r, file, path);
	while (rc == 0 && (item = hn_record_next(&r, &record, err)) != HN_RECORD_END) {
		if (item < 0) {
			rc = item;
		} else if (item == HN_RECORD_RECORD && *ret != NULL) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "%s: a log of several records; --records takes the best", path);
		} else if (item == HN_RECORD_RECORD) {
			*ret = hn_trace_copy(record->trace, a);
		}
	}
	hn_record_reader_fini(&r);
	fclose(file);
	return rc != 0 || *ret != NULL
		       ? rc
		       : hn_fail(err, HONE_E_INVALID, "%s: neither steps nor a record", path);
}

int hn_history_read(const char *path, struct hn_arena *a, const struct hn_trace **ret,
		    struct hn_err *err)
{
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read(path, FILE_MAX, &b, err);
	if (rc == 0 && (b.n == 0 || b.s[strspn(b.s, " \t\r\n")] != '[')) {
		rc = read_line(path, &b, a, ret, err);
	} else if (rc == 0) {
		rc = hn_trace_parse(path, b.s, b.n, a, ret, err);
	}
	hn_buf_fini(&b);
	return rc;
}

/* hone's own keys are 64 hexadecimal digits. */
static bool is_of(const struct hn_log_record *r, const char *key)
{
	size_t n = strlen(r->workload_key);

	return n != HN_KEY_BYTES - 1 || strspn(r->workload_key, "0123456789abcdef") != n ||
	       strcmp(r->workload_key, key) == 0;
}

struct search {
	const struct hn_dag *dag;
	const struct hn_target *target; /* NULL: any record will do, and the first is enough */
	char key[HN_KEY_BYTES];
	struct hn_arena *arena; /* of what is kept */
	const struct hn_trace *best;
	struct hn_history found;
	uint64_t n_record, n_bad, n_other_target, n_failed;
	struct hn_err first_bad;
};

static void look_at(struct search *s, const struct hn_log_record *r, uint64_t line)
{
	double ns = hn_logline_cost_ns(r);

	s->n_record++;
	if (!is_of(r, s->key) || hn_logline_replays(s->dag, r->trace, NULL, NULL) != 0) {
		return;
	}
	if (s->target != NULL && !hn_logline_target(r->target, s->target)) {
		s->n_other_target++;
		return;
	}
	if (s->target != NULL && ns < 0) {
		s->n_failed++;
		return;
	}
	if (s->found.n_fit++ == 0 || ns < s->found.cost_ns) {
		s->best = hn_trace_copy(r->trace, s->arena);
		s->found.line = line;
		s->found.cost_ns = ns;
	}
}

static int missing(const struct search *s, const char *log, struct hn_err *err)
{
	if (s->n_other_target + s->n_failed > 0) {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "%s: no record of this computation was measured on such a target "
			       "(%" PRIu64 " on others, %" PRIu64 " failed)",
			       log, s->n_other_target, s->n_failed);
	}
	if (s->n_bad > 0) {
		return hn_fail(err, HONE_E_NOT_FOUND,
			       "%s: none of its %" PRIu64 " records is of this computation, and %" PRIu64
			       " lines are none; the first: %s",
			       log, s->n_record, s->n_bad, s->first_bad.msg);
	}
	return hn_fail(err, HONE_E_NOT_FOUND,
		       "%s: none of its %" PRIu64 " records is of this computation", log, s->n_record);
}

static int read_log(struct search *s, const char *log, struct hn_err *err)
{
	const struct hn_log_record *record;
	struct hn_record_reader r;
	FILE *file;
	int item, rc = hn_log_open(log, &file, err);

	if (rc != 0) {
		return rc;
	}
	hn_dag_key(s->dag, s->key);
	hn_record_reader_init(&r, file, log);
	while ((item = hn_record_next(&r, &record, err)) != HN_RECORD_END &&
	       item != -HONE_E_IO) {
		if (item == HN_RECORD_RECORD) {
			look_at(s, record, r.line);
		} else if (item < 0 && s->n_bad++ == 0) {
			s->first_bad = *err;
		}
		if (s->target == NULL && s->found.n_fit > 0) {
			break;
		}
	}
	hn_record_reader_fini(&r);
	hn_log_close(file);
	return item == -HONE_E_IO    ? item
	       : s->found.n_fit == 0 ? missing(s, log, err)
				     : 0;
}

int hn_history_best(const char *log, const struct hn_dag *dag, const struct hn_target *target,
		    struct hn_arena *a, struct hn_history *ret, struct hn_err *err)
{
	struct search s = { .dag = dag, .target = target, .arena = a };
	int rc = read_log(&s, log, err);
	struct hn_buf b;

	if (rc == 0) {
		hn_buf_init(&b);
		hn_trace_write(s.best, &b);
		*ret = s.found;
		ret->steps = hn_arena_strndup(a, b.s, b.n);
		hn_buf_fini(&b);
	}
	return rc;
}

int hn_history_check(const char *log, const struct hn_dag *dag, struct hn_err *err)
{
	struct search s = { .dag = dag };
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	s.arena = &a;
	rc = read_log(&s, log, err);
	hn_arena_fini(&a);
	return rc;
}
