/* client/say.h -- honed's answers as JSON, in the words that all verbs share (docs/json.md).
 *
 * honed speaks its protocol (docs/proto.md), where a job's key is its `workload` and 0 is a time
 * that is not known yet.  A verb says `key`, `median_ns`, `ms`, and null. */
#ifndef HN_CLIENT_SAY_H
#define HN_CLIENT_SAY_H

#include "base/json.h"
#include "base/jw.h"

/* A value, as the member `name` (NULL in a list). */
void hn_say(const struct hn_json *v, const char *name, struct hn_jw *w);

/* A member of an object, into one that is open; all of them. */
void hn_say_member(const struct hn_json *member, struct hn_jw *w);
void hn_say_members(const struct hn_json *object, struct hn_jw *w);

/* A line on standard output. */
void hn_say_print(const struct hn_json *v);

#endif
