/* lower/device/device_count.c -- whether two accesses meet, by trying all instances in a block.
 *
 * What threads fill together has an index that fuse and split have taken apart and put together
 * again.  isl takes minutes for some of them, and a block has few instances: each element
 * remembers which thread reached it.  Only variables that the indices and conditions name count.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_verify_int.h"
#include "lower/interp/interp_priv.h"

#define MOST_INSTANCES (1 << 18)
#define MOST_ELEMENTS (1 << 22)
#define MOST_SLOTS 32
#define SEVERAL (-1) /* threads */

/* Variables that run through all their values. */
struct odometer {
	uint32_t n;
	int32_t slot[MOST_SLOTS];
};

struct side {
	struct odometer own; /* what is not the same for both sides */
	const struct hn_cell *at;
	int64_t run; /* elements that lie side by side from there on */
	bool warp;   /* of no thread alone */
	uint32_t n_cond;
	const struct hn_cell *cond[MOST_SLOTS];
	bool positive[MOST_SLOTS];
};

struct count {
	const struct verify *v;
	struct hn_compile compile;
	bool *named; /* [n_slot] */
	const struct when *plain; /* conditions on what is the same for both sides are left out */
	bool too_many;
	int64_t *times; /* [n_slot] values after which all begins again */
	union hn_value *frame;
	/* [elements]: the thread + 1, and in which round */
	int32_t *owner;
	uint32_t *round;
};

static void see_name(const struct hn_expr *e, void *ctx)
{
	struct count *c = ctx;

	if (e->op == HN_EXPR_VAR) {
		c->named[e->ref] = true;
	}
}

static void see_unknown(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |=
		e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET || e->op == HN_EXPR_CALL;
}

/* Names loops and numbers alone. */
static bool is_known(const struct count *c, const struct access *a,
		     const struct hn_expr *e)
{
	bool unknown = false;

	hn_expr_visit(e, see_unknown, &unknown);
	if (unknown) {
		return false;
	}
	memset(c->named, 0, c->v->k->n_slot);
	hn_expr_visit(e, see_name, (void *)(uintptr_t)c);
	for (uint32_t s = 0; s < c->v->k->n_slot; s++) {
		unknown = unknown || (c->named[s] && a->first_dim[s] < 0);
	}
	return !unknown;
}

static bool is_shared(const struct when *w, int32_t slot)
{
	bool ret = slot < HN_DEVICE_THREAD || (w->next != NULL && w->next->slot == slot);

	for (uint32_t i = 0; i < w->n_same && !ret; i++) {
		ret = w->same[i]->slot == slot;
	}
	return ret;
}

/* Whether the last expression asked about names what is the same for both sides. */
static bool is_aside(const struct count *c)
{
	bool aside = false;

	for (uint32_t s = 0; c->plain != NULL && s < c->v->k->n_slot; s++) {
		aside = aside || (c->named[s] && is_shared(c->plain, (int32_t)s));
	}
	return aside;
}

static void add_condition(struct count *c, const struct access *a,
			  const struct hn_expr *e, bool positive, bool *named,
			  struct side *s)
{
	if ((e->op == HN_EXPR_AND && positive) || (e->op == HN_EXPR_OR && !positive)) {
		add_condition(c, a, e->arg[0], positive, named, s);
		add_condition(c, a, e->arg[1], positive, named, s);
	} else if (s->n_cond < MOST_SLOTS && is_known(c, a, e) && !is_aside(c)) {
		for (uint32_t i = 0; i < c->v->k->n_slot; i++) {
			named[i] = named[i] || c->named[i];
		}
		s->positive[s->n_cond] = positive;
		s->cond[s->n_cond++] = hn_interp_compile_index(&c->compile, e);
	}
}

static void add_slot(struct count *c, struct odometer *o, int32_t slot)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (o->slot[i] == slot) {
			return;
		}
	}
	if (o->n == MOST_SLOTS) {
		c->too_many = true;
		return;
	}
	o->slot[o->n++] = slot;
}

static bool open_side(struct count *c, const struct access *a, const struct when *w,
		      struct odometer *both, struct side *ret)
{
	bool *named = HN_NEW_ARRAY(c->compile.a, bool, c->v->k->n_slot);

	if ((a->copy != NULL && (a->copy->n_dim > 1 || a->stride[0] != 1)) ||
	    !is_known(c, a, a->at)) {
		return false;
	}
	ret->run = a->copy != NULL ? a->copy->extent[0] : 1;
	ret->warp = a->warp;
	memcpy(named, c->named, c->v->k->n_slot);
	ret->at = hn_interp_compile_index(&c->compile, a->at);
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		add_condition(c, a, h->e, h->positive, named, ret);
	}
	for (int32_t s = 0; s < (int32_t)c->v->k->n_slot; s++) {
		bool thread = s >= HN_DEVICE_THREAD && s < HN_DEVICE_FIRST;

		if ((named[s] || thread) && c->v->extent[s] > 1) {
			add_slot(c, is_shared(w, s) ? both : &ret->own, s);
		}
	}
	return !c->too_many;
}

static int64_t instances(const struct count *c, const struct odometer *o)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < o->n; i++) {
		n = hn_mul_sat(n, c->times[o->slot[i]]);
	}
	return n;
}

static bool advance(const struct count *c, const struct odometer *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (++c->frame[o->slot[i]].i < c->times[o->slot[i]]) {
			return true;
		}
		c->frame[o->slot[i]].i = 0;
	}
	return false;
}

/* One element; false: another thread reached it. */
static bool run_element(const struct count *c, int64_t at, int32_t thread, uint32_t round,
			bool marks)
{
	if (c->round[at] == round && c->owner[at] != thread) {
		c->owner[at] = marks ? SEVERAL : c->owner[at];
		return false;
	}
	if (marks) {
		c->round[at] = round;
		c->owner[at] = thread;
	}
	return true;
}

/* All instances of a side; false: another thread reached one of its elements. */
static bool run_side(const struct count *c, const struct side *s, uint32_t round,
		     bool marks, int64_t n_elem)
{
	bool one = true;

	do {
		bool holds = true;

		for (uint32_t i = 0; i < s->n_cond && holds; i++) {
			holds = (s->cond[i]->eval(s->cond[i], c->frame).i != 0) ==
				s->positive[i];
		}
		int64_t at = holds ? s->at->eval(s->at, c->frame).i : -1;
		const int64_t *block = c->v->k->block;
		int32_t thread =
			1 +
			(int32_t)(c->frame[HN_DEVICE_THREAD].i +
				  block[0] *
					  (c->frame[HN_DEVICE_THREAD + 1].i +
					   block[1] * c->frame[HN_DEVICE_THREAD + 2].i));

		for (int64_t i = at; holds && i < at + s->run; i++) {
			if (i >= 0 && i < n_elem) { /* else it is the bounds' affair */
				one &= run_element(c, i, s->warp ? 0 : thread, round,
						   marks);
			}
		}
	} while (advance(c, &s->own) && (one || marks));
	return one;
}

/* What both have in common, one value after the other. */
static bool run_rounds(struct count *c, const struct odometer *both, const struct side *a,
		       const struct side *b, const struct when *w, int64_t n_elem)
{
	bool one = true;
	uint32_t round = 0;

	do {
		bool here = run_side(c, a, ++round, true, n_elem), last = false;

		if (w->next != NULL) {
			last = ++c->frame[w->next->slot].i == w->next->extent;
			here = true; /* a's own iteration is another question */
		} else if (a != b) {
			here = true;
		}
		one = one && here;
		if ((a != b || w->next != NULL) && !last) {
			one = one && run_side(c, b, round, false, n_elem);
		}
		if (w->next != NULL) {
			c->frame[w->next->slot].i--;
		}
	} while (one && advance(c, both));
	return one;
}

/* Of a variable that stands nowhere but in `(..) floormod p`, p values are all there are. */
static void find_periods(struct count *c, const struct access *a, const struct access *b)
{
	for (int32_t s = 0; s < (int32_t)c->v->k->n_slot; s++) {
		int64_t p = 1;

		c->times[s] = c->v->extent[s];
		if (c->plain != NULL && is_shared(c->plain, s) &&
		    hn_verify_period(a->at, s, &p) && hn_verify_period(b->at, s, &p) &&
		    p < c->times[s]) {
			c->times[s] = p;
		}
	}
}

/* plain: without the conditions that make many instances of few. */
static enum counted count_with(struct verify *v, const struct access *a,
			       const struct access *b, const struct when *w, bool plain)
{
	int64_t n_elem = v->d->buffer[a->buffer].n_elem;
	struct odometer both = { 0 };
	struct side side[2] = { 0 };
	enum counted ret = COUNTED_NOT;
	struct hn_arena arena;

	hn_arena_init(&arena, 0);
	struct count c = { .v = v,
			   .plain = plain ? w : NULL,
			   .compile = { .n_axis = v->k->n_slot,
					.n_frame = v->k->n_slot,
					.a = &arena } };

	c.named = HN_NEW_ARRAY(&arena, bool, v->k->n_slot);
	c.times = HN_NEW_ARRAY(&arena, int64_t, v->k->n_slot);
	find_periods(&c, a, b);
	if (n_elem <= MOST_ELEMENTS && open_side(&c, a, w, &both, &side[0]) &&
	    open_side(&c, b, w, &both, &side[1]) &&
	    hn_mul_sat(instances(&c, &both),
		       hn_add_sat(hn_mul_sat(side[0].run, instances(&c, &side[0].own)),
				  hn_mul_sat(side[1].run, instances(&c, &side[1].own)))) <=
		    MOST_INSTANCES) {
		c.frame = HN_NEW_ARRAY(&arena, union hn_value, c.compile.n_frame + 1) + 1;
		c.owner = calloc((size_t)n_elem, sizeof(c.owner[0]));
		c.round = calloc((size_t)n_elem, sizeof(c.round[0]));
		if (c.owner != NULL && c.round != NULL) {
			ret = run_rounds(&c, &both, &side[0],
					 a == b ? &side[0] : &side[1], w, n_elem)
				      ? COUNTED_ONE
				      : COUNTED_MORE;
		}
		free(c.owner);
		free(c.round);
	}
	hn_arena_fini(&arena);
	return ret;
}

enum counted hn_verify_count(struct verify *v, const struct access *a,
			     const struct access *b, const struct when *w)
{
	return count_with(v, a, b, w, true) == COUNTED_ONE ? COUNTED_ONE
							    : count_with(v, a, b, w, false);
}
