/* client/ask.c -- see ask.h. */
#include "client/ask.h"

#include "client/best.h"

int hn_ask(const struct hn_opts *o, const char *method, const char *params, int limit_ms,
	   struct hn_json **ret_doc, const struct hn_json **ret, struct hn_err *err)
{
	struct hn_err nothing = { 0 };
	struct hn_link link;
	struct hn_buf b;
	int rc, there;

	hn_buf_init(&b);
	there = hn_best_store(o, &b, &nothing);
	hn_buf_fini(&b);
	rc = hn_link_open(o, /* start= */ there == 0, &link, err);
	if (rc != 0) {
		if (rc == -HONE_E_NOT_FOUND && there != 0) {
			*err = nothing;
		}
		return rc;
	}
	rc = hn_link_call(&link, method, params, limit_ms, ret_doc, ret, err);
	hn_link_close(&link);
	return rc;
}
