/* thread_sums.h -- histories in which threads take a sum together, with loops over its elements
 * inside: what no sketch draws and a record may hold. */
#ifndef HN_TESTS_THREAD_SUMS_H
#define HN_TESTS_THREAD_SUMS_H

#include "loopstate/nest/quick.h"
#include "lower/lower.h"
#include "tests/lib/mutated.h"

#define TS_MOST_LOOPS 48
#define TS_LEGAL_MS 20000

struct ts_draw {
	const struct hn_state *s;
	struct hn_rng rng;
	struct hn_arena *a;
};

static inline bool ts_keep(struct ts_draw *d, int rc, const struct hn_state *const *next)
{
	d->s = rc == 0 ? *next : d->s;
	return rc == 0;
}

/* Some loop of more than one iteration that is, or is not, over terms; -1: none. */
static inline int32_t ts_loop(struct ts_draw *d, int32_t stage, bool terms, int32_t from)
{
	const struct hn_stage *st = d->s->stage[stage];
	int32_t of[TS_MOST_LOOPS];
	int64_t n = 0;

	for (int32_t i = from; i < (int32_t)st->n_iter && n < TS_MOST_LOOPS; i++) {
		if (st->iter[i].extent > 1 && (st->iter[i].kind == HN_ITER_REDUCE) == terms) {
			of[n++] = i;
		}
	}
	return n > 0 ? of[mutated_below(&d->rng, n)] : -1;
}

/* Loops in order: some over elements; the one of the threads; the others, shuffled. */
static inline bool ts_order(struct ts_draw *d, int32_t stage, int32_t threads, int32_t inside,
			    int32_t *ret_at)
{
	uint32_t n = d->s->stage[stage]->n_iter, n_out = 0, n_in = 0;
	int64_t order[TS_MOST_LOOPS], in[TS_MOST_LOOPS];
	const struct hn_state *next;

	if (n > TS_MOST_LOOPS) {
		return false;
	}
	in[n_in++] = inside;
	for (int32_t i = 0; i < (int32_t)n; i++) {
		bool terms = d->s->stage[stage]->iter[i].kind == HN_ITER_REDUCE;

		if (i == threads || i == inside) {
			continue;
		}
		if (mutated_below(&d->rng, terms ? 4 : 3) > 0) {
			order[n_out++] = i; /* a sum may begin outside of the threads */
		} else {
			int64_t j = mutated_below(&d->rng, n_in + 1);

			in[n_in] = in[j < n_in ? j : 0];
			in[j] = i;
			n_in++;
		}
	}
	*ret_at = (int32_t)n_out;
	order[n_out++] = threads;
	for (uint32_t i = 0; i < n_in; i++) {
		order[n_out++] = in[i];
	}
	return ts_keep(d, hn_reorder(d->s, stage, order, n, d->a, &next, NULL), &next);
}

static inline void ts_annotate(struct ts_draw *d, int32_t stage, int32_t loop, enum hn_ann ann)
{
	const struct hn_state *next;

	if (loop >= 0 && d->s->stage[stage]->iter[loop].ann == HN_ANN_NONE) {
		ts_keep(d, hn_annotate(d->s, stage, loop, ann, d->a, &next, NULL), &next);
	}
}

/* Threads take the stage's sum; false: it is none, or has no loops for it. */
static inline bool ts_sum(struct ts_draw *d, int32_t stage)
{
	static const enum hn_ann inner[] = { HN_ANN_NONE, HN_ANN_NONE, HN_ANN_UNROLL, HN_ANN_VTHREAD,
					     HN_ANN_THREAD_Y };
	static const enum hn_ann outer[] = { HN_ANN_NONE, HN_ANN_BLOCK_X, HN_ANN_VTHREAD };
	int64_t n_thread = 2 + mutated_below(&d->rng, 7), n_inner = 2 + mutated_below(&d->rng, 3);
	const struct hn_state *next;
	int32_t threads = ts_loop(d, stage, true, 0), inside, at;

	if (threads < 0 ||
	    !ts_keep(d, hn_split(d->s, stage, threads, &n_thread, 1, true, d->a, &next, NULL), &next)) {
		return false;
	}
	threads++;
	inside = ts_loop(d, stage, false, 0);
	if (inside < 0 ||
	    !ts_keep(d, hn_split(d->s, stage, inside, &n_inner, 1, true, d->a, &next, NULL), &next)) {
		return false;
	}
	threads += inside < threads;
	if (!ts_order(d, stage, threads, inside + 1, &at)) {
		return false;
	}
	ts_annotate(d, stage, at, HN_ANN_THREAD_X);
	if (at > 0 && d->s->stage[stage]->iter[0].kind == HN_ITER_SPATIAL) {
		ts_annotate(d, stage, 0, outer[mutated_below(&d->rng, HN_COUNT_OF(outer))]);
	}
	inside = ts_loop(d, stage, false, at + 1);
	if (inside >= 0 && d->s->stage[stage]->iter[inside].extent <= 8) {
		ts_annotate(d, stage, inside, inner[mutated_below(&d->rng, HN_COUNT_OF(inner))]);
	}
	return true;
}

/* A legal state of the dag, drawn by the seed; NULL: this draw is none. */
static inline const struct hn_state *ts_state(const struct hn_dag *dag, struct hn_quick *quick,
					      uint64_t seed, struct hn_arena *a)
{
	struct ts_draw d = { hn_state_init(dag, a), hn_rng_stream(seed, 8, 1, 5), a };
	int32_t stage = (int32_t)mutated_below(&d.rng, d.s->n_stage);
	const struct hn_looptree *t;
	const struct hn_state *next;
	struct hn_err err = { 0 };

	if (d.s->dag->op[stage]->reduce == NULL) {
		return NULL;
	}
	int32_t terms = ts_loop(&d, stage, true, 0);

	if (terms >= 0 && mutated_below(&d.rng, 4) == 0) { /* first in parts; then the sum of these */
		int64_t n_part = 2 + mutated_below(&d.rng, 7);

		if (ts_keep(&d, hn_split(d.s, stage, terms, &n_part, 1, true, a, &next, NULL), &next) &&
		    ts_keep(&d, hn_rfactor(d.s, stage, terms + 1, 0, a, &next, NULL), &next)) {
			stage += (int32_t)mutated_below(&d.rng, 2);
		}
	}
	if (d.s->stage[stage]->at == HN_AT_INLINED || !ts_sum(&d, stage)) {
		return NULL;
	}
	d.s = mutated_below(&d.rng, 3) == 0 ? move_any(d.s, &d.rng, a) : d.s;
	if (hn_looptree_build(d.s, a, &t, &err) != 0 ||
	    (!hn_quick_legal(quick, t, NULL) &&
	     hn_legal_check(t, TS_LEGAL_MS, &err) != HN_VERDICT_OK)) {
		return NULL;
	}
	return d.s;
}

#endif
