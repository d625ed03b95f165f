/* db/snapshot/snapshot.c -- mapping and searching best.snapshot, without a database or a daemon.
 *
 * Opening checks everything once: size, version, checksum, and that each text lies in the
 * file and ends in a NUL there.  Afterwards a search needs no check but the bound of its
 * probe.  The file is only ever replaced by rename, so a map never changes under a
 * reader.
 */
#include "db/snapshot/snapshot.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/snapshot/snapshot_int.h"

struct hn_snapshot {
	const char *map;
	size_t bytes;
	uint32_t n_entry, n_slot;
	const char *slot, *entry, *notice;
};

static uint32_t get32(const char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static uint64_t get64(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static double get_double(const char *at)
{
	uint64_t bits = get64(at);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static const char *entry_at(const struct hn_snapshot *s, uint32_t i)
{
	return s->entry + (size_t)i * HN_SNAPSHOT_ENTRY_BYTES;
}

static int corrupt(const char *path, const char *why, struct hn_err *err)
{
	return hn_fail(err, HONE_E_CORRUPT,
		       "%s: damaged (%s); delete it, honed writes it anew from the store",
		       path, why);
}

static bool times_make_sense(const char *numbers)
{
	double flops = get_double(numbers), median = get_double(numbers + 8),
	       naive = get_double(numbers + 16);

	return isfinite(flops) && isfinite(median) && median >= 0 && isfinite(naive) &&
	       naive >= 0;
}

static int check_entry(const struct hn_snapshot *s, uint32_t i, const char *path,
		       struct hn_err *err)
{
	const char *entry = entry_at(s, i);
	uint64_t first = (uint64_t)(s->entry - s->map) +
			 (uint64_t)s->n_entry * HN_SNAPSHOT_ENTRY_BYTES;

	for (uint32_t t = 0; t < HN_SNAPSHOT_N_TEXT; t++) {
		uint64_t at = get32(entry + (size_t)t * HN_SNAPSHOT_TEXT_BYTES);
		uint64_t n = get32(entry + (size_t)t * HN_SNAPSHOT_TEXT_BYTES + 4);

		if (at < first || at + n >= s->bytes || s->map[at + n] != '\0') {
			return corrupt(path, "a text outside the file", err);
		}
	}
	if (!times_make_sense(entry + HN_SNAPSHOT_AT_NUMBERS)) {
		return corrupt(path, "a time that is no time", err);
	}
	return 0;
}

static int check_header(struct hn_snapshot *s, const char *path, struct hn_err *err)
{
	uint64_t need, notice;

	if (s->bytes < HN_SNAPSHOT_HEADER_BYTES ||
	    memcmp(s->map, HN_SNAPSHOT_MAGIC, strlen(HN_SNAPSHOT_MAGIC)) != 0) {
		return corrupt(path, "not a snapshot", err);
	}
	if (get32(s->map + HN_SNAPSHOT_AT_VERSION) != HN_SNAPSHOT_VERSION) {
		return hn_fail(err, HONE_E_VERSION,
			       "%s: snapshot version %u, this hone reads %d; let the new "
			       "honed write it once",
			       path, get32(s->map + HN_SNAPSHOT_AT_VERSION),
			       HN_SNAPSHOT_VERSION);
	}
	if (get64(s->map + HN_SNAPSHOT_AT_BYTES) != s->bytes) {
		return corrupt(path, "cut short", err);
	}
	if (get64(s->map + HN_SNAPSHOT_AT_CHECKSUM) !=
	    hn_snapshot_checksum(s->map, s->bytes)) {
		return corrupt(path, "its checksum is wrong", err);
	}
	s->n_entry = get32(s->map + HN_SNAPSHOT_AT_N_ENTRY);
	s->n_slot = get32(s->map + HN_SNAPSHOT_AT_N_SLOT);
	need = HN_SNAPSHOT_HEADER_BYTES + (uint64_t)s->n_slot * HN_SNAPSHOT_SLOT_BYTES +
	       (uint64_t)s->n_entry * HN_SNAPSHOT_ENTRY_BYTES;
	if (s->n_slot == 0 || (s->n_slot & (s->n_slot - 1)) != 0 || need > s->bytes) {
		return corrupt(path, "its tables do not fit", err);
	}
	notice = get32(s->map + HN_SNAPSHOT_AT_NOTICE);
	if (notice < need ||
	    notice + get32(s->map + HN_SNAPSHOT_AT_NOTICE + 4) + 1 != s->bytes ||
	    s->map[s->bytes - 1] != '\0') {
		return corrupt(path, "a text outside the file", err);
	}
	s->notice = s->map + notice;
	s->slot = s->map + HN_SNAPSHOT_HEADER_BYTES;
	s->entry = s->slot + (size_t)s->n_slot * HN_SNAPSHOT_SLOT_BYTES;
	return 0;
}

static int check_all(struct hn_snapshot *s, const char *path, struct hn_err *err)
{
	int rc = check_header(s, path, err);

	for (uint32_t i = 0; rc == 0 && i < s->n_entry; i++) {
		rc = check_entry(s, i, path, err);
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_slot; i++) {
		if (get32(s->slot + (size_t)i * HN_SNAPSHOT_SLOT_BYTES) > s->n_entry) {
			rc = corrupt(path, "a slot without an entry", err);
		}
	}
	return rc;
}

static int map_file(struct hn_snapshot *s, const char *path, struct hn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* waits for no pipe */
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0) {
		return errno == ENOENT
			       ? hn_fail(err, HONE_E_NOT_FOUND,
					 "%s: not there; nothing was tuned here yet",
					 path)
			       : hn_fail(err,
					 errno == EACCES ? HONE_E_PERMISSION : HONE_E_IO,
					 "%s: cannot open: %s", path, strerror(errno));
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= HN_SNAPSHOT_HEADER_BYTES &&
	    (uint64_t)st.st_size < HN_SNAPSHOT_MAX_BYTES) {
		s->bytes = (size_t)st.st_size;
		map = mmap(NULL, s->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	} else {
		errno = EINVAL;
	}
	close(fd);
	if (map == MAP_FAILED) {
		s->bytes = 0;
		return errno == EINVAL ? corrupt(path, "not a snapshot", err)
				       : hn_fail(err, HONE_E_IO, "%s: cannot map: %s",
						 path, strerror(errno));
	}
	s->map = map;
	return 0;
}

bool hn_snapshot_has_store(const char *dir)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/hone.sqlite", dir) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

int hn_snapshot_open(const char *dir, struct hn_snapshot **ret, struct hn_err *err)
{
	char path[PATH_MAX];
	struct hn_snapshot *s;
	int rc;

	if (snprintf(path, sizeof(path), "%s/best.snapshot", dir) >= (int)sizeof(path)) {
		return hn_fail(err, HONE_E_INVALID, "%s: the name is too long", dir);
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", path);
	}
	rc = map_file(s, path, err);
	if (rc == 0) {
		rc = check_all(s, path, err);
	}
	if (rc != 0) {
		hn_snapshot_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void hn_snapshot_close(struct hn_snapshot *s)
{
	if (s && s->map) {
		munmap((void *)(uintptr_t)s->map, s->bytes);
	}
	free(s);
}

struct hn_mark hn_snapshot_mark(const struct hn_snapshot *s)
{
	struct hn_mark m = { .store = get64(s->map + HN_SNAPSHOT_AT_STORE),
			     .commit = (int64_t)get64(s->map + HN_SNAPSHOT_AT_COMMIT) };

	m.of[HN_MARK_record].n_row = (int64_t)get64(s->map + HN_SNAPSHOT_AT_N_RECORD);
	m.of[HN_MARK_record].last = (int64_t)get64(s->map + HN_SNAPSHOT_AT_LAST);
	return m;
}

uint64_t hn_snapshot_answers(const struct hn_snapshot *s)
{
	return get64(s->map + HN_SNAPSHOT_AT_ANSWERS);
}

const char *hn_snapshot_notice(const struct hn_snapshot *s)
{
	return s->notice;
}

uint32_t hn_snapshot_count(const struct hn_snapshot *s)
{
	return s->n_entry;
}

void hn_snapshot_at(const struct hn_snapshot *s, uint32_t i,
		    struct hn_snapshot_entry *ret)
{
	struct hn_snapshot_entry e = {0};
	const char *at, *numbers;

	hn_assert(i < s->n_entry);
	at = entry_at(s, i);
	numbers = at + HN_SNAPSHOT_AT_NUMBERS;
#define TEXT(field)                                                                      \
	e.field = s->map + get32(at);                                                    \
	at += HN_SNAPSHOT_TEXT_BYTES;
	HN_SNAPSHOT_TEXTS(TEXT)
#undef TEXT
	e.best.workload = e.workload.key;
	e.best.origin = e.best.descent.changes = e.best.descent.model = "";
	e.workload.flops = get_double(numbers);
	e.best.median_ns = get_double(numbers + 8);
	e.best.verdict = HN_VERDICT_OK;
	e.best.proved = e.best.median_ns > 0;
	e.naive.ns = get_double(numbers + 16);
	e.best.id = (int64_t)get64(numbers + 24);
	e.best.build_ns = (int64_t)get64(numbers + 32);
	e.best.run_ns = (int64_t)get64(numbers + 40);
	e.best.unix_ms = (int64_t)get64(numbers + 48);
	e.n_trial = get32(numbers + 56);
	e.n_failed = get32(numbers + 60);
	e.best.in_doubt = get32(numbers + 64) != 0;
	e.naive.share = get32(numbers + 68) / HN_SNAPSHOT_SHARE;
	*ret = e;
}

int hn_snapshot_find(const struct hn_snapshot *s, const char *workload,
		     const char *target, struct hn_snapshot_entry *ret,
		     struct hn_err *err)
{
	uint64_t h = hn_snapshot_hash(workload, target);

	for (uint32_t probe = 0; probe < s->n_slot; probe++) {
		uint64_t slot = (h + probe) & (s->n_slot - 1);
		uint32_t number = get32(s->slot + slot * HN_SNAPSHOT_SLOT_BYTES);
		struct hn_snapshot_entry e;

		if (number == 0) {
			break;
		}
		hn_snapshot_at(s, number - 1, &e);
		if (strcmp(e.workload.key, workload) == 0 &&
		    strcmp(e.best.target, target) == 0) {
			if (e.best.median_ns == 0) {
				break;
			}
			if (*e.best.certificate == '\0') {
				return hn_fail(err, HONE_E_NOT_FOUND,
					       "workload %.16s: its best record has no "
					       "certificate of legality; stop honed and run "
					       "`hone verify`",
					       workload);
			}
			*ret = e;
			return 0;
		}
	}
	return hn_fail(err, HONE_E_NOT_FOUND, "workload %.16s was not tuned for this target",
		       workload);
}
