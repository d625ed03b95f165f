/* client/main.c -- `hone`: find the verb, read its options, run it, print one line on
 * failure. Verbs and options are rows of cmds.def and opts.def; help is printed from
 * them. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/device.h"
#include "client/interrupt.h"
#include "client/opts.h"

static const struct {
	const char *name;
	hn_cmd_fn run;
} verb_row[] = {
#define CMD(verb, args, text) { #verb, cmd_##verb },
#include "client/cmds.def"
#undef CMD
};

/* `hone sketch` has targets of its own, those of Ansor's sketches. */
static int on_device(const char *verb, struct hn_opts *o, hn_cmd_fn cmd, struct hn_err *err)
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (strcmp(verb, "sketch") != 0) {
		hn_device_target(verb, o, &a);
	}
	int rc = cmd(o, err);

	hn_arena_fini(&a);
	return rc;
}

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
		return rc != 0 ? rc : on_device(verb, &o, verb_row[i].run, err);
	}
	return cmd_help(&(struct hn_opts){ .arg = verb }, err); /* which says that it is none */
}

/* Whoever was to read our standard output has closed it. */
static bool reader_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)) != 0;
}

/* What could not be written is said, but not to somebody who has read enough (`hone ... | head`):
 * then all is silent, as of a program that SIGPIPE ended.  That signal itself is ignored, for
 * temporary folders are to be cleaned up. */
static int status_of(int rc, struct hn_err *err)
{
	bool lost = fflush(stdout) != 0 || ferror(stdout) != 0;

	if (lost && reader_gone()) {
		return 128 + SIGPIPE;
	}
	if (lost && rc == 0) {
		rc = hn_fail(err, HONE_E_IO, "standard output: cannot be written");
	}
	if (rc == 0) {
		return 0;
	}
	fprintf(stderr, "hone: %s\n", err->msg);
	return hn_interrupt_status() != 0 ? hn_interrupt_status() : 10 - rc;
}

int main(int argc, char **argv)
{
	struct hn_err err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	return status_of(run(argc, argv, &err), &err);
}
