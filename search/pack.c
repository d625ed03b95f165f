/* search/pack.c -- the neighbour of a program that packs one operand more, or one less.
 *
 * The sketch decides whether an operand is packed (rule/pack.c). The plan decides all else. So
 * the plan moves to the sketch that differs in this one step, and keeps every decision that both
 * sketches have.
 */
#include <string.h>

#include "search/search_int.h"

/* What a step of the packed sketch is called in the other. */
struct renumber {
	uint32_t step; /* the PK step */
	int32_t stage; /* where the copy stands by now */
};

static int64_t scalar_of(const struct renumber *r, const struct hn_step *x, uint32_t k)
{
	int64_t v = x->a[k];

	switch (hn_step_scalar_means(x, k)) {
	case HN_MEANS_STAGE:
		return v - (v > r->stage);
	case HN_MEANS_STEP:
		return v - (v > (int64_t)r->step);
	default:
		return v;
	}
}

static bool same_step(const struct renumber *r, const struct hn_step *x,
		      const struct hn_step *y)
{
	bool renumbered = hn_step_has(x, HN_MEANS_STEP) || hn_step_has(x, HN_MEANS_STAGE);

	if (x->kind != y->kind || x->stage == r->stage || x->n_list != y->n_list ||
	    x->stage - (x->stage > r->stage) != y->stage) {
		return false;
	}
	for (uint32_t k = 0; k < HN_STEP_MAX_SCALARS; k++) {
		if (scalar_of(r, x, k) != y->a[k]) {
			return false;
		}
	}
	return renumbered || x->n_list == 0 ||
	       memcmp(x->list, y->list, x->n_list * sizeof *x->list) == 0;
}

/* Whether x without the pack of hole h is y. */
static bool differ_by(const struct hn_sketch *x, uint32_t h, const struct hn_sketch *y)
{
	const struct hn_trace *tx = x->state->trace, *ty = y->state->trace;
	struct renumber r = { .step = x->hole[h].step, .stage = INT32_MAX };

	if (!ty || tx->n_step != ty->n_step + 1 || x->n_hole != y->n_hole + 1 ||
	    x->state->n_stage != y->state->n_stage + 1) {
		return false;
	}
	for (uint32_t i = 0; i < tx->n_step; i++) {
		if (i == r.step) {
			r.stage = tx->step[i]->stage + 1;
			continue;
		}
		if (!same_step(&r, tx->step[i], ty->step[i - (i > r.step)])) {
			return false;
		}
		if (i > r.step) {
			r.stage = hn_stage_after(tx->step[i], r.stage);
		}
	}
	return true;
}

void hn_pack_pairs(struct hn_space *sp)
{
	const struct hn_sketches *s = &sp->sketches;
	uint32_t most = 0;

	for (uint32_t x = 0; x < s->n; x++) {
		for (uint32_t h = 0; h < s->sketch[x].n_hole; h++) {
			most += s->sketch[x].hole[h].pack != NULL;
		}
	}
	sp->pair = HN_NEW_ARRAY(&sp->arena, struct hn_pack_pair, most);
	for (uint32_t x = 0; x < s->n; x++) {
		for (uint32_t h = 0; h < s->sketch[x].n_hole; h++) {
			uint32_t y = s->sketch[x].hole[h].pack ? 0 : s->n;
			while (y < s->n && !differ_by(&s->sketch[x], h, &s->sketch[y])) {
				y++;
			}
			if (y < s->n) {
				sp->pair[sp->n_pair++] = (struct hn_pack_pair){ x, h, y };
			}
		}
	}
}

/* The stage's decisions in the other sketch: stages from `from` on have moved by `by`. */
static struct hn_plan_stage moved(struct hn_plan_stage p, int32_t from, int32_t by)
{
	if (p.at == HN_AT_ITER && p.at_stage == from && by < 0) {
		p.at = -1; /* it was inside the copy */
	} else if (p.at == HN_AT_ITER && p.at_stage >= from) {
		p.at_stage += by;
	}
	return p;
}

static const struct hn_plan *drop_pack(const struct hn_sketch *x, uint32_t h,
				       const struct hn_sketch *y,
				       const struct hn_plan *plan, struct hn_arena *a)
{
	struct hn_plan *p = HN_NEW(a, struct hn_plan);
	const int64_t **len = HN_NEW_ARRAY(a, const int64_t *, y->n_hole);
	struct hn_plan_stage *stage =
		HN_NEW_ARRAY(a, struct hn_plan_stage, y->state->n_stage);
	uint32_t at = (uint32_t)x->hole[h].stage;

	for (uint32_t i = 0; i < y->n_hole; i++) {
		len[i] = plan->len[i + (i >= h)];
	}
	for (uint32_t i = 0; i < y->state->n_stage; i++) {
		stage[i] = moved(plan->stage[i + (i >= at)], (int32_t)at, -1);
	}
	*p = (struct hn_plan){ len, stage };
	return p;
}

/* The pack's own decisions are open. */
static const struct hn_plan *add_pack(const struct hn_sketch *x, uint32_t h,
				      const struct hn_plan *plan, struct hn_arena *a)
{
	const int64_t **len;
	struct hn_plan_stage *stage;
	struct hn_plan *p = hn_plan_copy(x, hn_plan_open(x, a), &len, &stage, a);
	uint32_t at = (uint32_t)x->hole[h].stage;

	for (uint32_t i = 0; i < x->n_hole; i++) {
		len[i] = i == h ? NULL : plan->len[i - (i > h)];
	}
	for (uint32_t i = 0; i < x->state->n_stage; i++) {
		if (i != at) {
			stage[i] = moved(plan->stage[i - (i > at)], (int32_t)at, 1);
		}
	}
	return p;
}

const struct hn_plan *hn_mutate_pack(const struct hn_space *sp,
				     const struct hn_sketch **sketch,
				     const struct hn_plan *plan, struct hn_rng *rng,
				     struct hn_arena *a, const char **ret_origin)
{
	const struct hn_sketch *all = sp->sketches.sketch;
	uint32_t me = (uint32_t)(*sketch - all), n = 0, chosen = 0;

	for (uint32_t i = 0; i < sp->n_pair; i++) {
		if ((sp->pair[i].with == me || sp->pair[i].without == me) &&
		    hn_rng_below(rng, ++n) == 0) {
			chosen = i;
		}
	}
	if (n == 0) {
		return NULL;
	}
	const struct hn_pack_pair *p = &sp->pair[chosen];
	*ret_origin = "mutate:pack";
	*sketch = &all[p->with == me ? p->without : p->with];
	return p->with == me ? drop_pack(&all[p->with], p->hole, *sketch, plan, a)
			     : add_pack(*sketch, p->hole, plan, a);
}
