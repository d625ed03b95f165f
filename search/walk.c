/* search/walk.c -- see walk.h. */
#include "search/walk.h"

#include "base/arith.h"
#include "search/search_int.h"

#define NONE (-1)	      /* nothing chosen yet */
#define LAST (INT64_MAX - 1)  /* no choice is left */
#define WASTE 20	      /* one part in so many may be run in vain */

enum kind { LENGTH, PANEL, PLACE, STRIP, PARALLEL, UNROLL, FETCH };

struct hn_decision {
	uint8_t kind;
	uint32_t of;   /* hole, or stage */
	uint32_t part; /* of a hole */
};

static bool computed(const struct hn_sketch *sk, uint32_t stage)
{
	return sk->state->dag->op[stage]->kind == HN_OP_COMPUTE &&
	       sk->state->stage[stage]->at != HN_AT_INLINED;
}

static bool reduces(const struct hn_sketch *sk, uint32_t stage)
{
	const struct hn_stage *st = sk->state->stage[stage];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].kind != HN_ITER_SPATIAL) {
			return true;
		}
	}
	return false;
}

/* Whether the decision is one of the sketch's at all. */
static bool is_open(const struct hn_sketch *sk, uint8_t kind, uint32_t stage)
{
	switch (kind) {
	case PLACE:
		return hn_may_relocate(sk, stage);
	case UNROLL:
		return computed(sk, stage) && reduces(sk, stage);
	case FETCH:
		return computed(sk, stage) && sk->state->access->op[stage].n_producer > 0;
	default:
		return computed(sk, stage);
	}
}

void hn_walk_init(struct hn_walk *w, const struct hn_sketch *sketch,
		  const struct hn_target *target, bool fetches, struct hn_arena *a)
{
	uint32_t n_stage = sketch->state->n_stage, n = 0, most = n_stage * (FETCH + 1);

	for (uint32_t h = 0; h < sketch->n_hole; h++) {
		most += sketch->hole[h].n_len;
	}
	struct hn_decision *d = HN_NEW_ARRAY(a, struct hn_decision, most);

	for (uint32_t h = 0; h < sketch->n_hole; h++) {
		for (uint32_t k = sketch->hole[h].n_len; k-- > 0;) {
			uint8_t kind = sketch->hole[h].pack ? PANEL : LENGTH;
			d[n++] = (struct hn_decision){ kind, h, k };
		}
	}
	for (uint8_t kind = PLACE; kind <= (fetches ? FETCH : UNROLL); kind++) {
		for (uint32_t i = 0; i < n_stage; i++) {
			/* readers are placed before what they read */
			uint32_t stage = kind == PLACE ? n_stage - 1 - i : i;
			if (is_open(sketch, kind, stage)) {
				d[n++] = (struct hn_decision){ kind, stage, 0 };
			}
		}
	}
	*w = (struct hn_walk){ .sketch = sketch,
			       .target = target,
			       .n = n,
			       .decision = d,
			       .value = HN_NEW_ARRAY(a, int64_t, n),
			       .at = -1 };
}

/* How far one level's length may miss what is left of the extent. */
static bool fits(const struct hn_hole *hole, int64_t need, int64_t len)
{
	int64_t waste = hn_ceildiv(need, len) * len - need;

	return waste == 0 || (hn_divides_poorly(hole->extent) && waste <= need / WASTE);
}

static int64_t next_length(const struct hn_walk *w, uint32_t i)
{
	const struct hn_hole *hole = &w->sketch->hole[w->decision[i].of];
	uint32_t inner = hole->n_len - 1 - w->decision[i].part; /* levels further in */
	int64_t need = hole->extent, most;

	for (uint32_t k = 1; k <= inner; k++) {
		need = hn_ceildiv(need, w->value[i - k]);
	}
	most = inner == 0 && need > hole->longest ? hole->longest : need;
	int64_t len = w->value[i] < 1 ? 1 : w->value[i] + 1;

	while (len <= most && !fits(hole, need, len)) {
		len++;
	}
	return len <= most ? len : LAST;
}

static int64_t next_panel(const struct hn_walk *w, uint32_t i)
{
	const struct hn_hole *hole = &w->sketch->hole[w->decision[i].of];
	int32_t d = (int32_t)w->decision[i].part, tile = hole->pack->tile[d];
	int64_t v = w->value[i];

	if (tile < 0) {
		return v < 0 ? 0 : LAST;
	}
	int64_t most = w->sketch->hole[tile].n_len + (d != hole->pack->panel);

	v = v < 1 ? 1 : v + 1;
	return v <= most ? v : LAST;
}

/* The k-th loop, from 1, of those that the stage may be computed in; false past the last, and
 * for 0, which stands for root. */
static bool place_of(const struct hn_sketch *sk, uint32_t stage, int64_t k,
		     int32_t *ret_stage, int32_t *ret_iter)
{
	for (uint32_t t = stage + 1; k > 0 && t < sk->state->n_stage; t++) {
		uint32_t n = computed(sk, t) ? sk->state->stage[t]->n_iter : 0;
		if (k <= n) {
			*ret_stage = (int32_t)t;
			*ret_iter = (int32_t)k - 1;
			return true;
		}
		k -= n;
	}
	return false;
}

/* The least of n choices that is above v. */
static int64_t above(int64_t v, const int32_t *choice, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		if (choice[k] > v) {
			return choice[k];
		}
	}
	return LAST;
}

static int64_t next_strip(const struct hn_walk *w, uint32_t i)
{
	int32_t choice[HN_STRIPS];
	uint32_t n = hn_strip_choices(w->sketch->state, (int32_t)w->decision[i].of, w->target,
				      choice);

	return w->value[i] < 0 ? 0 : above(w->value[i], choice, n);
}

/* Prefetches as one number from 1: by loop, then operand, then distance. */
static struct hn_plan_stage fetch_of(const struct hn_sketch *sk, uint32_t stage, int64_t k)
{
	const struct hn_op_access *acc = &sk->state->access->op[stage];
	uint32_t n;
	const int32_t *distance = hn_fetch_distances(&n);
	struct hn_plan_stage p = { .fetch = 0 };

	if (k > 0) {
		p.fetch = distance[(k - 1) % n];
		p.fetch_operand = acc->producer[(k - 1) / n % acc->n_producer];
		p.fetch_iter = (int32_t)((k - 1) / n / acc->n_producer);
	}
	return p;
}

static int64_t n_fetch(const struct hn_sketch *sk, uint32_t stage)
{
	uint32_t n;

	hn_fetch_distances(&n);
	return (int64_t)n * sk->state->access->op[stage].n_producer *
	       sk->state->stage[stage]->n_iter;
}

/* The choice after the present one, or LAST. */
static int64_t next_choice(const struct hn_walk *w, uint32_t i)
{
	const struct hn_sketch *sk = w->sketch;
	uint32_t of = w->decision[i].of, n;
	int64_t v = w->value[i] + 1;
	const int32_t *choice;
	int32_t stage, iter;

	switch (w->decision[i].kind) {
	case LENGTH:
		return next_length(w, i);
	case PANEL:
		return next_panel(w, i);
	case PLACE:
		return v == 0 || place_of(sk, of, v, &stage, &iter) ? v : LAST;
	case STRIP:
		return next_strip(w, i);
	case PARALLEL: /* a strip is one loop more */
		return v <= (int64_t)sk->state->stage[of]->n_iter + 1 ? v : LAST;
	case UNROLL:
		choice = hn_unroll_choices(&n);
		return above(w->value[i], choice, n);
	default:
		return v <= n_fetch(sk, of) ? v : LAST;
	}
}

bool hn_walk_next(struct hn_walk *w)
{
	int64_t i = w->at;

	if (w->ended) {
		return false;
	}
	for (; i >= 0; i--) {
		w->value[i] = w->value[i] == LAST ? LAST : next_choice(w, (uint32_t)i);
		if (w->value[i] != LAST) {
			break;
		}
	}
	if (i < 0 && w->at >= 0) {
		w->ended = true;
		return false;
	}
	for (uint32_t k = (uint32_t)(i + 1); k < w->n; k++) {
		w->value[k] = NONE;
		w->value[k] = next_choice(w, k);
	}
	w->at = (int64_t)w->n - 1;
	w->ended = w->n == 0;
	return true;
}

/* What is decided of a stage goes into *st, of a hole into len[]. */
static void decide(const struct hn_walk *w, uint32_t i, struct hn_plan_stage *st, int64_t *len)
{
	int32_t v = (int32_t)w->value[i];
	struct hn_plan_stage fetch;

	switch (w->decision[i].kind) {
	case LENGTH:
	case PANEL:
		len[w->decision[i].part] = w->value[i];
		break;
	case PLACE:
		st->at = place_of(w->sketch, w->decision[i].of, v, &st->at_stage, &st->at_iter)
				 ? HN_AT_ITER
				 : HN_AT_ROOT;
		break;
	case STRIP:
		st->strip = v;
		break;
	case PARALLEL:
		st->parallel = v;
		break;
	case UNROLL:
		st->unroll = v;
		break;
	default:
		fetch = fetch_of(w->sketch, w->decision[i].of, v);
		st->fetch = fetch.fetch;
		st->fetch_iter = fetch.fetch_iter;
		st->fetch_operand = fetch.fetch_operand;
	}
}

const struct hn_plan *hn_walk_plan(const struct hn_walk *w, struct hn_arena *a)
{
	const struct hn_sketch *sk = w->sketch;
	const int64_t **len;
	struct hn_plan_stage *stage;
	struct hn_plan *p = hn_plan_copy(sk, hn_plan_open(sk, a), &len, &stage, a);
	int64_t **own = HN_NEW_ARRAY(a, int64_t *, sk->n_hole);

	for (uint32_t h = 0; h < sk->n_hole; h++) {
		own[h] = HN_NEW_ARRAY(a, int64_t, sk->hole[h].n_len);
		len[h] = own[h];
	}
	for (uint32_t i = 0; i < sk->state->n_stage; i++) {
		stage[i] = (struct hn_plan_stage){ .at = HN_AT_ROOT };
	}
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t of = w->decision[i].of;
		bool hole = w->decision[i].kind <= PANEL;
		decide(w, i, hole ? NULL : &stage[of], hole ? own[of] : NULL);
	}
	return p;
}

bool hn_walk_fetches(const struct hn_walk *w)
{
	for (uint32_t i = w->n; i-- > 0 && w->decision[i].kind == FETCH;) {
		if (w->value[i] > 0) {
			return true;
		}
	}
	return false;
}

static int64_t at_least_0(int32_t v)
{
	return v > 0 ? v : 0;
}

/* Strips are cut to the loop's length: one that is cut counts for the least that is. */
static bool same_strip(struct hn_walk *w, uint32_t i, int64_t have)
{
	int32_t choice[HN_STRIPS];
	uint32_t n = hn_strip_choices(w->sketch->state, (int32_t)w->decision[i].of, w->target,
				      choice);
	int64_t want = w->value[i];

	if (have > 0 && have < want && above(have - 1, choice, n) == want) {
		return true;
	}
	if (have < want) {
		w->value[i] = LAST;
	}
	return have == want;
}

/* Whether decision i was taken; if it was not and further choices cannot be either, it has
 * none left. */
static bool taken(struct hn_walk *w, uint32_t i, const struct hn_plan *read)
{
	const struct hn_decision *d = &w->decision[i];
	const struct hn_plan_stage *st = d->kind > PANEL ? &read->stage[d->of] : NULL;
	int32_t stage = -1, iter = -1;
	struct hn_plan_stage want;
	int64_t have;
	bool same;

	switch (d->kind) {
	case LENGTH:
	case PANEL:
		return read->len[d->of][d->part] == w->value[i];
	case PLACE:
		same = st->at == HN_AT_ITER;
		place_of(w->sketch, d->of, w->value[i], &stage, &iter);
		return same ? st->at_stage == stage && st->at_iter == iter : stage < 0;
	case STRIP:
		return same_strip(w, i, at_least_0(st->strip));
	case PARALLEL: /* clipped to as many as there are; 0 where those run once */
		have = at_least_0(st->parallel);
		same = have == w->value[i];
		w->value[i] = same || have == 0 ? w->value[i] : LAST;
		return same;
	case UNROLL:
		return at_least_0(st->unroll) == w->value[i];
	default:
		want = fetch_of(w->sketch, d->of, w->value[i]);
		return at_least_0(st->fetch) == want.fetch &&
		       (want.fetch == 0 || (st->fetch_iter == want.fetch_iter &&
					    st->fetch_operand == want.fetch_operand));
	}
}

bool hn_walk_agrees(struct hn_walk *w, const struct hn_plan *read)
{
	for (uint32_t i = 0; i < w->n; i++) {
		if (!taken(w, i, read)) {
			w->at = i;
			return false;
		}
	}
	return true;
}
