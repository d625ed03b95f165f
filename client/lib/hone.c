/* client/lib/hone.c -- libhone: the public API over the snapshot. */
#include "hone/hone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/expect.h"
#include "client/lib/kernel_load.h"
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
		       HONE_CORRUPT == -HONE_E_CORRUPT && HONE_IO == -HONE_E_IO &&
		       HONE_UNSUPPORTED == -HONE_E_UNSUPPORTED &&
		       HONE_INTERNAL == -HONE_E_INTERNAL && HONE_NOMEM == -HONE_E_NOMEM,
	       "hone.h repeats errs.def");

struct hone_store {
	struct hn_snapshot *snapshot;
	struct hn_buf home;
	struct hn_buf host; /* this machine's target line */
	struct hn_target here; /* the same, read; in the arena */
	struct hn_arena arena;
};

_Static_assert(HONE_EXACT == (int)HN_MATCH_EXACT && HONE_CLASS == (int)HN_MATCH_CLASS &&
		       HONE_NEAREST == (int)HN_MATCH_NEAREST &&
		       HONE_AUTOMATIC == (int)HN_MATCH_AUTOMATIC,
	       "hone.h repeats hn_match");

_Static_assert(sizeof(((struct hone_answer *)0)->near) >= (size_t)HN_N_PARAM * 72,
	       "a difference is a name and two numbers");

static int fill_store(const char *dir, struct hone_store *store, struct hn_err *err)
{
	int rc = hn_addr_home(dir, &store->home, err);

	if (rc == 0) {
		rc = hn_target_parse_at(store->home.s, "native", &store->arena, &store->here, err);
	}
	if (rc == 0) {
		hn_target_print(&store->here, &store->host);
		rc = hn_snapshot_map_fresh(store->home.s, &store->snapshot, err);
	}
	return rc;
}

int hone_store_open(const char *dir, struct hone_store **ret, struct hone_error *error)
{
	struct hone_store *store = calloc(1, sizeof(*store));
	struct hn_err err;
	int rc;

	if (store == NULL) {
		return hn_lib_give(hn_fail(&err, HONE_E_NOMEM, "out of memory"), &err, error);
	}
	hn_buf_init(&store->home);
	hn_buf_init(&store->host);
	hn_arena_init(&store->arena, 0);
	rc = fill_store(dir, store, &err);
	if (rc != 0) {
		hone_store_close(store);
		return hn_lib_give(rc, &err, error);
	}
	*ret = store;
	return 0;
}

void hone_store_close(struct hone_store *store)
{
	if (store != NULL) {
		hn_snapshot_close(store->snapshot);
		hn_buf_fini(&store->home);
		hn_buf_fini(&store->host);
		hn_arena_fini(&store->arena);
		free(store);
	}
}

unsigned long hone_store_count(const struct hone_store *store)
{
	return hn_snapshot_count(store->snapshot);
}

static void fill(struct hone_answer *ret, const struct hn_snapshot_entry *e, enum hn_match match)
{
	*ret = (struct hone_answer){ .workload = e->workload.key,
				     .name = e->workload.name,
				     .target = e->best.target,
				     .cache = e->workload.cache,
				     .steps = e->best.steps,
				     .median_ns = e->best.median_ns,
				     .naive_ns = e->naive.ns,
				     .flops = e->workload.flops,
				     .n_trial = e->n_trial,
				     .n_failed = e->n_failed,
				     .match = (int)match };
}

/* There is no record of this very target: what there is instead. */
static int find_other(const struct hone_store *store, const char *key, const char *target,
		      struct hone_answer *ret, struct hn_err *err)
{
	struct hn_target asked = store->here;
	const char *asked_line = store->host.s;
	struct hn_buf line, near;
	struct hn_nearest n;
	struct hn_arena a;
	int rc = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&line);
	hn_buf_init(&near);
	if (target != NULL) {
		rc = hn_target_parse_at(store->home.s, target, &a, &asked, err);
		if (rc == 0) {
			hn_target_print(&asked, &line);
			asked_line = line.s;
		}
	}
	rc = rc != 0 ? rc : hn_nearest_find(store->snapshot, key, &asked, asked_line, &a, &n, err);
	if (rc == 0) {
		fill(ret, &n.entry, n.match);
		hn_nearest_print(&n, &asked, &near);
		snprintf(ret->near, sizeof(ret->near), "%.*s", (int)near.n,
			 near.n > 0 ? near.s : "");
	}
	hn_buf_fini(&near);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return rc;
}

/* Nearly all ask for a whole key and this machine, or a line that is written as hone writes it:
 * then one search of the snapshot answers, and no target is read. */
int hone_query_key(const struct hone_store *store, const char *workload,
		   const char *target, struct hone_answer *ret, struct hone_error *error)
{
	struct hn_snapshot_entry exact;
	char key[HN_KEY_BYTES];
	struct hn_err err;
	int rc = hn_nearest_key(store->snapshot, workload, key, &err);

	target = target != NULL && strcmp(target, "native") == 0 ? NULL : target;
	if (rc == 0) {
		const char *line = target != NULL ? target : store->host.s;

		rc = hn_snapshot_find(store->snapshot, key, line, &exact, &err);
		if (rc == 0) {
			fill(ret, &exact, HN_MATCH_EXACT);
		} else if (rc == -HONE_E_NOT_FOUND) {
			rc = find_other(store, key, target, ret, &err);
		}
	}
	return hn_lib_give(rc, &err, error);
}

static int expect(const struct hone_store *store, const struct hone_answer *answer,
		  const struct hn_target *here, struct hn_arena *a, double *ret_ns,
		  struct hn_err *err)
{
	struct hn_snapshot_entry e;
	struct hn_target there;
	uint32_t first, n;
	int rc = hn_snapshot_range(store->snapshot, answer->workload, &first, &n, err);

	if (rc == 0 && n == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "workload %.16s: not of this store",
			     answer->workload);
	}
	rc = rc ? rc : hn_snapshot_get(store->snapshot, first, &e, err);
	rc = rc ? rc : hn_target_parse_on(here, answer->target, a, &there, err);
	if (rc == 0) {
		const struct hn_expect x = { .dag = e.workload.dag_json,
					     .steps = answer->steps,
					     .cold = strcmp(answer->cache, "cold") == 0,
					     .median_ns = answer->median_ns,
					     .there = &there,
					     .here = here };

		rc = hn_expect(&x, a, ret_ns, err);
	}
	return rc;
}

int hone_expect(const struct hone_store *store, const struct hone_answer *answer,
		const char *target, double *ret_ns, struct hone_error *error)
{
	struct hn_target here = store->here;
	struct hn_err err = { 0 };
	struct hn_arena a;
	int rc = 0;

	hn_arena_init(&a, 0);
	if (target != NULL) {
		rc = hn_target_parse_at(store->home.s, target, &a, &here, &err);
	}
	rc = rc ? rc : expect(store, answer, &here, &a, ret_ns, &err);
	hn_arena_fini(&a);
	return hn_lib_give(rc, &err, error);
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
		return hn_lib_give(HONE_INVALID, &err, error);
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
	return hn_lib_give(rc, &err, error);
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
