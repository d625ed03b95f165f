/* daemon/server.c -- accepting, and the walk over sessions that keeps limits of time. */
#include "daemon/server.h"

#include <unistd.h>

#include "base/clock.h"

#define TICK_MS 1000

static void on_connection(uv_stream_t *listener, int status)
{
	struct hn_server *s = listener->data;

	if (status == 0) {
		hn_session_open(s, listener);
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct hn_server *s = timer->data;
	struct hn_session *session = s->session;
	int64_t now = hn_clock_ns();

	while (session != NULL) {
		struct hn_session *next = session->next;

		hn_session_tick(session, now);
		session = next;
	}
}

int hn_server_open(struct hn_server *s, uv_loop_t *loop, const char *path,
		   const struct hn_session_limits *limits,
		   const struct hn_session_ops *ops, void *ctx, struct hn_err *err)
{
	int64_t tick_ms;
	int rc;

	*s = (struct hn_server){ .loop = loop, .ops = ops, .ctx = ctx, .uid = geteuid() };
	s->limits = limits != NULL ? *limits : hn_session_limits_default();
	rc = hn_addr_listen(path, &s->addr, err);
	if (rc != 0) {
		return rc;
	}
	uv_pipe_init(loop, &s->listener, 0);
	uv_timer_init(loop, &s->tick);
	uv_timer_init(loop, &s->reap);
	s->listener.data = s->tick.data = s->reap.data = s;
	s->open = true;
	rc = uv_pipe_open(&s->listener, s->addr.fd);
	if (rc == 0) {
		s->addr.fd = -1;
		rc = uv_listen((uv_stream_t *)&s->listener, 128, on_connection);
	}
	if (rc != 0) {
		hn_server_stop_listening(s);
		return hn_fail(err, HONE_E_IO, "%s: listen: %s", path, uv_strerror(rc));
	}
	tick_ms = s->limits.hello_ms < TICK_MS ? s->limits.hello_ms : TICK_MS;
	tick_ms = s->limits.stall_ms < tick_ms ? s->limits.stall_ms : tick_ms;
	uv_timer_start(&s->tick, on_tick, (uint64_t)tick_ms, (uint64_t)tick_ms);
	return 0;
}

void hn_server_stop_listening(struct hn_server *s)
{
	if (!s->open) {
		return;
	}
	s->open = false;
	hn_addr_unlink(&s->addr);
	uv_close((uv_handle_t *)&s->listener, NULL);
	uv_close((uv_handle_t *)&s->tick, NULL);
	uv_close((uv_handle_t *)&s->reap, NULL);
}

void hn_server_end_sessions(struct hn_server *s, bool at_once)
{
	struct hn_session *session = s->session;

	while (session != NULL) {
		struct hn_session *next = session->next;

		if (at_once) {
			hn_session_close(session);
		} else {
			hn_session_end(session);
		}
		session = next;
	}
}

void hn_server_fini(struct hn_server *s)
{
	hn_addr_close(&s->addr);
}
