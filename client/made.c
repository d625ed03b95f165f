/* client/made.c -- see made.h. */
#include "client/made.h"

#include <string.h>

#include "client/builder.h"

bool hn_made_asks(const struct hn_target *t)
{
	return (t->caps & (HN_CAP_MODULES | HN_CAP_BUFFERS)) != 0;
}

/* Without who said so. */
static const char *reason(const char *msg)
{
	static const char who[] = "hone-build: ";
	const char *at = strstr(msg, who);

	return at != NULL ? at + strlen(who) : msg;
}

int hn_made(const char *verb, const char *dag_json, const char *steps, const char *target_line,
	    struct hn_arena *a, const char **ret_refused, struct hn_err *err)
{
	char *words[] = { "--no-prove", "--target", (char *)(uintptr_t)target_line, NULL };
	struct hn_buf nothing;
	int rc;

	hn_buf_init(&nothing);
	rc = hn_builder_ask(verb, dag_json, steps, words, &nothing, err);
	hn_buf_fini(&nothing);
	*ret_refused = rc == -HONE_E_UNSUPPORTED ? hn_arena_strdup(a, reason(err->msg)) : NULL;
	return *ret_refused != NULL ? 0 : rc;
}
