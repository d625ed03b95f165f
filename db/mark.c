/* db/mark.c -- see mark.h. */
#include "db/mark.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#define MAGIC "HONEMARK"
#define VERSION 1

enum {
	AT_VERSION = 8,
	AT_STORE = 16,
	AT_COMMIT = 24,
	AT_ROWS = 32,
	AT_CHECKSUM = 504,
	FILE_BYTES = 512,
	TRIES = 5 /* a reader may meet the writer half-way */
};

_Static_assert(AT_ROWS + HN_N_MARK * 24 <= AT_CHECKSUM, "the marks fit");

static const struct {
	const char *name;
	bool answers;
} tables[HN_N_MARK] = {
#define TABLE(name, answers, id, from, good) {#name, answers},
#include "db/tables.def"
#undef TABLE
};

const char *hn_mark_name(enum hn_mark_table t)
{
	return tables[t].name;
}

uint64_t hn_mark_answers(const struct hn_mark *m)
{
	uint64_t h = m->store;

	for (int t = 0; t < HN_N_MARK; t++) {
		if (tables[t].answers) {
			h = hn_hash64_word((uint64_t)m->of[t].n_row, h);
			h = hn_hash64_word(m->of[t].digest, h);
		}
	}
	return h;
}

static void put64(char *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, sizeof(v));
}

static uint64_t get64(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

int hn_mark_write(int fd, const struct hn_mark *m)
{
	char file[FILE_BYTES] = MAGIC;

	put64(file + AT_VERSION, VERSION);
	put64(file + AT_STORE, m->store);
	put64(file + AT_COMMIT, (uint64_t)m->commit);
	for (int t = 0; t < HN_N_MARK; t++) {
		char *at = file + AT_ROWS + 24 * t;

		put64(at, (uint64_t)m->of[t].n_row);
		put64(at + 8, (uint64_t)m->of[t].last);
		put64(at + 16, m->of[t].digest);
	}
	put64(file + AT_CHECKSUM, hn_hash64(file, AT_CHECKSUM, 0));
	return pwrite(fd, file, sizeof(file), 0) == sizeof(file) ? 0 : -HONE_E_IO;
}

static bool parse(const char file[FILE_BYTES], ssize_t n, struct hn_mark *ret)
{
	if (n != FILE_BYTES || memcmp(file, MAGIC, 8) != 0 ||
	    get64(file + AT_VERSION) != VERSION ||
	    get64(file + AT_CHECKSUM) != hn_hash64(file, AT_CHECKSUM, 0)) {
		return false;
	}
	ret->store = get64(file + AT_STORE);
	ret->commit = (int64_t)get64(file + AT_COMMIT);
	for (int t = 0; t < HN_N_MARK; t++) {
		const char *at = file + AT_ROWS + 24 * t;

		ret->of[t] = (struct hn_mark_row){ .n_row = (int64_t)get64(at),
						   .last = (int64_t)get64(at + 8),
						   .digest = get64(at + 16) };
	}
	return true;
}

static int place(const char *dir, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/hone.mark", dir) < PATH_MAX ? 0 : -1;
}

int hn_mark_read(const char *dir, struct hn_mark *ret, struct hn_err *err)
{
	char path[PATH_MAX], file[FILE_BYTES + 1];
	bool good = false;
	int fd;

	if (place(dir, path) != 0) {
		return hn_fail(err, HONE_E_INVALID, "%s: the name is too long", dir);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return hn_fail(err, errno == ENOENT ? HONE_E_NOT_FOUND : HONE_E_IO,
			       "%s: cannot open: %s", path, strerror(errno));
	}
	for (int i = 0; !good && i < TRIES; i++) {
		good = parse(file, pread(fd, file, sizeof(file), 0), ret);
	}
	close(fd);
	return good ? 0 : hn_fail(err, HONE_E_CORRUPT, "%s: damaged", path);
}

int hn_mark_open(const char *dir)
{
	char path[PATH_MAX];

	return place(dir, path) != 0
		       ? -1
		       : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}
