/* graph/import/refuse.c -- see refuse.h: one row for each operator and reason. */
#include "graph/import/refuse.h"

#include <string.h>

/* The line begins with the node's name, which is told apart. */
static const char *reason(const char *at, const char *msg)
{
	size_t n = strlen(at);

	return n > 0 && strncmp(msg, at, n) == 0 && msg[n] == ':' ? msg + n + 2 : msg;
}

void hn_import_refuse(struct hn_import *im, struct hn_arena *a, const char *op, const char *at,
		      const struct hn_err *err)
{
	const char *why = reason(at, err->msg);

	for (uint32_t k = 0; k < im->n_refusal; k++) {
		if (strcmp(im->refusal[k].op, op) == 0 && strcmp(im->refusal[k].why, why) == 0) {
			im->refusal[k].n++;
			return;
		}
	}
	im->refusal = hn_arena_grow(a, im->refusal, im->n_refusal, &im->cap_refusal,
				    sizeof(*im->refusal));
	im->refusal[im->n_refusal++] = (struct hn_refusal){
		.op = op, .node = at, .why = hn_arena_strdup(a, why), .n = 1
	};
}

int hn_import_refused(const struct hn_import *im, struct hn_err *err)
{
	return im->n_refusal == 0
		       ? 0
		       : hn_fail(err, HONE_E_UNSUPPORTED, "%s: %s (node %.80s)%s", im->refusal[0].op,
				 im->refusal[0].why, im->refusal[0].node,
				 im->n_refusal > 1 ? ", and others" : "");
}
