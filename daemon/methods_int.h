/* daemon/methods_int.h -- what the handlers of methods share: one a METHOD row of msgs.def. */
#ifndef HN_DAEMON_METHODS_INT_H
#define HN_DAEMON_METHODS_INT_H

#include "daemon/daemon.h"

struct hn_call {
	struct hn_daemon *d;
	struct hn_session *session;
	const struct hn_msg *msg; /* params checked against their rows */
};

/* A parameter; NULL when absent. */
const struct hn_json *hn_call_field(const struct hn_call *c, const char *name);

/* Answer with this JSON; the buffer is freed. */
void hn_call_reply(const struct hn_call *c, struct hn_buf *b);
void hn_call_refuse(const struct hn_call *c, const struct hn_err *err);

#define METHOD(id, spelling, text) void hn_method_##id(const struct hn_call *c);
#include "proto/msgs.def"

#endif
