/* search/answer.c -- see answer.h. */
#include "search/answer.h"

#include <string.h>

#include "costmodel/model.h"
#include "loopstate/dag/mark.h"
#include "loopstate/nest/quick.h"

#define FIRST_IS_RIGHT 1.1 /* as in search/auto.c */

struct rating {
	const struct hn_dag *dag;
	const struct hn_target *target;
	struct hn_quick *quick;
	bool cold;
	struct hn_arena scratch;
};

static struct hn_answer rate(struct rating *r, const struct hn_trace *trace, uint32_t place)
{
	struct hn_answer x = { .trace = trace, .place = place };
	const struct hn_looptree *tree;
	const struct hn_state *s;
	struct hn_features f;

	hn_arena_reset(&r->scratch);
	if (hn_state_replay(r->dag, trace, &r->scratch, &s, NULL) == 0 &&
	    hn_looptree_build(s, &r->scratch, &tree, NULL) == 0) {
		x.shown = hn_quick_legal(r->quick, tree, NULL);
		if (hn_features_of(tree, r->target, &r->scratch, &f)) {
			x.predicted_ns = hn_model_analytic_ns(&f, r->cold);
		}
	}
	return x;
}

/* The first that is shown to be legal; the first when none is. */
static uint32_t choose(const struct hn_answers *all)
{
	uint32_t i = 0;

	while (i < all->n && !all->at[i].shown) {
		i++;
	}
	return i < all->n ? i : 0;
}

static void move_first(struct hn_answers *all, uint32_t i)
{
	struct hn_answer x = all->at[i];

	memmove(&all->at[1], &all->at[0], i * sizeof(x));
	all->at[0] = x;
}

void hn_answers_find(const struct hn_dag *dag, const struct hn_target *target, struct hn_arena *a,
		     struct hn_answers *ret)
{
	struct rating r = { .dag = dag,
			    .target = target,
			    .quick = hn_quick_new(),
			    .cold = hn_dag_marked(dag, HN_MARK_COLD) };
	const struct hn_trace *trace[HN_AUTO_MAX];

	hn_arena_init(&r.scratch, 0);
	*ret = (struct hn_answers){ .n = hn_auto(dag, target, a, trace) };
	for (uint32_t i = 0; i < ret->n; i++) {
		ret->at[i] = rate(&r, trace[i], i);
	}
	move_first(ret, choose(ret));
	hn_quick_free(r.quick);
	hn_arena_fini(&r.scratch);
}

void hn_answers_prefer_warm(struct hn_answers *all)
{
	uint32_t best = 0;
	double ns = all->n > 0 ? all->at[0].predicted_ns / FIRST_IS_RIGHT : 0;

	for (uint32_t i = 1; i < all->n; i++) {
		const struct hn_answer *x = &all->at[i];

		if (x->shown && x->predicted_ns > 0 && x->predicted_ns < ns) {
			ns = x->predicted_ns;
			best = i;
		}
	}
	if (best > 0) {
		move_first(all, best);
	}
}
