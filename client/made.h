/* client/made.h -- whether hone-build can make the kernel of a history: machines that are no processor
 * have no code for some computations, and a time that is predicted of them would be of nothing.
 */
#ifndef HN_CLIENT_MADE_H
#define HN_CLIENT_MADE_H

#include "base/arena.h"
#include "base/err.h"
#include "loopstate/state/trace.h"
#include "target/target.h"

/* Whether there may be none: processors run all computations. */
bool hn_made_asks(const struct hn_target *t);

/* It is made and thrown away: *ret_refused is NULL, or why there is none, in a.  Other errors are
 * returned. */
int hn_made(const char *verb, const char *dag_json, const char *steps, const char *target_line,
	    struct hn_arena *a, const char **ret_refused, struct hn_err *err) HN_NODISCARD;

#endif
