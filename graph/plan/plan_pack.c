/* graph/plan/plan_pack.c -- blocks put into one block of memory, one by one.
 *
 * Who is alive with the block at hand is asked of a tree: the blocks in the order of their first
 * steps are its leaves, and a node knows the latest last step of those below that have been
 * placed, so that only neighbours are visited.  Where nearly all are neighbours, a list of the
 * placed ones by offset is walked instead, which needs no sorting.
 *
 * Work is bounded: a block with too many neighbours, in a program that is too large for the list,
 * goes on top of all; so does what is left when far too many have been looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/plan/plan_int.h"

#define LIST_MAX 32768u		      /* blocks; more, and the list's upkeep counts */
#define NEAR_MAX 4096u		      /* neighbours of a block, without a list */
#define WORK_MOST ((uint64_t)1 << 24) /* neighbours looked at, some seconds */
#define DENSE(placed)                                                                    \
	((placed) / 32 + 64) /* neighbours, from which on the list is quicker */

struct spot {
	uint64_t from, to; /* bytes */
	uint32_t first, last;
};

struct packer {
	const struct plan_blocks *b;
	uint32_t n_leaf;     /* a power of two */
	uint32_t *leaf;	     /* [n] of each block */
	uint32_t *by_first;  /* [n] the block of each leaf */
	int64_t *latest;     /* [2 n_leaf]; -1: nobody placed */
	struct spot *placed; /* [n] by offset, of few blocks */
	struct spot *near;   /* neighbours, by offset */
	struct spot *spot;   /* [n] by id */
	uint32_t n_placed, n_near, most_near;
	uint64_t *work;
};

static int order_of(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_id(const struct plan_block *x, const struct plan_block *y)
{
	return order_of(x->id, y->id);
}

static int earlier(const void *p, const void *q)
{
	const struct plan_block *x = p, *y = q;
	int c = order_of(x->first, y->first);

	c = c ? c : order_of(y->bytes, x->bytes);
	return c ? c : by_id(x, y);
}

static int larger(const void *p, const void *q)
{
	const struct plan_block *x = p, *y = q;
	int c = order_of(y->bytes, x->bytes);

	c = c ? c : order_of(y->last - y->first, x->last - x->first);
	return c ? c : by_id(x, y);
}

static int busier(const void *p, const void *q)
{
	const struct plan_block *x = p, *y = q;
	int c = order_of(y->busy, x->busy);

	return c ? c : larger(p, q);
}

static int longer(const void *p, const void *q)
{
	const struct plan_block *x = p, *y = q;
	int c = order_of(y->last - y->first, x->last - x->first);

	return c ? c : larger(p, q);
}

static int wider(const void *p, const void *q)
{
	const struct plan_block *x = p, *y = q;
	long double s = (long double)x->bytes * ((long double)(x->last - x->first) + 1);
	long double t = (long double)y->bytes * ((long double)(y->last - y->first) + 1);

	return s != t ? (s < t) - (s > t) : by_id(x, y);
}

/* Which gap; both ends: the bottom, or else the top of what the bound allows, where that is free.
 * In a chain of steps this alternates, and is the bound. */
enum fit { LOWEST, TIGHTEST, BOTH_ENDS };

static const struct order {
	const char *name;
	int (*compare)(const void *, const void *);
	enum fit fit;
} orders[] = {
	{ "largest first, lowest gap", larger, LOWEST },
	{ "busiest step first, lowest gap", busier, LOWEST },
	{ "earliest first, from both ends", earlier, BOTH_ENDS },
	{ "largest first, tightest gap", larger, TIGHTEST },
	{ "busiest step first, tightest gap", busier, TIGHTEST },
	{ "widest first, lowest gap", wider, LOWEST },
	{ "longest life first, lowest gap", longer, LOWEST },
	{ "earliest first, tightest gap", earlier, TIGHTEST },
	{ "earliest first, lowest gap", earlier, LOWEST },
};

uint32_t plan_n_order(void)
{
	return HN_COUNT_OF(orders);
}

const char *plan_order_name(uint32_t order)
{
	return orders[order].name;
}

static void add_near(struct packer *p, const struct spot *s)
{
	if (p->n_near < p->most_near) {
		p->near[p->n_near] = *s;
	}
	p->n_near++;
}

/* Placed blocks below the tree's node that live at a step of [first, last]; leaves are in the
 * order of `first`, so that those from `end` on begin after `last`. */
static void visit(struct packer *p, uint32_t node, uint32_t leaf, uint32_t n,
		  uint32_t first, uint32_t end)
{
	if (leaf >= end || p->latest[node] < (int64_t)first || p->n_near > p->most_near) {
		return;
	}
	if (n == 1) {
		add_near(p, &p->spot[p->by_first[leaf]]);
		return;
	}
	visit(p, 2 * node, leaf, n / 2, first, end);
	visit(p, 2 * node + 1, leaf + n / 2, n / 2, first, end);
}

/* The first leaf that begins after step `last`. */
static uint32_t end_of(const struct packer *p, uint32_t last)
{
	uint32_t lo = 0, hi = p->b->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->b->block[p->by_first[mid]].first <= last) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static int by_offset(const void *x, const void *y)
{
	const struct spot *p = x, *q = y;
	int c = order_of(p->from, q->from);

	return c ? c : order_of(p->to, q->to);
}

static void walk_list(struct packer *p, const struct plan_block *is)
{
	p->n_near = 0;
	p->most_near = p->n_placed;
	for (uint32_t i = 0; i < p->n_placed; i++) {
		const struct spot *s = &p->placed[i];

		if (s->first <= is->last && s->last >= is->first) {
			add_near(p, s);
		}
	}
}

/* The block's neighbours, by offset; false when they are too many. */
static bool find_near(struct packer *p, const struct plan_block *is)
{
	if (*p->work > WORK_MOST) {
		return false;
	}
	p->n_near = 0;
	p->most_near = p->placed ? DENSE(p->n_placed) : NEAR_MAX;
	visit(p, 1, 0, p->n_leaf, is->first, end_of(p, is->last));
	*p->work += p->n_near;
	if (p->n_near <= p->most_near) {
		qsort(p->near, p->n_near, sizeof *p->near, by_offset);
		return true;
	}
	if (p->placed) {
		walk_list(p, is);
		*p->work += p->n_placed / 16;
	}
	return p->placed != NULL;
}

/* The offset of the lowest gap of so many bytes, or of the smallest one. */
static uint64_t find_gap(const struct packer *p, uint64_t bytes, bool tight,
			 uint64_t *ret_end)
{
	uint64_t end = 0, best = UINT64_MAX, at = 0;

	for (uint32_t i = 0; i < p->n_near; i++) {
		const struct spot *s = &p->near[i];
		uint64_t gap = s->from > end ? s->from - end : 0;

		if (gap >= bytes && gap < best && (tight || best == UINT64_MAX)) {
			best = gap;
			at = end;
		}
		end = s->to > end ? s->to : end;
	}
	*ret_end = end;
	return best == UINT64_MAX ? end : at;
}

static uint64_t choose(const struct packer *p, uint64_t bytes, enum fit fit)
{
	uint64_t bound = p->b->bound_bytes, end;
	uint64_t at = find_gap(p, bytes, fit == TIGHTEST, &end);

	return fit == BOTH_ENDS && at > 0 && end + bytes <= bound ? bound - bytes : at;
}

static void keep(struct packer *p, uint32_t id, const struct spot *s)
{
	uint32_t at = p->n_placed++;

	p->spot[id] = *s;
	for (uint32_t node = p->n_leaf + p->leaf[id]; node > 0; node /= 2) {
		p->latest[node] = p->latest[node] > (int64_t)s->last ? p->latest[node]
								     : (int64_t)s->last;
	}
	if (p->placed == NULL) {
		return;
	}
	for (uint32_t lo = 0; lo < at;) {
		uint32_t mid = lo + (at - lo) / 2;

		if (p->placed[mid].from <= s->from) {
			lo = mid + 1;
		} else {
			at = mid;
		}
	}
	memmove(&p->placed[at + 1], &p->placed[at],
		(p->n_placed - 1 - at) * sizeof *p->placed);
	p->placed[at] = *s;
}

static struct packer begin(const struct plan_blocks *b, struct hn_arena *a,
			   uint64_t *work)
{
	struct packer p = { .b = b, .n_leaf = 1, .work = work };
	bool few = b->n <= LIST_MAX;

	while (p.n_leaf < b->n) {
		p.n_leaf *= 2;
	}
	p.leaf = HN_NEW_ARRAY(a, uint32_t, b->n);
	p.by_first = HN_NEW_ARRAY(a, uint32_t, b->n);
	p.latest = HN_NEW_ARRAY(a, int64_t, 2 * (size_t)p.n_leaf);
	p.spot = HN_NEW_ARRAY(a, struct spot, b->n);
	p.placed = few ? HN_NEW_ARRAY(a, struct spot, b->n) : NULL;
	p.near = HN_NEW_ARRAY(a, struct spot, (few ? b->n : NEAR_MAX) + 64u);
	memset(p.latest, 0xff, 2 * (size_t)p.n_leaf * sizeof *p.latest);
	return p;
}

static struct plan_block *sorted(const struct plan_blocks *b, struct hn_arena *a,
				 int (*compare)(const void *, const void *))
{
	struct plan_block *ret = HN_NEW_ARRAY(a, struct plan_block, b->n);

	memcpy(ret, b->block, b->n * sizeof *ret);
	qsort(ret, b->n, sizeof *ret, compare);
	return ret;
}

uint64_t plan_pack(const struct plan_blocks *b, uint32_t order, struct hn_arena *a,
		   uint64_t *offset, uint64_t *work)
{
	struct plan_block *turn = sorted(b, a, earlier);
	struct packer p = begin(b, a, work);
	uint64_t peak = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		p.by_first[i] = turn[i].id;
		p.leaf[turn[i].id] = i;
	}
	turn = sorted(b, a, orders[order].compare);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct plan_block *is = &turn[i];
		uint64_t at = find_near(&p, is) ? choose(&p, is->bytes, orders[order].fit)
						: peak;
		struct spot s = { at, at + is->bytes, is->first, is->last };

		keep(&p, is->id, &s);
		offset[is->id] = at;
		peak = s.to > peak ? s.to : peak;
	}
	return peak;
}
