/* lower/npu/order_loop.c -- flags of code that is done again and again.
 *
 * The code is walked over several times in a row, as if there were flags enough.  When what a turn waits
 * for is the same as in the turn before, it is so in all turns to come: each touches the same memory,
 * and what a pipe knows follows from the turn before.  A flag that a turn sets for the next is set once
 * before the first turn, and waited for behind the last.
 *
 * Then flags get numbers.  Two edges may share one when each is set only where the pipe knows that the
 * wait of the one before has passed, across the end of the turn as well.  Where numbers do not suffice,
 * two edges become one, from the later set to the earlier wait.  What is known then is more than was
 * found, so nothing is missing.  If that does not help, a barrier of all pipes ends each turn.
 */
#include <string.h>

#include "base/arith.h"
#include "lower/npu/order_int.h"

#define TURNS 5 /* walked over; the last two are compared */

struct loop {
	struct npu_order *o;
	uint32_t n;	  /* instructions of a turn */
	uint32_t first;	  /* of o->edge: of the last turn */
	uint32_t n_edge;
};

static const struct npu_edge *edge(const struct loop *l, uint32_t i)
{
	return &l->o->edge[l->first + i];
}

/* The number of the first instruction of turn t is base(t) + 1. */
static uint32_t base(const struct loop *l, uint32_t t)
{
	return t * l->n;
}

static bool is_carried(const struct loop *l, const struct npu_edge *e)
{
	return e->at <= base(l, TURNS - 1);
}

/* Where in a turn its set is, from 1. */
static uint32_t set_at(const struct loop *l, const struct npu_edge *e)
{
	return (e->at - 1) % l->n + 1;
}

/* What instruction `at` of turn t knows, from the turn before on; what is older, nobody asks for. */
static int64_t knows(const struct loop *l, uint32_t t, uint32_t at, int pipe)
{
	int64_t v = (int64_t)l->o->when[base(l, t) + at].done[pipe] - (int64_t)base(l, t);

	return v <= -(int64_t)l->n ? -(int64_t)l->n : v;
}

static bool is_steady(struct loop *l)
{
	struct npu_order *o = l->o;
	uint32_t n[TURNS] = { 0 }, begin = 0;

	for (uint32_t i = 0; i < o->n_edge; i++) {
		n[(o->edge[i].before - 1) / l->n]++;
	}
	for (uint32_t t = 0; t + 1 < TURNS; t++) {
		begin += n[t];
	}
	l->first = begin;
	l->n_edge = n[TURNS - 1];
	if (n[TURNS - 1] != n[TURNS - 2]) {
		return false;
	}
	for (uint32_t i = 0; i < l->n_edge; i++) {
		const struct npu_edge *e = &o->edge[begin + i], *f = &o->edge[begin - l->n_edge + i];

		if (e->at <= base(l, TURNS - 2) || e->from != f->from || e->to != f->to || e->at - f->at != l->n || e->before - f->before != l->n) {
			return false;
		}
	}
	for (uint32_t k = 1; k <= l->n; k++) {
		for (int q = 0; q < HN_NPU_N_PIPE; q++) {
			if (knows(l, TURNS - 1, k, q) != knows(l, TURNS - 2, k, q)) {
				return false;
			}
		}
		if (o->before[base(l, TURNS - 1) + k] != o->before[base(l, TURNS - 2) + k]) {
			return false;
		}
	}
	return true;
}

/* Whether the set of f, the next of its number behind e's, knows that the wait of e has passed.  Across the
 * end of the turn: f's is of the next one. */
static bool may_follow(const struct loop *l, const struct npu_edge *e, const struct npu_edge *f, bool across)
{
	int64_t wait = (int64_t)e->before - (int64_t)base(l, TURNS - 1);

	wait += is_carried(l, e) ? (int64_t)l->n : 0;
	wait -= across ? (int64_t)l->n : 0;
	return knows(l, TURNS - 1, set_at(l, f), e->to) >= wait;
}

/* Edge i with those that have its number already, in the order of their sets. */
static bool fits(const struct loop *l, uint32_t i)
{
	const struct npu_edge *e = edge(l, i), *before = NULL, *behind = NULL, *first = e, *last = e;

	for (uint32_t k = 0; k < i; k++) {
		const struct npu_edge *f = edge(l, k);
		uint32_t at = set_at(l, f), own = set_at(l, e);

		if (f->from != e->from || f->to != e->to || f->id != e->id) {
			continue;
		}
		if (at == own) {
			return false;
		}
		before = at < own && (before == NULL || at > set_at(l, before)) ? f : before;
		behind = at > own && (behind == NULL || at < set_at(l, behind)) ? f : behind;
		first = at < set_at(l, first) ? f : first;
		last = at > set_at(l, last) ? f : last;
	}
	return (before == NULL || may_follow(l, before, e, false)) &&
	       (behind == NULL || may_follow(l, e, behind, false)) && may_follow(l, last, first, true);
}

static struct npu_edge *at(const struct loop *l, uint32_t i)
{
	return &l->o->edge[l->first + i];
}

/* How much later the set, and how much earlier the wait of two edges would be that become one; UINT32_MAX:
 * they cannot, as a wait would stand before its set. */
static uint32_t price(const struct loop *l, const struct npu_edge *e, const struct npu_edge *f)
{
	uint32_t set = e->at > f->at ? e->at : f->at, wait = e->before < f->before ? e->before : f->before;

	if (e->from != f->from || e->to != f->to || is_carried(l, e) != is_carried(l, f) || set >= wait) {
		return UINT32_MAX;
	}
	return (e->at > f->at ? e->at - f->at : f->at - e->at) +
	       (e->before > f->before ? e->before - f->before : f->before - e->before);
}

/* The two between these pipes that are nearest become one; false: none can. */
static bool merge(struct loop *l, uint8_t from, uint8_t to)
{
	uint32_t least = UINT32_MAX, one = 0, other = 0;

	for (uint32_t i = 0; i < l->n_edge; i++) {
		for (uint32_t k = 0; k < i; k++) {
			uint32_t p = edge(l, i)->from == from && edge(l, i)->to == to ? price(l, edge(l, i), edge(l, k))
										      : UINT32_MAX;

			if (p < least) {
				least = p;
				one = k;
				other = i;
			}
		}
	}
	if (least == UINT32_MAX) {
		return false;
	}
	at(l, one)->at = edge(l, one)->at > edge(l, other)->at ? edge(l, one)->at : edge(l, other)->at;
	at(l, one)->before = edge(l, one)->before < edge(l, other)->before ? edge(l, one)->before
									    : edge(l, other)->before;
	*at(l, other) = *edge(l, --l->n_edge);
	return true;
}

/* The first edge that has no number left; n_edge: all have one. */
static uint32_t try_numbers(struct loop *l)
{
	for (uint32_t i = 0; i < l->n_edge; i++) {
		struct npu_edge *e = at(l, i);

		e->id = 0;
		while (e->id < l->o->m->events && !fits(l, i)) {
			e->id++;
		}
		if (e->id == l->o->m->events) {
			return i;
		}
	}
	return l->n_edge;
}

static bool number(struct loop *l)
{
	uint32_t i;

	while ((i = try_numbers(l)) < l->n_edge) {
		if (!merge(l, edge(l, i)->from, edge(l, i)->to)) {
			return false;
		}
	}
	return true;
}

static struct hn_npu_section repeated(const struct hn_npu_section *s, uint32_t times, struct hn_arena *a)
{
	struct hn_npu_insn *in = HN_NEW_ARRAY(a, struct hn_npu_insn, (size_t)s->n_insn * times + 1);
	struct hn_npu_section ret = *s;

	for (uint32_t i = 0; i < s->n_insn * times; i++) {
		in[i] = s->insn[i % s->n_insn];
	}
	ret.insn = in;
	ret.n_insn = s->n_insn * times;
	return ret;
}

/* The last turn with its flags; sets and waits around all of them. */
static void carried(const struct loop *l, const struct hn_npu_section *s, struct hn_arena *a,
		    struct npu_turns *ret)
{
	uint32_t room = l->n_edge + 1, n = 0, n_carried = 0;
	struct hn_npu_insn *to = HN_NEW_ARRAY(a, struct hn_npu_insn, 2 * (l->n + room));
	struct hn_npu_insn *before = HN_NEW_ARRAY(a, struct hn_npu_insn, room);
	struct hn_npu_insn *behind = HN_NEW_ARRAY(a, struct hn_npu_insn, room);

	for (uint32_t k = 1; k <= l->n; k++) {
		for (uint32_t i = 0; i < l->n_edge; i++) {
			const struct npu_edge *e = edge(l, i);

			if (e->before == base(l, TURNS - 1) + k) {
				to[n++] = npu_plain(HN_NPU_I_WAIT, e->from, e->to, e->id);
			}
		}
		if (l->o->before[base(l, TURNS - 1) + k] != 0) {
			to[n++] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_V, 0, 0);
		}
		to[n++] = s->insn[k - 1];
		for (uint32_t i = 0; i < l->n_edge; i++) {
			const struct npu_edge *e = edge(l, i);

			if (set_at(l, e) == k) {
				to[n++] = npu_plain(HN_NPU_I_SET, e->from, e->to, e->id);
			}
		}
	}
	for (uint32_t i = 0; i < l->n_edge; i++) {
		const struct npu_edge *e = edge(l, i);

		if (is_carried(l, e)) {
			before[n_carried] = npu_plain(HN_NPU_I_SET, e->from, e->to, e->id);
			behind[n_carried++] = npu_plain(HN_NPU_I_WAIT, e->from, e->to, e->id);
		}
	}
	*ret = (struct npu_turns){ .n_before = n_carried, .before = before, .n_behind = n_carried,
				   .behind = behind, .n_body = n, .body = to, .carried = true };
}

/* A turn by itself, and a barrier. */
static int apart(struct npu_order *o, const struct hn_npu_section *s, enum hn_npu_order order, struct hn_arena *a,
		 struct npu_turns *ret, struct hn_err *err)
{
	struct hn_npu_section made;
	struct hn_npu_insn *to;
	int rc;

	o->s = s;
	rc = npu_order_walk(o, order, err);
	if (rc != 0) {
		return rc;
	}
	made = npu_order_section(o, order);
	to = HN_NEW_ARRAY(a, struct hn_npu_insn, made.n_insn + 1);
	memcpy(to, made.insn, made.n_insn * sizeof(to[0]));
	to[made.n_insn] = npu_plain(HN_NPU_I_BARRIER, HN_NPU_ALL, 0, 0);
	*ret = (struct npu_turns){ .body = to, .n_body = made.n_insn + 1 };
	return 0;
}

/* True: *ret has turns that flags order.  False: flags do not suffice, or (*rc != 0) an error. */
static bool together(struct npu_order *o, const struct hn_npu_section *s, struct hn_arena *a,
		     struct npu_turns *ret, int *rc, struct hn_err *err)
{
	struct hn_npu_section several = repeated(s, TURNS, o->a);
	struct loop l = { .o = o, .n = s->n_insn };

	o->s = &several;
	o->loose = true;
	*rc = npu_order_walk(o, HN_NPU_FLAGS, err);
	if (*rc != 0 || !is_steady(&l) || !number(&l)) {
		return false;
	}
	carried(&l, s, a, ret);
	return true;
}

int npu_order_turns(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		    const struct hn_npu_section *s, enum hn_npu_order order, bool carries, struct hn_arena *a,
		    struct npu_turns *ret, struct hn_err *err)
{
	struct hn_npu_order_facts facts = { 0 };
	bool tries = order == HN_NPU_FLAGS && carries && s->n_insn > 0 && s->n_insn <= HN_NPU_MOST_INSNS / TURNS;
	bool done = false;
	int rc = 0;

	/* what is known of memories is large, and of no turn's code */
	for (int i = 0; i < 2 && rc == 0 && !done; i++) {
		struct hn_arena own;
		struct npu_order o = { .p = p, .m = m, .a = &own, .facts = &facts };

		hn_arena_init(&own, 0);
		if (i == 0) {
			done = tries && together(&o, s, a, ret, &rc, err);
		} else {
			rc = apart(&o, s, order, a, ret, err);
		}
		hn_arena_fini(&own);
	}
	return rc;
}
