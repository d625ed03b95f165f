/* client/cmd_help.c -- `hone help [VERB]`. */
#include "client/opts.h"

int cmd_help(const struct hn_opts *o, struct hn_err *err)
{
	const char *near;
	char name[32];

	if (o->arg == NULL) {
		hn_opts_print_verbs();
		return 0;
	}
	if (!hn_opts_print_verb(hn_opts_unspell(o->arg, name))) {
		near = hn_opts_nearest(o->arg);
		return hn_fail(err, HONE_E_INVALID, "%.40s: no such verb%s%s%s; see `hone help`",
			       o->arg, near != NULL ? " (did you mean " : "",
			       near != NULL ? hn_opts_spell(near, name) : "",
			       near != NULL ? "?)" : "");
	}
	return 0;
}
