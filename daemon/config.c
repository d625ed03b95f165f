/* daemon/config.c -- command line, environment, and the executables beside this one. */
#include "daemon/config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/addr.h"

static const char usage[] =
	"honed: finds fast kernels by search and keeps every result\n"
	"usage: honed [--socket PATH] [--home DIR] [--log FILE] [--private]\n"
	"  --socket PATH  listen here (HONE_SOCKET, $XDG_RUNTIME_DIR/hone/honed.sock)\n"
	"  --home DIR     keep records here (HONE_HOME, ~/.local/share/hone)\n"
	"  --log FILE     append the log to FILE (HONE_LOG) instead of standard error\n"
	"  --private      end when the last client has gone\n"
	"  --ready-fd N   say \"ok\" or the reason of a failed start on descriptor N\n"
	"  --version, --help\n";

/* `name` in the folder of this executable. */
static int beside(const char *name, struct hn_buf *ret, struct hn_err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0) {
		return hn_fail(err, HONE_E_IO, "/proc/self/exe: %s", strerror(errno));
	}
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	hn_buf_reset(ret);
	hn_buf_printf(ret, "%s/%s", self, name);
	return 0;
}

static int parse(struct hn_config *c, int argc, char **argv, const char **socket,
		 const char **home, struct hn_err *err)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "home", required_argument, NULL, 'd' },
		{ "log", required_argument, NULL, 'l' },
		{ "private", no_argument, NULL, 'p' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int o;

	opterr = 0;
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 's') {
			*socket = optarg;
		} else if (o == 'd') {
			*home = optarg;
		} else if (o == 'l') {
			c->log_path = optarg;
		} else if (o == 'p') {
			c->ends_with_clients = true;
		} else if (o == 'r') {
			c->ready_fd = atoi(optarg);
		} else if (o == 'v' || o == 'h') {
			fputs(o == 'v' ? "honed " HONE_VERSION "\n" : usage, stdout);
			c->stop_early = true;
		} else {
			return hn_fail(err, HONE_E_INVALID,
				       "%s: unknown option or missing value; "
				       "see honed --help",
				       argv[optind - 1]);
		}
	}
	if (optind < argc) {
		return hn_fail(err, HONE_E_INVALID, "%s: honed takes no arguments",
			       argv[optind]);
	}
	return 0;
}

int hn_config_load(struct hn_config *c, int argc, char **argv, struct hn_err *err)
{
	const char *socket = NULL, *home = NULL;
	int rc;

	*c = (struct hn_config){ .ready_fd = -1, .log_path = getenv("HONE_LOG") };
	hn_buf_init(&c->socket);
	hn_buf_init(&c->home);
	hn_buf_init(&c->builder);
	hn_buf_init(&c->board);
	if (c->log_path != NULL && *c->log_path == '\0') {
		c->log_path = NULL;
	}
	rc = parse(c, argc, argv, &socket, &home, err);
	if (rc == 0 && !c->stop_early) {
		rc = hn_addr_path(socket, &c->socket, err);
	}
	if (rc == 0 && !c->stop_early) {
		rc = hn_addr_home(home, &c->home, err);
	}
	if (rc == 0) {
		rc = beside("hone-build", &c->builder, err);
	}
	if (rc == 0) {
		rc = beside("hone-board", &c->board, err);
	}
	return rc;
}

void hn_config_fini(struct hn_config *c)
{
	hn_buf_fini(&c->socket);
	hn_buf_fini(&c->home);
	hn_buf_fini(&c->builder);
	hn_buf_fini(&c->board);
}
