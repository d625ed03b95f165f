/* daemon/session.h -- one client's connection: bytes to messages, messages to bytes.
 *
 * Knows limits and flow control, and nothing of jobs: what a message means is the
 * handler's business (methods.c), so this part is tested alone.  Everything happens on
 * the loop.
 */
#ifndef HN_DAEMON_SESSION_H
#define HN_DAEMON_SESSION_H

#include <uv.h>

#include "proto/msg.h"

struct hn_server;
struct hn_session;

/* The numbers of msgs.def, as fields so that tests can make them small. */
struct hn_session_limits {
	size_t line_bytes;
	size_t read_stop_bytes, drop_bytes, close_bytes; /* output waiting */
	size_t held_bytes; /* output waiting and unfinished lines, of all together */
	uint32_t in_flight;
	uint32_t connections;
	int64_t hello_ms, stall_ms;
};

struct hn_session_limits hn_session_limits_default(void);

/* What the owner does with sessions.  `closed` comes once, before the memory goes;
 * nothing may be sent after it. */
struct hn_session_ops {
	void (*request)(void *ctx, struct hn_session *s, enum hn_method m,
			const struct hn_msg *msg);
	void (*closed)(void *ctx, struct hn_session *s);
	void (*drained)(void *ctx,
			struct hn_session *s); /* room again after dropped events */
};

struct hn_session {
	uv_pipe_t pipe; /* first: the handle is the session */
	struct hn_server *server;
	struct hn_session *next, *prev;
	uint64_t number;
	struct hn_lines in;
	size_t in_bytes, held_bytes; /* memory of `in`; that and all output waiting */
	uint32_t in_flight;	     /* requests not answered yet */
	bool greeted;		     /* hello was answered */
	bool paused;		     /* not reading: too much output waits */
	bool ending;		     /* close when the output is gone */
	bool closing;		     /* uv_close was called */
	bool doomed;		     /* to be closed soon; takes no output any more */
	bool lossy;		     /* events were dropped; `drained` is due */
	int64_t opened_ns, moved_ns; /* moved: last time output went out or was empty */
	void *user;		     /* the handler's own */
};

/* Answer a request. `id` is the text of the message; `result` JSON text. */
void hn_session_reply(struct hn_session *s, const char *id, const char *result);

/* Refuse one: code > 0 an error class, < 0 a JSON-RPC code. */
void hn_session_fault(struct hn_session *s, const char *id, int code, const char *text);

/* Send an event line; never closes the session itself (a client that must go is closed
 * from the loop), so lists may be walked around it. False when it was dropped: droppable,
 * and too much is waiting. */
bool hn_session_event(struct hn_session *s, const struct hn_buf *line, bool droppable);

/* Close once what waits has been sent (or the stall limit passes). */
void hn_session_end(struct hn_session *s);

/* For the server. */
int hn_session_open(struct hn_server *server, uv_stream_t *listener);
void hn_session_close(struct hn_session *s);
void hn_session_tick(struct hn_session *s, int64_t now_ns);

#endif
