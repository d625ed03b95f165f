/* db/store/bests.c -- the snapshot of the store's bests, written anew. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "db/snapshot/snapshot.h"
#include "db/store/ops.h"

struct bests {
	struct hn_db *db;
	struct hn_arena arena;
	struct hn_snapshot_entry *entry;
	uint32_t n, cap;
};

static void reserve(struct bests *b, uint32_t cap)
{
	struct hn_snapshot_entry *wider;

	if (cap <= b->cap) {
		return;
	}
	wider = HN_NEW_ARRAY(&b->arena, struct hn_snapshot_entry, cap);
	for (uint32_t i = 0; i < b->n; i++) {
		wider[i] = b->entry[i];
	}
	b->entry = wider;
	b->cap = cap;
}

static void push_entry(struct bests *b, const struct hn_snapshot_entry *e)
{
	if (b->n == b->cap) {
		reserve(b, b->cap * 2 + 64);
	}
	b->entry[b->n++] = *e;
}

static int collect(void *ctx, const struct hn_db_tally *t, struct hn_err *err)
{
	struct bests *b = ctx;
	struct hn_snapshot_entry e = { 0 };
	int rc = hn_db_best_of(b->db, &t->pair, &b->arena, &e.best, err);

	if (rc == -HONE_E_NOT_FOUND && t->n_trial == t->n_failed && *t->automatic != '\0') {
		e.best = (struct hn_record){
			.workload = hn_arena_strdup(&b->arena, t->workload.key),
			.target = hn_arena_strdup(&b->arena, t->target),
			.steps = hn_arena_strdup(&b->arena, t->automatic),
		};
	} else if (rc != 0) {
		return rc == -HONE_E_NOT_FOUND ? 0 : rc; /* only failures so far */
	}
	e.workload = (struct hn_workload_row){
		.key = e.best.workload,
		.name = hn_arena_strdup(&b->arena, t->workload.name),
		.dag_json = hn_arena_strdup(&b->arena, t->workload.dag_json),
		.flops = t->workload.flops,
		.cache = hn_arena_strdup(&b->arena, t->workload.cache),
	};
	e.n_trial = t->n_trial;
	e.n_failed = t->n_failed;
	e.naive = t->naive;
	e.best.in_doubt = e.best.median_ns > 0 && hn_db_in_doubt(b->db, &e.best);
	push_entry(b, &e);
	return 0;
}

static int by_question(const void *x, const void *y)
{
	const struct hn_snapshot_entry *const *a = x, *const *b = y;
	int c = strcmp((*a)->best.workload, (*b)->best.workload);

	return c != 0 ? c : strcmp((*a)->best.target, (*b)->best.target);
}

/* The entries, sorted.  They do not move: there is room for `more`. */
static struct hn_snapshot_entry **sorted(struct bests *b, uint32_t more)
{
	struct hn_snapshot_entry **all = HN_NEW_ARRAY(&b->arena, struct hn_snapshot_entry *, b->n + 1);

	reserve(b, b->n + more);
	for (uint32_t i = 0; i < b->n; i++) {
		all[i] = &b->entry[i];
	}
	qsort(all, b->n, sizeof(*all), by_question);
	return all;
}

/* What the old snapshot knows and the store does not: a store that was lost or damaged must
 * not take the last good answers with it.  `old` stays open until all is written. */
static void keep_lost(struct hn_db *db, struct bests *b, const struct hn_snapshot *old)
{
	uint32_t n = b->n, n_old = old ? hn_snapshot_count(old) : 0;
	struct hn_snapshot_entry **all = sorted(b, n_old);

	for (uint32_t i = 0; i < n_old; i++) {
		struct hn_snapshot_entry e, *like = &e, *now, **found;

		hn_snapshot_at(old, i, &e);
		if (e.best.median_ns == 0) {
			continue; /* never measured */
		}
		e.best.in_doubt |= db->n_unsettled > 0 && !db->witness_fresh;
		found = bsearch(&like, all, n, sizeof(*all), by_question);
		now = found ? *found : NULL;
		if (now && now->naive.ns == 0) {
			now->naive = e.naive;
		}
		if (now && (now->best.median_ns == 0 || e.best.median_ns < now->best.median_ns) &&
		    !db->ops->has_record(db, &e.best)) {
			*now = e;
		} else if (!now && !db->ops->has_record(db, &e.best)) {
			push_entry(b, &e);
		}
	}
}

int hn_db_write_snapshot(struct hn_db *db, struct hn_err *err)
{
	char path[PATH_MAX];
	struct hn_snapshot *old = NULL;
	struct bests b = { .db = db };
	struct hn_buf buf, notice;
	int rc;

	hn_arena_init(&b.arena, 0);
	hn_buf_init(&buf);
	hn_buf_init(&notice);
	rc = db->ops->tallies(db, collect, &b, err);
	if (rc == 0) {
		if (hn_snapshot_open(db->dir, &old, NULL) != 0) {
			old = NULL; /* the first one, or unreadable: nothing to keep */
		}
		keep_lost(db, &b, old);
		hn_db_notice(db, &notice);
		hn_snapshot_write(b.entry, b.n, &db->mark, notice.s, &buf);
		snprintf(path, sizeof(path), "%s/best.snapshot", db->dir);
		rc = buf.failed ? hn_fail(err, HONE_E_NOMEM, "%s: out of memory", path)
				: hn_file_replace(path, buf.s, buf.n, err);
	}
	hn_snapshot_close(old);
	hn_buf_fini(&notice);
	hn_buf_fini(&buf);
	hn_arena_fini(&b.arena);
	return rc;
}
