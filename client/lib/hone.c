/* client/lib/hone.c -- libhone: the public API over the snapshot. */
#include "hone/hone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/nearest.h"
#include "db/snapshot/snapshot.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"
#include "proto/addr.h"
#include "target/target.h"

_Static_assert(HONE_NOT_FOUND == -HONE_E_NOT_FOUND && HONE_QUOTA == -HONE_E_QUOTA &&
		       HONE_INVALID == -HONE_E_INVALID &&
		       HONE_VERSION_MISMATCH == -HONE_E_VERSION &&
		       HONE_PERMISSION == -HONE_E_PERMISSION &&
		       HONE_CORRUPT == -HONE_E_CORRUPT && HONE_IO == -HONE_E_IO,
	       "hone.h repeats errs.def");

struct hone_store {
	struct hn_snapshot *snapshot;
	struct hn_buf home;
	struct hn_buf host; /* this machine's target line */
};

_Static_assert(sizeof(((struct hone_answer *)0)->near) >= (size_t)HN_N_PARAM * 72,
	       "a difference is a name and two numbers");

static int give(int rc, const struct hn_err *err, struct hone_error *error)
{
	if (rc != 0 && error != NULL) {
		error->code = rc;
		snprintf(error->text, sizeof(error->text), "%s", err->msg);
	}
	return rc;
}

static int host_line(const char *home, struct hn_buf *line, struct hn_err *err)
{
	struct hn_arena a;
	struct hn_target host;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_target_parse_at(home, "native", &a, &host, err);
	if (rc == 0) {
		hn_target_print(&host, line);
	}
	hn_arena_fini(&a);
	return rc;
}

int hone_store_open(const char *dir, struct hone_store **ret, struct hone_error *error)
{
	struct hn_snapshot *snapshot;
	struct hone_store *store;
	struct hn_buf home, line;
	struct hn_err err;
	int rc;

	hn_buf_init(&home);
	hn_buf_init(&line);
	rc = hn_addr_home(dir, &home, &err);
	rc = rc != 0 ? rc : host_line(home.s, &line, &err);
	if (rc == 0) {
		rc = hn_snapshot_open_fresh(home.s, &snapshot, &err);
	}
	if (rc != 0) {
		hn_buf_fini(&home);
		hn_buf_fini(&line);
		return give(rc, &err, error);
	}
	store = calloc(1, sizeof(*store));
	if (store == NULL) {
		hn_snapshot_close(snapshot);
		hn_buf_fini(&home);
		hn_buf_fini(&line);
		return give(hn_fail(&err, HONE_E_NOMEM, "out of memory"), &err, error);
	}
	store->snapshot = snapshot;
	store->home = home;
	store->host = line;
	*ret = store;
	return 0;
}

void hone_store_close(struct hone_store *store)
{
	if (store != NULL) {
		hn_snapshot_close(store->snapshot);
		hn_buf_fini(&store->home);
		hn_buf_fini(&store->host);
		free(store);
	}
}

unsigned long hone_store_count(const struct hone_store *store)
{
	return hn_snapshot_count(store->snapshot);
}

/* The target asked for; NULL is this machine. */
static int asked_target(const struct hone_store *store, const char *target, struct hn_arena *a,
			struct hn_target *ret, struct hn_err *err)
{
	bool here = target == NULL || strcmp(target, "native") == 0;

	return here ? hn_target_parse(store->host.s, a, ret, err)
		    : hn_target_parse_at(store->home.s, target, a, ret, err);
}

static void fill(struct hone_answer *ret, const struct hn_nearest *n,
		 const struct hn_target *asked)
{
	const struct hn_snapshot_entry *e = &n->entry;
	struct hn_buf near;

	*ret = (struct hone_answer){ .workload = e->workload.key,
				     .name = e->workload.name,
				     .target = e->best.target,
				     .cache = e->workload.cache,
				     .steps = e->best.steps,
				     .median_ns = e->best.median_ns,
				     .naive_ns = e->naive.ns,
				     .flops = e->workload.flops,
				     .n_trial = e->n_trial,
				     .n_failed = e->n_failed };
	hn_buf_init(&near);
	hn_nearest_print(n, asked, &near);
	snprintf(ret->near, sizeof(ret->near), "%.*s", (int)near.n, near.n > 0 ? near.s : "");
	hn_buf_fini(&near);
}

int hone_query_key(const struct hone_store *store, const char *workload,
		   const char *target, struct hone_answer *ret, struct hone_error *error)
{
	char key[HN_KEY_BYTES];
	struct hn_target asked;
	struct hn_nearest n;
	struct hn_buf line;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&line);
	rc = asked_target(store, target, &a, &asked, &err);
	rc = rc != 0 ? rc : hn_nearest_key(store->snapshot, workload, key, &err);
	if (rc == 0) {
		hn_target_print(&asked, &line);
		rc = hn_nearest_find(store->snapshot, key, &asked, line.s, &a, &n, &err);
	}
	if (rc == 0) {
		fill(ret, &n, &asked);
	}
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return give(rc, &err, error);
}

/* Liberties in the order of liberties.def, from the first on. */
#define ALL_MARKS                                                                                  \
	(HONE_BITWISE | HONE_COLD | HONE_NO_CONTRACTION | HONE_NO_REASSOCIATION |                  \
	 HONE_NO_RECIPROCAL | HONE_NO_ZEROS | HONE_NO_MINMAX | HONE_NO_FUNCTIONS |                     \
	 HONE_NO_SUBNORMALS)
_Static_assert(ALL_MARKS / HONE_NO_CONTRACTION == HN_LIBERTIES_ALL, "a mark for each liberty");
_Static_assert(HONE_NO_SUBNORMALS / HONE_NO_CONTRACTION == 1u << HN_LIBERTY_subnormals, "their order");

int hone_task_key(const char *text, size_t n, unsigned marks, char *key,
		  struct hone_error *error)
{
	const struct hn_dag *dag;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	if ((marks & ~ALL_MARKS) != 0) {
		hn_fail(&err, HONE_E_INVALID, "marks: 0x%x: there are only 0x%x", marks,
			ALL_MARKS);
		return give(HONE_INVALID, &err, error);
	}
	hn_arena_init(&a, 0);
	rc = hn_dag_parse("dag", text, n, 0, &a, &dag, &err);
	if (rc == 0) {
		dag = hn_dag_forbid(dag, marks & HONE_BITWISE ? HN_LIBERTIES_ALL
							      : marks / HONE_NO_CONTRACTION,
				    &a);
		dag = marks & HONE_COLD ? hn_dag_mark(dag, HN_MARK_COLD, &a) : dag;
		hn_dag_key(dag, key);
	}
	hn_arena_fini(&a);
	return give(rc, &err, error);
}

int hone_workload_key(const char *text, size_t n, char *key, struct hone_error *error)
{
	return hone_task_key(text, n, 0, key, error);
}

int hone_query_dag(const struct hone_store *store, const char *text, size_t n,
		   const char *target, struct hone_answer *ret, struct hone_error *error)
{
	char key[HN_KEY_BYTES];
	int rc = hone_workload_key(text, n, key, error);

	return rc != 0 ? rc : hone_query_key(store, key, target, ret, error);
}
