/* daemon/put.c -- what is stored and waited for by nobody: a failure goes to the log. */
#include "daemon/daemon.h"

#include <stdlib.h>

struct put {
	struct hn_ask ask; /* first */
	struct hn_daemon *daemon;
	struct hn_arena a; /* the texts */
	const char *who;   /* for the log */
	const char *key, *target, *name, *text;
	bool finished, for_snapshot;
};

static int put_job(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct put *p = (struct put *)a;

	return hn_db_put_job(db, p->key, p->text, p->finished, err);
}

static int put_model(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct put *p = (struct put *)a;

	return hn_db_put_model(db, p->target, p->name, p->text, err);
}

static int put_automatic(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	const struct put *p = (struct put *)a;

	return hn_db_put_automatic(db, p->key, p->target, p->text, err);
}

static void on_put(struct hn_ask *a)
{
	struct put *p = (struct put *)a;
	struct hn_daemon *d = p->daemon;

	if (a->rc != 0) {
		hn_log_line(&d->log, "warn", "job %s: %s", p->who, a->err.msg);
	} else if (p->for_snapshot) {
		d->snapshot_due = true;
		hn_daemon_wake(d);
	}
	hn_arena_fini(&p->a);
	free(p);
}

static struct put *new_put(struct hn_daemon *d, const char *who,
			   int (*work)(struct hn_ask *, struct hn_db *, struct hn_err *))
{
	struct put *p = calloc(1, sizeof *p);

	hn_assert(p != NULL);
	hn_arena_init(&p->a, 0);
	p->daemon = d;
	p->who = hn_arena_strdup(&p->a, who);
	p->ask = (struct hn_ask){ .writes = true, .work = work, .done = on_put };
	return p;
}

void hn_put_row(struct hn_daemon *d, const char *id, const char *json, bool finished)
{
	struct put *p = new_put(d, id, put_job);

	p->key = p->who;
	p->text = hn_arena_strdup(&p->a, json);
	p->finished = finished;
	hn_store_ask(d->store, &p->ask);
}

void hn_put_model(struct hn_job *j, const char *name, const char *text)
{
	struct put *p = new_put(j->daemon, j->id, put_model);

	p->target = hn_arena_strdup(&p->a, j->target_line);
	p->name = hn_arena_strdup(&p->a, name);
	p->text = hn_arena_strdup(&p->a, text);
	hn_store_ask(j->daemon->store, &p->ask);
}

void hn_put_automatic(struct hn_job *j, const char *steps)
{
	struct put *p = new_put(j->daemon, j->id, put_automatic);

	p->key = hn_arena_strdup(&p->a, j->key);
	p->target = hn_arena_strdup(&p->a, j->target_line);
	p->text = hn_arena_strdup(&p->a, steps);
	p->for_snapshot = true;
	hn_store_ask(j->daemon->store, &p->ask);
}
