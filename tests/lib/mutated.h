/* mutated.h -- histories over any dag, right and wrong: what tests of legality draw from.
 *
 * A history is a completed sketch or a random one, then changed or not: a loop annotated that
 * need not be fit for it, a stage computed elsewhere, a step lost, steps swapped, a length
 * changed.  Where it replays, its tree may be damaged: a loop cut short, an init or a guard
 * dropped, children swapped, a statement lost, a buffer made smaller. */
#ifndef HN_TESTS_MUTATED_H
#define HN_TESTS_MUTATED_H

#include "base/rng.h"
#include "loopstate/nest/looptree.h"
#include "sketch/sketch.h"
#include "tests/lib/lower_edits.h"

struct mutated {
	const struct hn_looptree *tree; /* NULL: the history does not replay */
	const struct hn_trace *trace;	/* of the history; NULL when that is none */
	bool damaged;			/* the tree is not the history's */
	bool changed;			/* the history is not the sketch's */
	const char *kind;		/* what was done to it last, "none" */
};

static inline int64_t mutated_below(struct hn_rng *rng, int64_t n)
{
	return (int64_t)hn_rng_below(rng, (uint64_t)n);
}

/* Any loop of any stage, run in parallel or in lanes. */
static inline const struct hn_state *annotate_any(const struct hn_state *s,
						  struct hn_rng *rng, struct hn_arena *a)
{
	for (int tries = 0; tries < 8; tries++) {
		int32_t stage = (int32_t)mutated_below(rng, s->n_stage);
		const struct hn_stage *st = s->stage[stage];
		const struct hn_state *next;
		enum hn_ann ann = mutated_below(rng, 2) ? HN_ANN_PARALLEL
							: HN_ANN_VECTORIZE;

		if (st->n_iter > 0 && st->at != HN_AT_INLINED &&
		    hn_annotate(s, stage, (int32_t)mutated_below(rng, st->n_iter), ann, a,
				&next, NULL) == 0) {
			return next;
		}
	}
	return s;
}

/* Some stage computed inside some loop of some other. */
static inline const struct hn_state *move_any(const struct hn_state *s,
					      struct hn_rng *rng, struct hn_arena *a)
{
	for (int tries = 0; tries < 8; tries++) {
		int32_t stage = (int32_t)mutated_below(rng, s->n_stage);
		int32_t to = (int32_t)mutated_below(rng, s->n_stage);
		const struct hn_state *next;

		if (s->stage[to]->n_iter > 0 &&
		    hn_compute_at(s, stage, to,
				  (int32_t)mutated_below(rng, s->stage[to]->n_iter), a,
				  &next, NULL) == 0) {
			return next;
		}
	}
	return s;
}

/* The trace with a step lost, two swapped, or a length changed. */
static inline const struct hn_trace *edit_trace(const struct hn_trace *t,
						struct hn_rng *rng, struct hn_arena *a)
{
	struct hn_trace *ret = HN_NEW(a, struct hn_trace);
	const struct hn_step **step = HN_NEW_ARRAY(a, const struct hn_step *, t->n_step);
	uint32_t i = (uint32_t)mutated_below(rng, t->n_step);
	uint32_t j = (uint32_t)mutated_below(rng, t->n_step);

	*ret = *t;
	for (uint32_t k = 0; k < t->n_step; k++) {
		step[k] = t->step[k];
	}
	ret->step = step;
	switch (mutated_below(rng, 3)) {
	case 0:
		for (uint32_t k = i; k + 1 < t->n_step; k++) {
			step[k] = t->step[k + 1];
		}
		ret->n_step--;
		break;
	case 1:
		step[i] = t->step[j];
		step[j] = t->step[i];
		break;
	default:
		if (t->step[i]->n_list > 0 && t->step[i]->kind == HN_STEP_split) {
			struct hn_step *x = HN_NEW(a, struct hn_step);
			int64_t *list = HN_NEW_ARRAY(a, int64_t, t->step[i]->n_list);

			for (uint32_t k = 0; k < t->step[i]->n_list; k++) {
				list[k] = t->step[i]->list[k];
			}
			list[j % t->step[i]->n_list] = 1 + mutated_below(rng, 9);
			*x = *t->step[i];
			x->list = list;
			step[i] = x;
		}
		break;
	}
	return ret;
}

static inline void lose_child(struct hn_node *n, struct hn_arena *a)
{
	(void)a;
	if (n->n_child >= 2) {
		n->child++;
		n->n_child--;
	}
}

static inline const struct hn_looptree *smaller_buffer(const struct hn_looptree *t,
						       struct hn_rng *rng,
						       struct hn_arena *a)
{
	struct hn_looptree *ret = HN_NEW(a, struct hn_looptree);
	struct hn_buffer *b = HN_NEW_ARRAY(a, struct hn_buffer, t->dag->n_op);
	uint32_t first = (uint32_t)mutated_below(rng, t->dag->n_op);

	*ret = *t;
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		b[i] = t->buffer[i];
	}
	ret->buffer = b;
	for (uint32_t k = 0; k < t->dag->n_op; k++) {
		struct hn_buffer *x = &b[(first + k) % t->dag->n_op];

		for (uint32_t d = 0; x->op >= 0 && x->lifetime == HN_LIFETIME_LOOP && d < x->n_dim;
		     d++) {
			if (x->extent[d] > 1) {
				int64_t *extent = HN_NEW_ARRAY(a, int64_t, x->n_dim);

				for (uint32_t e = 0; e < x->n_dim; e++) {
					extent[e] = x->extent[e] - (e == d);
				}
				x->extent = extent;
				return ret;
			}
		}
	}
	return t;
}

static inline const struct hn_looptree *damage(const struct hn_looptree *t,
					       struct hn_rng *rng, const char **ret_kind,
					       struct hn_arena *a)
{
	static const struct {
		const char *kind;
		edit_fn edit;
	} edits[] = { { "short reduction", shorten_reduction },
		      { "short loop", shorten_spatial },
		      { "no init", drop_init },
		      { "no guards", drop_guards },
		      { "wrong order", swap_children },
		      { "missing producer", lose_child } };
	uint64_t which = hn_rng_below(rng, HN_COUNT_OF(edits) + 1);

	if (which == HN_COUNT_OF(edits)) {
		*ret_kind = "short footprint";
		return smaller_buffer(t, rng, a);
	}
	*ret_kind = edits[which].kind;
	struct hn_looptree *ret = HN_NEW(a, struct hn_looptree);

	*ret = *t;
	ret->root = edit_tree(t->root, edits[which].edit, a);
	return ret;
}

/* A completed sketch, changed three times of four, its tree damaged one time of `wrong`
 * (0: never).  Everything in `a`. */
static inline struct mutated mutated_draw(const struct hn_dag *dag,
					  const struct hn_sketches *sketches,
					  const struct hn_target *target, uint64_t seed,
					  int64_t wrong, struct hn_arena *a)
{
	struct hn_rng rng = hn_rng_stream(seed, 5, 6, 7);
	struct mutated ret = { .kind = "none" };
	const struct hn_state *s = NULL;
	struct hn_err err;

	for (int tries = 0; tries < 20 && !s; tries++) {
		if (hn_sketch_fill(&sketches->sketch[hn_rng_below(&rng, sketches->n)],
				   target, &rng, a, &s) != HN_VERDICT_OK) {
			s = NULL;
		}
	}
	s = s ? s : hn_state_init(dag, a);
	switch (mutated_below(&rng, 4)) {
	case 0:
		break;
	case 1:
		s = annotate_any(s, &rng, a);
		ret.kind = "annotated";
		ret.changed = true;
		break;
	case 2:
		s = move_any(s, &rng, a);
		ret.kind = "moved";
		ret.changed = true;
		break;
	default:
		ret.changed = true;
		ret.kind = "edited";
		if (s->trace && s->trace->n_step > 0 &&
		    hn_state_replay(dag, edit_trace(s->trace, &rng, a), a, &s, &err) != 0) {
			return ret;
		}
	}
	ret.trace = s->trace;
	if (hn_looptree_build(s, a, &ret.tree, &err) != 0) {
		ret.tree = NULL;
	} else if (wrong > 0 && mutated_below(&rng, wrong) == 0) {
		ret.tree = damage(ret.tree, &rng, &ret.kind, a);
		ret.damaged = true;
	}
	return ret;
}

#endif
