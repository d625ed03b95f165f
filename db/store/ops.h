/* db/store/ops.h -- what a kind of store does, behind db.h.
 *
 * db/store/ is the half that every kind shares: what may be written, which record is the best,
 * what the snapshot keeps, how damage is told.  A kind fills the functions below and knows its
 * tables, files and dialect (db/sqlite/).  It is a folder of its own and one row of stores.def;
 * docs/adding-a-store.md.
 *
 * All calls come from one thread at a time.  Answers: 0, or what hn_fail gave; "HONE_E_NOT_FOUND
 * without a message" is -HONE_E_NOT_FOUND.  A call that fails leaves its ret_ arguments alone.
 */
#ifndef HN_DB_STORE_OPS_H
#define HN_DB_STORE_OPS_H

#include "db/db.h"
#include "db/mark.h"

/* A workload and a target, by the numbers that the store knows them by; 0 = it does not. */
struct hn_db_pair {
	int64_t workload, target;
};

/* What there is of a pair, all of it borrowed for the call. */
struct hn_db_tally {
	struct hn_db_pair pair;
	struct hn_workload_row workload;
	const char *target;
	uint32_t n_trial, n_failed;
	struct hn_naive naive; /* ns 0 = unknown */
	const char *automatic; /* its steps; "" = none */
};

typedef int (*hn_db_tally_fn)(void *ctx, const struct hn_db_tally *t, struct hn_err *err);
typedef void (*hn_db_key_fn)(void *ctx, const char *key, const char *name);
typedef void (*hn_db_job_fn)(void *ctx, const char *json, int64_t unix_ms);

struct hn_db_ops {
	size_t bytes; /* of the kind's own struct, which begins with a struct hn_db */

	/* `db` is zero but for its ops; set db->dir.  Whatever open answers, close comes, once: it
	 * frees what is the kind's own. */
	int (*open)(struct hn_db *db, const char *place, struct hn_err *err);
	void (*close)(struct hn_db *db);

	/* Whether the store is still the one that was opened: before an answer is read from it. */
	int (*still)(struct hn_db *db, struct hn_err *err);

	/* One write.  begin refuses where nothing can be written any more.  end keeps what was
	 * written since when rc is 0, else undoes it; it answers rc, or why it was not kept, and
	 * updates db->mark.  What 0 acknowledged is on disk, except inside a group: there a write
	 * is a part that is kept or undone alone, and group_end answers for all (db.h). */
	int (*begin)(struct hn_db *db, struct hn_err *err);
	int (*end)(struct hn_db *db, int rc, struct hn_err *err);
	int (*group_begin)(struct hn_db *db, struct hn_err *err);
	int (*group_end)(struct hn_db *db, struct hn_err *err);

	/* Inside a write; what they are given was checked.  A name that is new (a target, a stamp)
	 * is kept with what names it; a workload must be there, else HONE_E_NOT_FOUND. */
	int (*probe)(struct hn_db *db, struct hn_err *err); /* write something that is nothing */
	int (*put_workload)(struct hn_db *db, const struct hn_workload_row *w,
			    struct hn_err *err);
	int (*append)(struct hn_db *db, struct hn_record *record, uint32_t n,
		      struct hn_err *err); /* sets ids; certificates, too */
	int (*certify)(struct hn_db *db, int64_t record, const char *certificate,
		       struct hn_err *err); /* NULL: withdraw */
	int (*put_promotion)(struct hn_db *db, const struct hn_db_pair *pair,
			     const struct hn_promotion *p,
			     struct hn_err *err); /* of an OK, proved and certified record of
						   * the pair, else HONE_E_INVALID */
	int (*put_naive)(struct hn_db *db, const char *workload, const char *target,
			 const struct hn_naive *naive, struct hn_err *err);
	int (*put_automatic)(struct hn_db *db, const char *workload, const char *target,
			     const char *steps, struct hn_err *err);
	int (*put_job)(struct hn_db *db, const char *id, const char *json, bool finished,
		       struct hn_err *err);
	int (*put_model)(struct hn_db *db, const char *target, const char *name,
			 const char *text, struct hn_err *err);

	/* Reading.  HONE_E_NOT_FOUND comes without a message.  What is returned lives in `a`; what
	 * a callback gets is borrowed for the call, and it may read more of the store. */
	int (*workload)(struct hn_db *db, const char *key, struct hn_arena *a,
			struct hn_workload_row *ret, struct hn_err *err);
	int (*pair)(struct hn_db *db, const char *workload, const char *target,
		    struct hn_db_pair *ret, struct hn_err *err); /* NOT_FOUND: what is known is
								  * set, the other is 0 */
	int (*promotion)(struct hn_db *db, const struct hn_db_pair *pair,
			 struct hn_promotion *ret, struct hn_err *err); /* the latest; db.h */
	int (*fastest)(struct hn_db *db, const struct hn_db_pair *pair, int64_t after,
		       double below, int64_t *ret_record,
		       struct hn_err *err); /* OK, proved and certified, its number above `after`,
					     * its median below `below`; of equals the first */
	int (*record)(struct hn_db *db, int64_t id, struct hn_arena *a, struct hn_record *ret,
		      struct hn_err *err);
	bool (*has_record)(struct hn_db *db,
			   const struct hn_record *r); /* by number, workload, target, steps */
	int (*records)(struct hn_db *db, const char *workload, const char *target,
		       hn_db_each_fn each, void *ctx, struct hn_err *err); /* oldest first; NULL =
									    * any */
	int (*keys)(struct hn_db *db, const char *word, hn_db_key_fn each, void *ctx,
		    struct hn_err *err); /* a few of those that begin with it, in order */
	int (*naive)(struct hn_db *db, const char *workload, const char *target,
		     struct hn_naive *ret, struct hn_err *err);
	int (*automatic)(struct hn_db *db, const char *workload, const char *target,
			 struct hn_arena *a, const char **ret,
			 struct hn_err *err); /* while nothing right was measured */
	int (*jobs)(struct hn_db *db, bool unfinished_only, hn_db_job_fn each, void *ctx,
		    struct hn_err *err); /* oldest first */
	int (*ended_jobs)(struct hn_db *db, uint32_t most, hn_db_job_fn each, void *ctx,
			  struct hn_err *err); /* newest first */
	int (*model)(struct hn_db *db, const char *target, const char *name,
		     struct hn_arena *a, const char **ret, struct hn_err *err);
	int (*tallies)(struct hn_db *db, hn_db_tally_fn each, void *ctx,
		       struct hn_err *err); /* every pair with records or an automatic schedule */

	/* Keep what was found damaged (damage below), and that somebody has seen all of it. */
	int (*settle)(struct hn_db *db, struct hn_err *err);
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

/* What every kind has.  Those marked * are the kind's to set. */
struct hn_db {
	const struct hn_db_ops *ops;
	char *dir;		     /* * where best.snapshot is kept; heap, freed by hn_db_close */
	struct hn_mark mark;	     /* * as of the last commit */
	struct hn_snapshot *witness; /* * best.snapshot as it was at the start; NULL = none */
	bool witness_fresh;	     /* * it was of the last commit */
	struct hn_db_damage *damage;
	uint32_t n_damage, n_unsettled;
	hn_db_damage_fn on_damage;
	void *on_damage_ctx;
};

/* What a kind tells of damage (damage.c).  A place is noted once. */
bool hn_db_is_noted(const struct hn_db *db, const char *place);
void hn_db_note(struct hn_db *db, const char *place, const char *detail, enum hn_db_noted how);
bool hn_db_has_found(const struct hn_db *db);
void hn_db_forget_damage(struct hn_db *db);

/* Copy all of r that is borrowed into `a`. */
void hn_db_keep_record(struct hn_record *r, struct hn_arena *a);

/* db.h's hn_db_open with a kind that is in no table: for tests. */
int hn_db_open_with(const struct hn_db_ops *ops, const char *place, struct hn_db **ret,
		    struct hn_err *err) HN_NODISCARD;

/* best.c: out of the store alone; HONE_E_NOT_FOUND without a message. */
int hn_db_best_of(struct hn_db *db, const struct hn_db_pair *pair, struct hn_arena *a,
		  struct hn_record *ret, struct hn_err *err) HN_NODISCARD;

/* best.c: whether something better may have been lost: not when the last snapshot had the same
 * best, or this one was measured since. */
bool hn_db_in_doubt(const struct hn_db *db, const struct hn_record *r);

#endif
