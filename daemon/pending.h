/* daemon/pending.h -- a client's request that waits for the store.  The client may go meanwhile;
 * the request stays until its answer comes, and then tells nobody. */
#ifndef HN_DAEMON_PENDING_H
#define HN_DAEMON_PENDING_H

#include "daemon/session.h"
#include "daemon/store.h"

struct hn_daemon;

struct hn_pending {
	struct hn_ask ask; /* first */
	struct hn_pending *next;
	struct hn_daemon *daemon;
	struct hn_session *session; /* NULL: it has gone */
	char id[HN_LIMIT_ID_BYTES + 3];
};

/* Ask what p->ask says, for the request `id`.  HONE_E_BUSY: too much waits already, and p is still
 * the caller's. */
int hn_pending_ask(struct hn_daemon *d, struct hn_session *s, const char *id,
		   struct hn_pending *p, struct hn_err *err) HN_NODISCARD;

/* The same, but the caller asks the store (p->ask), later. */
int hn_pending_hold(struct hn_daemon *d, struct hn_session *s, const char *id,
		    struct hn_pending *p, struct hn_err *err) HN_NODISCARD;

/* In p->ask.done: who waits is answered with this JSON, or refused, and p waits no more. */
void hn_pending_reply(struct hn_pending *p, const char *json);
void hn_pending_refuse(struct hn_pending *p, const struct hn_err *err);

/* A session has closed. */
void hn_pending_forget(struct hn_daemon *d, const struct hn_session *s);

#endif
