/* daemon/server.h -- the listening socket and its sessions. */
#ifndef HN_DAEMON_SERVER_H
#define HN_DAEMON_SERVER_H

#include <sys/types.h>

#include "daemon/session.h"
#include "proto/addr.h"

struct hn_server {
	uv_loop_t *loop;
	uv_pipe_t listener;
	uv_timer_t reap; /* closes doomed sessions outside of whoever doomed them */
	uv_timer_t tick; /* looks for sessions that say no hello or take no output */
	struct hn_addr_listener addr;
	struct hn_session_limits limits;
	const struct hn_session_ops *ops;
	void *ctx;
	uid_t uid;		    /* only this user's processes are let in */
	struct hn_session *session; /* newest first */
	uint32_t n_session;
	size_t held_bytes; /* by all sessions that are not about to be closed */
	uint64_t n_accepted, n_refused;
	bool open;
};

/* Listen on `path` (proto/addr.h says how). limits NULL = those of msgs.def. */
int hn_server_open(struct hn_server *s, uv_loop_t *loop, const char *path,
		   const struct hn_session_limits *limits,
		   const struct hn_session_ops *ops, void *ctx,
		   struct hn_err *err) HN_NODISCARD;

/* Let nobody in any more; the name is gone, the lock stays until hn_server_fini. */
void hn_server_stop_listening(struct hn_server *s);

/* Close all sessions once their output is gone, or at once. */
void hn_server_end_sessions(struct hn_server *s, bool at_once);

/* After the loop has ended: give the lock back. */
void hn_server_fini(struct hn_server *s);

#endif
