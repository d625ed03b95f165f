/* search/logline.c -- see logline.h. */
#include "search/logline.h"

#include <string.h>

#include "loopstate/nest/looptree.h"
#include "loopstate/state/step.h"
#include "target/cpu/fingerprint.h"

#define REPLAY_BYTES ((size_t)256 << 20) /* memory that one record may take */

double hn_logline_cost_ns(const struct hn_log_record *r)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->n_cost; i++) {
		sum += r->cost[i].value;
	}
	return r->error_no != 0 || r->n_cost == 0 ? -1 : 1e9 * sum / r->n_cost;
}

#define ANSORS_CPU "llvm" /* its other words are ours */

bool hn_logline_target(const char *line, const struct hn_target *target)
{
	size_t n = strcspn(line, " ");
	struct hn_target theirs;
	struct hn_arena a;
	bool llvm = n == strlen(ANSORS_CPU) && memcmp(line, ANSORS_CPU, n) == 0;
	bool fits = llvm ? strcmp(target->kind, "cpu") == 0
			 : strlen(target->kind) == n && memcmp(target->kind, line, n) == 0;

	if (fits && strstr(line, "-isa=") != NULL) {
		hn_arena_init(&a, 0);
		fits = hn_target_parse(line, &a, &theirs, NULL) == 0 &&
		       hn_target_runs_on(&theirs, target);
		hn_arena_fini(&a);
	}
	return fits;
}

/* The length that the split's loop had where the record was made, and has now; equal where either
 * is not known. */
static bool same_extent(const struct hn_state *s, const struct hn_step *step, int64_t *then,
			int64_t *now)
{
	const struct hn_stage *stage;

	if (!hn_step_has(step, HN_MEANS_PARTS) || step->stage < 0 ||
	    (uint32_t)step->stage >= s->n_stage) {
		return true;
	}
	stage = s->stage[step->stage];
	if (step->a[HN_SP_ITER] < 0 || step->a[HN_SP_ITER] >= stage->n_iter) {
		return true; /* which hn_state_apply refuses */
	}
	*then = step->a[HN_SP_EXTENT];
	*now = stage->iter[step->a[HN_SP_ITER]].extent;
	return *then == *now || *then < 0 || *now == HN_EXTENT_UNKNOWN;
}

static int apply(const struct hn_state **s, const struct hn_trace *trace, struct hn_arena *a,
		 struct hn_err *err)
{
	int64_t then, now;

	for (uint32_t i = 0; i < trace->n_step; i++) {
		if (!same_extent(*s, trace->step[i], &then, &now)) {
			return hn_fail(err, HONE_E_INVALID,
				       "step %u splits a loop of %lld, which has %lld iterations in "
				       "this computation",
				       i, (long long)then, (long long)now);
		}
		int rc = hn_state_apply(*s, trace->step[i], a, s, err);

		if (rc != 0) {
			return hn_err_within(err, "step %u", i);
		}
	}
	return (*s)->concrete ? 0
			      : hn_fail(err, HONE_E_INVALID, "a tile size is left open");
}

int hn_logline_replays(const struct hn_dag *dag, const struct hn_trace *trace, uint64_t *hash,
		       struct hn_err *err)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, REPLAY_BYTES);
	s = hn_state_init(dag, &a);
	rc = apply(&s, trace, &a, err);
	if (rc == 0 && hash != NULL) {
		rc = hn_looptree_build(s, &a, &tree, err);
		*hash = rc == 0 ? hn_fingerprint(tree, NULL, &a) : 0;
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_logline_imports(const struct hn_log_record *r, const char *key, const struct hn_dag *dag,
		       const struct hn_target *target, uint64_t *hash, struct hn_err *err)
{
	if (strcmp(r->workload_key, key) != 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "of another workload key");
	}
	if (!hn_logline_target(r->target, target)) {
		return hn_fail(err, HONE_E_INVALID, "made for another target, \"%.40s\"", r->target);
	}
	if (hn_logline_cost_ns(r) < 0) {
		return hn_fail(err, HONE_E_INVALID, "it failed where it was measured, error %d",
			       r->error_no);
	}
	return hn_logline_replays(dag, r->trace, hash, err);
}
