/* Tensors of random programs shaped like networks, for the memory planner: sizes in units of 64
 * bytes, one step an operator. */
#ifndef HN_TESTS_PLAN_NETS_H
#define HN_TESTS_PLAN_NETS_H

#include "base/rng.h"
#include "graph/plan/plan.h"

#define PN_MAX 20000
#define PN_UNIT 64

struct pn {
	struct hn_plan_tensor t[PN_MAX];
	uint32_t n, step;
	struct hn_rng rng;
};

static inline uint32_t pn_draw(struct pn *x, uint32_t lo, uint32_t hi)
{
	return lo + (uint32_t)hn_rng_below(&x->rng, hi - lo + 1);
}

static inline void pn_read(struct pn *x, uint32_t i)
{
	x->t[i].last = x->step > x->t[i].last ? x->step : x->t[i].last;
}

static inline uint32_t pn_add(struct pn *x, enum hn_plan_alias alias, uint32_t of,
			      uint64_t at, uint64_t bytes)
{
	x->t[x->n] = (struct hn_plan_tensor){ .bytes = bytes,
					      .first = x->step,
					      .last = x->step,
					      .alias = alias,
					      .of = of,
					      .at = at };
	return x->n++;
}

/* A step that reads i and writes a tensor of so many units. */
static inline uint32_t pn_op(struct pn *x, uint32_t i, uint64_t units)
{
	pn_read(x, i);
	uint32_t ret = pn_add(x, HN_PLAN_OWN, 0, 0, units * PN_UNIT);

	x->step++;
	return ret;
}

/* An element-wise step of i, and of k as well unless that is i. */
static inline uint32_t pn_ewise(struct pn *x, uint32_t i, uint32_t k)
{
	pn_read(x, i);
	pn_read(x, k);
	uint32_t ret = pn_add(x, HN_PLAN_IN_PLACE, i, 0, x->t[i].bytes);

	x->step++;
	return ret;
}

static inline uint64_t pn_units(const struct pn *x, uint32_t i)
{
	return x->t[i].bytes / PN_UNIT;
}

static inline uint32_t pn_input(struct pn *x, uint64_t units)
{
	uint32_t ret = pn_add(x, HN_PLAN_OWN, 0, 0, units * PN_UNIT);

	x->step++;
	return ret;
}

/* Sizes as a network has them: of now and then half, seldom twice. */
static inline uint64_t pn_next_units(struct pn *x, uint64_t units)
{
	uint32_t d = pn_draw(x, 0, 9);

	return d < 2 && units > 3 ? units / 2 : d == 2 && units < 200 ? units * 2 : units;
}

static inline void pn_chain(struct pn *x, uint32_t n)
{
	uint32_t at = pn_input(x, pn_draw(x, 20, 90));

	for (uint32_t i = 0; i < n; i++) {
		at = pn_draw(x, 0, 1) ? pn_ewise(x, at, at)
				      : pn_op(x, at, pn_next_units(x, pn_units(x, at)));
	}
}

static inline void pn_residual(struct pn *x, uint32_t n)
{
	uint32_t at = pn_input(x, pn_draw(x, 20, 90));

	for (uint32_t i = 0; i < n; i++) {
		uint64_t units = pn_next_units(x, pn_units(x, at)), inner = units / 4 + 1;
		uint32_t y = pn_op(x, at, pn_draw(x, 0, 1) ? inner : units), skip = at;

		y = pn_ewise(x, y, y);
		y = pn_op(x, y, pn_units(x, y));
		y = pn_op(x, pn_ewise(x, y, y), units);
		if (units != pn_units(x, at)) {
			skip = pn_op(x, at, units);
		}
		y = pn_ewise(x, y, skip);
		at = pn_ewise(x, y, y);
	}
}

/* Blocks of layers that each read all before them; their results are parts of one tensor. */
static inline void pn_dense(struct pn *x, uint32_t n)
{
	uint32_t at = pn_input(x, pn_draw(x, 10, 40));

	for (uint32_t b = 0; b < n; b++) {
		uint64_t first = pn_units(x, at), growth = pn_draw(x, 2, 8), have = first;
		uint32_t layers = pn_draw(x, 3, 8);
		uint64_t all = first + layers * growth;
		uint32_t whole = pn_add(x, HN_PLAN_OWN, 0, 0, all * PN_UNIT);

		pn_read(x, at); /* copied to the front */
		x->step++;
		for (uint32_t l = 0; l < layers; l++, have += growth) {
			uint32_t seen =
				pn_add(x, HN_PLAN_SLICE, whole, 0, have * PN_UNIT);
			uint32_t y = pn_op(x, seen, have);

			y = pn_op(x, y, 4 * growth);
			pn_read(x, pn_ewise(x, y, y));
			pn_add(x, HN_PLAN_SLICE, whole, have * PN_UNIT, growth * PN_UNIT);
			x->step++;
			pn_read(x, whole);
		}
		at = pn_op(x, whole, all / 2 + 1);
		at = pn_op(x, at, all / 4 + 1);
	}
}

/* Branches of one to three steps, whose ends are parts of one tensor. */
static inline void pn_inception(struct pn *x, uint32_t n)
{
	uint32_t at = pn_input(x, pn_draw(x, 20, 60));

	for (uint32_t b = 0; b < n; b++) {
		uint32_t branches = pn_draw(x, 2, 5), whole = x->n++;
		uint64_t units = 0, in = pn_units(x, at);

		x->t[whole] = (struct hn_plan_tensor){ .alias = HN_PLAN_OWN };
		for (uint32_t k = 0; k < branches; k++) {
			uint64_t part = in / branches + pn_draw(x, 0, 4) + 1;
			uint32_t y = at;

			for (uint32_t l = pn_draw(x, 0, 2); l > 0; l--) {
				y = pn_op(x, y, part + pn_draw(x, 0, 6));
				y = pn_ewise(x, y, y);
			}
			pn_read(x, y);
			pn_add(x, HN_PLAN_SLICE, whole, units * PN_UNIT, part * PN_UNIT);
			x->step++;
			units += part;
		}
		x->t[whole].bytes = units * PN_UNIT;
		x->t[whole].first = x->t[whole].last = x->step;
		at = pn_draw(x, 0, 2) ? whole : pn_op(x, whole, units / 2 + 1);
	}
	pn_op(x, at, 1);
}

/* Down, and up again with what was on the way. */
static inline void pn_ladder(struct pn *x, uint32_t n)
{
	uint32_t skip[16], at = pn_input(x, 64);

	n = n < 6 ? n : 6;
	for (uint32_t i = 0; i < n; i++) {
		at = pn_op(x, at, 64u >> i);
		skip[i] = at = pn_ewise(x, at, at);
		at = pn_op(x, at, 64u >> (i + 1));
	}
	for (uint32_t i = n; i-- > 0;) {
		uint64_t units = pn_units(x, skip[i]);

		at = pn_op(x, at, units);
		pn_read(x, skip[i]);
		at = pn_op(x, at, 2 * units);
		at = pn_op(x, at, units);
	}
}

/* Attention and a wider product between two sums. */
static inline void pn_transformer(struct pn *x, uint32_t n)
{
	uint32_t at = pn_input(x, 24), heads = pn_draw(x, 8, 60);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t norm = pn_op(x, at, 24), qkv = pn_op(x, norm, 72), part[3];

		for (uint32_t k = 0; k < 3; k++) {
			part[k] = pn_add(x, HN_PLAN_SLICE, qkv, k * 24 * PN_UNIT,
					 24 * PN_UNIT);
		}
		pn_read(x, part[1]);
		uint32_t score = pn_op(x, part[0], heads);

		score = pn_ewise(x, score, score);
		pn_read(x, part[2]);
		uint32_t y = pn_op(x, score, 24);

		at = pn_ewise(x, pn_op(x, y, 24), at);
		y = pn_op(x, at, 24);
		y = pn_op(x, y, 96);
		y = pn_op(x, pn_ewise(x, y, y), 24);
		at = pn_ewise(x, y, at);
	}
}

/* Anything: sizes that are no multiples of the alignment, lives of any length, all aliases. */
static inline void pn_any(struct pn *x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = pn_draw(x, 0, 5), of = i > 0 ? pn_draw(x, 0, i - 1) : 0;
		struct hn_plan_tensor *t = &x->t[x->n++], *o = &x->t[of];

		*t = (struct hn_plan_tensor){ .bytes = 16ull * pn_draw(x, 0, 40) };
		t->first = pn_draw(x, 0, n);
		t->last = t->first + pn_draw(x, 0, pn_draw(x, 0, 3) ? 4 : n);
		t->of = of;
		if (i > 0 && kind < 2) {
			t->alias = HN_PLAN_SLICE;
			t->bytes = 16ull * pn_draw(x, 0, (uint32_t)(o->bytes / 16));
			t->at = 16ull *
				pn_draw(x, 0, (uint32_t)((o->bytes - t->bytes) / 16));
		} else if (i > 0 && kind < 4) {
			t->alias = HN_PLAN_IN_PLACE;
			t->bytes = pn_draw(x, 0, 1) ? o->bytes : t->bytes;
			t->last += o->last - t->first;
			t->first = o->last;
			t->last = t->last < t->first ? t->first : t->last;
			t->last = t->last > 3 * n ? t->first : t->last;
		}
	}
}

/* Many that live long: nearly all are alive with nearly all. */
static inline void pn_crowd(struct pn *x, uint32_t n)
{
	for (uint32_t i = 0; i < 120 + n; i++) {
		uint32_t first = pn_draw(x, 0, 40);

		x->t[x->n++] =
			(struct hn_plan_tensor){ .bytes = 16ull * pn_draw(x, 1, 30),
						 .first = first,
						 .last = first + pn_draw(x, 0, 60) };
	}
}

#endif
