/* db/snapshot/snapshot.c -- mapping and checking best.snapshot, without a database or a daemon.
 *
 * Mapping checks what every search reads: size, version, and the checksum of header, slots and
 * notice.  An entry is checked when it is first asked for: that each text lies in the file and
 * ends in a NUL there, and its own checksum; a bit remembers it.  So a program that asks once does
 * not read what hundreds of thousands of others would be told.  The file is only ever replaced by
 * rename, so a map never changes under a reader.
 */
#include "db/snapshot/snapshot.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/snapshot/snapshot_int.h"

static int corrupt(const char *path, const char *why, struct hn_err *err)
{
	return hn_fail(err, HONE_E_CORRUPT,
		       "%s: damaged (%s); delete it, honed writes it anew from the store",
		       path, why);
}

static bool times_make_sense(const char *numbers)
{
	double flops = hn_snapshot_double(numbers), median = hn_snapshot_double(numbers + 8),
	       naive = hn_snapshot_double(numbers + 16);

	return isfinite(flops) && isfinite(median) && median >= 0 && isfinite(naive) &&
	       naive >= 0;
}

static int check_entry(const struct hn_snapshot *s, uint32_t i, struct hn_err *err)
{
	const char *entry = hn_snapshot_entry(s, i), *path = s->path;
	uint64_t first = (uint64_t)(s->entry - s->map) +
			 (uint64_t)s->n_entry * HN_SNAPSHOT_ENTRY_BYTES;

	for (uint32_t t = 0; t < HN_SNAPSHOT_N_TEXT; t++) {
		uint64_t at = hn_snapshot_u32(entry + (size_t)t * HN_SNAPSHOT_TEXT_BYTES);
		uint64_t n = hn_snapshot_u32(entry + (size_t)t * HN_SNAPSHOT_TEXT_BYTES + 4);

		if (at < first || at + n >= s->bytes || s->map[at + n] != '\0') {
			return corrupt(path, "a text outside the file", err);
		}
	}
	if (!times_make_sense(entry + HN_SNAPSHOT_AT_NUMBERS)) {
		return corrupt(path, "a time that is no time", err);
	}
	if (hn_snapshot_u64(entry + HN_SNAPSHOT_AT_ENTRY_CHECKSUM) !=
	    hn_snapshot_entry_checksum(s->map, entry)) {
		return corrupt(path, "an entry's checksum is wrong", err);
	}
	return 0;
}

int hn_snapshot_check_entry(const struct hn_snapshot *s, uint32_t i, struct hn_err *err)
{
	_Atomic uint32_t *word = &s->sound[i / 32];
	uint32_t bit = UINT32_C(1) << i % 32;
	int rc;

	if ((atomic_load_explicit(word, memory_order_relaxed) & bit) != 0) {
		return 0;
	}
	rc = check_entry(s, i, err);
	if (rc == 0) {
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
	}
	return rc;
}

static int check_header(struct hn_snapshot *s, const char *path, struct hn_err *err)
{
	uint64_t need, notice;

	if (s->bytes < HN_SNAPSHOT_HEADER_BYTES ||
	    memcmp(s->map, HN_SNAPSHOT_MAGIC, strlen(HN_SNAPSHOT_MAGIC)) != 0) {
		return corrupt(path, "not a snapshot", err);
	}
	if (hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_VERSION) != HN_SNAPSHOT_VERSION) {
		return hn_fail(err, HONE_E_VERSION,
			       "%s: snapshot version %u, this hone reads %d; let the new "
			       "honed write it once",
			       path, hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_VERSION),
			       HN_SNAPSHOT_VERSION);
	}
	if (hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_BYTES) != s->bytes) {
		return corrupt(path, "cut short", err);
	}
	s->n_entry = hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_N_ENTRY);
	s->n_slot = hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_N_SLOT);
	need = HN_SNAPSHOT_HEADER_BYTES + (uint64_t)s->n_slot * HN_SNAPSHOT_SLOT_BYTES +
	       (uint64_t)s->n_entry * HN_SNAPSHOT_ENTRY_BYTES;
	if (s->n_slot == 0 || (s->n_slot & (s->n_slot - 1)) != 0 || need > s->bytes) {
		return corrupt(path, "its tables do not fit", err);
	}
	notice = hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_NOTICE);
	if (notice < need ||
	    notice + hn_snapshot_u32(s->map + HN_SNAPSHOT_AT_NOTICE + 4) + 1 != s->bytes ||
	    s->map[s->bytes - 1] != '\0') {
		return corrupt(path, "a text outside the file", err);
	}
	if (hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_CHECKSUM) !=
	    hn_snapshot_checksum(s->map, s->bytes)) {
		return corrupt(path, "its checksum is wrong", err);
	}
	s->notice = s->map + notice;
	s->slot = s->map + HN_SNAPSHOT_HEADER_BYTES;
	s->entry = s->slot + (size_t)s->n_slot * HN_SNAPSHOT_SLOT_BYTES;
	return 0;
}

/* What a search may then rely on. */
static int check_slots(const struct hn_snapshot *s, struct hn_err *err)
{
	for (uint32_t i = 0; i < s->n_slot; i++) {
		if (hn_snapshot_u32(s->slot + (size_t)i * HN_SNAPSHOT_SLOT_BYTES) > s->n_entry) {
			return corrupt(s->path, "a slot without an entry", err);
		}
	}
	return 0;
}

static int check_entries(const struct hn_snapshot *s, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_entry; i++) {
		rc = hn_snapshot_check_entry(s, i, err);
		if (rc == 0 && i > 0 && strcmp(hn_snapshot_text(s, i - 1, HN_SNAPSHOT_KEY),
				   hn_snapshot_text(s, i, HN_SNAPSHOT_KEY)) > 0) {
			rc = corrupt(s->path, "its entries are in no order", err);
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

int hn_snapshot_map(const char *dir, struct hn_snapshot **ret, struct hn_err *err)
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
	rc = rc != 0 ? rc : check_header(s, path, err);
	if (rc == 0) {
		s->path = strdup(path);
		s->sound = calloc((size_t)s->n_entry / 32 + 1, sizeof(*s->sound));
		rc = s->path && s->sound ? check_slots(s, err)
					 : hn_fail(err, HONE_E_NOMEM, "%s: out of memory", path);
	}
	if (rc != 0) {
		hn_snapshot_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

int hn_snapshot_open(const char *dir, struct hn_snapshot **ret, struct hn_err *err)
{
	struct hn_snapshot *s;
	int rc = hn_snapshot_map(dir, &s, err);

	if (rc != 0) {
		return rc;
	}
	rc = check_entries(s, err);
	if (rc != 0) {
		hn_snapshot_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void hn_snapshot_close(struct hn_snapshot *s)
{
	if (s == NULL) {
		return;
	}
	if (s->map) {
		munmap((void *)(uintptr_t)s->map, s->bytes);
	}
	free((void *)s->sound);
	free(s->path);
	free(s);
}

struct hn_mark hn_snapshot_mark(const struct hn_snapshot *s)
{
	struct hn_mark m = { .store = hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_STORE),
			     .commit = (int64_t)hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_COMMIT) };

	m.of[HN_MARK_record].n_row = (int64_t)hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_N_RECORD);
	m.of[HN_MARK_record].last = (int64_t)hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_LAST);
	return m;
}

uint64_t hn_snapshot_answers(const struct hn_snapshot *s)
{
	return hn_snapshot_u64(s->map + HN_SNAPSHOT_AT_ANSWERS);
}

const char *hn_snapshot_notice(const struct hn_snapshot *s)
{
	return s->notice;
}

uint32_t hn_snapshot_count(const struct hn_snapshot *s)
{
	return s->n_entry;
}
