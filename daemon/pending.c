/* daemon/pending.c -- see pending.h. */
#include "daemon/pending.h"

#include <stdio.h>

#include "daemon/daemon.h"

int hn_pending_hold(struct hn_daemon *d, struct hn_session *s, const char *id,
		    struct hn_pending *p, struct hn_err *err)
{
	if (hn_store_is_full(d->store)) {
		return hn_fail(err, HONE_E_BUSY,
			       "the store has more to do than it can; ask again in a second");
	}
	p->daemon = d;
	p->session = s;
	snprintf(p->id, sizeof p->id, "%s", id);
	p->next = d->pendings;
	d->pendings = p;
	return 0;
}

int hn_pending_ask(struct hn_daemon *d, struct hn_session *s, const char *id,
		   struct hn_pending *p, struct hn_err *err)
{
	int rc = hn_pending_hold(d, s, id, p, err);

	if (rc == 0) {
		hn_store_ask(d->store, &p->ask);
	}
	return rc;
}

static void unlink_it(struct hn_pending *p)
{
	struct hn_pending **at = &p->daemon->pendings;

	while (*at != p) {
		at = &(*at)->next;
	}
	*at = p->next;
}

void hn_pending_reply(struct hn_pending *p, const char *json)
{
	unlink_it(p);
	if (p->session != NULL) {
		hn_session_reply(p->session, p->id, json);
	}
}

void hn_pending_refuse(struct hn_pending *p, const struct hn_err *err)
{
	unlink_it(p);
	if (p->session != NULL) {
		hn_session_fault(p->session, p->id, err->code, err->msg);
	}
}

void hn_pending_forget(struct hn_daemon *d, const struct hn_session *s)
{
	for (struct hn_pending *p = d->pendings; p != NULL; p = p->next) {
		p->session = p->session == s ? NULL : p->session;
	}
}
