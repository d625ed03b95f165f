/* mutate/cross.c -- a child of two measured programs of one sketch: some of its parts are
 * decided as in the one, the others as in the other.  A part is a stage (all its tile sizes,
 * its place, its loops); where the two differ in one stage alone, each split of that stage is
 * a part, and the rest of its decisions is one.  Source: Ansor, section 5.1, "node-based
 * crossover"; crossing the splits of one stage is ours: a product has no second stage. */
#include <string.h>

#include "search/search_int.h"

struct parts {
	const struct hn_sketch *sketch;
	bool *hole, *stage; /* [n_hole], [n_stage]: differ; then, come from the mate */
	uint32_t n_hole, n_stage;
};

static bool same_lengths(const struct hn_sketch *sk, uint32_t h, const struct hn_plan *x,
			 const struct hn_plan *y)
{
	if (!x->len[h] || !y->len[h]) {
		return x->len[h] == y->len[h];
	}
	return memcmp(x->len[h], y->len[h], sk->hole[h].n_len * sizeof(int64_t)) == 0;
}

static bool stage_differs(const struct parts *p, uint32_t s)
{
	bool any = p->stage[s];

	for (uint32_t h = 0; h < p->n_hole; h++) {
		any = any || (p->hole[h] && p->sketch->hole[h].stage == (int32_t)s);
	}
	return any;
}

static struct parts differences(const struct hn_sketch *sk, const struct hn_plan *x,
				const struct hn_plan *y, struct hn_arena *a)
{
	struct parts p = { .sketch = sk, .n_hole = sk->n_hole, .n_stage = sk->state->n_stage };

	p.hole = HN_NEW_ARRAY(a, bool, p.n_hole);
	p.stage = HN_NEW_ARRAY(a, bool, p.n_stage);
	for (uint32_t h = 0; h < p.n_hole; h++) {
		p.hole[h] = !same_lengths(sk, h, x, y);
	}
	for (uint32_t s = 0; s < p.n_stage; s++) {
		p.stage[s] = memcmp(&x->stage[s], &y->stage[s], sizeof x->stage[s]) != 0;
	}
	return p;
}

/* Some of the true ones become false, and some stay; false when there are not two. */
static bool halve(bool *part, uint32_t n, struct hn_rng *rng)
{
	uint32_t n_set = 0, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		n_set += part[i];
	}
	if (n_set < 2) {
		return false;
	}
	uint64_t in = hn_rng_below(rng, n_set), out = hn_rng_below(rng, n_set - 1);
	out += out >= in;
	for (uint32_t i = 0; i < n; i++) {
		if (part[i]) {
			bool coin = hn_rng_below(rng, 2) == 0;
			part[i] = k == in || (k != out && coin);
			k++;
		}
	}
	return true;
}

/* Whole stages. */
static bool halve_stages(struct parts *p, struct hn_rng *rng, struct hn_arena *a)
{
	bool *whole = HN_NEW_ARRAY(a, bool, p->n_stage);

	for (uint32_t s = 0; s < p->n_stage; s++) {
		whole[s] = stage_differs(p, s);
	}
	if (!halve(whole, p->n_stage, rng)) {
		return false;
	}
	memcpy(p->stage, whole, p->n_stage * sizeof *whole);
	for (uint32_t h = 0; h < p->n_hole; h++) {
		p->hole[h] = whole[p->sketch->hole[h].stage];
	}
	return true;
}

/* Splits and the rest, of the only stage that differs. */
static bool halve_splits(struct parts *p, struct hn_rng *rng, struct hn_arena *a)
{
	uint32_t n = p->n_hole + p->n_stage;
	bool *part = HN_NEW_ARRAY(a, bool, n);

	memcpy(part, p->hole, p->n_hole * sizeof *part);
	memcpy(part + p->n_hole, p->stage, p->n_stage * sizeof *part);
	bool ok = halve(part, n, rng);
	p->hole = part;
	p->stage = part + p->n_hole;
	return ok;
}

static const struct hn_plan *cross(const struct hn_sketch *sketch,
				   const struct hn_plan *plan, const struct hn_plan *mate,
				   struct hn_rng *rng, struct hn_arena *a)
{
	struct parts p = differences(sketch, plan, mate, a);
	struct hn_plan_stage *stage;
	const int64_t **len;

	if (!halve_stages(&p, rng, a) && !halve_splits(&p, rng, a)) {
		return NULL;
	}
	struct hn_plan *child = hn_plan_copy(sketch, plan, &len, &stage, a);
	for (uint32_t h = 0; h < p.n_hole; h++) {
		len[h] = p.hole[h] ? mate->len[h] : len[h];
	}
	for (uint32_t s = 0; s < p.n_stage; s++) {
		stage[s] = p.stage[s] ? mate->stage[s] : stage[s];
	}
	return child;
}

extern const struct hn_mutation_ops hn_mutation_cross;
const struct hn_mutation_ops hn_mutation_cross = { .origin = "cross", .cross = cross };
