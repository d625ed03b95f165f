/* db/sqlite/sqlite_int.h -- the inside of the SQLite store; for db/sqlite/ and its tests only. */
#ifndef HN_DB_SQLITE_SQLITE_INT_H
#define HN_DB_SQLITE_SQLITE_INT_H

#include <sqlite3.h>
#include <sys/types.h>

#include "db/store/ops.h"

#define HN_SQLITE_APPLICATION_ID 0x484f4e45 /* "HONE" */

enum hn_sqlite_stmt {
#define STATEMENT(name, sql) HN_SQLITE_STMT_##name,
#include "db/sqlite/statements.def"
#undef STATEMENT
	HN_N_SQLITE_STMT
};

struct hn_sqlite {
	struct hn_db base;
	sqlite3 *sql;
	char *path; /* the SQLite file in base.dir */
	struct hn_sqlite_inode {
		dev_t dev;
		ino_t ino;
	} inode;	  /* of the SQLite file when it was opened */
	int lock_fd;	  /* flock held as long as the store is open; -1 = none */
	bool broken; /* an I/O error left the disk in doubt: nothing more is accepted */
	sqlite3_stmt *stmt[HN_N_SQLITE_STMT]; /* prepared at first use */
	int mark_fd;	     /* hone.mark; -1 = not open */
	bool mark_behind;    /* it could not be written */
	bool counting;	     /* the store has its marks: commits are counted */
	int changes;	     /* rows changed before this transaction began */
	bool grouped;	     /* inside a group: what is begun and ended is a part of it */
	struct hn_err lost;  /* why SQLite undid the group before its end; code 0 = it did not */
};

static inline struct hn_sqlite *hn_sqlite_of(struct hn_db *db)
{
	return (struct hn_sqlite *)(void *)db;
}

/* place.c: make `dir` where it is missing; refuse one that is read-only or remote; take
 * its lock. */
int hn_sqlite_place_check(const char *dir, struct hn_err *err) HN_NODISCARD;
/* That the file which was opened is still the one under its name; HONE_E_STORE. */
int hn_sqlite_place_still(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_place_lock(const char *dir, int *ret_fd, struct hn_err *err) HN_NODISCARD;

/* The name of a network file system by statfs's f_type; NULL for all others. */
const char *hn_sqlite_place_remote(uint32_t magic);

/* room.c: from now on the log is copied into the store before it takes the room for that. */
void hn_sqlite_bound_log(struct hn_sqlite *db);

/* migrate.c: bring the schema to HN_DB_SCHEMA; each step is one transaction.  *ret_new: it was
 * too old to have its rows counted. */
int hn_sqlite_migrate(struct hn_sqlite *db, bool *ret_new, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_migrate_step(struct hn_sqlite *db, int version, const char *sql,
		       struct hn_err *err) HN_NODISCARD;

/* check.c: what opening looks at; is_new: there is no earlier count to hold it against. */
int hn_sqlite_check_form(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_check_log(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_check_rows(struct hn_sqlite *db, bool is_new, struct hn_err *err) HN_NODISCARD;

/* sum.c: hone_sum and hone_good; db NULL: nothing is noted. */
int hn_sqlite_add_functions(sqlite3 *sql, struct hn_sqlite *db) HN_NODISCARD;

/* damage.c: what was noted earlier; what was found since, put there (in a transaction). */
int hn_sqlite_load_damage(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_keep_damage(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;

/* statement.c: a row of MARKS into the mark it is of; a statement's text. */
void hn_sqlite_read_mark(sqlite3_stmt *s, struct hn_mark *ret);
const char *hn_sqlite_stmt_text(enum hn_sqlite_stmt which);

/* statement.c: the error class of SQLite's last failure, in words; "cannot <doing>". */
int hn_sqlite_fail(struct hn_sqlite *db, struct hn_err *err, const char *doing);

/* The cached statement, reset and without bindings. */
int hn_sqlite_stmt(struct hn_sqlite *db, enum hn_sqlite_stmt which, sqlite3_stmt **ret,
	       struct hn_err *err) HN_NODISCARD;

/* Step a statement that gives no rows, and reset it. */
int hn_sqlite_run(struct hn_sqlite *db, sqlite3_stmt *s, struct hn_err *err,
	      const char *doing) HN_NODISCARD;

/* A write transaction. end: commit when rc is 0, else roll back; answers rc or the
 * failure of the commit. */
int hn_sqlite_begin(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_end(struct hn_sqlite *db, int rc, struct hn_err *err) HN_NODISCARD;

/* One value from a statement whose parameters are all text: 1 = found, 0 = no row, <0 =
 * failed. */
int hn_sqlite_find_id(struct hn_sqlite *db, enum hn_sqlite_stmt which, const char *const *text,
		  uint32_t n_text, int64_t *ret, struct hn_err *err);

void hn_sqlite_bind(sqlite3_stmt *s, int i, const char *text); /* NULL as "" */
const char *hn_sqlite_column(sqlite3_stmt *s, int i);	   /* never NULL */

/* find.c: the id of a text's row, which is made where it is new; a workload's, which must be
 * there. */
int hn_sqlite_intern(struct hn_sqlite *db, enum hn_sqlite_stmt put, enum hn_sqlite_stmt find,
		     const char *const *text, uint32_t n_text, int64_t *ret,
		     struct hn_err *err) HN_NODISCARD;
int hn_sqlite_workload_id(struct hn_sqlite *db, const char *key, int64_t *ret,
			  struct hn_err *err) HN_NODISCARD;

/* statement.c: step and reset a bound statement that gives one text; HONE_E_NOT_FOUND without a
 * message. */
int hn_sqlite_one_text(struct hn_sqlite *db, sqlite3_stmt *s, struct hn_arena *a,
		       const char **ret, struct hn_err *err, const char *doing) HN_NODISCARD;

/* statement.c */
int hn_sqlite_group_begin(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_group_end(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;
int hn_sqlite_probe(struct hn_sqlite *db, struct hn_err *err) HN_NODISCARD;

/* The rest of hn_db_sqlite; db/store/ops.h says what each does.  record.c: */
int hn_sqlite_put_workload(struct hn_db *base, const struct hn_workload_row *w,
			   struct hn_err *err);
int hn_sqlite_workload(struct hn_db *base, const char *key, struct hn_arena *a,
		       struct hn_workload_row *ret, struct hn_err *err);
int hn_sqlite_append(struct hn_db *base, struct hn_record *record, uint32_t n,
		     struct hn_err *err);
int hn_sqlite_certify(struct hn_db *base, int64_t record, const char *certificate,
		      struct hn_err *err);
int hn_sqlite_record(struct hn_db *base, int64_t id, struct hn_arena *a, struct hn_record *ret,
		     struct hn_err *err);
bool hn_sqlite_has_record(struct hn_db *base, const struct hn_record *r);
int hn_sqlite_records(struct hn_db *base, const char *workload, const char *target,
		      hn_db_each_fn each, void *ctx, struct hn_err *err);

/* find.c: */
int hn_sqlite_pair(struct hn_db *base, const char *workload, const char *target,
		   struct hn_db_pair *ret, struct hn_err *err);
int hn_sqlite_keys(struct hn_db *base, const char *word, hn_db_key_fn each, void *ctx,
		   struct hn_err *err);

/* promote.c: */
int hn_sqlite_promotion(struct hn_db *base, const struct hn_db_pair *pair,
			struct hn_promotion *ret, struct hn_err *err);
int hn_sqlite_put_promotion(struct hn_db *base, const struct hn_db_pair *pair,
			    const struct hn_promotion *p, struct hn_err *err);
int hn_sqlite_fastest(struct hn_db *base, const struct hn_db_pair *pair, int64_t after,
		      double below, int64_t *ret_record, struct hn_err *err);

/* pair.c: */
int hn_sqlite_put_naive(struct hn_db *base, const char *workload, const char *target,
			const struct hn_naive *naive, struct hn_err *err);
int hn_sqlite_naive(struct hn_db *base, const char *workload, const char *target,
		    struct hn_naive *ret, struct hn_err *err);
int hn_sqlite_put_automatic(struct hn_db *base, const char *workload, const char *target,
			    const char *steps, struct hn_err *err);
int hn_sqlite_automatic(struct hn_db *base, const char *workload, const char *target,
			struct hn_arena *a, const char **ret, struct hn_err *err);
int hn_sqlite_tallies(struct hn_db *base, hn_db_tally_fn each, void *ctx, struct hn_err *err);

/* job.c, model.c, damage.c: */
int hn_sqlite_put_job(struct hn_db *base, const char *id, const char *json, bool finished,
		      struct hn_err *err);
int hn_sqlite_jobs(struct hn_db *base, bool unfinished_only, hn_db_job_fn each, void *ctx,
		   struct hn_err *err);
int hn_sqlite_ended_jobs(struct hn_db *base, uint32_t most, hn_db_job_fn each, void *ctx,
			 struct hn_err *err);
int hn_sqlite_put_model(struct hn_db *base, const char *target, const char *name,
			const char *text, struct hn_err *err);
int hn_sqlite_model(struct hn_db *base, const char *target, const char *name,
		    struct hn_arena *a, const char **ret, struct hn_err *err);
int hn_sqlite_settle(struct hn_db *base, struct hn_err *err);

#endif
