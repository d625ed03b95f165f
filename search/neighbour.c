/* search/neighbour.c -- neighbours of a program that is no sketch's: a heuristic, or a record
 * from elsewhere.
 *
 * There is no plan to edit, so a length in the history itself is changed and the history
 * replayed; what does not fit any more is dropped there.  A packed operand whose blocks have
 * the length that is changed follows, since its panels are made for that loop.
 */
#include "search/search_int.h"

#define TRIES 16

/* The trace with `from` replaced by `to` at place k of step i's list (k < 0: everywhere). */
static const struct hn_trace *replace(const struct hn_trace *t, uint32_t i, int32_t k,
				      int64_t from, int64_t to, struct hn_arena *a)
{
	struct hn_step step = *t->step[i];
	int64_t *list = HN_NEW_ARRAY(a, int64_t, step.n_list);
	bool any = false;

	for (uint32_t j = 0; j < step.n_list; j++) {
		bool here = step.list[j] == from && (k < 0 || (uint32_t)k == j);
		list[j] = here ? to : step.list[j];
		any = any || here;
	}
	step.list = list;
	return any ? hn_trace_with(t, i, &step, a) : t;
}

static int64_t other_length(int64_t len, struct hn_rng *rng)
{
	switch (hn_rng_below(rng, 5)) {
	case 0:
		return len + 1;
	case 1:
		return len - 1;
	case 2:
		return len / 2;
	case 3:
		return len * 3 / 2;
	default:
		return len * 2;
	}
}

/* One length of one split changed; NULL when none could be drawn. */
static const struct hn_trace *edit(const struct hn_trace *t, struct hn_rng *rng,
				   struct hn_arena *a)
{
	for (int tries = 0; tries < TRIES && t->n_step > 0; tries++) {
		uint32_t i = (uint32_t)hn_rng_below(rng, t->n_step);
		const struct hn_step *s = t->step[i];
		if (s->n_list == 0 || !hn_step_has(s, HN_MEANS_PARTS)) {
			continue;
		}
		uint32_t k = (uint32_t)hn_rng_below(rng, s->n_list);
		int64_t from = s->list[k], to = other_length(from, rng);
		int64_t extent = s->a[HN_SP_EXTENT];
		if (to < 1 || to == from || to > HN_SPLIT_MAX_LEN ||
		    (extent > 0 && to > extent)) {
			continue;
		}
		const struct hn_trace *r = replace(t, i, (int32_t)k, from, to, a);
		for (uint32_t p = 0; p < r->n_step && from > 1; p++) {
			if (hn_step_has(r->step[p], HN_MEANS_BLOCKS)) {
				r = replace(r, p, -1, from, to, a);
			}
		}
		return r;
	}
	return NULL;
}

enum hn_verdict hn_space_neighbour(struct hn_space *sp, const struct hn_trace *trace,
				   uint64_t steps, struct hn_rng *rng, struct hn_arena *a,
				   struct hn_indiv *ret)
{
	for (; steps > 0 && trace; steps--) {
		trace = edit(trace, rng, a);
	}
	return trace ? hn_space_check(sp, trace, a, ret) : HN_VERDICT_ILLEGAL;
}
