/* daemon/near.c -- see near.h.
 *
 * The snapshot is read, not the store: the worker thread may, and it holds just the bests.  A
 * workload's dag is parsed to be compared, so at most MOST_LOOKED_AT of them are.
 */
#include "daemon/near.h"

#include <string.h>

#include "db/snapshot/snapshot.h"
#include "loopstate/read/dag_read.h"
#include "search/near.h"

#define MOST_LOOKED_AT 2048
#define N_NEAREST (HN_NEAR_MOST / HN_NEAR_FITS)

struct nearest {
	uint32_t n; /* sorted by distance */
	struct {
		double distance;
		uint32_t entry; /* of the snapshot */
	} of[N_NEAREST];
};

static void take(struct nearest *all, double distance, uint32_t entry)
{
	uint32_t at = all->n < N_NEAREST ? all->n : N_NEAREST - 1;

	if (all->n == N_NEAREST && all->of[at].distance <= distance) {
		return;
	}
	for (; at > 0 && all->of[at - 1].distance > distance; at--) {
		all->of[at] = all->of[at - 1];
	}
	all->of[at].distance = distance;
	all->of[at].entry = entry;
	all->n += all->n < N_NEAREST;
}

static bool read_dag(const struct hn_snapshot_entry *e, struct hn_arena *a,
		     const struct hn_dag **ret)
{
	const char *json = e->workload.dag_json;

	return hn_dag_parse("store", json, strlen(json), 0, a, ret, NULL) == 0;
}

static void look(const struct hn_job *j, const struct hn_snapshot *s, struct nearest *all)
{
	char structure[HN_KEY_BYTES], key[HN_KEY_BYTES];
	uint32_t n = hn_snapshot_count(s);
	struct hn_arena scratch;

	hn_arena_init(&scratch, 0);
	hn_dag_structure_key(j->dag, structure);
	for (uint32_t i = 0; i < n && i < MOST_LOOKED_AT; i++) {
		struct hn_snapshot_entry e;
		const struct hn_dag *dag;

		hn_arena_reset(&scratch);
		hn_snapshot_at(s, i, &e);
		if (strcmp(e.best.target, j->target_line) != 0 ||
		    strcmp(e.best.workload, j->key) == 0 ||
		    !read_dag(&e, &scratch, &dag)) {
			continue;
		}
		hn_dag_structure_key(dag, key);
		if (strcmp(key, structure) == 0) {
			take(all, hn_near_distance(dag, j->dag), i);
		}
	}
	hn_arena_fini(&scratch);
}

/* The entry's best on the job's dag, in each fit that there is. */
static uint32_t carry(const struct hn_job *j, const struct hn_snapshot_entry *e,
		      struct hn_arena *a, const struct hn_trace **ret)
{
	const char *steps = e->best.steps;
	const struct hn_trace *trace;
	const struct hn_dag *dag;
	uint32_t n = 0;

	if (!read_dag(e, a, &dag) ||
	    hn_trace_parse("store", steps, strlen(steps), a, &trace, NULL) != 0) {
		return 0;
	}
	for (int fit = 0; fit < HN_NEAR_FITS; fit++) {
		ret[n] = hn_near_carry(dag, trace, j->dag, &j->target,
				       (enum hn_near_fit)fit, a);
		n += ret[n] != NULL;
	}
	return n;
}

uint32_t hn_near_find(const char *home, const struct hn_job *j, struct hn_arena *a,
		      const struct hn_trace *ret[HN_NEAR_MOST])
{
	struct nearest all = { 0 };
	struct hn_snapshot *s;
	uint32_t n = 0;

	if (hn_snapshot_open(home, &s, NULL) != 0) {
		return 0;
	}
	look(j, s, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		struct hn_snapshot_entry e;

		hn_snapshot_at(s, all.of[i].entry, &e);
		n += carry(j, &e, a, ret + n);
	}
	hn_snapshot_close(s);
	return n;
}
