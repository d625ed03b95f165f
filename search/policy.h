/* search/policy.h -- which program next.  Search asks and is told; it never measures.
 *
 * So it runs the same under a real board, a fake one, a stored log or a fleet.  Same seed
 * and same told results give the same candidates, bit for bit.
 */
#ifndef HN_SEARCH_POLICY_H
#define HN_SEARCH_POLICY_H

#include "base/verdict.h"
#include "costmodel/model.h"
#include "sketch/sketch.h"

/* What a policy has done, added up. */
struct hn_work {
	uint64_t drawn;	 /* candidates begun: sampled, or mutated */
	uint64_t scored; /* of them replayed, bounded, shown legal, new, featurized and scored by
			  * the analytic model */
	uint64_t ranked; /* of them by the task's model too: what the screen kept */
};

struct hn_task {
	const struct hn_dag *dag;
	const struct hn_target *target;
	uint64_t seed;
	const char *model; /* row of models.def */
	const char *knowledge; /* what the model begins with (hn_model_ops.load), checked by
				* whoever offers it; NULL = nothing */
	uint32_t threads;  /* that draw candidates, 0 = one: the answers are the same */
	struct hn_work *work; /* NULL, or where evolution counts what it does */
	const char *records; /* path of a log, for policy "replay"; else NULL */
	const char *records_key; /* only the log's records of this workload key, which are then of
				  * origin HN_ORIGIN_IMPORTED; NULL = all that replay */
};

/* Which programs a candidate was made from, and how (docs/db.md, Descent): the nearest in its line
 * that were measured, or else the sample that the line begins with. */
#define HN_LINEAGE_CHANGES 8 /* a round makes at most seven */

struct hn_lineage {
	uint64_t parent[2]; /* hashes of their histories, the second a crossover's; 0 = none */
	uint32_t n;	    /* changes from there on, of which the first HN_LINEAGE_CHANGES */
	const char *change[HN_LINEAGE_CHANGES]; /* are named: "sample", "mutate:tile"; static */
};

/* The origin of heuristic schedules.  The word is older than their name: records have it. */
#define HN_ORIGIN_HEURISTIC "guard"

/* Of programs that another tuner's log named (`hone records import`). */
#define HN_ORIGIN_IMPORTED "imported"

struct hn_candidate {
	const struct hn_trace *trace; /* complete; in the arena given to ask */
	const char *origin; /* HN_ORIGIN_HEURISTIC, "near", "sample", "mutate:tile", "cross":
			     * for explain and counters */
	double score;	 /* the model's prediction, 0 when it made none */
	double predicted_ns; /* the same as a time; 0 when the model knows none */
	const char *model;   /* row of models.def */
	struct hn_lineage lineage;
};

/* The changes as words, a blank between: "sample mutate:tile +2" when two are not named. */
void hn_lineage_write(const struct hn_lineage *l, struct hn_buf *buf);

struct hn_told {
	const struct hn_trace *trace;
	enum hn_verdict verdict;
	double median_ns; /* OK only */
};

struct hn_policy; /* an instance; owned by the caller, one thread at a time */

struct hn_policy_ops {
	const char *name;
	/* The task must outlive the policy. HONE_E_UNSUPPORTED when the target has no
	 * recipe; "replay" reads its log: HONE_E_NOT_FOUND when nothing in it is of the
	 * task's computation. */
	int (*create)(const struct hn_task *task, struct hn_policy **ret,
		      struct hn_err *err);
	void (*destroy)(struct hn_policy *p); /* NULL is fine */
	/* At most n new candidates, none asked for or told before; returns how many (0 =
	 * the space is exhausted). */
	uint32_t (*ask)(struct hn_policy *p, uint32_t n, struct hn_arena *a,
			struct hn_candidate *ret);
	/* Results, of asked candidates or of stored records (a warm start); copied.
	 * Traces that do not replay on the task's dag are ignored. */
	void (*tell)(struct hn_policy *p, const struct hn_told *told, uint32_t n);
	/* Programs worth a trial early, of which nothing is known here: those of near
	 * workloads (search/near.h); copied.  NULL: the policy takes none. */
	void (*hint)(struct hn_policy *p, const struct hn_trace *const *trace, uint32_t n);
	/* What its model knows by now, for the next task's `knowledge`; false when it has learned
	 * nothing.  NULL: it never does. */
	bool (*learned)(const struct hn_policy *p, struct hn_buf *buf);
};

/* The policy of that name (policies.def: "evolve", "random", ...), or NULL. */
const struct hn_policy_ops *hn_policy_ops(const char *name);

#endif
