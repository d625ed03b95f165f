/* db/sqlite/place.c -- where a store may live: a writable directory on a disk of this machine,
 * with one process in it at a time.
 *
 * WAL wants one host; on NFS, SMB and FUSE locks and syncs may be words only.  A
 * directory without any write bit was made read-only on purpose, so it is refused even to
 * root, whom the kernel would let in.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "db/sqlite/sqlite_int.h"

struct remote_fs {
	uint32_t magic; /* statfs f_type, statfs(2) */
	const char *name;
};

static const struct remote_fs remote_fs[] = {
	{0x6969, "NFS"},      {0x517b, "SMB"},	    {0xfe534d42, "SMB"},
	{0xff534d42, "CIFS"}, {0x65735546, "FUSE"}, {0x5346414f, "AFS"},
	{0x00c36400, "Ceph"}, {0x73757245, "Coda"}, {0x0bd00bd0, "Lustre"},
};

const char *hn_sqlite_place_remote(uint32_t magic)
{
	for (size_t i = 0; i < HN_COUNT_OF(remote_fs); i++) {
		if (magic == remote_fs[i].magic) {
			return remote_fs[i].name;
		}
	}
	return NULL;
}

static int check_local(const char *dir, struct hn_err *err)
{
	struct statfs fs;
	const char *remote;

	if (statfs(dir, &fs) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: cannot look at its file system: %s",
			       dir, strerror(errno));
	}
	remote = hn_sqlite_place_remote((uint32_t)fs.f_type);
	if (remote) {
		return hn_fail(
			err, HONE_E_UNSUPPORTED,
			"%s: a store cannot live on %s; choose a directory on a disk "
			"of this machine",
			dir, remote);
	}
	return 0;
}

int hn_sqlite_place_check(const char *dir, struct hn_err *err)
{
	struct stat st;
	int rc = hn_file_mkdirs(dir, 0700, err);

	if (rc != 0) {
		return rc;
	}
	if (stat(dir, &st) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", dir, strerror(errno));
	}
	rc = hn_file_check_owner(dir, &st, err);
	if (rc != 0) {
		return rc;
	}
	if ((st.st_mode & 0222) == 0 || access(dir, W_OK | X_OK) != 0) {
		return hn_fail(
			err, HONE_E_PERMISSION,
			"%s: the store directory is read-only (mode %03o); make it "
			"writable or choose another",
			dir, st.st_mode & 0777);
	}
	return check_local(dir, err);
}

int hn_sqlite_place_still(struct hn_sqlite *db, struct hn_err *err)
{
	struct stat st;

	if (db->inode.ino == 0 /* not open yet */ ||
	    (stat(db->path, &st) == 0 && st.st_dev == db->inode.dev &&
	     st.st_ino == db->inode.ino)) {
		return 0;
	}
	return hn_fail(err, HONE_E_STORE,
		       "%s: deleted or replaced while honed had it open; nothing can be stored any "
		       "more: put it back, or stop honed and start it again",
		       db->path);
}

static long lock_holder(int fd)
{
	char text[32] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atol(text) : 0;
}

int hn_sqlite_place_lock(const char *dir, int *ret_fd, struct hn_err *err)
{
	char path[PATH_MAX], pid[32];
	int fd, n;

	if (snprintf(path, sizeof(path), "%s/hone.lock", dir) >= (int)sizeof(path)) {
		return hn_fail(err, HONE_E_INVALID, "%s: the name is too long", dir);
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return hn_fail(err,
			       errno == ENOSPC || errno == EDQUOT ? HONE_E_DISK_FULL
								  : HONE_E_PERMISSION,
			       "%s: cannot open: %s", path, strerror(errno));
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		long holder = lock_holder(fd);
		int e = errno;

		close(fd);
		if (e != EWOULDBLOCK) {
			return hn_fail(err, HONE_E_STORE, "%s: cannot lock: %s", path,
				       strerror(e));
		}
		return hn_fail(
			err, HONE_E_BUSY,
			"%s: the store is in use by process %ld; talk to that one, "
			"or stop it",
			dir, holder);
	}
	/* For the message above only; a full disk will be told by the store itself. */
	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
		n = 0;
	}
	*ret_fd = fd;
	return 0;
}
