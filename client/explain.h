/* client/explain.h -- the parts of `hone explain`. Each part finds something out and appends it
 * to a buffer: as text, or as members of the JSON object that is open.
 *
 * All results live in the given arena.
 */
#ifndef HN_CLIENT_EXPLAIN_H
#define HN_CLIENT_EXPLAIN_H

#include "base/buf.h"
#include "base/json.h"
#include "base/jw.h"
#include "costmodel/features.h"
#include "loopstate/state/state.h"

/* explain_steps.c: a history in words. */
struct hn_sentences {
	uint32_t n;
	const char *const *text;
};

/* A sentence for each step; *ret_state is the state they lead to. */
int hn_explain_steps(const struct hn_dag *dag, const struct hn_trace *trace,
		     struct hn_arena *a, struct hn_sentences *ret,
		     const struct hn_state **ret_state, struct hn_err *err) HN_NODISCARD;

/* explain_diff.c: what must be done to `from` to have `to`: "split loop i of C into 2 loops, the
 * rest x [4 -> 8]", "+ a step more", "- a step less". */
struct hn_sentences hn_explain_diff(const struct hn_sentences *from,
				    const struct hn_sentences *to, struct hn_arena *a);

/* explain_cost.c: what the models see of a program, and what the analytic one says. */
struct hn_explain_cost {
	const char *const *statement; /* [features.n] "C update" */
	struct hn_features features;
	double predicted_ns; /* of a run, by the analytic model now, with data in memory, */
	double warm_ns;	     /* and with what the caches keep from the run before */
	const struct hn_target *target;
};

/* HONE_E_UNSUPPORTED: the models do not look at programs so large. */
int hn_explain_cost(const struct hn_state *s, const struct hn_target *target,
		    struct hn_arena *a, struct hn_explain_cost *ret,
		    struct hn_err *err) HN_NODISCARD;
void hn_explain_cost_text(const struct hn_explain_cost *c, struct hn_buf *b);
void hn_explain_cost_json(const struct hn_explain_cost *c, struct hn_jw *w);

/* explain_gpu.c: instead of caches, what kernels of blocks of threads ask of a multiprocessor. */
void hn_explain_kernels_text(const struct hn_explain_cost *c, struct hn_buf *b);
void hn_explain_kernels_json(const struct hn_explain_cost *c, struct hn_jw *w);

/* All features of each statement; those that are zero only where `all`. */
void hn_explain_features_text(const struct hn_explain_cost *c, bool all, struct hn_buf *b);
void hn_explain_features_json(const struct hn_explain_cost *c, bool all, struct hn_jw *w);

/* explain_lineage.c: a record's line of ancestors. */
struct hn_ancestor {
	int64_t record; /* 0: it is none, or is not in the store */
	const char *hash, *origin, *changes, *model;
	const char *mate; /* hash of a crossover's other parent; "" = none */
	int64_t mate_record;
	const char *verdict;
	double predicted_ns, median_ns; /* 0 = not kept, none */
	struct hn_sentences differences; /* from the next in line */
};

struct hn_explain_lineage {
	uint32_t n;
	const struct hn_ancestor *x; /* the record itself, its first parent, ... */
	const char *end; /* why there is no older one, a sentence */
};

/* From what honed answers to `lineage`.  Histories that do not replay have no differences. */
void hn_explain_lineage(const struct hn_json *answer, const struct hn_dag *dag,
			struct hn_arena *a, struct hn_explain_lineage *ret);
void hn_explain_lineage_text(const struct hn_explain_lineage *l, struct hn_buf *b);
void hn_explain_lineage_json(const struct hn_explain_lineage *l, struct hn_jw *w);

#endif
