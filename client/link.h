/* client/link.h -- a connection to honed, starting a private one when none answers. */
#ifndef HN_CLIENT_LINK_H
#define HN_CLIENT_LINK_H

#include <sys/types.h>

#include "client/cmd.h"
#include "client/lib/talk.h"

struct hn_link {
	struct hn_talk talk;
	struct hn_json *hello; /* honed's answer */
	pid_t private_pid;     /* the honed we started; 0 = none */
};

/* Connect to the socket of --socket or the environment, and say hello.
 *
 *   start   when nobody answers, start `honed --private` (beside this executable, store
 * by
 *           --home) and connect to it; it ends with its last client
 *
 * HONE_E_NOT_FOUND when nobody answers and start is false; what honed says when it cannot
 * start.
 */
int hn_link_open(const struct hn_opts *o, bool start, struct hn_link *ret,
		 struct hn_err *err) HN_NODISCARD;

/* Close; a private honed that we started is waited for (at most two seconds: another client may
 * keep it), so that what comes after finds socket and store free. */
void hn_link_close(struct hn_link *l);

/* Send a request and wait for its answer; notifications that come in between are dropped.
 * *ret_doc holds the answer, *ret_result points into it. A fault becomes the error. */
int hn_link_call(struct hn_link *l, const char *method, const char *params,
		 int timeout_ms, struct hn_json **ret_doc,
		 const struct hn_json **ret_result, struct hn_err *err) HN_NODISCARD;

/* Send without waiting; the answer comes through hn_link_next. */
int hn_link_send(struct hn_link *l, const char *method, const char *params,
		 struct hn_err *err) HN_NODISCARD;

/* The next message. 0; 1 when timeout_ms passed, or a signal came, without one;
 * -HONE_E_IO when honed went away, -HONE_E_CORRUPT when it talks nonsense. */
int hn_link_next(struct hn_link *l, int timeout_ms, struct hn_json **ret_doc,
		 struct hn_msg *ret, struct hn_err *err) HN_NODISCARD;

#endif
