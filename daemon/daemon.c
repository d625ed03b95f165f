/* daemon/daemon.c -- the loop's life: open, run, stop within its time.
 *
 * Stop: no more clients, jobs suspended (which commits what was measured), snapshot
 * written, measurer closed, sessions closed when their output is gone.  A deadline ends the
 * process if something of that hangs: everything is on disk by then.
 */
#include "daemon/daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "measure/board/sandbox.h"

#define TICK_MS 50
#define SNAPSHOT_RETRY_NS 500000000
#define SNAPSHOT_LONGEST_NS 10000000000
#define FLUSH_MS 1500	      /* for clients to take their last lines */
#define DEADLINE_MS 6000      /* for workers to end, after that */
#define FIRST_CLIENT_MS 15000 /* a private daemon nobody comes to */

static void on_wake(uv_timer_t *t)
{
	hn_jobs_pump(t->data);
}

static void on_tick(uv_timer_t *t)
{
	struct hn_daemon *d = t->data;

	hn_jobs_tick(d);
	if (hn_jobs_live(d) == 0 && d->waits == NULL && !d->snapshot_due && !d->trim_due &&
	    !hn_stall_on(d)) {
		uv_timer_stop(&d->tick);
		d->ticking = false;
	}
}

void hn_daemon_wake(struct hn_daemon *d)
{
	if (d->stopping) {
		return;
	}
	uv_timer_start(&d->wake, on_wake, 0, 0);
	if (!d->ticking) {
		d->ticking = true;
		uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
	}
}

static void on_signal(uv_signal_t *s, int number)
{
	hn_daemon_stop(s->data, number == SIGTERM ? "SIGTERM" : "SIGINT");
}

static void on_lonely(uv_timer_t *t)
{
	struct hn_daemon *d = t->data;

	if (!d->had_client) {
		hn_daemon_stop(d, "no client came");
	}
}

/* What there is to be served, and this process's name. */
static int read_served(struct hn_daemon *d, struct hn_err *err)
{
	uint64_t boot = (uint64_t)hn_clock_ns();
	int rc;

	hn_arena_init(&d->arena, 0);
	rc = hn_served_read(d, err);
	if (rc != 0) {
		hn_arena_fini(&d->arena);
		return rc;
	}
	if (getrandom(&boot, sizeof(boot), 0) < 0) {
		boot ^= (uint64_t)getpid();
	}
	snprintf(d->boot, sizeof(d->boot), "%016llx", (unsigned long long)boot);
	return 0;
}

static void open_handles(struct hn_daemon *d)
{
	uv_timer_init(&d->loop, &d->wake);
	uv_timer_init(&d->loop, &d->tick);
	uv_timer_init(&d->loop, &d->deadline);
	uv_signal_init(&d->loop, &d->on_int);
	uv_signal_init(&d->loop, &d->on_term);
	d->wake.data = d->tick.data = d->deadline.data = d->on_int.data = d->on_term.data =
		d;
}

static void close_handles(struct hn_daemon *d)
{
	uv_close((uv_handle_t *)&d->wake, NULL);
	uv_close((uv_handle_t *)&d->tick, NULL);
	uv_close((uv_handle_t *)&d->on_int, NULL);
	uv_close((uv_handle_t *)&d->on_term, NULL);
}

int hn_daemon_open(struct hn_daemon *d, struct hn_err *err)
{
	int rc = read_served(d, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_db_open(d->config.home.s, &d->db, err);
	if (rc != 0) {
		hn_arena_fini(&d->arena);
		return rc;
	}
	if (uv_loop_init(&d->loop) != 0) {
		hn_db_close(d->db);
		hn_arena_fini(&d->arena);
		return hn_fail(err, HONE_E_IO, "event loop: cannot be made");
	}
	d->started_ns = hn_clock_ns();
	d->snapshot_due = true;
	hn_buf_init(&d->notice);
	open_handles(d);
	rc = hn_server_open(&d->server, &d->loop, d->config.socket.s, NULL,
			    &hn_methods_ops, d, err);
	if (rc != 0) {
		close_handles(d);
		uv_close((uv_handle_t *)&d->deadline, NULL);
		uv_run(&d->loop, UV_RUN_DEFAULT);
		uv_loop_close(&d->loop);
		hn_db_close(d->db);
		hn_arena_fini(&d->arena);
		return rc;
	}
	uv_signal_start(&d->on_int, on_signal, SIGINT);
	uv_signal_start(&d->on_term, on_signal, SIGTERM);
	if (d->config.ends_with_clients) {
		uv_timer_start(&d->deadline, on_lonely, FIRST_CLIENT_MS, 0);
	}
	d->store = hn_store_open(&d->loop, d->db);
	hn_damage_watch(d);
	hn_jobs_resume(d);
	hn_daemon_wake(d);
	return 0;
}

static void on_deadline(uv_timer_t *t)
{
	struct hn_daemon *d = t->data;

	hn_log_line(&d->log, "warn", "stop: workers did not end in time; leaving");
	_exit(0);
}

static void on_impatient(uv_timer_t *t)
{
	struct hn_daemon *d = t->data;

	hn_server_end_sessions(&d->server, /* at_once= */ true);
	uv_timer_start(&d->deadline, on_deadline, DEADLINE_MS, 0);
	uv_unref((uv_handle_t *)&d->deadline);
}

struct snapshot {
	struct hn_ask ask; /* first */
	struct hn_daemon *daemon;
	bool written; /* by this one; else those before it have what it would */
	void (*then)(void *ctx);
	void *ctx;
};

static int write_snapshot(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	(void)a;
	return hn_db_write_snapshot(db, err);
}

static void note_snapshot(struct hn_daemon *d, const struct hn_ask *a)
{
	d->trim_due = true; /* it held every best for a moment */
	d->snapshot_ns = hn_clock_ns();
	if (a->rc == 0) {
		if (d->snapshot_wait_ns > 0) {
			hn_log_line(&d->log, "info", "snapshot: written again");
		}
		d->snapshot_wait_ns = 0;
		return;
	}
	if (d->snapshot_wait_ns == 0) { /* told once; readers are told by its age */
		hn_log_line(&d->log, "warn", "snapshot: %s; tried again until it is written",
			    a->err.msg);
	}
	d->snapshot_due = true;
	d->snapshot_wait_ns = d->snapshot_wait_ns * 2 + SNAPSHOT_RETRY_NS;
	d->snapshot_wait_ns = d->snapshot_wait_ns < SNAPSHOT_LONGEST_NS ? d->snapshot_wait_ns
									 : SNAPSHOT_LONGEST_NS;
	hn_daemon_wake(d);
}

static void on_snapshot(struct hn_ask *a)
{
	struct snapshot *s = (struct snapshot *)a;

	if (s->written) {
		note_snapshot(s->daemon, a);
	}
	if (s->then != NULL) {
		s->then(s->ctx);
	}
	free(s);
}

void hn_daemon_snapshot(struct hn_daemon *d, void (*then)(void *ctx), void *ctx)
{
	struct snapshot *s = calloc(1, sizeof *s);

	hn_assert(s != NULL);
	s->daemon = d;
	s->written = d->snapshot_due;
	s->then = then;
	s->ctx = ctx;
	s->ask = (struct hn_ask){ .work = d->snapshot_due ? write_snapshot : NULL,
				  .done = on_snapshot };
	d->snapshot_due = false;
	hn_store_ask(d->store, &s->ask);
}

void hn_daemon_stop(struct hn_daemon *d, const char *reason)
{
	if (d->stopping) {
		return;
	}
	hn_log_line(&d->log, "info", "stop: %s", reason);
	hn_store_drain(d->store); /* what is asked for is answered */
	hn_jobs_suspend(d);
	hn_store_drain(d->store);
	d->stopping = true;
	d->snapshot_due = true;
	hn_daemon_snapshot(d, NULL, NULL);
	hn_store_drain(d->store);
	hn_server_stop_listening(&d->server);
	hn_server_end_sessions(&d->server, /* at_once= */ false);
	uv_timer_stop(&d->wake);
	uv_timer_stop(&d->tick);
	uv_timer_start(&d->deadline, on_impatient, FLUSH_MS, 0);
	uv_unref((uv_handle_t *)&d->deadline);
	hn_served_stop(d, close_handles);
}

void hn_daemon_run(struct hn_daemon *d)
{
	hn_log_line(&d->log, "info", "honed " HONE_VERSION " on %s, store %s", d->config.socket.s,
		    d->config.home.s);
	for (uint32_t i = 0; i < d->n_served; i++) {
		hn_log_line(&d->log, "info", "serves %s: %s", d->served[i].name, d->served[i].line);
	}
	uv_run(&d->loop, UV_RUN_DEFAULT);
	hn_server_end_sessions(&d->server, /* at_once= */ true);
	hn_store_close(d->store);
	uv_close((uv_handle_t *)&d->deadline, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
	hn_jobs_free(d);
	hn_db_close(d->db);
	hn_buf_fini(&d->notice);
	hn_server_fini(&d->server);
	hn_arena_fini(&d->arena);
}
