/* daemon/lineage.c -- where a stored record comes from: its parent, that one's parent, and so
 * on to a program that was made from none, or that was never measured.
 *
 * A record names its parents by the hash of their histories.  The hash of a record follows from
 * its steps, so that records of all versions of the store can be found; parents are older than
 * their children, so one pass over the workload's records up to this one knows them all.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/methods_int.h"

#define LONGEST (HN_LIMIT_REPLY_BYTES / 2) /* what is longer is cut off */

struct person {
	int64_t id;
	uint64_t hash, parent[2]; /* 0 = none; steps that this version cannot read have none */
};

struct family {
	struct hn_arena arena, scratch;
	int64_t youngest;
	uint32_t n, cap;
	struct person *x; /* oldest first */
};

static int on_record(void *ctx, const struct hn_record *r)
{
	struct family *f = ctx;
	const struct hn_trace *trace;
	uint64_t hash = 0;

	hn_arena_reset(&f->scratch);
	if (hn_trace_parse("record", r->steps, strlen(r->steps), &f->scratch, &trace, NULL) == 0) {
		hash = hn_trace_hash(trace);
	}
	f->x = hn_arena_grow(&f->arena, f->x, f->n, &f->cap, sizeof *f->x);
	f->x[f->n++] = (struct person){
		r->id, hash, { r->descent.parent[0], r->descent.parent[1] } };
	return r->id == f->youngest; /* no later one can be its parent */
}

/* The youngest of the first n with that history; NULL. */
static const struct person *find(const struct family *f, uint32_t n, uint64_t hash)
{
	while (n > 0 && hash != 0) {
		if (f->x[--n].hash == hash) {
			return &f->x[n];
		}
	}
	return NULL;
}

static void write_parents(const struct family *f, const struct person *p, struct hn_jw *w)
{
	hn_jw_list(w, "parents");
	for (int i = 0; i < 2 && p->parent[i] != 0; i++) {
		const struct person *q = find(f, (uint32_t)(p - f->x), p->parent[i]);

		hn_jw_object(w, NULL);
		hn_jw_strf(w, "hash", "%016llx", (unsigned long long)p->parent[i]);
		hn_jw_int(w, "record", q ? q->id : 0);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static void write_record(const struct hn_record *r, const struct person *p, struct hn_jw *w)
{
	hn_jw_int(w, "record", r->id);
	hn_jw_strf(w, "hash", "%016llx", (unsigned long long)p->hash);
	hn_jw_str(w, "origin", r->origin);
	hn_jw_str(w, "changes", r->descent.changes);
	hn_jw_str(w, "model", r->descent.model);
	hn_jw_double(w, "predicted_ns", r->descent.predicted_ns);
	hn_jw_str(w, "verdict", hn_verdict_name(r->verdict));
	hn_jw_str(w, "detail", r->detail);
	hn_jw_double(w, "median_ns", r->median_ns);
	if (p->hash != 0) {
		hn_jw_json(w, "steps", r->steps);
	} else {
		hn_jw_null(w, "steps");
	}
}

/* p and its line of first parents, youngest first. */
static int write_line(struct hn_db *db, struct family *f, const struct person *p,
		      struct hn_jw *w, struct hn_err *err)
{
	struct hn_workload_row row;
	struct hn_record r;
	int rc = 0;

	hn_jw_list(w, "lineage");
	while (rc == 0 && p && w->buf->n < LONGEST) {
		hn_arena_reset(&f->scratch);
		rc = hn_db_find(db, p->id, &f->scratch, &r, &row, err);
		if (rc == 0) {
			hn_jw_object(w, NULL);
			write_record(&r, p, w);
			write_parents(f, p, w);
			hn_jw_end(w);
			p = find(f, (uint32_t)(p - f->x), p->parent[0]);
		}
	}
	hn_jw_end(w);
	hn_jw_bool(w, "whole", p == NULL);
	return rc;
}

int hn_lineage_answer(struct hn_db *db, int64_t record, struct hn_buf *b,
		      struct hn_err *err)
{
	struct family f = { .youngest = record };
	struct hn_workload_row row;
	struct hn_record r;
	struct hn_jw w;

	hn_arena_init(&f.arena, 0);
	hn_arena_init(&f.scratch, 0);
	int rc = hn_db_find(db, record, &f.arena, &r, &row, err);

	if (rc == 0) {
		rc = hn_db_records(db, r.workload, r.target, on_record, &f, err);
	}
	if (rc >= 0) { /* 1: stopped at the record */
		hn_jw_init(&w, b);
		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "workload", row.key);
		hn_jw_str(&w, "name", row.name);
		hn_jw_double(&w, "flops", row.flops);
		hn_jw_str(&w, "cache", row.cache);
		hn_jw_str(&w, "target", r.target);
		hn_jw_json(&w, "dag", row.dag_json);
		rc = write_line(db, &f, f.n > 0 ? &f.x[f.n - 1] : NULL, &w, err);
		hn_jw_end(&w);
		hn_jw_done(&w);
	}
	hn_arena_fini(&f.scratch);
	hn_arena_fini(&f.arena);
	return rc;
}

struct asking {
	struct hn_pending pending; /* first */
	int64_t record;
	struct hn_buf answer;
};

static int read_line(struct hn_ask *ask, struct hn_db *db, struct hn_err *err)
{
	struct asking *l = (struct asking *)ask;

	return hn_lineage_answer(db, l->record, &l->answer, err);
}

static void on_line(struct hn_ask *ask)
{
	struct asking *l = (struct asking *)ask;

	if (ask->rc == 0) {
		hn_pending_reply(&l->pending, l->answer.s);
	} else {
		hn_pending_refuse(&l->pending, &ask->err);
	}
	hn_buf_fini(&l->answer);
	free(l);
}

void hn_method_lineage(const struct hn_call *c)
{
	struct asking *l = calloc(1, sizeof *l);
	struct hn_err err;

	hn_assert(l != NULL);
	l->pending.ask = (struct hn_ask){ .work = read_line, .done = on_line };
	hn_json_int(hn_call_field(c, "record"), &l->record);
	hn_buf_init(&l->answer);
	if (hn_pending_ask(c->d, c->session, c->msg->id, &l->pending, &err) != 0) {
		hn_call_refuse(c, &err);
		hn_buf_fini(&l->answer);
		free(l);
	}
}
