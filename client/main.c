/* client/main.c -- `hone`: find the verb, read its options, run it, print one line on
 * failure. Verbs and options are rows of cmds.def and opts.def; help is printed from
 * them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "client/opts.h"

static const struct {
	const char *name;
	hn_cmd_fn run;
} verb_row[] = {
#define CMD(verb, args, text) { #verb, cmd_##verb },
#include "client/cmds.def"
#undef CMD
};

static int run(int argc, char **argv, struct hn_err *err)
{
	struct hn_opts o = { 0 };
	char name[32];
	const char *verb = argc > 1 ? argv[1] : "help";
	int rc;

	if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
		verb = "help";
	}
	if (strcmp(verb, "--version") == 0) {
		puts("hone " HONE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		if (strcmp(hn_opts_unspell(verb, name), verb_row[i].name) != 0) {
			continue;
		}
		verb = verb_row[i].name;
		rc = argc > 1 ? hn_opts_parse(verb, argc - 1, argv + 1, &o, err) : 0;
		if (rc == 1) {
			o = (struct hn_opts){ .arg = verb };
			return cmd_help(&o, err);
		}
		return rc != 0 ? rc : verb_row[i].run(&o, err);
	}
	return hn_fail(err, HONE_E_INVALID, "%.40s: no such verb%s%s%s; see `hone help`",
		       verb, hn_opts_nearest(verb) != NULL ? " (did you mean " : "",
		       hn_opts_nearest(verb) != NULL
			       ? hn_opts_spell(hn_opts_nearest(verb), name)
			       : "",
		       hn_opts_nearest(verb) != NULL ? "?)" : "");
}

int main(int argc, char **argv)
{
	struct hn_err err = { 0 };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = run(argc, argv, &err);
	if (fflush(stdout) != 0 && rc == 0) {
		rc = hn_fail(&err, HONE_E_IO, "standard output: cannot be written");
	}
	if (rc != 0) {
		fprintf(stderr, "hone: %s\n", err.msg);
	}
	return rc != 0 ? 10 - rc : 0;
}
