/* daemon/config.c -- command line, environment, and the executables beside this one. */
#include "daemon/config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/typo.h"
#include "proto/addr.h"
#include "target/named.h"

static const char usage[] =
	"honed: finds fast kernels by search and keeps every result\n"
	"usage: honed [--socket PATH] [--home DIR] [--log FILE] [--private]\n"
	"  --socket PATH  listen here (HONE_SOCKET, $XDG_RUNTIME_DIR/hone/honed.sock)\n"
	"  --home DIR     keep records here (HONE_HOME, ~/.local/share/hone)\n"
	"  --log FILE     append the log to FILE (HONE_LOG) instead of standard error\n"
	"  --board LINE   the first target, for tasks that name none (HONE_BOARD, native) ...\n"
	"  --boards N     ... has so many boards (HONE_BOARDS, 1); several only of another kind than cpu\n"
	"  --private      end when the last client has gone\n"
	"  --ready-fd N   say \"ok\" or the reason of a failed start on descriptor N\n"
	"  --version, -h, --help\n"
	"The file `targets` in the store's directory names more targets, served at the same time, one\n"
	"a line: NAME LINE, and among the words of the line boards=N and builders=N\n";

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

/* An option that is none, or is not given as it must be. */
static int refuse(int code, const char *word, const struct option *options, struct hn_err *err)
{
	const char *known[16], *near;
	size_t n = 0;

	if (code == ':') {
		return hn_fail(err, HONE_E_INVALID, "%.60s: needs a value; see honed --help", word);
	}
	while (options[n].name != NULL && n < HN_COUNT_OF(known)) {
		known[n] = options[n].name;
		n++;
	}
	near = strncmp(word, "--", 2) == 0 ? hn_typo_nearest(word + 2, known, n) : NULL;
	return hn_fail(err, HONE_E_INVALID, "%.60s: no such option%s%s%s; see honed --help", word,
		       near != NULL ? " (did you mean --" : "", near != NULL ? near : "",
		       near != NULL ? "?)" : "");
}

static int parse(struct hn_config *c, int argc, char **argv, const char **socket,
		 const char **home, const char **boards, struct hn_err *err)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "home", required_argument, NULL, 'd' },
		{ "log", required_argument, NULL, 'l' },
		{ "board", required_argument, NULL, 'b' },
		{ "boards", required_argument, NULL, 'n' },
		{ "private", no_argument, NULL, 'p' },
		{ "ready-fd", required_argument, NULL, 'r' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int o;

	opterr = 0;
	while ((o = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (o == 's') {
			*socket = optarg;
		} else if (o == 'd') {
			*home = optarg;
		} else if (o == 'l') {
			c->log_path = optarg;
		} else if (o == 'b') {
			c->board_target = optarg;
		} else if (o == 'n') {
			*boards = optarg;
		} else if (o == 'p') {
			c->ends_with_clients = true;
		} else if (o == 'r') {
			c->ready_fd = atoi(optarg);
		} else if (o == 'v' || o == 'h') {
			fputs(o == 'v' ? "honed " HONE_VERSION "\n" : usage, stdout);
			c->stop_early = true;
		} else {
			return refuse(o, argv[optind - 1], options, err);
		}
	}
	if (optind < argc) {
		return hn_fail(err, HONE_E_INVALID, "%s: honed takes no arguments",
			       argv[optind]);
	}
	return 0;
}

static int read_boards(struct hn_config *c, const char *text, struct hn_err *err)
{
	char *end = NULL;
	long n = text != NULL ? strtol(text, &end, 10) : 1;

	if (text != NULL && (end == text || *end != '\0' || n < 1 || n > HN_BOARDS_MOST)) {
		return hn_fail(err, HONE_E_INVALID,
			       "--boards: \"%.40s\": want a number from 1 to %d", text,
			       HN_BOARDS_MOST);
	}
	c->n_boards = (uint32_t)n;
	return 0;
}

/* A variable that is set to something. */
static const char *variable(const char *name)
{
	const char *s = getenv(name);

	return s != NULL && *s != '\0' ? s : NULL;
}

int hn_config_load(struct hn_config *c, int argc, char **argv, struct hn_err *err)
{
	const char *socket = NULL, *home = NULL, *boards = variable("HONE_BOARDS");
	int rc;

	*c = (struct hn_config){ .ready_fd = -1,
				 .log_path = variable("HONE_LOG"),
				 .board_target = variable("HONE_BOARD") };
	hn_buf_init(&c->socket);
	hn_buf_init(&c->home);
	hn_buf_init(&c->builder);
	hn_buf_init(&c->board);
	rc = parse(c, argc, argv, &socket, &home, &boards, err);
	rc = rc != 0 ? rc : read_boards(c, boards, err);
	if (rc == 0 && !c->stop_early) {
		rc = hn_addr_path(socket, &c->socket, err);
	}
	if (rc == 0 && !c->stop_early) {
		rc = hn_addr_home(home, &c->home, err);
	}
	if (rc == 0 && c->home.n > 0 && setenv("HONE_HOME", c->home.s, 1) != 0) {
		rc = hn_fail(err, HONE_E_NOMEM, "no memory for the environment");
	} /* what it starts keeps its records there, too */
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
