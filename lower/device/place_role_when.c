/* lower/device/place_role_when.c -- tiles of a block that are none, left out.
 *
 * Blocks that make several tiles each, one after the other, do not all make as many.  In the tree the
 * stores of a tile past the last one are guarded, each by a condition of the block's number and the
 * tile's.  In roles the whole tile stands under it: its copies, its products, and its stores.
 */
#include "lower/device/place_int.h"

#define MOST_CONDITIONS 8

struct conditions {
	const struct place *p;
	bool any; /* there is a store */
	uint32_t n;
	const struct hn_expr *e[MOST_CONDITIONS];
};

struct uniform {
	const struct hn_device_node *loop;
	bool yes;
};

/* Of the number of the block, and of loops outside of what `loop` holds. */
static bool is_inside(const struct hn_device_node *n, int32_t slot)
{
	bool any = (n->kind == HN_DEVICE_LOOP || n->kind == HN_DEVICE_LET) && n->slot == slot;

	for (uint32_t i = 0; i < n->n_child && !any; i++) {
		any = is_inside(n->child[i], slot);
	}
	return any;
}

static void see_uniform(const struct hn_expr *e, void *ctx)
{
	struct uniform *u = ctx;
	bool own = e->op == HN_EXPR_VAR && e->ref == u->loop->slot;

	if (e->op == HN_EXPR_LOAD ||
	    (e->op == HN_EXPR_VAR && !own &&
	     ((e->ref >= HN_DEVICE_THREAD && e->ref < HN_DEVICE_FIRST) || is_inside(u->loop, e->ref)))) {
		u->yes = false;
	}
}

static bool is_uniform(const struct hn_device_node *loop, const struct hn_expr *e)
{
	struct uniform u = { loop, true };

	hn_expr_visit(e, see_uniform, &u);
	return u.yes;
}

static void add_all(const struct hn_device_node *loop, const struct hn_expr *e, struct conditions *c)
{
	if (e->op == HN_EXPR_AND) {
		add_all(loop, e->arg[0], c);
		add_all(loop, e->arg[1], c);
	} else if (c->n < MOST_CONDITIONS && is_uniform(loop, e)) {
		c->e[c->n++] = e;
	}
}

/* A store stands under `here`: of those of all stores before, what is not among them goes. */
static void meet(const struct conditions *here, struct conditions *all)
{
	uint32_t kept = 0;

	if (!all->any) {
		*all = *here;
		all->any = true;
		return;
	}
	for (uint32_t i = 0; i < all->n; i++) {
		bool both = false;

		for (uint32_t k = 0; k < here->n; k++) {
			both = both || hn_expr_equal(all->e[i], here->e[k]);
		}
		all->e[kept] = all->e[i];
		kept += both;
	}
	all->n = kept;
}

static void see_stores(const struct hn_device_node *loop, const struct hn_device_node *n,
		       struct conditions here, struct conditions *all)
{
	if (n->kind == HN_DEVICE_IF) {
		add_all(loop, n->e, &here);
	}
	if ((n->kind == HN_DEVICE_STORE || n->kind == HN_DEVICE_COPY) &&
	    here.p->buffer[n->buffer].memory == HN_MEMORY_GLOBAL) {
		meet(&here, all);
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see_stores(loop, n->child[i], here, all);
	}
}

const struct hn_expr *hn_place_role_when(struct place *p, const struct hn_device_node *loop)
{
	struct conditions all = { .p = p };
	const struct hn_expr *when = NULL;

	see_stores(loop, loop, all, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		when = when == NULL ? all.e[i] : hn_place_binary(p, HN_EXPR_AND, when, all.e[i]);
	}
	return when;
}
