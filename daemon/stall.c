/* daemon/stall.c -- the disk is full: everything waits, nothing is lost.
 *
 * The first write that finds no room stops all jobs: nothing more is measured, begun or ended, so
 * what waits to be stored is what was under way, and no more.  Room is looked for again and
 * again, at growing intervals; then what waits is stored, and the jobs go on with the time that
 * they had.  What a client had heard of was stored before.
 */
#include <stdio.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/jw.h"
#include "daemon/daemon.h"

#define FIRST_NS 250000000
#define LONGEST_NS 1000000000

bool hn_stall_on(const struct hn_daemon *d)
{
	return d->stall.since_ns != 0;
}

static uint32_t n_waiting(const struct hn_daemon *d)
{
	uint32_t n = 0;

	for (const struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		n += j->batch.n + j->storing.n;
	}
	return n;
}

void hn_stall_why(const struct hn_daemon *d, char *why, size_t n)
{
	struct statvfs fs;
	double free_kib = 0;

	if (statvfs(d->config.home.s, &fs) == 0) {
		free_kib = (double)fs.f_bavail * (double)fs.f_frsize / 1024;
	}
	snprintf(why, n,
		 "the disk is full (%.0f KiB free at %.300s); %u results wait to be stored; tuning "
		 "goes on when there is room",
		 free_kib, d->config.home.s, n_waiting(d));
}

static void tell(struct hn_daemon *d)
{
	for (struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		if (!hn_job_ended(j)) {
			hn_notify_progress(j);
		}
	}
}

bool hn_stall_begin(struct hn_daemon *d, const struct hn_err *err)
{
	if (err->code != HONE_E_DISK_FULL || d->stopping) {
		return false;
	}
	if (hn_stall_on(d)) {
		d->stall.has_room = false;
		hn_submit_held(d, /* has_room= */ false);
	} else {
		d->stall.since_ns = hn_clock_ns();
		d->stall.wait_ns = FIRST_NS;
		d->stall.again_ns = d->stall.since_ns + FIRST_NS;
		hn_log_line(&d->log, "warn", "paused: %s", err->msg);
		tell(d);
		hn_daemon_wake(d);
	}
	return true;
}

/* A pause takes nothing off anybody's seconds. */
static void shift_clocks(struct hn_daemon *d, int64_t by)
{
	for (struct hn_job *j = d->jobs; j != NULL; j = j->next) {
		if (!hn_job_ended(j) && j->started_ns != 0) {
			j->started_ns += by;
			j->final.began_ns += by;
			j->final.deadline_ns += by;
			j->final.latest_ns += by;
		}
	}
	for (struct hn_set *s = d->sets; s != NULL; s = s->next) {
		if (!hn_set_ended(s) && s->started_ns != 0) {
			s->started_ns += by;
			s->told_ns += by;
		}
	}
}

/* Each job stores what waited, one thing after the other.  True: nothing waits any more. */
static bool save_all(struct hn_daemon *d)
{
	bool saved = true;

	for (struct hn_job *j = d->jobs; j != NULL && d->stall.has_room; j = j->next) {
		saved &= hn_job_save(j);
	}
	return saved && d->stall.has_room;
}

static int probe(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	(void)a;
	return hn_db_probe(db, err);
}

static void on_probed(struct hn_ask *a)
{
	struct hn_daemon *d = a->ctx;

	d->stall.probing = false;
	/* another failure is each job's own */
	d->stall.has_room = a->rc != -HONE_E_DISK_FULL;
	if (!d->stall.has_room) {
		hn_submit_held(d, /* has_room= */ false);
	}
	hn_daemon_wake(d);
}

static void look_for_room(struct hn_daemon *d, int64_t now_ns)
{
	d->stall.wait_ns *= 2;
	d->stall.wait_ns = d->stall.wait_ns < LONGEST_NS ? d->stall.wait_ns : LONGEST_NS;
	d->stall.again_ns = now_ns + d->stall.wait_ns;
	d->stall.probing = true;
	d->stall.probe = (struct hn_ask){ .writes = true, .work = probe, .done = on_probed,
					  .ctx = d };
	hn_store_ask(d->store, &d->stall.probe);
}

bool hn_stall_pass(struct hn_daemon *d, int64_t now_ns)
{
	int64_t since = d->stall.since_ns;

	if (!hn_stall_on(d)) {
		return true;
	}
	if (!d->stall.has_room) {
		if (!d->stall.probing && now_ns >= d->stall.again_ns) {
			look_for_room(d, now_ns);
		}
		return false;
	}
	if (!save_all(d)) {
		return false; /* called again with each answer */
	}
	d->stall.since_ns = 0;
	d->stall.has_room = false;
	shift_clocks(d, hn_clock_ns() - since);
	hn_log_line(&d->log, "info", "the disk has room again; jobs go on after %lld ms",
		    (long long)((hn_clock_ns() - since) / 1000000));
	tell(d);
	hn_submit_held(d, /* has_room= */ true);
	return true;
}

void hn_stall_hurry(struct hn_daemon *d)
{
	d->stall.again_ns = 0;
	hn_daemon_wake(d);
}
