/* db/mark.h -- hone.mark: what the store held at its last commit, kept beside it.
 *
 * A database that is cut short or replaced by an older one is in itself sound; only something
 * outside can tell.  honed writes these 512 bytes in place after each commit, without a sync of
 * their own: a killed honed loses nothing of them, a machine without power at worst the last
 * seconds, and then the store is ahead of its mark, which is no damage.  Readers of the snapshot
 * learn from it whether that is of the last commit.  Layout in docs/db.md.
 */
#ifndef HN_DB_MARK_H
#define HN_DB_MARK_H

#include <stdint.h>

#include "base/err.h"

enum hn_mark_table {
#define TABLE(name, answers, id, from, good) HN_MARK_##name,
#include "db/tables.def"
#undef TABLE
	HN_N_MARK
};

struct hn_mark_row {
	int64_t n_row;	 /* good ones */
	int64_t last;	 /* the highest row number that was ever given */
	uint64_t digest; /* the checksums of all of them, by exclusive or */
};

struct hn_mark {
	uint64_t store;	 /* a number drawn when the store was made: which one it is */
	int64_t commit;	 /* transactions committed so far */
	struct hn_mark_row of[HN_N_MARK];
};

const char *hn_mark_name(enum hn_mark_table t);

/* What tells two states of the tables that answers come from apart. */
uint64_t hn_mark_answers(const struct hn_mark *m);

/* `dir`/hone.mark. HONE_E_NOT_FOUND, HONE_E_CORRUPT, HONE_E_IO. */
int hn_mark_read(const char *dir, struct hn_mark *ret, struct hn_err *err) HN_NODISCARD;

/* Open it for writing, made where it is missing; a descriptor, or -1. */
int hn_mark_open(const char *dir);
int hn_mark_write(int fd, const struct hn_mark *m) HN_NODISCARD;

#endif
