/* db/sqlite/room.c -- how long the log may grow.
 *
 * The log holds a page as often as it was written, the store once: a disk that the log has filled
 * has room for far more records, and none to copy them into the store.  So the log is copied when
 * it is as long as SQLite would have it, and sooner where the disk has little left beside it; then
 * its own bytes are given back, too.
 */
#include <sys/statvfs.h>

#include "db/sqlite/sqlite_int.h"

#define LOG_PAGES 1000 /* SQLite's own */
#define PAGE_BYTES 4096
#define SHARE 2 /* of what is free, the log may have one in so many */

static uint64_t free_bytes(const struct hn_sqlite *db)
{
	struct statvfs fs;

	return statvfs(db->base.dir, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;
}

/* After each commit.  Its records are safe in the log: what fails here is tried again. */
static int on_commit(void *ctx, sqlite3 *sql, const char *name, int n_page)
{
	struct hn_sqlite *db = ctx;
	bool short_of = (uint64_t)n_page * PAGE_BYTES > free_bytes(db) / SHARE;

	if (short_of || n_page >= LOG_PAGES) {
		(void)sqlite3_wal_checkpoint_v2(
			sql, name, short_of ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
			NULL, NULL);
	}
	return SQLITE_OK;
}

void hn_sqlite_bound_log(struct hn_sqlite *db)
{
	sqlite3_wal_hook(db->sql, on_commit, db);
}
