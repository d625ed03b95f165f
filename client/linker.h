/* client/linker.h -- the system's linker: which there is for a target's objects (linkers.def), and
 * runs of it.
 *
 * Runs happen in a folder of the caller's, and files are named as they are there.  A list of files
 * is itself a file, one name a line, of letters, digits and _ . / alone, given as "@FILE".
 */
#ifndef HN_CLIENT_LINKER_H
#define HN_CLIENT_LINKER_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "target/target.h"

enum hn_linker_work { HN_LINK_JOIN, HN_LINK_SHARE, HN_LINK_COMPILE, HN_LINK_N };

/* The first program of that name in PATH; false where there is none. */
bool hn_linker_find_program(const char *name, char path[PATH_MAX]);

struct hn_linker {
	int row[HN_LINK_N]; /* of linkers.def; -1: nobody does that */
	char path[HN_LINK_N][PATH_MAX];
};

/* Look in PATH who does each of these for the target. */
void hn_linker_find(const struct hn_target *target, struct hn_linker *ret);

static inline bool hn_linker_can(const struct hn_linker *l, enum hn_linker_work work)
{
	return l->row[work] >= 0;
}

struct hn_linking {
	const char *dir, *out, *in; /* in: a file, or "@LIST" */
	const char *name,
		*exports; /* to share: the library's name, and the version script */
};

/* Do it; hn_linker_can.  HONE_E_INTERNAL with the linker's own first line. */
int hn_linker_run(const struct hn_linker *l, enum hn_linker_work work,
		  const struct hn_linking *what, const char *verb,
		  struct hn_err *err) HN_NODISCARD;

/* The words of a run, for people: "ld -r -o OUT @LIST".  Of any row where there is no linker. */
void hn_linker_words(const struct hn_linker *l, enum hn_linker_work work,
		     const struct hn_linking *what, struct hn_buf *ret);

#endif
