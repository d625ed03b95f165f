/* db/snapshot/snapshot_int.h -- the bytes of best.snapshot; for its reader and writer only.
 *
 * All numbers little-endian, all offsets from the start of the file.  docs/db.md tells
 * the same as a table.
 */
#ifndef HN_DB_SNAPSHOT_SNAPSHOT_INT_H
#define HN_DB_SNAPSHOT_SNAPSHOT_INT_H

#include <endian.h>
#include <stdatomic.h>
#include <string.h>

#include "db/snapshot/snapshot.h"

#define HN_SNAPSHOT_MAGIC "HONEBEST"
#define HN_SNAPSHOT_VERSION 5
#define HN_SNAPSHOT_MAX_BYTES ((uint64_t)4 << 30)
#define HN_SNAPSHOT_SHARE 4294967295.0 /* the share 1 as u32 */

enum { /* offsets in the header */
       HN_SNAPSHOT_AT_MAGIC = 0,
       HN_SNAPSHOT_AT_VERSION = 8,   /* u32 */
       HN_SNAPSHOT_AT_N_ENTRY = 12,  /* u32 */
       HN_SNAPSHOT_AT_BYTES = 16,    /* u64, of the file */
       HN_SNAPSHOT_AT_CHECKSUM = 24, /* u64, of header, slots and notice */
       HN_SNAPSHOT_AT_N_SLOT = 32,   /* u32, a power of two > the number of keys */
       HN_SNAPSHOT_AT_STORE = 40,    /* u64, which store it was written from, ... */
       HN_SNAPSHOT_AT_COMMIT = 48,   /* i64, after so many commits, ... */
       HN_SNAPSHOT_AT_ANSWERS = 56,  /* u64, in this state, ... */
       HN_SNAPSHOT_AT_N_RECORD = 64, /* i64, with so many records, ... */
       HN_SNAPSHOT_AT_LAST = 72,     /* i64, of which this is the last */
       HN_SNAPSHOT_AT_NOTICE = 80,   /* u32 offset, u32 length; a NUL follows the text */
       HN_SNAPSHOT_HEADER_BYTES = 96
};

/* The texts of an entry, in the order of their (offset, length) pairs. */
#define HN_SNAPSHOT_TEXTS(T)                                                             \
	T(workload.key)                                                                  \
	T(workload.name)                                                                 \
	T(workload.dag_json)                                                             \
	T(best.target)                                                                   \
	T(best.steps)                                                                    \
	T(best.detail)                                                                   \
	T(best.stamp.hone)                                                               \
	T(best.stamp.codegen)                                                            \
	T(best.stamp.board)                                                              \
	T(best.certificate)                                                              \
	T(workload.cache)

enum {
	HN_SNAPSHOT_KEY = 0, /* of the texts */
	HN_SNAPSHOT_TARGET = 3,
	HN_SNAPSHOT_N_TEXT = 11,
	HN_SNAPSHOT_SLOT_BYTES = 4, /* u32: a key's first entry + 1; 0 = empty */
	HN_SNAPSHOT_TEXT_BYTES = 8, /* u32 offset, u32 length; a NUL follows the text */
	HN_SNAPSHOT_AT_NUMBERS = HN_SNAPSHOT_N_TEXT * HN_SNAPSHOT_TEXT_BYTES,
	HN_SNAPSHOT_AT_ENTRY_CHECKSUM = HN_SNAPSHOT_AT_NUMBERS + 3 * 8 + 4 * 8 + 4 * 4, /* u64 */
	HN_SNAPSHOT_ENTRY_BYTES = HN_SNAPSHOT_AT_ENTRY_CHECKSUM + 8
};

/* Of what every search reads: the header, its checksum field taken as zero, the slots behind it,
 * and the notice at the end. */
uint64_t hn_snapshot_checksum(const char *file, size_t n);

/* Of one entry: its bytes before the checksum, and each text with the NUL behind it.  The texts
 * lie in the file. */
uint64_t hn_snapshot_entry_checksum(const char *file, const char *entry);

struct hn_snapshot {
	const char *map;
	size_t bytes;
	uint32_t n_entry, n_slot;
	const char *slot, *entry, *notice;
	char *path;
	_Atomic uint32_t *sound; /* a bit for each entry that was checked */
};

static inline uint32_t hn_snapshot_u32(const char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static inline uint64_t hn_snapshot_u64(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static inline double hn_snapshot_double(const char *at)
{
	uint64_t bits = hn_snapshot_u64(at);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline const char *hn_snapshot_entry(const struct hn_snapshot *s, uint32_t i)
{
	return s->entry + (size_t)i * HN_SNAPSHOT_ENTRY_BYTES;
}

static inline const char *hn_snapshot_text(const struct hn_snapshot *s, uint32_t i, uint32_t text)
{
	return s->map + hn_snapshot_u32(hn_snapshot_entry(s, i) + (size_t)text * HN_SNAPSHOT_TEXT_BYTES);
}

/* That entry i is sound; looked at once. */
int hn_snapshot_check_entry(const struct hn_snapshot *s, uint32_t i,
			    struct hn_err *err) HN_NODISCARD;

/* The state of the store it was written from (hn_mark_answers). */
uint64_t hn_snapshot_answers(const struct hn_snapshot *s);

/* Where the search for a key begins. */
uint64_t hn_snapshot_hash(const char *workload);

#endif
