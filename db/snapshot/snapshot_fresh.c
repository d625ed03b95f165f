/* db/snapshot/snapshot_fresh.c -- whether best.snapshot is what the store says now.
 *
 * honed writes hone.mark at each commit and the snapshot soon after.  A killed honed, a full disk
 * or an old copy leaves one that is behind: an answer of the past, which must not pass for one of
 * now.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/snapshot/snapshot_int.h"

/* Whether a process has the store open. */
static bool is_held(const char *dir)
{
	char path[PATH_MAX];
	bool held;
	int fd;

	if (snprintf(path, sizeof(path), "%s/hone.lock", dir) >= (int)sizeof(path)) {
		return false;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
	if (fd >= 0) {
		close(fd);
	}
	return held;
}

static bool is_recent(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/hone.mark", dir);
	return stat(path, &st) == 0 && time(NULL) - st.st_mtime <= HN_SNAPSHOT_LAG_S;
}

int hn_snapshot_check_fresh(const struct hn_snapshot *s, const char *dir, struct hn_err *err)
{
	struct hn_mark snapshot = hn_snapshot_mark(s), now;
	struct hn_err why;
	int rc = hn_mark_read(dir, &now, &why);

	if (rc != 0) {
		return rc == -HONE_E_NOT_FOUND && !hn_snapshot_has_store(dir)
			       ? 0
			       : hn_fail(err, HONE_E_VERSION,
					 "%.400s: whether best.snapshot is the store's latest "
					 "cannot be told; start honed once, it writes both anew",
					 why.msg);
	}
	if (snapshot.store != now.store) {
		return hn_fail(err, HONE_E_VERSION,
			       "%s/best.snapshot: of another store than the one beside it; start "
			       "honed once, it writes it anew",
			       dir);
	}
	if (hn_snapshot_answers(s) == hn_mark_answers(&now) || snapshot.commit > now.commit ||
	    (is_held(dir) && is_recent(dir))) {
		return 0;
	}
	return hn_fail(err, HONE_E_VERSION,
		       "%s/best.snapshot: %lld commits behind the store; %s", dir,
		       (long long)(now.commit - snapshot.commit),
		       is_held(dir) ? "honed could not write it, its log says why"
				    : "start honed once, it writes it anew");
}

static int see_fresh(int rc, const char *dir, struct hn_snapshot **ret, struct hn_err *err)
{
	if (rc == 0) {
		rc = hn_snapshot_check_fresh(*ret, dir, err);
		if (rc != 0) {
			hn_snapshot_close(*ret);
			*ret = NULL;
		}
	}
	return rc;
}

int hn_snapshot_open_fresh(const char *dir, struct hn_snapshot **ret, struct hn_err *err)
{
	return see_fresh(hn_snapshot_open(dir, ret, err), dir, ret, err);
}

int hn_snapshot_map_fresh(const char *dir, struct hn_snapshot **ret, struct hn_err *err)
{
	return see_fresh(hn_snapshot_map(dir, ret, err), dir, ret, err);
}
