/* client/workdir.c -- see workdir.h. */
#include "client/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

#define BEGINS ".hone-"
#define NAME BEGINS "XXXXXX"

static int fail(const char *dir, struct hn_err *err)
{
	int code = errno == EACCES || errno == EROFS ? HONE_E_PERMISSION
		   : errno == ENOSPC		     ? HONE_E_DISK_FULL
						     : HONE_E_IO;

	return hn_fail(err, code, "%s: %s", dir, strerror(errno));
}

/* What others left, who hold the lock no more. */
static void remove_stale(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	char path[PATH_MAX];

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, BEGINS, strlen(BEGINS)) == 0 &&
		    strlen(e->d_name) == strlen(NAME) &&
		    snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path) {
			hn_file_remove_tree(path);
		}
	}
	if (d != NULL) {
		closedir(d);
	}
}

int hn_workdir_open(const char *dir, struct hn_workdir *ret, struct hn_err *err)
{
	ret->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->lock < 0) {
		return fail(dir, err);
	}
	if (flock(ret->lock, LOCK_EX) == 0) {
		remove_stale(dir);
	} else if (errno == EINTR) {
		close(ret->lock);
		return hn_fail(err, HONE_E_CANCELLED, "%s: stopped", dir);
	} /* else there are no locks here: what is stale stays */
	if (snprintf(ret->path, sizeof ret->path, "%s/" NAME, dir) >= (int)sizeof ret->path) {
		errno = ENAMETOOLONG;
	} else if (mkdtemp(ret->path) != NULL) {
		return 0;
	}
	int rc = fail(dir, err);

	close(ret->lock);
	return rc;
}

void hn_workdir_close(struct hn_workdir *w)
{
	hn_file_remove_tree(w->path);
	close(w->lock);
}
