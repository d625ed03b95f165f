/* client/watch.h -- a job that was submitted, followed to its end. */
#ifndef HN_CLIENT_WATCH_H
#define HN_CLIENT_WATCH_H

#include "client/link.h"
#include "client/show.h"

struct hn_watch {
	struct hn_link *link;
	struct hn_show *show;
	const char *job;
	struct hn_json *last_doc; /* of the last progress or done; whoever watches frees it */
	const struct hn_json *last;
	bool ended, cancelling; /* cancelling: the user interrupted */
};

/* Until it has ended.  Ctrl-C (hn_interrupt_catch) gives up our interest in it. */
int hn_watch(struct hn_watch *w, struct hn_err *err) HN_NODISCARD;

#endif
