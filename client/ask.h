/* client/ask.h -- one question to honed about what the store holds. */
#ifndef HN_CLIENT_ASK_H
#define HN_CLIENT_ASK_H

#include "client/link.h"

/* Ask honed, a private one where none runs but there is a store.  *ret_doc is the answer, to be
 * freed, *ret its result in it.  HONE_E_NOT_FOUND when there is neither honed nor store. */
int hn_ask(const struct hn_opts *o, const char *method, const char *params, int limit_ms,
	   struct hn_json **ret_doc, const struct hn_json **ret, struct hn_err *err) HN_NODISCARD;

#endif
