/* client/workdir.h -- a temporary folder in the folder that files go to, so that they come to their
 * places by a rename.
 *
 * The folder is locked meanwhile: of two that write to one folder the second waits.  What a process
 * that was killed left behind, which for a large network is gigabytes, goes with the next.
 */
#ifndef HN_CLIENT_WORKDIR_H
#define HN_CLIENT_WORKDIR_H

#include <limits.h>

#include "base/err.h"

struct hn_workdir {
	int lock; /* descriptor of the folder; below 0: none */
	char path[PATH_MAX];
};

/* In `dir`, which is there.  HONE_E_CANCELLED: a signal came while another was waited for. */
int hn_workdir_open(const char *dir, struct hn_workdir *ret, struct hn_err *err) HN_NODISCARD;

/* Remove it with all that is in it. */
void hn_workdir_close(struct hn_workdir *w);

#endif
