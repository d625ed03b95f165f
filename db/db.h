/* db/db.h -- every result, kept.
 *
 * db/store/ is what all kinds of store share, and what a kind must do (ops.h); db/sqlite/ is the
 * one kind there is, and alone knows SQLite: one process, one connection may write or checkpoint
 * (flock on the directory; WAL, full sync, exclusive locking: the WAL-reset bug of SQLite before
 * 3.51.3 needs two).  Records
 * are append-only; best is a query, never a flag: the winner of the latest final.  A call that
 * returned 0 has its data on disk.  Each row carries a checksum; one that fails it is left out of
 * every answer and noted (hn_db_damage).  Readers outside honed never open the SQLite file:
 * they read the snapshot (db/snapshot/snapshot.h), which honed replaces after commits.
 */
#ifndef HN_DB_DB_H
#define HN_DB_DB_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/verdict.h"

#define HN_DB_SCHEMA 11

struct hn_db;

/* Everything that could change an answer: part of each record. */
struct hn_stamp {
	const char *hone;    /* version of hone */
	const char *codegen; /* emitter and LLVM version */
	const char *board;   /* machine */
};

/* How the search came to a program, and what it expected: zeros and "" = nothing to say, or not
 * kept by the version that wrote the record. */
struct hn_descent {
	uint64_t parent[2];   /* hashes (hn_trace_hash) of the histories it was made from: the
			       * nearest that were measured, or the sample that its line begins
			       * with; the second is that of a crossover */
	const char *changes;  /* from there on, in order: "sample mutate:tile mutate:unroll" */
	double predicted_ns;  /* by the model, when it was asked for */
	const char *model;    /* which one said so */
};

struct hn_record {
	int64_t id;		 /* set by append */
	const char *workload;	 /* key */
	const char *target;	 /* target line */
	const char *steps;	 /* record form */
	const char *origin;	 /* how it was found: "guard", "sample"; "" = not said */
	enum hn_verdict verdict; /* kernel verdicts and OK only */
	const char *detail;
	double median_ns; /* OK only */
	uint32_t n_sample;
	const double *sample_ns;
	int64_t build_ns, run_ns;
	int64_t unix_ms;
	bool proved; /* tier T1 passed before it ran */
	const char *certificate; /* what was proved (lower/prove/certify.h), JSON; NULL or "" = none is
				  * kept, and then it is never best */
	struct hn_stamp stamp;
	struct hn_descent descent;
	bool in_doubt; /* of hn_db_best: the store is damaged, and may have lost a better one */
};

struct hn_workload_row {
	const char *key;
	const char *name; /* for people: what the submitter called it */
	const char *dag_json;
	double flops;
	const char *cache; /* its records' times are of "warm" caches (NULL, too) or of "cold" ones */
};

/* Open or create the store of that place: a directory, or a URL whose scheme is a row of
 * db/store/stores.def; HONE_E_UNSUPPORTED where it is none.  In a directory that is
 * `place`/hone.sqlite. Migrates forward. Refuses a directory that cannot be
 * written, is on a network file system, is held by another process (HONE_E_BUSY), or has
 * a newer schema (HONE_E_VERSION). */
int hn_db_open(const char *place, struct hn_db **ret, struct hn_err *err) HN_NODISCARD;
void hn_db_close(struct hn_db *db); /* NULL is fine */

/* What was found damaged or missing and nobody has settled, one call each: a place ("record 12",
 * "record", "hone.mark") and a sentence.  The strings are borrowed for the call. */
typedef void (*hn_db_damage_fn)(void *ctx, const char *place, const char *detail);
void hn_db_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx);

/* Call `each` for what is found from now on, once a place. */
void hn_db_on_damage(struct hn_db *db, hn_db_damage_fn each, void *ctx);

/* The same as one line onto ret, nothing when the store is sound; answers how many there are. */
uint32_t hn_db_notice(const struct hn_db *db, struct hn_buf *ret);

/* Somebody has seen all of it: answers no longer say so.  Damaged rows stay left out. */
int hn_db_settle(struct hn_db *db, struct hn_err *err) HN_NODISCARD;

/* Between these two all writes are one transaction, and one sync.  Each still answers for itself:
 * one that fails is undone alone, and the others are not.  But none of them is on disk before
 * hn_db_group_end answered 0; when it answers anything else, none was kept. */
int hn_db_group_begin(struct hn_db *db, struct hn_err *err) HN_NODISCARD;
int hn_db_group_end(struct hn_db *db, struct hn_err *err) HN_NODISCARD;

/* Whether the store takes writes at all: 0, HONE_E_DISK_FULL, ... */
int hn_db_probe(struct hn_db *db, struct hn_err *err) HN_NODISCARD;

/* Idempotent by key. */
int hn_db_put_workload(struct hn_db *db, const struct hn_workload_row *w,
		       struct hn_err *err) HN_NODISCARD;

/* The workload of that key; HONE_E_NOT_FOUND. Strings live in `a`. */
int hn_db_workload(struct hn_db *db, const char *key, struct hn_arena *a,
		   struct hn_workload_row *ret, struct hn_err *err) HN_NODISCARD;

/* Append n records in one transaction. HONE_E_DISK_FULL, HONE_E_STORE: none was kept;
 * HONE_E_INVALID: a verdict that blames no kernel, or a time that is none; HONE_E_NOT_FOUND:
 * the workload was never put. After HONE_E_STORE from an I/O error all later writes fail with
 * it too, until the store is opened anew. */
int hn_db_append(struct hn_db *db, struct hn_record *record, uint32_t n,
		 struct hn_err *err) HN_NODISCARD;

/* Naive time of a workload on a target (0 when unknown), and storing it. */
struct hn_naive {
	double ns;
	double share; /* of its iterations that was timed; an estimate below 1; 0 = not said */
};
int hn_db_put_naive(struct hn_db *db, const char *workload, const char *target,
		    const struct hn_naive *naive, struct hn_err *err) HN_NODISCARD;
int hn_db_get_naive(struct hn_db *db, const char *workload, const char *target,
		    struct hn_naive *ret, struct hn_err *err) HN_NODISCARD;

/* Keep a certificate of the record (NULL or "": withdraw it), for stores older than schema 3
 * and for what was proved anew. HONE_E_NOT_FOUND: no such record, or not an OK one. */
int hn_db_certify(struct hn_db *db, int64_t record, const char *certificate,
		  struct hn_err *err) HN_NODISCARD;

/* What a paired final found (measure/host/final.h). */
struct hn_promotion {
	int64_t record_id; /* the winner's; OK, proved and certified, of this workload and target */
	int64_t replaced_id; /* the holder that the final was held against, which may be the winner;
			      * 0 = there was none, or it was promoted before schema 8 */
	int64_t judged_id; /* records up to this one were considered */
	double median_ns;  /* the winner's, in the final */
	double gain_lo, gain_hi; /* of the challenger over the holder, as shares */
	uint32_t n_entrant, n_block;
	int64_t unix_ms;
};

/* Append it: from now on its record is the best.  HONE_E_BUSY: the holder is another than
 * p->replaced_id by now, and nothing was written; the final is to be held against that one.
 * HONE_E_INVALID: no such record, or a figure that is none. */
int hn_db_promote(struct hn_db *db, const char *workload, const char *target,
		  const struct hn_promotion *p, struct hn_err *err) HN_NODISCARD;

/* The latest promotion of the pair whose record still has its certificate; HONE_E_NOT_FOUND,
 * without a message, when none. */
int hn_db_promotion(struct hn_db *db, const char *workload, const char *target,
		    struct hn_promotion *ret, struct hn_err *err) HN_NODISCARD;

/* The best OK, proved and certified record: the one promoted last, with the median of its final;
 * or, until a final has judged it, a later one whose own median is below HN_DB_BELIEVED of that;
 * or, before any final, the one with the smallest median.  HONE_E_NOT_FOUND when none.
 * One that is damaged or lost in the store is answered from best.snapshot, as it was at the start.
 * Strings live in `a`. */
#define HN_DB_BELIEVED 0.9
int hn_db_best(struct hn_db *db, const char *workload, const char *target,
	       struct hn_arena *a, struct hn_record *ret,
	       struct hn_err *err) HN_NODISCARD;

/* Record number `id` and its workload; all of it lives in `a`.
 * HONE_E_NOT_FOUND. */
int hn_db_find(struct hn_db *db, int64_t id, struct hn_arena *a, struct hn_record *ret,
	       struct hn_workload_row *ret_workload, struct hn_err *err) HN_NODISCARD;

/* Call `each` for every record of (workload, target), oldest first; NULL = any. Strings
 * are borrowed for the call. A nonzero answer stops and is returned. */
typedef int (*hn_db_each_fn)(void *ctx, const struct hn_record *r);
int hn_db_records(struct hn_db *db, const char *workload, const char *target,
		  hn_db_each_fn each, void *ctx, struct hn_err *err) HN_NODISCARD;

/* The one workload key that begins with `word`, at least 4 digits; a whole key stands for itself.
 * HONE_E_INVALID lists those that
 * it could be, HONE_E_NOT_FOUND says that there is none. */
int hn_db_key(struct hn_db *db, const char *word, char key[65], struct hn_err *err) HN_NODISCARD;

/* What to answer of a pair while no program of it was measured and right: steps that the quick
 * check showed to be legal (loopstate/nest/quick.h), in record form.  HONE_E_NOT_FOUND, without a
 * message; the steps live in `a`. */
int hn_db_put_automatic(struct hn_db *db, const char *workload, const char *target,
			const char *steps, struct hn_err *err) HN_NODISCARD;
int hn_db_get_automatic(struct hn_db *db, const char *workload, const char *target,
			struct hn_arena *a, const char **ret, struct hn_err *err) HN_NODISCARD;

/* Jobs, so that a killed daemon resumes: opaque JSON by id. */
int hn_db_put_job(struct hn_db *db, const char *id, const char *json, bool finished,
		  struct hn_err *err) HN_NODISCARD;
int hn_db_jobs(struct hn_db *db, bool unfinished_only, struct hn_arena *a,
	       uint32_t *ret_n, const char *const **ret_json,
	       struct hn_err *err) HN_NODISCARD;

/* The latest jobs that ended, newest first, at most so many: fn gets the JSON of each and when it
 * ended; the text lives until fn returns. */
int hn_db_ended_jobs(struct hn_db *db, uint32_t most,
		     void (*fn)(void *ctx, const char *json, int64_t unix_ms), void *ctx,
		     struct hn_err *err) HN_NODISCARD;

/* What the cost model of that name has learned of a target, in place of what it had; and reading
 * it: NULL when there is nothing.  The text lives in `a`. */
int hn_db_put_model(struct hn_db *db, const char *target, const char *name, const char *text,
		    struct hn_err *err) HN_NODISCARD;
int hn_db_get_model(struct hn_db *db, const char *target, const char *name, struct hn_arena *a,
		    const char **ret, struct hn_err *err) HN_NODISCARD;

/* Write `dir`/best.snapshot anew from the bests (atomic rename, synced). Cost: the number of
 * workloads, not of records.  What the old one knows and the store does not is kept: a lost or
 * damaged store does not take the last answers with it. */
int hn_db_write_snapshot(struct hn_db *db, struct hn_err *err) HN_NODISCARD;

#endif
