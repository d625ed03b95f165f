/* graph/plan/plan_alias.c -- tensors that share bytes, made into blocks.
 *
 * Slices come first: a tensor with its slices, and theirs, is a group that lives from the first
 * step of any to the last of any, because bytes written by one are read through another.  Then
 * groups are put in place of tensors that die, in the order in which they are written, so that a
 * chain of element-wise steps becomes one block.
 *
 * A group may take tensor T's place when it is not larger than T, T is aligned and dies at the step
 * that writes it, nothing of it is older, and every other tensor on these bytes has died before.
 */
#include <stdlib.h>

#include "base/arith.h"
#include "graph/plan/plan_int.h"

#define LOOKS_MAX ((uint64_t)1 << 27) /* at tensors of one block, in all */
#define NONE UINT32_MAX

/* A group, numbered by the tensor that is no slice; and the block that it begins. */
struct group {
	uint32_t host;	       /* the group whose block it is in; itself: it begins one */
	uint64_t shift;	       /* where in that block */
	uint32_t first, last;  /* of the whole block */
	uint32_t n_last;       /* tensors of the block that die in `last` */
	uint32_t member, tail; /* list of the block's tensors */
};

struct aliases {
	const struct hn_plan_tensor *t;
	uint32_t n;
	enum plan_sharing sharing;
	uint32_t *root;	     /* [n] the tensor that is no slice */
	uint64_t *at;	     /* [n] where in it */
	struct group *group; /* [n] */
	uint32_t *next;	     /* [n] in a list of members */
	uint64_t looks;
};

static int check(const struct hn_plan_tensor *t, uint32_t i, uint32_t n,
		 struct hn_err *err)
{
	if (t->last < t->first) {
		return hn_fail(
			err, HONE_E_INVALID,
			"tensor %u: dies at step %u, before it is written at step %u", i,
			t->last, t->first);
	}
	if (t->bytes > (uint64_t)HN_EXTENT_MAX) {
		return hn_fail(err, HONE_E_QUOTA, "tensor %u: more than 2^62 bytes", i);
	}
	if (t->alias != HN_PLAN_OWN && t->of >= n) {
		return hn_fail(err, HONE_E_INVALID, "tensor %u: there is no tensor %u", i,
			       t->of);
	}
	return 0;
}

/* Tensor i is a slice of one whose root is known. */
static int slice_of(struct aliases *x, uint32_t i, struct hn_err *err)
{
	const struct hn_plan_tensor *t = &x->t[i], *of = &x->t[t->of];

	if (t->bytes > of->bytes || t->at > of->bytes - t->bytes) {
		return hn_fail(err, HONE_E_INVALID,
			       "tensor %u: is no part of tensor %u, %llu bytes long", i,
			       t->of, (unsigned long long)of->bytes);
	}
	x->root[i] = x->root[t->of];
	x->at[i] = x->at[t->of] + t->at;
	return 0;
}

/* Up from i to a tensor whose root is known, then down again; `next` holds the way. */
static int find_root(struct aliases *x, uint32_t i, struct hn_err *err)
{
	uint32_t way = NONE, k = i, steps = 0;
	int rc = 0;

	while (x->root[k] == NONE && x->t[k].alias == HN_PLAN_SLICE) {
		if (steps++ == x->n) {
			return hn_fail(err, HONE_E_INVALID,
				       "tensor %u: is a slice of itself", i);
		}
		x->next[k] = way;
		way = k;
		k = x->t[k].of;
	}
	x->root[k] = x->root[k] == NONE ? k : x->root[k];
	for (; way != NONE && rc == 0; way = x->next[way]) {
		rc = slice_of(x, way, err);
	}
	return rc;
}

static void add_member(struct group *g, uint32_t i, const struct hn_plan_tensor *t,
		       uint32_t *next)
{
	next[i] = NONE;
	if (g->member == NONE) {
		g->member = i;
		g->first = t->first;
	} else {
		next[g->tail] = i;
	}
	g->tail = i;
	g->first = t->first < g->first ? t->first : g->first;
	g->n_last = t->last > g->last ? 0 : g->n_last;
	g->last = t->last > g->last ? t->last : g->last;
	g->n_last += t->last == g->last;
}

static int make_groups(struct aliases *x, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->n && rc == 0; i++) {
		rc = check(&x->t[i], i, x->n, err);
		x->root[i] = NONE;
		x->group[i] = (struct group){ .host = i, .member = NONE };
	}
	for (uint32_t i = 0; i < x->n && rc == 0; i++) {
		rc = find_root(x, i, err);
	}
	for (uint32_t i = 0; i < x->n && rc == 0; i++) {
		add_member(&x->group[x->root[i]], i, &x->t[i], x->next);
	}
	return rc;
}

static uint64_t place_of(const struct aliases *x, uint32_t i)
{
	return x->at[i] + x->group[x->root[i]].shift;
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + HN_PLAN_ALIGN - 1) / HN_PLAN_ALIGN * HN_PLAN_ALIGN;
}

/* Whether all tensors of the block on these bytes, but `except`, have died before `step`. */
static bool are_free(struct aliases *x, const struct group *g, uint64_t at,
		     uint64_t bytes, uint32_t except, uint32_t step)
{
	for (uint32_t i = g->member; i != NONE; i = x->next[i]) {
		uint64_t from = place_of(x, i);

		if (x->looks++ == LOOKS_MAX) {
			return false;
		}
		if (i != except && x->t[i].last >= step && from < at + bytes &&
		    at < from + x->t[i].bytes) {
			return false;
		}
	}
	return x->looks < LOOKS_MAX;
}

/* Whether tensor r, which begins a group, may lie where tensor t[r].of does. */
static bool may_join(struct aliases *x, uint32_t r)
{
	const struct hn_plan_tensor *t = &x->t[r], *of = &x->t[t->of];
	uint32_t host = x->group[x->root[t->of]].host;
	const struct group *g = &x->group[host];

	if (of->last != t->first || of->first >= t->first || t->bytes > of->bytes ||
	    t->bytes == 0 || host == r || x->group[r].first != t->first) {
		return false;
	}
	if (place_of(x, t->of) % HN_PLAN_ALIGN != 0) {
		return false;
	}
	if (x->sharing == PLAN_WHOLE && rounded(t->bytes) != rounded(x->t[host].bytes)) {
		return false;
	}
	if (g->last == t->first && g->n_last == 1) {
		return true; /* nobody but `of` */
	}
	return x->sharing == PLAN_ANY &&
	       are_free(x, g, place_of(x, t->of), t->bytes, t->of, t->first);
}

static void join(struct aliases *x, uint32_t r)
{
	uint32_t of = x->t[r].of, host = x->group[x->root[of]].host;
	struct group *g = &x->group[host], *own = &x->group[r];

	own->host = host;
	own->shift = place_of(x, of);
	x->next[g->tail] = own->member;
	g->tail = own->tail;
	g->n_last = own->last > g->last	   ? own->n_last
		    : own->last == g->last ? g->n_last + own->n_last
					   : g->n_last;
	g->last = own->last > g->last ? own->last : g->last;
}

struct turn {
	uint32_t first, i;
};

static int by_turn(const void *x, const void *y)
{
	const struct turn *p = x, *q = y;

	return p->first != q->first ? (p->first > q->first) - (p->first < q->first)
				    : (p->i > q->i) - (p->i < q->i);
}

/* In the order in which they are written: who is joined then lies where it will stay. */
static void join_groups(struct aliases *x, bool *in_place, struct hn_arena *a)
{
	struct turn *turn = HN_NEW_ARRAY(a, struct turn, x->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n && x->sharing != PLAN_NEVER; i++) {
		if (x->t[i].alias == HN_PLAN_IN_PLACE) {
			turn[n++] = (struct turn){ .first = x->t[i].first, .i = i };
		}
	}
	qsort(turn, n, sizeof *turn, by_turn);
	for (uint32_t k = 0; k < n; k++) {
		if (may_join(x, turn[k].i)) {
			join(x, turn[k].i);
			in_place[turn[k].i] = true;
		}
	}
}

static int number_blocks(const struct aliases *x, struct plan_blocks *ret,
			 struct hn_err *err)
{
	uint32_t *number = ret->of; /* of its group's block, at the group's own place */
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct group *g = &x->group[i];

		if (x->root[i] != i || g->host != i) {
			continue;
		}
		ret->block[ret->n] = (struct plan_block){ .bytes = rounded(x->t[i].bytes),
							  .first = g->first,
							  .last = g->last,
							  .id = ret->n };
		sum += ret->block[ret->n].bytes;
		number[i] = ret->n++;
		if (sum > (uint64_t)HN_EXTENT_MAX) {
			return hn_fail(err, HONE_E_QUOTA,
				       "the tensors have more than 2^62 bytes");
		}
	}
	for (uint32_t i = 0; i < x->n; i++) {
		number[i] = number[x->group[x->root[i]].host];
		ret->at[i] = place_of(x, i);
	}
	return 0;
}

int plan_alias(const struct hn_plan_tensor *tensor, uint32_t n, enum plan_sharing sharing,
	       struct hn_arena *a, struct plan_blocks *ret, struct hn_err *err)
{
	struct aliases x = { .t = tensor,
			     .n = n,
			     .sharing = sharing,
			     .root = HN_NEW_ARRAY(a, uint32_t, n),
			     .at = HN_NEW_ARRAY(a, uint64_t, n),
			     .group = HN_NEW_ARRAY(a, struct group, n),
			     .next = HN_NEW_ARRAY(a, uint32_t, n) };
	int rc = make_groups(&x, err);

	if (rc != 0) {
		return rc;
	}
	*ret = (struct plan_blocks){ .block = HN_NEW_ARRAY(a, struct plan_block, n),
				     .of = HN_NEW_ARRAY(a, uint32_t, n),
				     .at = HN_NEW_ARRAY(a, uint64_t, n),
				     .in_place = HN_NEW_ARRAY(a, bool, n) };
	join_groups(&x, ret->in_place, a);
	return number_blocks(&x, ret, err);
}
