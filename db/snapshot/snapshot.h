/* db/snapshot/snapshot.h -- the bests as an immutable file that any process may map and search.
 *
 * No SQLite, no daemon, no parsing: an open-addressing index over (workload key, target),
 * then records as text.  Layout in docs/db.md; little-endian, versioned, checksummed;
 * hostile bytes are refused, never trusted.
 */
#ifndef HN_DB_SNAPSHOT_SNAPSHOT_H
#define HN_DB_SNAPSHOT_SNAPSHOT_H

#include "db/db.h"
#include "db/mark.h"

struct hn_snapshot; /* immutable; any number of threads may search it */

struct hn_snapshot_entry {
	struct hn_workload_row workload;
	struct hn_record best;
	struct hn_naive naive; /* ns 0 = unknown */
	uint32_t n_trial, n_failed; /* of this workload and target */
};

/* Whether `dir` holds a store (db.h), with a snapshot or without. */
bool hn_snapshot_has_store(const char *dir);

/* Map `dir`/best.snapshot. HONE_E_NOT_FOUND, HONE_E_CORRUPT, HONE_E_VERSION.  All of it is checked,
 * which takes as long as reading it. */
int hn_snapshot_open(const char *dir, struct hn_snapshot **ret,
		     struct hn_err *err) HN_NODISCARD;
/* The same, but of the entries each is checked when it is first asked for: a millisecond for as
 * many as there may be. */
int hn_snapshot_map(const char *dir, struct hn_snapshot **ret,
		    struct hn_err *err) HN_NODISCARD;
void hn_snapshot_close(struct hn_snapshot *s);

uint32_t hn_snapshot_count(const struct hn_snapshot *s);

/* Entry i, in the order of keys and then targets, of which nothing was measured where best.median_ns is 0: then its steps are the
 * automatic schedule's, without a certificate; strings point into the map; no samples (n_sample 0,
 * sample_ns NULL). */
int hn_snapshot_get(const struct hn_snapshot *s, uint32_t i, struct hn_snapshot_entry *ret,
		    struct hn_err *err) HN_NODISCARD;
/* For one that was opened, where nothing can be wrong any more. */
void hn_snapshot_at(const struct hn_snapshot *s, uint32_t i,
		    struct hn_snapshot_entry *ret);

/* The entries of a key, *ret_n of them from *ret_first on; 0 of them where there is none.  Then,
 * *ret_first is anything. */
int hn_snapshot_range(const struct hn_snapshot *s, const char *workload, uint32_t *ret_first,
		      uint32_t *ret_n, struct hn_err *err) HN_NODISCARD;
/* The first entry whose key is not below `word`, which may be the beginning of one. */
int hn_snapshot_lower(const struct hn_snapshot *s, const char *word, uint32_t *ret,
		      struct hn_err *err) HN_NODISCARD;

/* What was measured; HONE_E_NOT_FOUND also when the record has no certificate: it is no answer.
 * (What there is for other targets: client/lib/nearest.h.) */
int hn_snapshot_find(const struct hn_snapshot *s, const char *workload,
		     const char *target, struct hn_snapshot_entry *ret,
		     struct hn_err *err) HN_NODISCARD;

/* What the store held when it was written: its number, the commit, and of the records how many
 * and which was the last; zeros in one that no store wrote. */
struct hn_mark hn_snapshot_mark(const struct hn_snapshot *s);

/* What was damaged in the store then, one line; "" = nothing. */
const char *hn_snapshot_notice(const struct hn_snapshot *s);

/* Whether it is what the store in `dir` says now: 0, or HONE_E_VERSION with what to do.  A running
 * honed may be HN_SNAPSHOT_LAG_S behind; without a store in `dir` there is nothing to be
 * behind. */
#define HN_SNAPSHOT_LAG_S 5
int hn_snapshot_check_fresh(const struct hn_snapshot *s, const char *dir,
			    struct hn_err *err) HN_NODISCARD;

/* Open or map, and see that it is fresh: for those who answer from it. */
int hn_snapshot_open_fresh(const char *dir, struct hn_snapshot **ret,
			   struct hn_err *err) HN_NODISCARD;
int hn_snapshot_map_fresh(const char *dir, struct hn_snapshot **ret,
			  struct hn_err *err) HN_NODISCARD;

/* Serialize entries onto buf (used by hn_db_write_snapshot and tests); mark NULL: of no store. */
struct hn_buf;
void hn_snapshot_write(const struct hn_snapshot_entry *entry, uint32_t n,
		       const struct hn_mark *mark, const char *notice, struct hn_buf *buf);

#endif
