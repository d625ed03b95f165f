/* daemon/damage.c -- what is damaged in the store goes to the log, once a place, and into every
 * answer that comes out of it, until `hone verify` has settled it. */
#include "daemon/daemon.h"

static void log_one(void *ctx, const char *place, const char *detail)
{
	struct hn_daemon *d = ctx;

	hn_log_line(&d->log, "warn", "store: %s: %s", place, detail);
	d->snapshot_due = true; /* it says so too */
}

void hn_damage_watch(struct hn_daemon *d)
{
	hn_db_damage(d->db, log_one, d);
	hn_db_on_damage(d->db, log_one, d);
}

void hn_damage_write(const struct hn_daemon *d, struct hn_jw *w)
{
	struct hn_buf notice;

	hn_buf_init(&notice);
	if (hn_db_notice(d->db, &notice) > 0) {
		hn_jw_str(w, "damage", notice.s);
	}
	hn_buf_fini(&notice);
}

void hn_damage_add(const struct hn_daemon *d, struct hn_err *err)
{
	struct hn_buf notice;
	struct hn_err miss = *err;

	hn_buf_init(&notice);
	if (err->code == HONE_E_NOT_FOUND && hn_db_notice(d->db, &notice) > 0) {
		(void)!hn_fail(err, miss.code, "%.400s; %s", miss.msg, notice.s);
	}
	hn_buf_fini(&notice);
}
