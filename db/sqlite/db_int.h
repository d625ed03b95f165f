/* db/sqlite/db_int.h -- the inside of the store; for db/ and its tests only. */
#ifndef HN_DB_SQLITE_DB_INT_H
#define HN_DB_SQLITE_DB_INT_H

#include <sqlite3.h>
#include <sys/types.h>

#include "db/db.h"
#include "db/mark.h"

#define HN_DB_APPLICATION_ID 0x484f4e45 /* "HONE" */

enum hn_db_stmt {
#define STATEMENT(name, sql) HN_DB_STMT_##name,
#include "db/sqlite/statements.def"
#undef STATEMENT
	HN_N_DB_STMT
};

enum hn_db_noted {
	HN_DB_FOUND,  /* since the store was opened; not yet kept in it */
	HN_DB_KEPT,   /* in it, and unsettled */
	HN_DB_SETTLED,
	HN_DB_MENDED /* nothing was lost: told, never kept */
};

/* One row or file that is not what it was. */
struct hn_db_damage {
	char *place, *detail; /* heap: "record 12", "its checksum is wrong" */
	enum hn_db_noted how;
};

struct hn_snapshot;

struct hn_db {
	sqlite3 *sql;
	char *dir, *path; /* the directory; the SQLite file in it */
	struct hn_db_inode {
		dev_t dev;
		ino_t ino;
	} inode;	  /* of the SQLite file when it was opened */
	int lock_fd;	  /* flock held as long as the store is open; -1 = none */
	bool broken; /* an I/O error left the disk in doubt: nothing more is accepted */
	sqlite3_stmt *stmt[HN_N_DB_STMT]; /* prepared at first use */
	struct hn_mark mark; /* as of the last commit */
	int mark_fd;	     /* hone.mark; -1 = not open */
	bool mark_behind;    /* it could not be written */
	struct hn_snapshot *witness; /* best.snapshot as it was at the start; NULL = none */
	bool witness_fresh;	     /* it was of the last commit */
	bool counting;	     /* the store has its marks: commits are counted */
	int changes;	     /* rows changed before this transaction began */
	bool grouped;	     /* inside a group: what is begun and ended is a part of it */
	struct hn_err lost;  /* why SQLite undid the group before its end; code 0 = it did not */
	struct hn_db_damage *damage;
	uint32_t n_damage, n_unsettled;
	hn_db_damage_fn on_damage;
	void *on_damage_ctx;
};

/* place.c: make `dir` where it is missing; refuse one that is read-only or remote; take
 * its lock. */
int hn_db_place_check(const char *dir, struct hn_err *err) HN_NODISCARD;
/* That the file which was opened is still the one under its name; HONE_E_STORE. */
int hn_db_place_still(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_place_lock(const char *dir, int *ret_fd, struct hn_err *err) HN_NODISCARD;

/* The name of a network file system by statfs's f_type; NULL for all others. */
const char *hn_db_place_remote(uint32_t magic);

/* room.c: from now on the log is copied into the store before it takes the room for that. */
void hn_db_bound_log(struct hn_db *db);

/* migrate.c: bring the schema to HN_DB_SCHEMA; each step is one transaction.  *ret_new: it was
 * too old to have its rows counted. */
int hn_db_migrate(struct hn_db *db, bool *ret_new, struct hn_err *err) HN_NODISCARD;
int hn_db_migrate_step(struct hn_db *db, int version, const char *sql,
		       struct hn_err *err) HN_NODISCARD;

/* check.c: what opening looks at; is_new: there is no earlier count to hold it against. */
int hn_db_check_form(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_check_log(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_check_rows(struct hn_db *db, bool is_new, struct hn_err *err) HN_NODISCARD;

/* sum.c: hone_sum and hone_good; db NULL: nothing is noted.  A place is noted once. */
int hn_db_add_functions(sqlite3 *sql, struct hn_db *db) HN_NODISCARD;
bool hn_db_is_noted(const struct hn_db *db, const char *place);
void hn_db_note(struct hn_db *db, const char *place, const char *detail, enum hn_db_noted how);
void hn_db_forget_damage(struct hn_db *db);

/* damage.c: what was noted earlier; what was found since, put there (in a transaction). */
int hn_db_load_damage(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
bool hn_db_has_found(const struct hn_db *db);
int hn_db_keep_damage(struct hn_db *db, struct hn_err *err) HN_NODISCARD;

/* statement.c: a row of MARKS into the mark it is of; a statement's text. */
void hn_db_read_mark(sqlite3_stmt *s, struct hn_mark *ret);
const char *hn_db_stmt_text(enum hn_db_stmt which);

/* statement.c: the error class of SQLite's last failure, in words; "cannot <doing>". */
int hn_db_fail(struct hn_db *db, struct hn_err *err, const char *doing);

/* The cached statement, reset and without bindings. */
int hn_db_stmt(struct hn_db *db, enum hn_db_stmt which, sqlite3_stmt **ret,
	       struct hn_err *err) HN_NODISCARD;

/* Step a statement that gives no rows, and reset it. */
int hn_db_run(struct hn_db *db, sqlite3_stmt *s, struct hn_err *err,
	      const char *doing) HN_NODISCARD;

/* A write transaction. end: commit when rc is 0, else roll back; answers rc or the
 * failure of the commit. */
int hn_db_begin(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_end(struct hn_db *db, int rc, struct hn_err *err) HN_NODISCARD;

/* One value from a statement whose parameters are all text: 1 = found, 0 = no row, <0 =
 * failed. */
int hn_db_find_id(struct hn_db *db, enum hn_db_stmt which, const char *const *text,
		  uint32_t n_text, int64_t *ret, struct hn_err *err);

void hn_db_bind(sqlite3_stmt *s, int i, const char *text); /* NULL as "" */
const char *hn_db_column(sqlite3_stmt *s, int i);	   /* never NULL */

/* record.c: the columns of RECORD_COLUMNS, from column 0 on; borrowed until the next
 * step, samples in *sample (freed and replaced at each call; NULL at first). */
int hn_db_read_record(struct hn_db *db, sqlite3_stmt *s, double **sample,
		      struct hn_record *ret, struct hn_err *err) HN_NODISCARD;

/* record.c: copy all of r that is borrowed into `a`. */
void hn_db_keep_record(struct hn_record *r, struct hn_arena *a);

/* promote.c: the row of the best record; HONE_E_NOT_FOUND without a message.  *ret_median_ns
 * is its time in the final that promoted it, 0 when none did. */
int hn_db_best_row(struct hn_db *db, int64_t workload, int64_t target, int64_t *ret,
		   double *ret_median_ns, struct hn_err *err) HN_NODISCARD;

/* best.c: whether the store has that record as it was, its certificate too unless that was taken
 * away. */
bool hn_db_has_record(struct hn_db *db, const struct hn_record *r);

/* best.c: whether something better may have been lost: not when the last snapshot had the same
 * best, or this one was measured since. */
bool hn_db_in_doubt(const struct hn_db *db, const struct hn_record *r);

/* best.c: the naive time that the last snapshot knew; 0. */
struct hn_naive hn_db_witness_naive(const struct hn_db *db, const char *workload,
				    const char *target);

/* best.c: hn_db_best by row ids, out of the store alone; HONE_E_NOT_FOUND without a message. */
int hn_db_best_by_id(struct hn_db *db, int64_t workload, int64_t target,
		     struct hn_arena *a, struct hn_record *ret,
		     struct hn_err *err) HN_NODISCARD;

#endif
