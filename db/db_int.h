/* db/db_int.h -- the inside of the store; for db/ and its tests only. */
#ifndef HN_DB_DB_INT_H
#define HN_DB_DB_INT_H

#include <sqlite3.h>

#include "db/db.h"

#define HN_DB_APPLICATION_ID 0x484f4e45 /* "HONE" */

enum hn_db_stmt {
#define STATEMENT(name, sql) HN_DB_STMT_##name,
#include "db/statements.def"
#undef STATEMENT
	HN_N_DB_STMT
};

struct hn_db {
	sqlite3 *sql;
	char *dir, *path; /* the directory; the SQLite file in it */
	int lock_fd;	  /* flock held as long as the store is open; -1 = none */
	bool broken; /* an I/O error left the disk in doubt: nothing more is accepted */
	sqlite3_stmt *stmt[HN_N_DB_STMT]; /* prepared at first use */
};

/* place.c: make `dir` where it is missing; refuse one that is read-only or remote; take
 * its lock. */
int hn_db_place_check(const char *dir, struct hn_err *err) HN_NODISCARD;
int hn_db_place_lock(const char *dir, int *ret_fd, struct hn_err *err) HN_NODISCARD;

/* The name of a network file system by statfs's f_type; NULL for all others. */
const char *hn_db_place_remote(uint32_t magic);

/* migrate.c: bring the schema to HN_DB_SCHEMA; each step is one transaction. */
int hn_db_migrate(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_migrate_step(struct hn_db *db, int version, const char *sql,
		       struct hn_err *err) HN_NODISCARD;

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

/* record.c: hn_db_best by row ids; HONE_E_NOT_FOUND without a message. */
int hn_db_best_by_id(struct hn_db *db, int64_t workload, int64_t target,
		     struct hn_arena *a, struct hn_record *ret,
		     struct hn_err *err) HN_NODISCARD;

#endif
