/* db/store/read.c -- reading what is stored: whose words a failure has, and a key by its
 * beginning. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "db/store/ops.h"

int hn_db_workload(struct hn_db *db, const char *key, struct hn_arena *a,
		   struct hn_workload_row *ret, struct hn_err *err)
{
	int rc = db->ops->workload(db, key, a, ret, err);

	return rc == -HONE_E_NOT_FOUND
		       ? hn_fail(err, HONE_E_NOT_FOUND, "no workload %s in the store", key)
		       : rc;
}

int hn_db_find(struct hn_db *db, int64_t id, struct hn_arena *a, struct hn_record *ret,
	       struct hn_workload_row *ret_workload, struct hn_err *err)
{
	int rc = db->ops->record(db, id, a, ret, err);

	if (rc == -HONE_E_NOT_FOUND) {
		return hn_fail(err, HONE_E_NOT_FOUND, "there is no record %lld", (long long)id);
	}
	return rc != 0 ? rc : hn_db_workload(db, ret->workload, a, ret_workload, err);
}

int hn_db_records(struct hn_db *db, const char *workload, const char *target,
		  hn_db_each_fn each, void *ctx, struct hn_err *err)
{
	return db->ops->records(db, workload, target, each, ctx, err);
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

struct keys {
	char *key; /* the last one */
	struct hn_buf list;
	uint32_t n;
};

static void on_key(void *ctx, const char *key, const char *name)
{
	struct keys *k = ctx;

	snprintf(k->key, 65, "%s", key);
	hn_buf_printf(&k->list, "%s%.16s (%.40s)", k->n++ > 0 ? ", " : "", key, name);
}

int hn_db_key(struct hn_db *db, const char *word, char key[65], struct hn_err *err)
{
	struct keys k = { .key = key };
	size_t n = strlen(word);
	int rc;

	if (n < 4 || n > 64 || strspn(word, "0123456789abcdef") != n) {
		return hn_fail(err, HONE_E_INVALID,
			       "workload: \"%.64s\" is not the beginning of a key: at least 4 "
			       "digits from 0 to f",
			       word);
	}
	if (n == 64) {
		strcpy(key, word); /* of a workload that is not stored, too */
		return 0;
	}
	hn_buf_init(&k.list);
	rc = db->ops->keys(db, word, on_key, &k, err);
	if (rc == 0 && k.n == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "workload: no key begins with %s", word);
	} else if (rc == 0 && k.n > 1) {
		rc = hn_fail(err, HONE_E_INVALID, "workload: %s is ambiguous: %s", word,
			     k.list.s);
	}
	hn_buf_fini(&k.list);
	return rc;
}

int hn_db_get_automatic(struct hn_db *db, const char *workload, const char *target,
			struct hn_arena *a, const char **ret, struct hn_err *err)
{
	return db->ops->automatic(db, workload, target, a, ret, err);
}

int hn_db_get_model(struct hn_db *db, const char *target, const char *name, struct hn_arena *a,
		    const char **ret, struct hn_err *err)
{
	int rc;

	*ret = NULL;
	rc = db->ops->model(db, target, name, a, ret, err);
	return rc == -HONE_E_NOT_FOUND ? 0 : rc;
}

struct jobs {
	struct hn_arena *a;
	const char **json;
	uint32_t n, cap;
};

static void on_job(void *ctx, const char *json, int64_t unix_ms)
{
	struct jobs *j = ctx;

	(void)unix_ms;
	j->json = hn_arena_grow(j->a, j->json, j->n, &j->cap, sizeof(*j->json));
	j->json[j->n++] = hn_arena_strdup(j->a, json);
}

int hn_db_jobs(struct hn_db *db, bool unfinished_only, struct hn_arena *a,
	       uint32_t *ret_n, const char *const **ret_json, struct hn_err *err)
{
	struct jobs j = { .a = a };
	int rc = db->ops->jobs(db, unfinished_only, on_job, &j, err);

	if (rc == 0) {
		*ret_n = j.n;
		*ret_json = j.json;
	}
	return rc;
}

int hn_db_ended_jobs(struct hn_db *db, uint32_t most,
		     void (*fn)(void *ctx, const char *json, int64_t unix_ms), void *ctx,
		     struct hn_err *err)
{
	return db->ops->ended_jobs(db, most, fn, ctx, err);
}
