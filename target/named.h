/* target/named.h -- the targets that a store's folder names, beside this machine.
 *
 * HOME/targets, a line for each; honed serves them all, and clients read their names there:
 *
 *     # name  target line, and in any place among its words boards=N and builders=N
 *     card    cuda -isa=sm_90 boards=2 builders=4
 *
 * A name is 1 to 40 letters, digits, '_', '-' and '.'; no kind of target, and not "native": these
 * words begin a target line.  Lines that begin with # and empty ones are for people.
 */
#ifndef HN_TARGET_NAMED_H
#define HN_TARGET_NAMED_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define HN_TARGETS_FILE "targets"
#define HN_NAMED_MOST 16 /* targets in the file */
#define HN_BOARDS_MOST 64
#define HN_BUILDERS_MOST 256

struct hn_named {
	const char *name, *line; /* the line as written, less its counts */
	uint32_t n_boards;	 /* 1 where it does not say */
	uint32_t n_builders;	 /* 0 = it does not say: one for each core */
};

/* All of them, in the file's order; none where there is no file.  HONE_E_CORRUPT names file and
 * line.  The target lines are not looked into. */
int hn_named_read(const char *home, struct hn_arena *a, uint32_t *n, struct hn_named **ret,
		  struct hn_err *err) HN_NODISCARD;

#endif
