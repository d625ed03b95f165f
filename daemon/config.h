/* daemon/config.h -- what honed was told: command line over environment over defaults. */
#ifndef HN_DAEMON_CONFIG_H
#define HN_DAEMON_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct hn_config {
	struct hn_buf socket;	/* path */
	struct hn_buf home;	/* directory of the store */
	struct hn_buf builder;	/* hone-build, beside this executable */
	struct hn_buf board;	/* hone-board */
	const char *board_target; /* what the boards are; NULL = this machine; borrowed */
	uint32_t n_boards;	/* 0 = 1 */
	const char *log_path;	/* NULL = standard error; borrowed */
	bool ends_with_clients; /* --private */
	int ready_fd;		/* told "ok" or the reason once; -1 = none */
	bool stop_early;	/* --help or --version was answered */
};

/* Read argv and the environment (docs/env.md). */
int hn_config_load(struct hn_config *c, int argc, char **argv,
		   struct hn_err *err) HN_NODISCARD;
void hn_config_fini(struct hn_config *c);

#endif
