/* search/search_int.h -- what the policies share: the space of a task (sketches, model,
 * what has been asked or told), candidates as plans, and mutations.
 */
#ifndef HN_SEARCH_SEARCH_INT_H
#define HN_SEARCH_SEARCH_INT_H

#include "loopstate/nest/quick.h"
#include "search/policy.h"

/* A candidate with everything derived from it; lives in the arena it was made in. */
struct hn_indiv {
	const struct hn_sketch *sketch; /* NULL when the trace is of none */
	const struct hn_plan *plan;	/* NULL likewise */
	const struct hn_trace *trace;
	uint64_t hash; /* of the program (target/cpu/fingerprint.h), however it was come by */
	const char *origin;
	struct hn_lineage lineage;
	struct hn_features features;
	double score; /* the model's, once hn_space_score was asked */
	double bias;  /* log of measured over predicted speed, learned from its ancestors */
	double worth; /* log of the speed to be expected, by both: what evolution ranks by */
};

/* Open-addressing set of hashes; 0 stands for 1. */
struct hn_hashes {
	uint64_t *slot;	 /* heap */
	uint32_t cap, n; /* cap a power of two */
};

bool hn_hashes_has(const struct hn_hashes *h, uint64_t key);
bool hn_hashes_add(struct hn_hashes *h, uint64_t key); /* false when it was there */
void hn_hashes_fini(struct hn_hashes *h);

/* Sketch `with` is sketch `without` but for the pack of its hole. */
struct hn_pack_pair {
	uint32_t with, hole, without;
};

struct hn_space {
	struct hn_task task;
	struct hn_arena arena; /* sketches; lives as long as the policy */
	struct hn_sketches sketches;
	const struct hn_model_ops *ops;
	struct hn_model *model;
	bool learned; /* the model has, so that it is no longer the analytic one */
	struct hn_hashes seen; /* programs asked for or told, */
	struct hn_hashes made; /* and what the code generator makes of them (hn_space_take) */
	const struct hn_hashes *in; /* the pool that is drawn for (pool.h); NULL = for none */
	struct hn_quick *quick; /* the check every draw and every mutation must pass */
	uint32_t n_heuristic;  /* not yet looked at; handed out from the first on */
	const struct hn_trace *const *heuristic;
	uint32_t n_hint, cap_hint, i_hint; /* those from i_hint on likewise, behind them */
	const struct hn_trace **hint;
	uint64_t round;	       /* of ask */
	uint32_t n_pair;
	struct hn_pack_pair *pair; /* in the space's arena */
};

int hn_space_init(struct hn_space *sp, const struct hn_task *task,
		  struct hn_err *err) HN_NODISCARD;
void hn_space_fini(struct hn_space *sp);

/* A policy of `bytes` that begins with its space, zero behind it.  Errors: hn_space_init's. */
int hn_policy_new(const struct hn_task *task, size_t bytes, struct hn_policy **ret,
		  struct hn_err *err) HN_NODISCARD;
void hn_policy_free(struct hn_policy *p); /* its space, and itself; NULL is fine */

/* Set the scores of n candidates: by the model as it is now. */
void hn_space_score(struct hn_space *sp, struct hn_indiv *x, uint32_t n);

/* Note that x goes out, or was told.  False when it need not go: its program has been out, or
 * one of which the code generator makes the same (target/cpu/fingerprint.h; some ten
 * microseconds). */
bool hn_space_take(struct hn_space *sp, const struct hn_indiv *x);

/* What is handed out of x; the trace is copied. */
struct hn_candidate hn_space_candidate(const struct hn_space *sp, const struct hn_indiv *x,
				       struct hn_arena *a);

/* lineage.c: of a child of x, before any change; one change more; the other parent of a
 * crossover. */
struct hn_lineage hn_lineage_from(const struct hn_indiv *x);
void hn_lineage_add(struct hn_lineage *l, const char *change);
void hn_lineage_mate(struct hn_lineage *l, const struct hn_indiv *other);

/* Up to n programs that have not been out and that a policy hands out before anything else: the
 * heuristic schedules, the automatic one (search/auto.h) first, of origin "guard"; then what was
 * hinted and the quick check shows legal, of origin "near". */
uint32_t hn_space_heuristics(struct hn_space *sp, uint32_t n, struct hn_arena *a,
			 struct hn_candidate *ret);

/* Of the schedules by rule, those alone that no machine has confirmed (sketch/heuristic.h). */
void hn_space_only_unconfirmed(struct hn_space *sp);

/* Keep copies of these as hints. */
void hn_space_hint(struct hn_space *sp, const struct hn_trace *const *trace, uint32_t n);

/* Draws, rebuilt plans and neighbours that the quick check (loopstate/nest/quick.h) does not show
 * to be legal are ILLEGAL: they never reach the builder; drawn for a pool, so are those that it
 * has or that have been out.  Stored traces and heuristics go by it, the builder proves them. */

/* A random candidate, not scored yet; draw number `index` of this round. */
enum hn_verdict hn_space_sample(struct hn_space *sp, uint64_t index, struct hn_arena *a,
				struct hn_indiv *ret);

/* The program of that plan; ret->bias and origin are the caller's to set. */
enum hn_verdict hn_space_rebuild(struct hn_space *sp, const struct hn_sketch *sketch,
				 const struct hn_plan *plan, struct hn_rng *rng,
				 struct hn_arena *a, struct hn_indiv *ret);

/* A stored or measured trace as a candidate. ILLEGAL when it does not replay. */
enum hn_verdict hn_space_adopt(struct hn_space *sp, const struct hn_trace *trace,
			       struct hn_arena *a, struct hn_indiv *ret);

/* The same for one that was measured: its program will not be asked for. */
enum hn_verdict hn_space_told(struct hn_space *sp, const struct hn_trace *trace,
			      struct hn_arena *a, struct hn_indiv *ret);

/* hn_space_told for all of them, where nothing is to be learned from it. */
void hn_space_heard(struct hn_space *sp, const struct hn_told *told, uint32_t n);

/* The same for a trace that nothing has proved yet: ILLEGAL also when the quick check does
 * not show it legal. */
enum hn_verdict hn_space_check(struct hn_space *sp, const struct hn_trace *trace,
			       struct hn_arena *a, struct hn_indiv *ret);

/* `trace`, which is no sketch's, with one length of a split changed, `steps` times over;
 * ret->bias and origin are the caller's to set. */
enum hn_verdict hn_space_neighbour(struct hn_space *sp, const struct hn_trace *trace,
				   uint64_t steps, struct hn_rng *rng, struct hn_arena *a,
				   struct hn_indiv *ret);

/* Whether the stage may choose where it is computed (mutate/location.c). */
bool hn_may_relocate(const struct hn_sketch *sketch, uint32_t stage);

/* Edit a copy of the plan, or make one of it and another of the same sketch; NULL when there
 * is nothing to change.  A mutation has one of the two functions. */
struct hn_mutation_ops {
	const char *origin; /* "mutate:tile", "cross" */
	const struct hn_plan *(*mutate)(const struct hn_sketch *sketch,
					const struct hn_plan *plan, struct hn_rng *rng,
					struct hn_arena *a);
	const struct hn_plan *(*cross)(const struct hn_sketch *sketch,
				       const struct hn_plan *plan,
				       const struct hn_plan *mate, struct hn_rng *rng,
				       struct hn_arena *a);
};

/* One mutation by weight, of those that need no mate when mate is NULL; NULL when it had
 * nothing to change. *ret_origin names it. */
const struct hn_plan *hn_mutate(const struct hn_sketch *sketch,
				const struct hn_plan *plan, const struct hn_plan *mate,
				struct hn_rng *rng, struct hn_arena *a,
				const char **ret_origin);

/* Find the pairs of the space's sketches. */
void hn_pack_pairs(struct hn_space *sp);

/* The plan with one operand more or less packed; *sketch becomes the one it is of.  NULL when
 * no sketch of the space differs so. */
const struct hn_plan *hn_mutate_pack(const struct hn_space *sp,
				     const struct hn_sketch **sketch,
				     const struct hn_plan *plan, struct hn_rng *rng,
				     struct hn_arena *a, const char **ret_origin);

#endif
