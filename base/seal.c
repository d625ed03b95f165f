/* base/seal.c -- see seal.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/seal.h"

static const char word[] = "HONESEAL";

void hn_seal_make(const void *bytes, size_t n, uint8_t ret[HN_SEAL_BYTES])
{
	uint64_t number[3] = { htole64(n), htole64(hn_hash64(bytes, n, 1)),
			       htole64(hn_hash64(bytes, n, 2)) };

	memcpy(ret, word, 8);
	memcpy(ret + 8, number, sizeof(number));
}

int hn_seal_check(const char *what, const void *bytes, size_t n, size_t *ret, struct hn_err *err)
{
	const uint8_t *p = bytes;
	uint8_t want[HN_SEAL_BYTES];

	if (n < HN_SEAL_BYTES || memcmp(p + n - HN_SEAL_BYTES, word, 8) != 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "%s: no seal at its end: it was cut short, or changed, or is none of "
			       "hone's; make it anew",
			       what);
	}
	*ret = n - HN_SEAL_BYTES;
	hn_seal_make(p, *ret, want);
	if (memcmp(p + *ret, want, HN_SEAL_BYTES) != 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "%s: damaged: it is not what its seal says; make it anew", what);
	}
	return 0;
}

/* The file as it lies on disk: a library may have its weights in it. */
static int map_file(const char *path, int fd, void **ret, size_t *ret_n, struct hn_err *err)
{
	struct stat st;

	*ret = MAP_FAILED;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		return hn_fail(err, HONE_E_CORRUPT, "%s: empty, or no file", path);
	}
	*ret_n = (size_t)st.st_size;
	*ret = mmap(NULL, *ret_n, PROT_READ, MAP_PRIVATE, fd, 0);
	return *ret != MAP_FAILED ? 0
				  : hn_fail(err, HONE_E_IO, "%s: cannot map: %s", path,
					    strerror(errno));
}

int hn_seal_check_file(const char *path, struct hn_err *err)
{
	int fd = hn_file_open(path, err), rc;
	size_t n, length;
	void *map;

	if (fd < 0) {
		return fd;
	}
	rc = map_file(path, fd, &map, &n, err);
	if (rc == 0) {
		rc = hn_seal_check(path, map, n, &length, err);
		munmap(map, n);
	}
	close(fd);
	return rc;
}

int hn_seal_file(const char *path, struct hn_err *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc;
	uint8_t seal[HN_SEAL_BYTES];
	size_t n;
	void *map;

	if (fd < 0) {
		return hn_fail(err, HONE_E_IO, "%s: cannot open: %s", path, strerror(errno));
	}
	rc = map_file(path, fd, &map, &n, err);
	if (rc == 0) {
		hn_seal_make(map, n, seal);
		munmap(map, n);
		if (pwrite(fd, seal, sizeof(seal), (off_t)n) != (ssize_t)sizeof(seal)) {
			rc = hn_fail(err, HONE_E_IO, "%s: cannot write its seal: %s", path,
				     strerror(errno));
		}
	}
	close(fd);
	return rc;
}
