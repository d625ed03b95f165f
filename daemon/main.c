/* daemon/main.c -- honed: start, say so, serve. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/heap.h"

/* Whoever started us waits for one line on ready_fd: "ok", or "CODE reason". */
static void tell_starter(int fd, const struct hn_err *err)
{
	char line[1100];
	int n;

	if (fd < 0) {
		return;
	}
	n = err == NULL ? snprintf(line, sizeof(line), "ok\n")
			: snprintf(line, sizeof(line), "%d %s\n", err->code, err->msg);
	if (write(fd, line, (size_t)n) != n) {
		/* the starter has gone; its business */
	}
	close(fd);
}

static int fail(struct hn_config *c, const struct hn_err *err)
{
	tell_starter(c->ready_fd, err);
	if (c->ready_fd < 0) {
		fprintf(stderr, "honed: %s\n", err->msg);
	}
	return 10 + err->code;
}

int main(int argc, char **argv)
{
	struct hn_daemon *d = calloc(1, sizeof(*d));
	struct hn_err err = { 0 };
	int rc;

	hn_assert(d != NULL);
	hn_heap_open();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	rc = hn_config_load(&d->config, argc, argv, &err);
	if (rc == 0 && !d->config.stop_early) {
		rc = hn_log_open(&d->log, d->config.log_path, &err);
		if (rc == 0) {
			rc = hn_daemon_open(d, &err);
		}
		if (rc == 0) {
			tell_starter(d->config.ready_fd, NULL);
			hn_daemon_run(d);
		}
		hn_log_close(&d->log);
	}
	rc = rc != 0 ? fail(&d->config, &err) : 0;
	hn_config_fini(&d->config);
	free(d);
	return rc;
}
