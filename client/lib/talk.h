/* client/lib/talk.h -- requests to honed and what it says, over one connection, with plain blocking
 * calls. */
#ifndef HN_CLIENT_LIB_TALK_H
#define HN_CLIENT_LIB_TALK_H

#include "proto/msg.h"

struct hn_talk {
	int fd; /* below 0: closed */
	struct hn_lines in;
	uint64_t n_request;
};

/* To the socket of that path.  HONE_E_NOT_FOUND when nobody answers there. */
int hn_talk_open(const char *path, struct hn_talk *ret, struct hn_err *err) HN_NODISCARD;
void hn_talk_close(struct hn_talk *l);

/* What comes first.  HONE_E_NOT_FOUND when it closed on us before it said anything. */
int hn_talk_greet(struct hn_talk *l, const char *name, struct hn_json **ret_doc,
		  const struct hn_json **ret_result, struct hn_err *err) HN_NODISCARD;

/* Send a request and wait for its answer; notifications that come in between are dropped.
 * *ret_doc holds the answer, *ret_result points into it. A fault becomes the error. */
int hn_talk_call(struct hn_talk *l, const char *method, const char *params, int timeout_ms,
		 struct hn_json **ret_doc, const struct hn_json **ret_result,
		 struct hn_err *err) HN_NODISCARD;

/* Send without waiting; the answer comes through hn_talk_next. */
int hn_talk_send(struct hn_talk *l, const char *method, const char *params,
		 struct hn_err *err) HN_NODISCARD;

/* The next message. 0; 1 when timeout_ms passed, or a signal came, without one;
 * -HONE_E_IO when honed went away, -HONE_E_CORRUPT when it talks nonsense. */
int hn_talk_next(struct hn_talk *l, int timeout_ms, struct hn_json **ret_doc, struct hn_msg *ret,
		 struct hn_err *err) HN_NODISCARD;

/* A fault as an error. */
int hn_talk_fault(const struct hn_msg *m, struct hn_err *err);

#endif
