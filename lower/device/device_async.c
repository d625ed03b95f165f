/* device_async.c -- whether everybody waits for asynchronous copies before he touches what they
 * write.
 *
 * Commits, waits and barriers are every thread's, and loops run a constant number of times, so the
 * order of all this is the same in each block.  It is gone through once, with the indices of all
 * threads: each element remembers the group of the last copy to it.  A group is there for all when
 * its threads have waited for it and a barrier came after that.  Conditions and indices that are not
 * known count as they may be worst: a condition holds, and an index of data is refused, as is one
 * that differs from block to block.  That threads do not meet between barriers is not asked here.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_verify_int.h"
#include "lower/interp/interp_priv.h"

#define MOST_STEPS (1 << 26) /* some seconds */
#define MOST_ELEMENTS (1 << 22)
#define MOST_CONDITIONS 32
#define LAST_FEW 16 /* iterations that may differ from those before */

/* An access to a buffer that copies write, ready to be computed. */
struct reached {
	const struct access *a;
	bool copies;
	const struct hn_cell *at;
	uint32_t n_cond;
	const struct hn_cell *cond[MOST_CONDITIONS];
	bool positive[MOST_CONDITIONS];
};

/* A node, with what it touches itself; `counts`: something below it matters. */
struct step {
	const struct hn_device_node *n;
	bool counts;
	uint32_t n_reached;
	struct reached *reached;
	struct step **child;
};

struct going {
	struct verify *v;
	struct hn_compile compile;
	union hn_value *frame;
	bool *written;	 /* [n_buffer] by copies */
	int64_t **group; /* [n_buffer][elements] of the last copy, from 1; 0 = none */
	int64_t begun, there,
		seen; /* groups: committed; waited for; known to all threads */
	int64_t steps;
	int64_t last; /* where the thread before touched */
	bool single; /* one thread */
	const char *why;
	const struct access *at;
};

static void see_unknown(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET ||
			e->op == HN_EXPR_CALL ||
			(e->op == HN_EXPR_VAR && e->ref < HN_DEVICE_THREAD);
}

/* Of loops and threads alone. */
static bool is_known(const struct going *g, const struct access *a,
		     const struct hn_expr *e)
{
	bool unknown = false;

	hn_expr_visit(e, see_unknown, &unknown);
	for (uint32_t s = 0; s < g->v->k->n_slot && !unknown; s++) {
		unknown = a->first_dim[s] < 0 && hn_expr_uses(e, (int32_t)s);
	}
	return !unknown;
}

static void stop(struct going *g, const struct access *a, const char *why)
{
	g->at = g->why == NULL ? a : g->at;
	g->why = g->why == NULL ? why : g->why;
}

/* Of a condition that holds all parts that are known. */
static void reach_under(struct going *g, const struct access *a, const struct hn_expr *e,
			bool positive, struct reached *to)
{
	if (e->op == HN_EXPR_AND && positive) {
		reach_under(g, a, e->arg[0], true, to);
		reach_under(g, a, e->arg[1], true, to);
	} else if (to->n_cond < MOST_CONDITIONS && is_known(g, a, e)) {
		to->positive[to->n_cond] = positive;
		to->cond[to->n_cond++] = hn_interp_compile_index(&g->compile, e);
	}
}

static void reach(struct going *g, const struct access *a, bool copies,
		  struct reached *to)
{
	*to = (struct reached){ .a = a, .copies = copies };
	if ((a->copy != NULL && (a->copy->n_dim > 1 || a->stride[0] != 1)) ||
	    !is_known(g, a, a->at)) {
		stop(g, a,
		     ", which asynchronous copies write, at an index that is not known");
		return;
	}
	to->at = hn_interp_compile_index(&g->compile, a->at);
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		reach_under(g, a, h->e, h->positive, to);
	}
}

/* slot of x == slot of y, where one loop of y has another slot than that of x. */
static bool same_but_for(const struct hn_expr *x, const struct hn_expr *y, int32_t xs, int32_t ys)
{
	bool ok = x->op == y->op && x->dtype == y->dtype && x->n_arg == y->n_arg;

	if (ok && x->op == HN_EXPR_VAR) {
		return x->ref == y->ref || (x->ref == xs && y->ref == ys);
	}
	if (ok && x->n_arg == 0) {
		return hn_expr_equal(x, y);
	}
	ok = ok && x->ref == y->ref && x->out == y->out;
	for (uint32_t i = 0; i < x->n_arg && ok; i++) {
		ok = same_but_for(x->arg[i], y->arg[i], xs, ys);
	}
	return ok;
}

/* A copy, and else a plain store to the same place: one of the two is made, and the copy is what
 * has to be waited for. */
static bool instead_of_copy(const struct hn_device_node *copy, const struct hn_device_node *n)
{
	int32_t copy_slot = -1, slot = -1;

	if (copy->kind != HN_DEVICE_IF || n->kind != HN_DEVICE_IF || copy->n_child != 1 ||
	    n->n_child != 1 || n->e->op != HN_EXPR_NOT || !hn_expr_equal(n->e->arg[0], copy->e)) {
		return false;
	}
	copy = copy->child[0];
	n = n->child[0];
	if (copy->kind == HN_DEVICE_LOOP && n->kind == HN_DEVICE_LOOP && copy->n_child == 1 &&
	    n->n_child == 1 && copy->extent == n->extent) {
		copy_slot = copy->slot;
		slot = n->slot;
		copy = copy->child[0];
		n = n->child[0];
	}
	return copy->kind == HN_DEVICE_STORE && n->kind == HN_DEVICE_STORE && copy->async &&
	       !n->async && copy->buffer == n->buffer && n->e->n_arg == 0 &&
	       same_but_for(copy->at, n->at, copy_slot, slot);
}

/* *pos numbers the nodes as device_access.c does. */
static struct step *prepare(struct going *g, const struct hn_device_node *n,
			    uint32_t *pos)
{
	struct step *s = HN_NEW(&g->v->arena, struct step);
	uint32_t here = ++*pos;

	s->n = n;
	s->counts = n->kind == HN_DEVICE_COMMIT || n->kind == HN_DEVICE_WAIT ||
		    n->kind == HN_DEVICE_BARRIER;
	for (uint32_t i = 0; i < g->v->n_access; i++) {
		s->n_reached +=
			g->v->access[i].pos == here && g->written[g->v->access[i].buffer];
	}
	s->reached = HN_NEW_ARRAY(&g->v->arena, struct reached, s->n_reached);
	for (uint32_t i = 0, k = 0; i < g->v->n_access; i++) {
		const struct access *a = &g->v->access[i];

		if (a->pos == here && g->written[a->buffer]) {
			reach(g, a, a->write && n->async, &s->reached[k++]);
		}
	}
	s->counts = s->counts || s->n_reached > 0;
	s->child = HN_NEW_ARRAY(&g->v->arena, struct step *, n->n_child);
	for (uint32_t i = 0; i < n->n_child; i++) {
		s->child[i] = prepare(g, n->child[i], pos);
		if (i > 0 && instead_of_copy(n->child[i - 1], n->child[i])) {
			s->child[i]->counts = false;
		}
		s->counts = s->counts || s->child[i]->counts;
	}
	return s;
}

static void touch(struct going *g, const struct reached *x)
{
	bool holds = true;

	for (uint32_t i = 0; i < x->n_cond && holds; i++) {
		holds = (x->cond[i]->eval(x->cond[i], g->frame).i != 0) == x->positive[i];
	}
	int64_t at = holds ? x->at->eval(x->at, g->frame).i : 0;
	int64_t run = !holds ? 0 : x->a->copy != NULL ? x->a->copy->extent[0] : 1;

	if (at < 0 || at + run > g->v->d->buffer[x->a->buffer].n_elem) {
		return; /* the bounds' affair */
	}
	if (x->a->warp && at == g->last) {
		return; /* the threads of a warp read it together */
	}
	g->last = at;
	for (int64_t i = 0; i < run; i++) {
		int64_t *group = &g->group[x->a->buffer][at + i];

		if (*group > (g->single ? g->there : g->seen)) {
			stop(g, x->a, " before an asynchronous copy to it has been waited for");
		}
		*group = x->copies ? g->begun + 1 : x->a->write ? 0 : *group;
	}
}

static void all_threads(struct going *g, const struct reached *x)
{
	const int64_t *block = g->v->k->block;
	int64_t n = block[0] * block[1] * block[2];

	g->last = -1;

	for (int64_t t = 0; t < n && g->why == NULL; t++) {
		g->frame[HN_DEVICE_THREAD].i = t % block[0];
		g->frame[HN_DEVICE_THREAD + 1].i = t / block[0] % block[1];
		g->frame[HN_DEVICE_THREAD + 2].i = t / block[0] / block[1];
		touch(g, x);
	}
	g->steps += n;
}

/* Whether the condition is what it was for values of the slot *p apart, but for the last few. */
static bool holds_again(const struct hn_expr *e, int32_t slot, int64_t extent, int64_t *p)
{
	int64_t coef;

	if (e->op == HN_EXPR_AND) {
		return holds_again(e->arg[0], slot, extent, p) &&
		       holds_again(e->arg[1], slot, extent, p);
	}
	if (e->op == HN_EXPR_LT && e->arg[1]->op == HN_EXPR_INT && e->arg[0]->op == HN_EXPR_VAR &&
	    hn_expr_linear(e->arg[0], slot, &coef) && coef == 1) {
		return e->arg[1]->u.i >= extent - LAST_FEW;
	}
	if (e->op == HN_EXPR_LT && e->arg[0]->op == HN_EXPR_INT && e->arg[1]->op == HN_EXPR_VAR &&
	    e->arg[1]->ref == slot && e->arg[0]->u.i < LAST_FEW) {
		return true; /* all but the first few, which are gone through */
	}
	return hn_verify_period(e, slot, p);
}

/* Iterations of the loop after which the same is touched again; 0 = not known. */
static int64_t period_of(const struct step *s, int32_t slot, int64_t extent, int64_t p)
{
	for (uint32_t i = 0; i < s->n_reached && p > 0; i++) {
		const struct access *a = s->reached[i].a;

		p = hn_verify_period(a->at, slot, &p) ? p : 0;
		for (const struct holds *h = a->holds; h != NULL && p > 0; h = h->up) {
			p = holds_again(h->e, slot, extent, &p) ? p : 0;
		}
	}
	for (uint32_t i = 0; i < s->n->n_child && p > 0; i++) {
		p = s->child[i]->counts ? period_of(s->child[i], slot, extent, p) : p;
	}
	return p;
}

/* Each element's group as seen from now: how long ago, of those that are not there for all. */
static uint64_t state_of(const struct going *g)
{
	uint64_t h = (uint64_t)(g->begun - g->there) * 31 + (uint64_t)(g->begun - g->seen);

	for (uint32_t b = 0; b < g->v->d->n_buffer; b++) {
		for (int64_t i = 0; g->written[b] && i < g->v->d->buffer[b].n_elem; i++) {
			int64_t at = g->group[b][i];
			int64_t known = g->seen < g->there ? g->seen : g->there;

			h = (h ^ (uint64_t)(at > known ? 1 + g->begun - at : 0)) *
			    UINT64_C(0x9e3779b97f4a7c15);
			h ^= h >> 29;
		}
	}
	return h;
}

static void go(struct going *g, const struct step *s);

/* One iteration is like the one a period before: what is between here and the last few is, too. */
static void go_around(struct going *g, const struct step *s)
{
	int64_t extent = s->n->extent, p = period_of(s, s->n->slot, extent, 1);
	uint64_t was = 0;

	for (int64_t v = 0; v < extent && g->why == NULL && g->steps <= MOST_STEPS; v++) {
		int64_t left = p > 0 ? (extent - LAST_FEW - v) / p : 0;

		if (p > 0 && v % p == 0 && left > 1 && v > LAST_FEW) {
			uint64_t is = state_of(g);

			v += is == was ? left * p : 0;
			was = is;
		}
		g->frame[s->n->slot].i = v;
		for (uint32_t i = 0; i < s->n->n_child; i++) {
			go(g, s->child[i]);
		}
		g->steps++;
	}
}

static void go(struct going *g, const struct step *s)
{

	if (!s->counts || g->why != NULL || g->steps > MOST_STEPS) {
		return;
	}
	g->begun += s->n->kind == HN_DEVICE_COMMIT;
	if (s->n->kind == HN_DEVICE_WAIT && g->begun - s->n->extent > g->there) {
		g->there = g->begun - s->n->extent;
	}
	g->seen = s->n->kind == HN_DEVICE_BARRIER ? g->there : g->seen;
	for (uint32_t i = 0; i < s->n_reached; i++) {
		all_threads(g, &s->reached[i]);
	}
	if (s->n->kind == HN_DEVICE_LOOP) {
		go_around(g, s);
		return;
	}
	for (uint32_t i = 0; i < s->n->n_child; i++) {
		go(g, s->child[i]);
	}
	g->steps++;
}

static void find_written(const struct hn_device_node *n, bool *written, bool *any)
{
	if (n->kind == HN_DEVICE_STORE && n->async) {
		written[n->buffer] = *any = true;
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		find_written(n->child[i], written, any);
	}
}

enum waited hn_verify_waits(struct verify *v, const struct access **ret_at,
			    const char **ret_why)
{
	const struct hn_device *d = v->d;
	struct going g = { .v = v,
			   .compile = { .n_axis = v->k->n_slot,
					.n_frame = v->k->n_slot,
					.a = &v->arena },
			   .written = HN_NEW_ARRAY(&v->arena, bool, d->n_buffer + 1),
			   .group = HN_NEW_ARRAY(&v->arena, int64_t *, d->n_buffer + 1) };
	bool any = false;
	uint32_t pos = 0;

	find_written(v->k->body, g.written, &any);
	if (!any) {
		return WAITED_YES;
	}
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		if (g.written[i]) {
			if (d->buffer[i].n_elem > MOST_ELEMENTS) {
				return WAITED_LONG;
			}
			g.group[i] = HN_NEW_ARRAY(&v->arena, int64_t,
						  (size_t)d->buffer[i].n_elem);
		}
	}
	struct step *body = prepare(&g, v->k->body, &pos);

	g.frame = HN_NEW_ARRAY(&v->arena, union hn_value, g.compile.n_frame + 1) + 1;
	g.single = v->k->block[0] * v->k->block[1] * v->k->block[2] == 1;
	go(&g, body);
	*ret_at = g.at;
	*ret_why = g.why;
	return g.why != NULL	      ? WAITED_NOT
	       : g.steps > MOST_STEPS ? WAITED_LONG
				      : WAITED_YES;
}
