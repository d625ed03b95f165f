/* search/auto.c -- the guards in the order in which the analytic model believes in them. */
#include "search/auto.h"

#include <string.h>

#include "costmodel/model.h"
#include "loopstate/looptree.h"

/* The first guard is what most dags are fastest with, so another one must promise this much
 * more.  Over 100 cases of the suite the model's favourite alone ran at 0.93 of the fastest
 * guard in the mean and at 0.53 at worst, the first guard at 0.92 and 0.47, the two together
 * at 0.93 and 0.64. */
#define FIRST_IS_RIGHT 1.1

#define OTHER_IS_RIGHT 1.05 /* the same for a program that is no guard */

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

uint32_t hn_auto(const struct hn_dag *dag, const struct hn_target *target,
		 struct hn_arena *a, const struct hn_trace *ret[HN_AUTO_MAX])
{
	static const struct hn_trace none;
	const struct hn_state *guard[HN_GUARD_MAX];
	double score[HN_AUTO_MAX];
	struct hn_arena own, scratch;

	hn_arena_init(&own, 0);
	hn_arena_init(&scratch, 0);
	uint32_t n = hn_guards(dag, target, &own, guard);

	for (uint32_t i = 0; i < n; i++) {
		double s = score_of(target, guard[i], &scratch) *
			   (i == 0 ? FIRST_IS_RIGHT : 1);
		uint32_t k = i;

		for (; k > 0 && score[k - 1] < s; k--) { /* equals stay in order */
			score[k] = score[k - 1];
			ret[k] = ret[k - 1];
		}
		score[k] = s;
		ret[k] = hn_trace_copy(guard[i]->trace ? guard[i]->trace : &none, a);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&own);
	return n;
}

static const struct hn_looptree *tree_of(const struct hn_dag *dag, const struct hn_trace *t,
					 struct hn_arena *a)
{
	const struct hn_looptree *tree;
	const struct hn_state *s;

	return hn_state_replay(dag, t, a, &s, NULL) == 0 &&
			       hn_looptree_build(s, a, &tree, NULL) == 0
		       ? tree
		       : NULL;
}

static bool has_op(const struct hn_dag *dag, const char *name)
{
	uint32_t i = 0;

	while (i < dag->n_op && strcmp(dag->op[i]->name, name) != 0) {
		i++;
	}
	return i < dag->n_op;
}

uint32_t hn_auto_nests(const struct hn_dag *dag, const struct hn_trace *trace)
{
	struct hn_arena a;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	const struct hn_looptree *tree = tree_of(dag, trace, &a);

	for (uint32_t i = 0; tree && i < tree->root->n_child; i++) {
		int32_t stage = tree->root->child[i]->stage;

		n += !tree->prepared[stage] && has_op(dag, tree->dag->op[stage]->name);
	}
	hn_arena_fini(&a);
	return n;
}

bool hn_auto_prefers(const struct hn_dag *dag, const struct hn_target *target,
		     const struct hn_trace *other, const struct hn_trace *first)
{
	struct hn_features f[2];
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_looptree *tree[2] = { tree_of(dag, other, &a),
					      tree_of(dag, first, &a) };
	bool prefers = tree[0] && tree[1] && hn_features_of(tree[0], target, &a, &f[0]) &&
		       hn_features_of(tree[1], target, &a, &f[1]) &&
		       hn_model_analytic_score(&f[0]) >
			       OTHER_IS_RIGHT * hn_model_analytic_score(&f[1]);

	hn_arena_fini(&a);
	return prefers;
}
