/* daemon/damage.c -- what is damaged in the store goes to the log, once a place, and into every
 * answer that comes out of it, until `hone verify` has settled it.  The store's thread finds it,
 * and tells the loop. */
#include "daemon/daemon.h"

#include <stdlib.h>

struct found {
	struct hn_ask ask; /* first */
	struct hn_daemon *daemon;
	struct hn_buf line, notice; /* of this place; of all of them */
};

static void on_told(struct hn_ask *a)
{
	struct found *f = (struct found *)a;
	struct hn_daemon *d = f->daemon;

	hn_log_line(&d->log, "warn", "store: %s", f->line.s);
	hn_buf_reset(&d->notice);
	hn_buf_puts(&d->notice, f->notice.s);
	d->snapshot_due = true; /* it says so too */
	hn_daemon_wake(d);
	hn_buf_fini(&f->line);
	hn_buf_fini(&f->notice);
	free(f);
}

/* Of the thread that has the store. */
static void on_found(void *ctx, const char *place, const char *detail)
{
	struct found *f = calloc(1, sizeof *f);

	hn_assert(f != NULL);
	f->ask.done = on_told;
	f->daemon = ctx;
	hn_buf_init(&f->line);
	hn_buf_printf(&f->line, "%s: %s", place, detail);
	hn_buf_init(&f->notice);
	hn_db_notice(f->daemon->db, &f->notice);
	hn_store_tell(f->daemon->store, &f->ask);
}

void hn_damage_watch(struct hn_daemon *d)
{
	hn_db_damage(d->db, on_found, d);
	hn_db_on_damage(d->db, on_found, d);
	hn_store_drain(d->store);
}

void hn_damage_write(const struct hn_daemon *d, struct hn_jw *w)
{
	if (d->notice.n > 0) {
		hn_jw_str(w, "damage", d->notice.s);
	}
}

void hn_damage_add(const struct hn_daemon *d, struct hn_err *err)
{
	struct hn_err miss = *err;

	if (err->code == HONE_E_NOT_FOUND && d->notice.n > 0) {
		(void)!hn_fail(err, miss.code, "%.400s; %s", miss.msg, d->notice.s);
	}
}
