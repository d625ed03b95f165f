/* db/sqlite/record.c -- workloads, records, bests and naive times. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/sqlite/db_int.h"

struct record_keys {
	int64_t workload, target, stamp;
};

int hn_db_put_workload(struct hn_db *db, const struct hn_workload_row *w,
		       struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc;

	if (!w->key || !*w->key || !w->dag_json || !isfinite(w->flops)) {
		return hn_fail(err, HONE_E_INVALID,
			       "a workload needs a key, its DAG and its "
			       "operation count");
	}
	rc = hn_db_begin(db, err);
	if (rc != 0) {
		return rc;
	}
	rc = hn_db_stmt(db, HN_DB_STMT_PUT_WORKLOAD, &s, err);
	if (rc != 0) {
		return hn_db_end(db, rc, err);
	}
	hn_db_bind(s, 1, w->key);
	hn_db_bind(s, 2, w->name);
	hn_db_bind(s, 3, w->dag_json);
	sqlite3_bind_double(s, 4, w->flops);
	sqlite3_bind_int64(s, 5, hn_clock_unix_ms());
	hn_db_bind(s, 6, w->cache ? w->cache : "warm");
	rc = hn_db_run(db, s, err, "store a workload");
	return hn_db_end(db, rc, err);
}

int hn_db_workload(struct hn_db *db, const char *key, struct hn_arena *a,
		   struct hn_workload_row *ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_WORKLOAD, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_db_bind(s, 1, key);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = (struct hn_workload_row){
			.key = hn_arena_strdup(a, key),
			.name = hn_arena_strdup(a, hn_db_column(s, 0)),
			.dag_json = hn_arena_strdup(a, hn_db_column(s, 1)),
			.flops = sqlite3_column_double(s, 2),
			.cache = hn_arena_strdup(a, hn_db_column(s, 3)),
		};
	} else {
		rc = step == SQLITE_DONE ? hn_fail(err, HONE_E_NOT_FOUND,
						   "no workload %s in the store", key)
					 : hn_db_fail(db, err, "read a workload");
	}
	sqlite3_reset(s);
	return rc;
}

static int check_record(const struct hn_record *r, struct hn_err *err)
{
	bool ok = r->verdict == HN_VERDICT_OK;

	if (!ok && !hn_verdict_blames_kernel(r->verdict)) {
		return hn_fail(
			err, HONE_E_INVALID,
			"a record's verdict cannot be %s: it says nothing about the "
			"program",
			hn_verdict_name(r->verdict));
	}
	if (ok && !(isfinite(r->median_ns) && r->median_ns > 0)) {
		return hn_fail(err, HONE_E_INVALID, "a record's time cannot be %g ns",
			       r->median_ns);
	}
	if (!r->workload || !r->target || !*r->target || !r->steps) {
		return hn_fail(err, HONE_E_INVALID,
			       "a record needs a workload, a target and its steps");
	}
	if (r->n_sample > 0 && !r->sample_ns) {
		return hn_fail(err, HONE_E_INVALID, "a record's %u samples are missing",
			       r->n_sample);
	}
	return 0;
}

/* The id of a text's row, which is made where it is new. */
static int intern(struct hn_db *db, enum hn_db_stmt put, enum hn_db_stmt find,
		  const char *const *text, uint32_t n_text, int64_t *ret,
		  struct hn_err *err)
{
	int found = hn_db_find_id(db, find, text, n_text, ret, err);
	sqlite3_stmt *s;
	int rc;

	if (found != 0) {
		return found > 0 ? 0 : found;
	}
	rc = hn_db_stmt(db, put, &s, err);
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < n_text; i++) {
		hn_db_bind(s, (int)i + 1, text[i]);
	}
	rc = hn_db_run(db, s, err, "store a name");
	*ret = sqlite3_last_insert_rowid(db->sql);
	return rc;
}

static int workload_id(struct hn_db *db, const char *key, int64_t *ret,
		       struct hn_err *err)
{
	int found = hn_db_find_id(db, HN_DB_STMT_WORKLOAD_ID, &key, 1, ret, err);

	if (found == 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "no workload %s in the store", key);
	}
	return found > 0 ? 0 : found;
}

static int find_keys(struct hn_db *db, const struct hn_record *r, struct record_keys *ret,
		     struct hn_err *err)
{
	const char *stamp[] = {r->stamp.hone, r->stamp.codegen, r->stamp.board};
	int rc = workload_id(db, r->workload, &ret->workload, err);

	if (rc == 0) {
		rc = intern(db, HN_DB_STMT_PUT_TARGET, HN_DB_STMT_TARGET_ID, &r->target,
			    1, &ret->target, err);
	}
	if (rc == 0) {
		rc = intern(db, HN_DB_STMT_PUT_STAMP, HN_DB_STMT_STAMP_ID, stamp, 3,
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
	hn_db_bind(s, at + 2, d->changes);
	if (d->predicted_ns > 0 && isfinite(d->predicted_ns)) {
		sqlite3_bind_double(s, at + 3, d->predicted_ns);
	}
	hn_db_bind(s, at + 4, d->model);
}

static struct hn_descent read_descent(sqlite3_stmt *s, int at)
{
	return (struct hn_descent){
		.parent = {(uint64_t)sqlite3_column_int64(s, at),
			   (uint64_t)sqlite3_column_int64(s, at + 1)},
		.changes = hn_db_column(s, at + 2),
		.predicted_ns = sqlite3_column_double(s, at + 3),
		.model = hn_db_column(s, at + 4),
	};
}

static int count_trial(struct hn_db *db, const struct record_keys *keys, bool failed,
		       struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_db_stmt(db, HN_DB_STMT_COUNT_TRIAL, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, keys->workload);
	sqlite3_bind_int64(s, 2, keys->target);
	sqlite3_bind_int(s, 3, failed);
	return hn_db_run(db, s, err, "count a trial");
}

static int insert_record(struct hn_db *db, const struct hn_record *r,
			 const struct record_keys *keys, int64_t *ret_id,
			 struct hn_err *err)
{
	size_t n_byte = (size_t)r->n_sample * sizeof(double);
	uint64_t *word;
	sqlite3_stmt *s;
	int rc = hn_db_stmt(db, HN_DB_STMT_PUT_RECORD, &s, err);

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
	hn_db_bind(s, 4, r->steps);
	hn_db_bind(s, 5, hn_verdict_name(r->verdict));
	hn_db_bind(s, 6, r->detail);
	if (r->verdict == HN_VERDICT_OK) {
		sqlite3_bind_double(s, 7, r->median_ns);
	}
	sqlite3_bind_blob64(s, 8, word, n_byte, SQLITE_STATIC);
	sqlite3_bind_int64(s, 9, r->build_ns);
	sqlite3_bind_int64(s, 10, r->run_ns);
	sqlite3_bind_int64(s, 11, r->unix_ms);
	sqlite3_bind_int(s, 12, r->proved);
	hn_db_bind(s, 13, r->origin);
	bind_descent(s, 14, &r->descent);
	hn_db_bind(s, 19, r->workload);
	hn_db_bind(s, 20, r->target);
	hn_db_bind(s, 21, r->stamp.hone);
	hn_db_bind(s, 22, r->stamp.codegen);
	hn_db_bind(s, 23, r->stamp.board);
	rc = hn_db_run(db, s, err, "append a record");
	sqlite3_clear_bindings(s);
	free(word);
	*ret_id = sqlite3_last_insert_rowid(db->sql);
	return rc != 0 ? rc : count_trial(db, keys, r->verdict != HN_VERDICT_OK, err);
}

/* Inside a transaction. */
static int put_certificate(struct hn_db *db, int64_t record, const char *certificate,
			   struct hn_err *err)
{
	bool keep = certificate && *certificate;
	sqlite3_stmt *s;
	int rc = hn_db_stmt(db, keep ? HN_DB_STMT_CERTIFY : HN_DB_STMT_UNCERTIFY, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, record);
	if (keep) {
		hn_db_bind(s, 2, certificate);
		sqlite3_bind_int64(s, 3, hn_clock_unix_ms());
	}
	rc = hn_db_run(db, s, err, "store a certificate");
	if (rc == 0 && keep && sqlite3_changes(db->sql) == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "record %lld: not there, or not a correct one: it takes no "
			     "certificate",
			     (long long)record);
	}
	return rc;
}

int hn_db_certify(struct hn_db *db, int64_t record, const char *certificate,
		  struct hn_err *err)
{
	int rc = hn_db_begin(db, err);

	return rc != 0 ? rc : hn_db_end(db, put_certificate(db, record, certificate, err), err);
}

int hn_db_append(struct hn_db *db, struct hn_record *record, uint32_t n,
		 struct hn_err *err)
{
	struct record_keys keys;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		rc = check_record(&record[i], err);
	}
	if (rc != 0 || n == 0) {
		return rc;
	}
	rc = hn_db_begin(db, err);
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		rc = i > 0 && same_keys(&record[i - 1], &record[i])
			     ? 0
			     : find_keys(db, &record[i], &keys, err);
		if (rc == 0) {
			rc = insert_record(db, &record[i], &keys, &record[i].id, err);
		}
		if (rc == 0 && record[i].certificate && *record[i].certificate) {
			rc = put_certificate(db, record[i].id, record[i].certificate,
					     err);
		}
	}
	rc = hn_db_end(db, rc, err);
	for (uint32_t i = 0; rc != 0 && i < n; i++) {
		record[i].id = 0;
	}
	return rc;
}

int hn_db_read_record(struct hn_db *db, sqlite3_stmt *s, double **sample,
		      struct hn_record *ret, struct hn_err *err)
{
	size_t n_byte = (size_t)sqlite3_column_bytes(s, 7);
	enum hn_verdict verdict = hn_verdict_of(hn_db_column(s, 4));
	double *copy = malloc(n_byte + 1);

	if (!copy) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", db->path);
	}
	if (verdict == HN_N_VERDICT || n_byte % sizeof(double) != 0) {
		free(copy);
		return hn_fail(err, HONE_E_CORRUPT, "%s: record %lld: unknown verdict %s",
			       db->path, (long long)sqlite3_column_int64(s, 0),
			       hn_db_column(s, 4));
	}
	if (n_byte > 0) {
		memcpy(copy, sqlite3_column_blob(s, 7), n_byte);
	}
	swap_samples((uint64_t *)(void *)copy, (uint32_t)(n_byte / sizeof(double)));
	free(*sample);
	*sample = copy;
	*ret = (struct hn_record){
		.id = sqlite3_column_int64(s, 0),
		.workload = hn_db_column(s, 1),
		.target = hn_db_column(s, 2),
		.steps = hn_db_column(s, 3),
		.verdict = verdict,
		.detail = hn_db_column(s, 5),
		.median_ns = sqlite3_column_double(s, 6),
		.n_sample = (uint32_t)(n_byte / sizeof(double)),
		.sample_ns = copy,
		.build_ns = sqlite3_column_int64(s, 8),
		.run_ns = sqlite3_column_int64(s, 9),
		.unix_ms = sqlite3_column_int64(s, 10),
		.proved = sqlite3_column_int(s, 11) != 0,
		.stamp = {hn_db_column(s, 12), hn_db_column(s, 13), hn_db_column(s, 14)},
		.origin = hn_db_column(s, 15),
		.certificate = hn_db_column(s, 16),
		.descent = read_descent(s, 17),
	};
	return 0;
}

void hn_db_keep_record(struct hn_record *r, struct hn_arena *a)
{
	double *sample = HN_NEW_ARRAY(a, double, r->n_sample);

	if (r->n_sample > 0) {
		memcpy(sample, r->sample_ns, r->n_sample * sizeof(double));
	}
	r->sample_ns = sample;
	r->workload = hn_arena_strdup(a, r->workload);
	r->target = hn_arena_strdup(a, r->target);
	r->steps = hn_arena_strdup(a, r->steps);
	r->origin = hn_arena_strdup(a, r->origin);
	r->certificate = hn_arena_strdup(a, r->certificate);
	r->detail = hn_arena_strdup(a, r->detail);
	r->stamp.hone = hn_arena_strdup(a, r->stamp.hone);
	r->stamp.codegen = hn_arena_strdup(a, r->stamp.codegen);
	r->stamp.board = hn_arena_strdup(a, r->stamp.board);
	r->descent.changes = hn_arena_strdup(a, r->descent.changes);
	r->descent.model = hn_arena_strdup(a, r->descent.model);
}

int hn_db_records(struct hn_db *db, const char *workload, const char *target,
		  hn_db_each_fn each, void *ctx, struct hn_err *err)
{
	static const enum hn_db_stmt which[2][2] = {
		{HN_DB_STMT_RECORDS, HN_DB_STMT_RECORDS_OF_TARGET},
		{HN_DB_STMT_RECORDS_OF_WORKLOAD, HN_DB_STMT_RECORDS_OF_BOTH},
	};
	double *sample = NULL;
	struct hn_record r;
	sqlite3_stmt *s;
	int step = SQLITE_DONE;
	int rc = hn_db_stmt(db, which[workload != NULL][target != NULL], &s, err);

	if (rc != 0) {
		return rc;
	}
	if (workload) {
		hn_db_bind(s, 1, workload);
	}
	if (target) {
		hn_db_bind(s, 2, target);
	}
	while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		rc = hn_db_read_record(db, s, &sample, &r, err);
		if (rc == 0) {
			rc = each(ctx, &r);
		}
	}
	if (rc == 0 && step != SQLITE_DONE) {
		rc = hn_db_fail(db, err, "read the records");
	}
	free(sample);
	sqlite3_reset(s);
	return rc;
}

/* A statement about a workload and a target, whose rows are bound as 1 and 2. */
static int pair_stmt(struct hn_db *db, enum hn_db_stmt which, const char *workload,
		     const char *target, sqlite3_stmt **ret, struct hn_err *err)
{
	int64_t workload_row = 0, target_row = 0;
	int rc = workload_id(db, workload, &workload_row, err);

	if (rc == 0) {
		rc = intern(db, HN_DB_STMT_PUT_TARGET, HN_DB_STMT_TARGET_ID, &target, 1,
			    &target_row, err);
	}
	if (rc == 0) {
		rc = hn_db_stmt(db, which, ret, err);
	}
	if (rc == 0) {
		sqlite3_bind_int64(*ret, 1, workload_row);
		sqlite3_bind_int64(*ret, 2, target_row);
	}
	return rc;
}

int hn_db_put_naive(struct hn_db *db, const char *workload, const char *target,
		    const struct hn_naive *naive, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc;

	if (!(isfinite(naive->ns) && naive->ns > 0) || !target || !*target) {
		return hn_fail(err, HONE_E_INVALID, "a naive time cannot be %g ns",
			       naive->ns);
	}
	rc = hn_db_begin(db, err);
	if (rc != 0) {
		return rc;
	}
	rc = pair_stmt(db, HN_DB_STMT_PUT_NAIVE, workload, target, &s, err);
	if (rc == 0) {
		sqlite3_bind_double(s, 3, naive->ns);
		sqlite3_bind_int64(s, 4, hn_clock_unix_ms());
		if (naive->share > 0 && naive->share < 1) {
			sqlite3_bind_double(s, 5, naive->share);
		}
		rc = hn_db_run(db, s, err, "store a naive time");
	}
	return hn_db_end(db, rc, err);
}

int hn_db_get_naive(struct hn_db *db, const char *workload, const char *target,
		    struct hn_naive *ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_GET_NAIVE, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_db_bind(s, 1, workload);
	hn_db_bind(s, 2, target);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = (struct hn_naive){ .ns = sqlite3_column_double(s, 0),
					  .share = sqlite3_column_double(s, 1) };
	} else if (step == SQLITE_DONE) {
		*ret = hn_db_witness_naive(db, workload, target);
	} else {
		rc = hn_db_fail(db, err, "read a naive time");
	}
	sqlite3_reset(s);
	return rc;
}

int hn_db_put_automatic(struct hn_db *db, const char *workload, const char *target,
			const char *steps, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_db_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	rc = pair_stmt(db, HN_DB_STMT_PUT_AUTOMATIC, workload, target, &s, err);
	if (rc == 0) {
		hn_db_bind(s, 3, steps);
		rc = hn_db_run(db, s, err, "store an automatic schedule");
	}
	return hn_db_end(db, rc, err);
}

int hn_db_get_automatic(struct hn_db *db, const char *workload, const char *target,
			struct hn_arena *a, const char **ret, struct hn_err *err)
{
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_GET_AUTOMATIC, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_db_bind(s, 1, workload);
	hn_db_bind(s, 2, target);
	step = sqlite3_step(s);
	if (step == SQLITE_ROW) {
		*ret = hn_arena_strdup(a, hn_db_column(s, 0));
	} else {
		rc = step == SQLITE_DONE ? -HONE_E_NOT_FOUND
					 : hn_db_fail(db, err, "read an automatic schedule");
	}
	sqlite3_reset(s);
	return rc;
}
