/* search/auto.c -- the heuristics in the order in which the analytic model believes in them. */
#include "search/auto.h"

#include <math.h>
#include <string.h>

#include "costmodel/model.h"
#include "loopstate/nest/looptree.h"
#include "sketch/together.h"

/* The first heuristic is what most dags are fastest with, so another one must promise this much
 * more.  Over 100 cases of the suite the model's favourite alone ran at 0.93 of the fastest
 * heuristic in the mean and at 0.53 at worst, the first heuristic at 0.92 and 0.47, the two
 * together at 0.93 and 0.64. */
#define FIRST_IS_RIGHT 1.1

#define HEURISTICS_ARE_RIGHT 1.05 /* the same for a program that is no heuristic */

/* Traces, those of higher rank first. */
struct list {
	struct hn_arena *a;
	const struct hn_trace **trace; /* in a */
	double score[HN_AUTO_MAX], rank[HN_AUTO_MAX]; /* the model's, and what is made of it */
	uint32_t n;
};

/* Higher is better; below all others where there is no loop tree. */
static double score_of(const struct hn_target *target, const struct hn_state *s,
		       struct hn_arena *scratch)
{
	const struct hn_looptree *tree;
	struct hn_features f;

	hn_arena_reset(scratch);
	if (hn_looptree_build(s, scratch, &tree, NULL) < 0 ||
	    !hn_features_of(tree, target, scratch, &f)) {
		return -1;
	}
	return hn_model_analytic_score(&f);
}

static void insert(struct list *l, const struct hn_state *s, double score, double rank)
{
	static const struct hn_trace none;
	uint32_t k = l->n++;

	for (; k > 0 && l->rank[k - 1] < rank; k--) { /* equals stay in order */
		l->score[k] = l->score[k - 1];
		l->rank[k] = l->rank[k - 1];
		l->trace[k] = l->trace[k - 1];
	}
	l->score[k] = score;
	l->rank[k] = rank;
	l->trace[k] = hn_trace_copy(s->trace ? s->trace : &none, l->a);
}

uint32_t hn_auto(const struct hn_dag *dag, const struct hn_target *target,
		 struct hn_arena *a, const struct hn_trace *ret[HN_AUTO_MAX])
{
	const struct hn_state *heuristic[HN_HEURISTIC_MAX];
	struct list l = { .a = a, .trace = ret };
	struct hn_arena own, scratch;

	hn_arena_init(&own, 0);
	hn_arena_init(&scratch, 0);
	uint32_t n = hn_heuristics(dag, target, &own, heuristic);
	bool loops = (target->caps & HN_CAP_THREADS) != 0; /* that cores run */

	for (uint32_t i = 0; i < n; i++) {
		double score = score_of(target, heuristic[i], &scratch);

		insert(&l, heuristic[i], score,
		       score * (i == 0 && score > 0 ? FIRST_IS_RIGHT : 1));
	}
	const struct hn_state *s = n > 0 && loops ? hn_together(dag, target, &own) : NULL;
	double score = s ? score_of(target, s, &scratch) : -1;

	/* where the model knows nothing of either, what goes through memory less */
	if (s && (l.score[0] < 0 || score > HEURISTICS_ARE_RIGHT * l.score[0])) {
		insert(&l, s, score, HUGE_VAL);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&own);
	return l.n;
}
