/* search/replay.c -- no search: the programs of a log (loopstate/record/record.h), in its order.
 *
 * The log is read as it is needed, one record ahead, so that it may be of any length.  What is
 * no record, does not replay on the task's computation, or has been out already is passed
 * over; a log may hold the records of many workloads.  Where the task names a workload key, the
 * log's records are imported (logline.h): only those of that key that were measured there.
 *
 * Invariant: `next` is the program to be handed out next, in the arena `ahead`; NULL at the end.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "search/logline.h"
#include "search/search_int.h"

struct hn_policy {
	struct hn_space space;
	FILE *log;
	struct hn_record_reader reader;
	struct hn_arena ahead;
	const struct hn_trace *next;
	uint64_t hash; /* of its program */
	double score;
};

/* What the record makes of the task becomes `next`, when it is a program not seen yet. */
static void look_at(struct hn_policy *p, const struct hn_log_record *record,
		    struct hn_arena *scratch)
{
	const struct hn_task *task = &p->space.task;
	struct hn_indiv x;

	if (task->records_key && hn_logline_imports(record, task->records_key, task->dag,
						    task->target, NULL, NULL) != 0) {
		return;
	}
	if (hn_space_adopt(&p->space, record->trace, scratch, &x) == HN_VERDICT_OK &&
	    !hn_hashes_has(&p->space.seen, x.hash)) {
		hn_space_score(&p->space, &x, 1);
		p->next = hn_trace_copy(record->trace, &p->ahead);
		p->hash = x.hash;
		p->score = x.score;
	}
}

static void find_next(struct hn_policy *p)
{
	struct hn_arena scratch;
	const struct hn_log_record *record;
	struct hn_err err;
	int item;

	hn_arena_init(&scratch, 0);
	hn_arena_reset(&p->ahead);
	p->next = NULL;
	do {
		hn_arena_reset(&scratch);
		item = hn_record_next(&p->reader, &record, &err);
		if (item == HN_RECORD_RECORD) {
			look_at(p, record, &scratch);
		}
	} while (!p->next && item != HN_RECORD_END && item != -HONE_E_IO);
	hn_arena_fini(&scratch);
}

static int open_log(struct hn_policy *p, const char *path, struct hn_err *err)
{
	struct stat st;

	if (!path) {
		return hn_fail(err, HONE_E_INVALID,
			       "policy replay: name the log to replay (--records LOG)");
	}
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
		return hn_fail(err, HONE_E_INVALID, "%s: a pipe: give a file", path);
	}
	int rc = hn_file_stream(path, &p->log, err);

	if (rc == 0) {
		hn_record_reader_init(&p->reader, p->log, path);
		hn_arena_init(&p->ahead, 0);
	}
	return rc;
}

static void destroy(struct hn_policy *p)
{
	if (p && p->log) {
		hn_record_reader_fini(&p->reader);
		hn_arena_fini(&p->ahead);
		fclose(p->log);
	}
	hn_policy_free(p);
}

static int create(const struct hn_task *task, struct hn_policy **ret, struct hn_err *err)
{
	struct hn_policy *p;
	int rc = hn_policy_new(task, sizeof *p, &p, err);

	if (rc < 0) {
		return rc;
	}
	rc = open_log(p, task->records, err);
	if (rc < 0) {
		destroy(p);
		return rc;
	}
	find_next(p);
	if (!p->next) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "%s: none of its %llu lines is a record of this computation",
			     task->records, (unsigned long long)p->reader.line);
		destroy(p);
		return rc;
	}
	*ret = p;
	return 0;
}

static uint32_t ask(struct hn_policy *p, uint32_t n, struct hn_arena *a,
		    struct hn_candidate *ret)
{
	uint32_t got = 0;

	for (; got < n && p->next; find_next(p)) {
		if (!hn_hashes_add(&p->space.seen, p->hash)) {
			continue; /* told of meanwhile */
		}
		ret[got++] = (struct hn_candidate){ .trace = hn_trace_copy(p->next, a),
						    .origin = p->space.task.records_key
								      ? HN_ORIGIN_IMPORTED
								      : "replay",
						    .score = p->score };
	}
	return got;
}

static void tell(struct hn_policy *p, const struct hn_told *told, uint32_t n)
{
	hn_space_heard(&p->space, told, n);
}

extern const struct hn_policy_ops hn_policy_replay;
const struct hn_policy_ops hn_policy_replay = {
	.name = "replay", .create = create, .destroy = destroy, .ask = ask, .tell = tell
};
