/* db/sqlite/record.c -- workloads and records. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/sqlite/sqlite_int.h"

struct record_keys {
	int64_t workload, target, stamp;
};

int hn_sqlite_put_workload(struct hn_db *base, const struct hn_workload_row *w,
			   struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_WORKLOAD, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, w->key);
	hn_sqlite_bind(s, 2, w->name);
	hn_sqlite_bind(s, 3, w->dag_json);
	sqlite3_bind_double(s, 4, w->flops);
	sqlite3_bind_int64(s, 5, hn_clock_unix_ms());
	hn_sqlite_bind(s, 6, w->cache ? w->cache : "warm");
	return hn_sqlite_run(db, s, err, "store a workload");
}

int hn_sqlite_workload(struct hn_db *base, const char *key, struct hn_arena *a,
		       struct hn_workload_row *ret, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_WORKLOAD, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_sqlite_bind(s, 1, key);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = (struct hn_workload_row){
			.key = hn_arena_strdup(a, key),
			.name = hn_arena_strdup(a, hn_sqlite_column(s, 0)),
			.dag_json = hn_arena_strdup(a, hn_sqlite_column(s, 1)),
			.flops = sqlite3_column_double(s, 2),
			.cache = hn_arena_strdup(a, hn_sqlite_column(s, 3)),
		};
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_sqlite_fail(db, err, "read a workload");
	}
	sqlite3_reset(s);
	return rc;
}

static int find_keys(struct hn_sqlite *db, const struct hn_record *r, struct record_keys *ret,
		     struct hn_err *err)
{
	const char *stamp[] = {r->stamp.hone, r->stamp.codegen, r->stamp.board};
	int rc = hn_sqlite_workload_id(db, r->workload, &ret->workload, err);

	if (rc == 0) {
		rc = hn_sqlite_intern(db, HN_SQLITE_STMT_PUT_TARGET, HN_SQLITE_STMT_TARGET_ID, &r->target,
			    1, &ret->target, err);
	}
	if (rc == 0) {
		rc = hn_sqlite_intern(db, HN_SQLITE_STMT_PUT_STAMP, HN_SQLITE_STMT_STAMP_ID, stamp, 3,
			    &ret->stamp, err);
	}
	return rc;
}

static bool same_keys(const struct hn_record *a, const struct hn_record *b)
{
	return strcmp(a->workload, b->workload) == 0 && strcmp(a->target, b->target) == 0 &&
	       strcmp(a->stamp.hone, b->stamp.hone) == 0 &&
	       strcmp(a->stamp.codegen, b->stamp.codegen) == 0 &&
	       strcmp(a->stamp.board, b->stamp.board) == 0;
}

/* Doubles lie in the file little-endian; the conversion is its own inverse. */
static void swap_samples(uint64_t *word, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		word[i] = htole64(word[i]);
	}
}

/* Hashes lie in the file as signed numbers of the same bits; what is not known is NULL. */
static void bind_descent(sqlite3_stmt *s, int at, const struct hn_descent *d)
{
	for (int i = 0; i < 2; i++) {
		if (d->parent[i] != 0) {
			sqlite3_bind_int64(s, at + i, (int64_t)d->parent[i]);
		}
	}
	hn_sqlite_bind(s, at + 2, d->changes);
	if (d->predicted_ns > 0 && isfinite(d->predicted_ns)) {
		sqlite3_bind_double(s, at + 3, d->predicted_ns);
	}
	hn_sqlite_bind(s, at + 4, d->model);
}

static struct hn_descent read_descent(sqlite3_stmt *s, int at)
{
	return (struct hn_descent){
		.parent = {(uint64_t)sqlite3_column_int64(s, at),
			   (uint64_t)sqlite3_column_int64(s, at + 1)},
		.changes = hn_sqlite_column(s, at + 2),
		.predicted_ns = sqlite3_column_double(s, at + 3),
		.model = hn_sqlite_column(s, at + 4),
	};
}

static int count_trial(struct hn_sqlite *db, const struct record_keys *keys, bool failed,
		       struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_COUNT_TRIAL, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, keys->workload);
	sqlite3_bind_int64(s, 2, keys->target);
	sqlite3_bind_int(s, 3, failed);
	return hn_sqlite_run(db, s, err, "count a trial");
}

static int insert_record(struct hn_sqlite *db, const struct hn_record *r,
			 const struct record_keys *keys, int64_t *ret_id,
			 struct hn_err *err)
{
	size_t n_byte = (size_t)r->n_sample * sizeof(double);
	uint64_t *word;
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_RECORD, &s, err);

	if (rc != 0) {
		return rc;
	}
	word = malloc(n_byte + 1);
	if (!word) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", db->path);
	}
	memcpy(word, n_byte > 0 ? r->sample_ns : (const double[]){0}, n_byte);
	swap_samples(word, r->n_sample);
	sqlite3_bind_int64(s, 1, keys->workload);
	sqlite3_bind_int64(s, 2, keys->target);
	sqlite3_bind_int64(s, 3, keys->stamp);
	hn_sqlite_bind(s, 4, r->steps);
	hn_sqlite_bind(s, 5, hn_verdict_name(r->verdict));
	hn_sqlite_bind(s, 6, r->detail);
	if (r->verdict == HN_VERDICT_OK) {
		sqlite3_bind_double(s, 7, r->median_ns);
	}
	sqlite3_bind_blob64(s, 8, word, n_byte, SQLITE_STATIC);
	sqlite3_bind_int64(s, 9, r->build_ns);
	sqlite3_bind_int64(s, 10, r->run_ns);
	sqlite3_bind_int64(s, 11, r->unix_ms);
	sqlite3_bind_int(s, 12, r->proved);
	hn_sqlite_bind(s, 13, r->origin);
	bind_descent(s, 14, &r->descent);
	hn_sqlite_bind(s, 19, r->workload);
	hn_sqlite_bind(s, 20, r->target);
	hn_sqlite_bind(s, 21, r->stamp.hone);
	hn_sqlite_bind(s, 22, r->stamp.codegen);
	hn_sqlite_bind(s, 23, r->stamp.board);
	rc = hn_sqlite_run(db, s, err, "append a record");
	sqlite3_clear_bindings(s);
	free(word);
	*ret_id = sqlite3_last_insert_rowid(db->sql);
	return rc != 0 ? rc : count_trial(db, keys, r->verdict != HN_VERDICT_OK, err);
}

int hn_sqlite_certify(struct hn_db *base, int64_t record, const char *certificate,
		      struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	bool keep = certificate != NULL;
	sqlite3_stmt *s;
	int rc = hn_sqlite_stmt(db, keep ? HN_SQLITE_STMT_CERTIFY : HN_SQLITE_STMT_UNCERTIFY, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, record);
	if (keep) {
		hn_sqlite_bind(s, 2, certificate);
		sqlite3_bind_int64(s, 3, hn_clock_unix_ms());
	}
	rc = hn_sqlite_run(db, s, err, "store a certificate");
	if (rc == 0 && keep && sqlite3_changes(db->sql) == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "record %lld: not there, or not a correct one: it takes no "
			     "certificate",
			     (long long)record);
	}
	return rc;
}

int hn_sqlite_append(struct hn_db *base, struct hn_record *record, uint32_t n,
		     struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	struct record_keys keys;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		rc = i > 0 && same_keys(&record[i - 1], &record[i])
			     ? 0
			     : find_keys(db, &record[i], &keys, err);
		if (rc == 0) {
			rc = insert_record(db, &record[i], &keys, &record[i].id, err);
		}
		if (rc == 0 && record[i].certificate && *record[i].certificate) {
			rc = hn_sqlite_certify(base, record[i].id, record[i].certificate, err);
		}
	}
	return rc;
}

/* The columns of RECORD_COLUMNS, from column 0 on; borrowed until the next step, samples in
 * *sample (freed and replaced at each call; NULL at first). */
static int read_record(struct hn_sqlite *db, sqlite3_stmt *s, double **sample,
		       struct hn_record *ret, struct hn_err *err)
{
	size_t n_byte = (size_t)sqlite3_column_bytes(s, 7);
	enum hn_verdict verdict = hn_verdict_of(hn_sqlite_column(s, 4));
	double *copy = malloc(n_byte + 1);

	if (!copy) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", db->path);
	}
	if (verdict == HN_N_VERDICT || n_byte % sizeof(double) != 0) {
		free(copy);
		return hn_fail(err, HONE_E_CORRUPT, "%s: record %lld: unknown verdict %s",
			       db->path, (long long)sqlite3_column_int64(s, 0),
			       hn_sqlite_column(s, 4));
	}
	if (n_byte > 0) {
		memcpy(copy, sqlite3_column_blob(s, 7), n_byte);
	}
	swap_samples((uint64_t *)(void *)copy, (uint32_t)(n_byte / sizeof(double)));
	free(*sample);
	*sample = copy;
	*ret = (struct hn_record){
		.id = sqlite3_column_int64(s, 0),
		.workload = hn_sqlite_column(s, 1),
		.target = hn_sqlite_column(s, 2),
		.steps = hn_sqlite_column(s, 3),
		.verdict = verdict,
		.detail = hn_sqlite_column(s, 5),
		.median_ns = sqlite3_column_double(s, 6),
		.n_sample = (uint32_t)(n_byte / sizeof(double)),
		.sample_ns = copy,
		.build_ns = sqlite3_column_int64(s, 8),
		.run_ns = sqlite3_column_int64(s, 9),
		.unix_ms = sqlite3_column_int64(s, 10),
		.proved = sqlite3_column_int(s, 11) != 0,
		.stamp = {hn_sqlite_column(s, 12), hn_sqlite_column(s, 13), hn_sqlite_column(s, 14)},
		.origin = hn_sqlite_column(s, 15),
		.certificate = hn_sqlite_column(s, 16),
		.descent = read_descent(s, 17),
	};
	return 0;
}

int hn_sqlite_record(struct hn_db *base, int64_t id, struct hn_arena *a, struct hn_record *ret,
		     struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	double *sample = NULL;
	struct hn_record r;
	sqlite3_stmt *s;
	int step, rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_RECORD_BY_ID, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, id);
	step = sqlite3_step(s);
	rc = step == SQLITE_ROW	   ? read_record(db, s, &sample, &r, err)
	     : step == SQLITE_DONE ? -HONE_E_NOT_FOUND
				   : hn_sqlite_fail(db, err, "read a record");
	if (rc == 0) {
		hn_db_keep_record(&r, a);
		*ret = r;
	}
	free(sample);
	sqlite3_reset(s);
	return rc;
}

bool hn_sqlite_has_record(struct hn_db *base, const struct hn_record *r)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	sqlite3_stmt *s;
	bool has;

	if (hn_sqlite_stmt(db, HN_SQLITE_STMT_SAME_RECORD, &s, NULL) != 0) {
		return false;
	}
	sqlite3_bind_int64(s, 1, r->id);
	hn_sqlite_bind(s, 2, r->steps);
	hn_sqlite_bind(s, 3, r->workload);
	hn_sqlite_bind(s, 4, r->target);
	has = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_reset(s);
	return has;
}

int hn_sqlite_records(struct hn_db *base, const char *workload, const char *target,
		      hn_db_each_fn each, void *ctx, struct hn_err *err)
{
	struct hn_sqlite *db = hn_sqlite_of(base);
	static const enum hn_sqlite_stmt which[2][2] = {
		{HN_SQLITE_STMT_RECORDS, HN_SQLITE_STMT_RECORDS_OF_TARGET},
		{HN_SQLITE_STMT_RECORDS_OF_WORKLOAD, HN_SQLITE_STMT_RECORDS_OF_BOTH},
	};
	double *sample = NULL;
	struct hn_record r;
	sqlite3_stmt *s;
	int step = SQLITE_DONE;
	int rc = hn_sqlite_stmt(db, which[workload != NULL][target != NULL], &s, err);

	if (rc != 0) {
		return rc;
	}
	if (workload) {
		hn_sqlite_bind(s, 1, workload);
	}
	if (target) {
		hn_sqlite_bind(s, 2, target);
	}
	while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		rc = read_record(db, s, &sample, &r, err);
		if (rc == 0) {
			rc = each(ctx, &r);
		}
	}
	if (rc == 0 && step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "read the records");
	}
	free(sample);
	sqlite3_reset(s);
	return rc;
}
