/* lower/device/place_sync.c -- barriers, where a piece touches what another one has written.
 *
 * A barrier is put before a piece that reads or writes a buffer that pieces since the last barrier
 * wrote, or writes one that they read; a loop's first pieces come after its last ones, too.  It is
 * judged by whole buffers, so that a barrier may be put where none is needed; that none is missing
 * hn_device_verify shows without asking here.  Source: TVM's ThreadSync.
 *
 * A ring of a pipelined loop counts as two buffers: the copy that is ahead, and the one that the
 * rest of a turn works on.  The copy that is ahead is written in every turn, so that a barrier comes
 * before that in every turn: it is the one that the rest of the turns before and behind needs, too.
 */
#include <string.h>

#include "lower/device/device_wgmma.h"
#include "lower/device/place_int.h"

/* What was touched since the last barrier, [2 * n_buffer] each: of buffers, and of copies of rings
 * that are ahead. */
struct touched {
	bool *read, *wrote;
	bool *other; /* by another stage than the one that the buffer holds, or its init */
};

struct sync {
	struct place *p;
	bool single;	/* one thread a block */
	bool fences;	/* a warpgroup reads shared memory */
	int32_t *owner; /* [n_buffer] the stage whose tensor it holds; -1 = none */
	uint32_t n_barrier;
};

static struct touched nothing(const struct sync *s)
{
	size_t n = 2 * (size_t)s->p->n_buffer;

	return (struct touched){ HN_NEW_ARRAY(s->p->a, bool, n), HN_NEW_ARRAY(s->p->a, bool, n),
				 HN_NEW_ARRAY(s->p->a, bool, n) };
}

static void see_load(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_LOAD) {
		((struct touched *)ctx)->read[e->ref] = true;
	}
}

static void see(const struct hn_device_node *n, struct touched *t)
{
	const struct hn_expr *e[] = { n->e, n->at,
				      n->copy != NULL ? n->copy->from_at : NULL };

	for (size_t i = 0; i < HN_COUNT_OF(e); i++) {
		if (e[i] != NULL) {
			hn_expr_visit(e[i], see_load, t);
		}
	}
	if (n->kind == HN_DEVICE_STORE || n->kind == HN_DEVICE_COPY) {
		t->wrote[n->buffer] = true;
	}
	if (n->copy != NULL) {
		t->read[n->copy->from] = true;
	}
	if (n->warp != NULL) {
		t->wrote[n->buffer] = true;
		for (int i = 0; i < hn_device_n_from(n); i++) {
			t->read[n->warp->from[i]] = true;
		}
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see(n->child[i], t);
	}
}

static void join(const struct sync *s, struct touched *t, const struct touched *other)
{
	for (uint32_t i = 0; i < 2 * s->p->n_buffer; i++) {
		t->other[i] |= other->other[i];
		t->read[i] |= other->read[i];
		t->wrote[i] |= other->wrote[i];
	}
}

static bool meets(const struct sync *s, const struct touched *t,
		  const struct touched *now)
{
	for (uint32_t i = 0; i < 2 * s->p->n_buffer; i++) {
		if (s->p->buffer[i % s->p->n_buffer].memory != HN_MEMORY_LOCAL &&
		    ((now->wrote[i] && (t->read[i] || t->wrote[i])) ||
		     (now->read[i] && t->wrote[i]))) {
			return true;
		}
	}
	return false;
}

/* The loop whose ring the buffer is; -1 = it is none. */
static int32_t ring_of(const struct sync *s, uint32_t buffer)
{
	const struct hn_buffer *b =
		s->owner[buffer] >= 0 ? &s->p->t->buffer[s->owner[buffer]] : NULL;

	return b != NULL && b->ring > 1 ? b->at_loop : -1;
}

/* Of what a piece touches in buffers: in which copies. */
static void tell_copies(const struct sync *s, const struct draft *d, struct touched *t)
{
	for (uint32_t i = 0, n = s->p->n_buffer; i < n; i++) {
		const struct phase *ph = d->phase;

		while (ph != NULL && ph->loop != ring_of(s, i)) {
			ph = ph->up;
		}
		if (ph == NULL || ph->ahead) {
			t->read[n + i] = t->read[i];
			t->wrote[n + i] = t->wrote[i];
			t->other[n + i] = t->other[i];
		}
		if (ph != NULL && ph->ahead) {
			t->read[i] = t->wrote[i] = t->other[i] = false;
		}
	}
}

/* Turns before the first iteration each have a copy of their own. */
static void forget_turns(const struct sync *s, const struct draft *loop, struct touched *t)
{
	for (uint32_t i = 0, n = s->p->n_buffer; i < n && loop->first; i++) {
		if (ring_of(s, i) == loop->loop) {
			t->read[i] = t->wrote[i] = t->read[n + i] = t->wrote[n + i] = false;
		}
	}
}

/* What a piece, or all pieces of a loop, touch. */
static void see_draft(const struct sync *s, const struct draft *d, struct touched *t)
{
	struct touched now = nothing(s);

	for (uint32_t i = 0; i < d->n; i++) {
		see_draft(s, d->child[i], t);
	}
	if (d->piece) {
		see(&d->node, &now);
		for (uint32_t i = 0; i < s->p->n_buffer; i++) {
			now.other[i] =
				(now.read[i] || now.wrote[i]) && s->owner[i] != d->stage;
		}
		tell_copies(s, d, &now);
		join(s, t, &now);
	}
}

/* Before what touches `now`. */
static void wait_for(struct sync *s, struct touched *t, const struct touched *now,
		     struct code *c)
{
	if (meets(s, t, now) && !s->single) {
		if (s->fences) {
			hn_place_add(s->p, c,
				     (struct hn_device_node){ .kind = HN_DEVICE_FENCE });
		}
		hn_place_add(s->p, c,
			     (struct hn_device_node){ .kind = HN_DEVICE_BARRIER });
		s->n_barrier++;
		*t = nothing(s);
	}
	join(s, t, now);
}

/* The code of d, after `t` was touched, which becomes what is touched then. */
static struct code walk(struct sync *s, const struct draft *d, struct touched *t);

/* What is known of a loop, wherever it stands. */
struct walked {
	struct touched all;  /* by its pieces */
	struct touched left; /* by an iteration to the next */
	bool waits;	     /* there is a barrier inside */
	struct code code;    /* unless it waits */
};

/* Iterations of a stage's own loops update different elements, or by the same thread. */
static void forget_own(const struct sync *s, const struct draft *loop, struct touched *t)
{
	for (uint32_t i = 0; i < 2 * s->p->n_buffer; i++) {
		if (s->owner[i % s->p->n_buffer] == loop->stage && !t->other[i]) {
			t->read[i] = t->wrote[i] = false;
		}
	}
}

/* Once for each loop: a nest would be walked a number of times that its depth is the power of. */
static const struct walked *look_at(struct sync *s, struct draft *loop)
{
	struct walked *w = loop->walked;
	uint32_t n;

	if (w != NULL) {
		return w;
	}
	w = HN_NEW(s->p->a, struct walked);
	*w = (struct walked){ .all = nothing(s), .left = nothing(s) };
	loop->walked = w;
	see_draft(s, loop, &w->all);
	(void)walk(s, loop, &w->left);
	forget_own(s, loop, &w->left);
	forget_turns(s, loop, &w->left);

	struct touched after = nothing(s);

	join(s, &after, &w->left);
	n = s->n_barrier;
	w->code = walk(s, loop, &after);
	w->waits = s->n_barrier != n;
	return w;
}

static void walk_loop(struct sync *s, struct draft *x, struct touched *t, struct code *c)
{
	const struct walked *w = look_at(s, x);
	struct code inner = w->code;

	if (!w->waits) { /* one before it is enough */
		wait_for(s, t, &w->all, c);
	} else {
		join(s, t, &w->left);
		inner = walk(s, x, t);
	}
	if (inner.n > 0) {
		hn_place_add(s->p, c, *hn_place_wrap(s->p, x->node, &inner));
	}
}

static struct code walk(struct sync *s, const struct draft *d, struct touched *t)
{
	struct code c = { 0 };

	for (uint32_t i = 0; i < d->n; i++) {
		struct draft *x = d->child[i];
		struct touched now = nothing(s);

		if (!x->piece) {
			walk_loop(s, x, t, &c);
			continue;
		}
		see_draft(s, x, &now);
		wait_for(s, t, &now, &c);
		if (x->node.kind != HN_DEVICE_SEQ) {
			hn_place_add(s->p, &c, x->node);
		}
		for (uint32_t k = 0; k < x->node.n_child && x->node.kind == HN_DEVICE_SEQ;
		     k++) {
			hn_place_add(s->p, &c, *x->node.child[k]);
		}
	}
	return c;
}

const struct hn_device_node *hn_place_sync(struct place *p, struct draft *root)
{
	struct sync s = { .p = p,
			  .single = p->block[0] * p->block[1] * p->block[2] == 1,
			  .fences = p->team == HN_WARPGROUP };

	s.owner = HN_NEW_ARRAY(p->a, int32_t, p->n_buffer);
	memset(s.owner, 0xff, p->n_buffer * sizeof(s.owner[0]));
	for (uint32_t i = 0; i < p->t->dag->n_op; i++) {
		for (uint32_t k = 0; p->held[i].made && k < p->t->dag->op[i]->n_out;
		     k++) {
			s.owner[p->held[i].buffer + (int32_t)k] = (int32_t)i;
		}
	}
	struct touched t = nothing(&s);
	struct code c = walk(&s, root, &t);

	return hn_place_wrap(p, root->node, &c);
}
