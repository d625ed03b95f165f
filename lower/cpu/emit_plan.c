/* lower/cpu/emit_plan.c -- the register tile of a nest, as target/cpu/tile.c chooses it from the
 * strides of its accesses.  A scalar kernel has tiles of one point.
 */
#include "lower/cpu/emit_nest.h"

static struct emit_dim *dim_of(const struct emit_nest *n, const struct hn_tile *t,
			       const struct hn_tile_dim *d)
{
	return d ? &n->dim[d - t->dim] : NULL;
}

static void take(struct emit_nest *n, const struct hn_tile *t)
{
	for (uint32_t i = 0; i < n->n_dim; i++) {
		n->dim[i].block = t->dim[i].block;
		n->dim[i].chain = t->dim[i].chain;
		n->dim[i].fast = t->dim[i].fast;
	}
	for (uint32_t i = 0; i < t->n_chain; i++) {
		n->chain[i] = dim_of(n, t, t->chain[i]);
	}
	n->n_chain = t->n_chain;
	n->tile = t->tile;
	n->width = t->width;
	n->turn = dim_of(n, t, t->turn);
	n->across = dim_of(n, t, t->across);
	n->n_across = t->n_across;
	n->from_identity = t->from_identity;
}

void hn_emit_plan(struct emit *e, struct emit_nest *n, const struct hn_nest *read)
{
	struct hn_tile t;

	n->width = 1;
	n->n_across = 1;
	n->tile = n->n_dim;
	if (e->opt->scalar) {
		return;
	}
	hn_nest_tile(e->t, read, &e->em->target, e->a, &t);
	hn_emit_find_strides(e, n);
	hn_emit_group_find(e, n);
	t.terms = n->intrin != NULL;
	for (uint32_t i = 0; i < n->n_dim; i++) {
		t.dim[i].stride = n->dim[i].stride;
		t.dim[i].by_tiles = hn_emit_steps_by_tiles(n, &n->dim[i]);
	}
	hn_tile_choose(&t, &e->em->target);
	take(n, &t);
	if (t.update) {
		hn_emit_unroll_borders(e, n, t.points);
	}
}
