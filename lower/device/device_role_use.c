/* lower/device/device_role_use.c -- what a kernel with roles does with each buffer and slot: one walk
 * through all its nodes.  See device_role.h. */
#include <string.h>

#include "lower/device/device_role.h"

struct walk {
	const struct hn_device *d;
	const struct hn_device_kernel *k;
	struct hn_role_use *use;
};

static void mark(const struct walk *w, int32_t buffer, uint8_t how)
{
	if (buffer >= 0 && (uint32_t)buffer < w->d->n_buffer) {
		w->use->buffer[buffer] |= how;
	}
}

static void see_load(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_LOAD) {
		mark(ctx, e->ref, HN_ROLE_TOUCHES);
	}
}

/* What is no word: a thread's own reads and writes. */
static void see_own(struct walk *w, const struct hn_device_node *n)
{
	bool writes = n->kind == HN_DEVICE_STORE || n->kind == HN_DEVICE_COPY;

	if (n->e != NULL) {
		hn_expr_visit(n->e, see_load, w);
	}
	if (n->at != NULL) {
		hn_expr_visit(n->at, see_load, w);
	}
	if (writes) {
		mark(w, n->buffer, HN_ROLE_TOUCHES | HN_ROLE_WRITES);
	}
	if (n->copy != NULL) {
		mark(w, n->copy->from, HN_ROLE_TOUCHES);
	}
	if (n->warp != NULL && n->kind != HN_DEVICE_WGMMA) {
		mark(w, n->buffer, HN_ROLE_TOUCHES);
		mark(w, n->kind != HN_DEVICE_SETTLE ? n->warp->from[0] : -1, HN_ROLE_TOUCHES);
	}
}

static void see(struct walk *w, const struct hn_device_node *n)
{
	if (n->kind == HN_DEVICE_BULK) {
		mark(w, n->buffer, HN_ROLE_OWNS | HN_ROLE_FILLS);
		mark(w, n->bulk->mbarrier, HN_ROLE_OWNS | HN_ROLE_COUNTS);
	} else if (hn_role_is_word(n) && n->kind != HN_DEVICE_ROLE) {
		mark(w, n->buffer, HN_ROLE_OWNS | HN_ROLE_COUNTS);
	}
	if (n->kind == HN_DEVICE_LET && n->slot >= 0 && (uint32_t)n->slot < w->k->n_slot) {
		w->use->named[n->slot] = true;
	}
	see_own(w, n);
	w->use->words = w->use->words || hn_role_is_word(n);
	for (uint32_t i = 0; i < n->n_child; i++) {
		see(w, n->child[i]);
	}
}

struct hn_role_use hn_role_use_of(const struct hn_device *d, const struct hn_device_kernel *k,
				  struct hn_arena *a)
{
	struct hn_role_use ret = { .buffer = HN_NEW_ARRAY(a, uint8_t, d->n_buffer + 1),
				   .named = HN_NEW_ARRAY(a, bool, k->n_slot + 1) };
	struct walk w = { d, k, &ret };

	see(&w, k->body);
	if (!hn_role_any(k)) {
		memset(ret.buffer, 0, d->n_buffer);
	}
	return ret;
}
