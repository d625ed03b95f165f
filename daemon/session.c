/* daemon/session.c -- framing, limits and flow control of one connection.
 *
 * Invariants:
 *  1. A session in the server's list has closing == false; once closing, nothing is sent.
 *  2. Each request gets exactly one reply or fault; in_flight counts those without one.
 *  3. Only loop callbacks close a session; sending at most dooms it.
 *  4. Memory a client can hold: one line, plus close_bytes of output; all together held_bytes,
 *     and what the request in hand adds: then of those that hold more than the average the one
 *     that has taken nothing for longest is closed, until it is enough.  Long before that each
 *     is read only while it keeps to its even part.
 *
 * A line that is no JSON-RPC is answered with a fault and the connection goes on; a line
 * that is too long, a missing hello or output nobody takes ends it.
 */
#include "daemon/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define READ_BYTES 65536

struct output {
	uv_write_t req; /* first */
	size_t n;
	char bytes[];
};

struct hn_session_limits hn_session_limits_default(void)
{
	return (struct hn_session_limits){
		.line_bytes = HN_LIMIT_LINE_BYTES,
		.read_stop_bytes = HN_LIMIT_READ_STOP_BYTES,
		.drop_bytes = HN_LIMIT_DROP_BYTES,
		.close_bytes = HN_LIMIT_CLOSE_BYTES,
		.held_bytes = HN_LIMIT_HELD_BYTES,
		.in_flight = HN_LIMIT_IN_FLIGHT,
		.connections = HN_LIMIT_CONNECTIONS,
		.hello_ms = HN_LIMIT_HELLO_MS,
		.stall_ms = HN_LIMIT_STALL_MS,
	};
}

static size_t waiting(const struct hn_session *s)
{
	return uv_stream_get_write_queue_size((const uv_stream_t *)&s->pipe);
}

/* Of half the memory that all may hold, an even part, but not above `most`. */
static size_t part_of(const struct hn_server *server, size_t most)
{
	size_t even = server->limits.held_bytes / 2 / (server->n_session + !server->n_session);

	return even < most ? even : most;
}

static size_t read_stop(const struct hn_session *s)
{
	return part_of(s->server, s->server->limits.read_stop_bytes);
}

static size_t drop(const struct hn_session *s)
{
	return part_of(s->server, s->server->limits.drop_bytes);
}

/* One that is about to be closed counts no more. */
static void hold(struct hn_session *s, size_t more, size_t less)
{
	s->held_bytes += more - less;
	if (!s->doomed && !s->closing) {
		s->server->held_bytes += more - less;
	}
}

static void hold_input(struct hn_session *s)
{
	hold(s, s->in.buf.cap, s->in_bytes);
	s->in_bytes = s->in.buf.cap;
}

static void on_closed(uv_handle_t *h)
{
	struct hn_session *s = (struct hn_session *)h;

	hn_lines_fini(&s->in);
	free(s);
}

void hn_session_close(struct hn_session *s)
{
	struct hn_server *server = s->server;

	if (s->closing) {
		return;
	}
	server->held_bytes -= s->doomed ? 0 : s->held_bytes;
	s->closing = true;
	if (s->prev != NULL) {
		s->prev->next = s->next;
	} else {
		server->session = s->next;
	}
	if (s->next != NULL) {
		s->next->prev = s->prev;
	}
	server->n_session--;
	server->ops->closed(server->ctx, s);
	uv_close((uv_handle_t *)&s->pipe, on_closed);
}

void hn_session_end(struct hn_session *s)
{
	s->ending = true;
	if (!s->closing) {
		uv_read_stop((uv_stream_t *)&s->pipe);
	}
	if (!s->closing && waiting(s) == 0) {
		hn_session_close(s);
	}
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void on_room(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct hn_session *s = (struct hn_session *)h;

	(void)suggested;
	*ret = uv_buf_init(hn_lines_room(&s->in, READ_BYTES), READ_BYTES);
}

static void take_lines(struct hn_session *s);

static void on_written(uv_write_t *req, int status)
{
	struct hn_session *s = (struct hn_session *)req->handle;

	hold(s, 0, ((struct output *)req)->n);
	free(req);
	s->moved_ns = hn_clock_ns();
	if (s->closing) {
		return;
	}
	if (status < 0 || (s->ending && waiting(s) == 0)) {
		hn_session_close(s);
		return;
	}
	if (s->lossy && waiting(s) < drop(s) / 2) {
		s->lossy = false;
		s->server->ops->drained(s->server->ctx, s);
	}
	if (s->paused && !s->closing &&
	    waiting(s) <= read_stop(s) / 2) {
		s->paused = false;
		uv_read_start((uv_stream_t *)&s->pipe, on_room, on_read);
		take_lines(s);
	}
}

static void on_reap(uv_timer_t *timer)
{
	struct hn_server *server = timer->data;
	struct hn_session *s = server->session;

	while (s != NULL) {
		struct hn_session *next = s->next;

		if (s->doomed) {
			hn_session_close(s);
		}
		s = next;
	}
}

static void doom(struct hn_session *s)
{
	s->server->held_bytes -= s->doomed || s->closing ? 0 : s->held_bytes;
	s->doomed = true;
	if (s->server->open) {
		uv_timer_start(&s->server->reap, on_reap, 0, 0);
	}
}

/* Close whoever holds much and takes nothing, until all together hold no more than they may. */
static void make_room(struct hn_server *server)
{
	while (server->held_bytes > server->limits.held_bytes) {
		size_t average = server->held_bytes / server->n_session;
		struct hn_session *worst = NULL;

		for (struct hn_session *s = server->session; s != NULL; s = s->next) {
			if (!s->doomed && s->held_bytes >= average &&
			    (worst == NULL || s->moved_ns < worst->moved_ns)) {
				worst = s;
			}
		}
		hn_assert(worst != NULL);
		doom(worst);
	}
}

static void put(struct hn_session *s, const char *bytes, size_t n)
{
	struct output *out;
	uv_buf_t buf;

	if (s->closing || s->doomed) {
		return;
	}
	if (waiting(s) + n > s->server->limits.close_bytes) {
		doom(s);
		return;
	}
	out = malloc(sizeof(*out) + n);
	hn_assert(out != NULL);
	memcpy(out->bytes, bytes, n);
	out->n = n;
	buf = uv_buf_init(out->bytes, (unsigned)n);
	if (waiting(s) == 0) {
		s->moved_ns = hn_clock_ns();
	}
	if (uv_write(&out->req, (uv_stream_t *)&s->pipe, &buf, 1, on_written) != 0) {
		free(out);
		doom(s);
		return;
	}
	hold(s, n, 0);
	make_room(s->server);
	if (!s->paused && waiting(s) > read_stop(s)) {
		s->paused = true;
		uv_read_stop((uv_stream_t *)&s->pipe);
	}
}

void hn_session_reply(struct hn_session *s, const char *id, const char *result)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_msg_write_result(&b, id, result);
	s->in_flight -= s->in_flight > 0;
	if (b.failed || b.n > HN_LIMIT_REPLY_BYTES) {
		hn_buf_reset(&b);
		hn_msg_write_fault(&b, id, HONE_E_QUOTA,
				   "the answer is too long for one line");
	}
	put(s, b.s, b.n);
	hn_buf_fini(&b);
}

void hn_session_fault(struct hn_session *s, const char *id, int code, const char *text)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_msg_write_fault(&b, id, code, text);
	s->in_flight -= s->in_flight > 0;
	put(s, b.s, b.n);
	hn_buf_fini(&b);
}

bool hn_session_event(struct hn_session *s, const struct hn_buf *line, bool droppable)
{
	if (droppable && (s->lossy || waiting(s) > drop(s))) {
		s->lossy = true;
		return false;
	}
	put(s, line->s, line->n);
	return true;
}

static void dispatch(struct hn_session *s, const struct hn_msg *msg)
{
	enum hn_method m;
	struct hn_err err;

	if (msg->kind != HN_MSG_REQUEST) {
		return; /* honed asks nothing, and a notification gets no answer */
	}
	m = hn_method_of(msg->method);
	s->in_flight++;
	if (s->in_flight > s->server->limits.in_flight) {
		hn_session_fault(s, msg->id, HONE_E_BUSY,
				 "too many unanswered requests on this connection");
	} else if (m == HN_N_METHOD) {
		hn_fail(&err, HONE_E_UNSUPPORTED,
			"%.64s: no such method; see rpc.discover", msg->method);
		hn_session_fault(s, msg->id, HN_RPC_METHOD, err.msg);
	} else if (!s->greeted && m != HN_METHOD_hello) {
		hn_session_fault(s, msg->id, HONE_E_INVALID,
				 "the first request must be hello");
		hn_session_end(s);
	} else if (hn_msg_check(m, msg->params, &err) != 0) {
		hn_session_fault(s, msg->id, HN_RPC_PARAMS, err.msg);
	} else {
		s->server->ops->request(s->server->ctx, s, m, msg);
	}
}

static void take_line(struct hn_session *s, const char *line, size_t n)
{
	struct hn_json *doc;
	struct hn_msg msg;
	struct hn_err err;
	int rpc;

	if (n == 0) {
		return;
	}
	if (hn_msg_read(line, n, s->server->limits.line_bytes, &doc, &msg, &rpc, &err) !=
	    0) {
		s->in_flight++;
		hn_session_fault(s, msg.id, rpc, err.msg);
		return;
	}
	dispatch(s, &msg);
	hn_json_free(doc);
}

static void take_lines(struct hn_session *s)
{
	const char *line;
	size_t n;
	struct hn_err err;
	int rc = 0;

	while (!s->closing && !s->doomed && !s->ending && !s->paused &&
	       (rc = hn_lines_next(&s->in, &line, &n, &err)) == 1) {
		take_line(s, line, n);
	}
	if (rc < 0) {
		s->in_flight++;
		hn_session_fault(s, "null", HN_RPC_REQUEST, err.msg);
		hn_session_end(s);
	}
	hold_input(s);
	make_room(s->server);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct hn_session *s = (struct hn_session *)stream;

	(void)buf;
	if (n < 0) {
		hn_session_close(s);
		return;
	}
	hn_lines_commit(&s->in, (size_t)n);
	take_lines(s);
}

void hn_session_tick(struct hn_session *s, int64_t now_ns)
{
	const struct hn_session_limits *l = &s->server->limits;

	if (!s->greeted && now_ns - s->opened_ns > l->hello_ms * 1000000) {
		s->in_flight++;
		hn_session_fault(s, "null", HONE_E_TIMEOUT, "no hello came");
		hn_session_end(s);
	} else if (waiting(s) > 0 && now_ns - s->moved_ns > l->stall_ms * 1000000) {
		hn_session_close(s);
	}
}

/* Whether the process at the other end may come in; a full house and a stranger are told.
 */
static bool admit(struct hn_session *s)
{
	struct hn_server *server = s->server;
	uv_os_fd_t fd;
	uid_t uid;
	pid_t pid;

	if (uv_fileno((const uv_handle_t *)&s->pipe, &fd) != 0 ||
	    hn_addr_peer(fd, &uid, &pid, NULL) != 0 || uid != server->uid) {
		hn_session_fault(s, "null", HONE_E_PERMISSION,
				 "this honed serves another user");
		return false;
	}
	if (server->n_session > server->limits.connections) {
		hn_session_fault(s, "null", HONE_E_BUSY, "too many connections");
		return false;
	}
	return true;
}

int hn_session_open(struct hn_server *server, uv_stream_t *listener)
{
	struct hn_session *s = calloc(1, sizeof(*s));
	int rc;

	hn_assert(s != NULL);
	s->server = server;
	s->number = ++server->n_accepted;
	s->opened_ns = s->moved_ns = hn_clock_ns();
	hn_lines_init(&s->in, server->limits.line_bytes);
	rc = uv_pipe_init(server->loop, &s->pipe, 0);
	hn_assert(rc == 0);
	s->next = server->session;
	if (s->next != NULL) {
		s->next->prev = s;
	}
	server->session = s;
	server->n_session++;
	rc = uv_accept(listener, (uv_stream_t *)&s->pipe);
	if (rc != 0) {
		hn_session_close(s);
		return rc;
	}
	if (!admit(s)) {
		server->n_refused++;
		hn_session_end(s);
		return 0;
	}
	return uv_read_start((uv_stream_t *)&s->pipe, on_room, on_read);
}
