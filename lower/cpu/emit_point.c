/* lower/cpu/emit_point.c -- the points of a register tile, one after the other.
 *
 * A tile is a block of iterations of each of its spatial loops.  The chain's are dealt to
 * vectors, width lanes each; a point is one such vector at one iteration of every other
 * loop, lanes' vectors fastest, then the loops that only vectors depend on.
 */
#include "lower/cpu/emit_nest.h"

#include "base/arith.h"

static int64_t chain_now(const struct emit_nest *n)
{
	int64_t lanes = 1;

	for (uint32_t i = 0; i < n->n_chain; i++) {
		lanes *= n->chain[i]->now;
	}
	return lanes;
}

static bool in_block(const struct emit_dim *d)
{
	return !d->reduce && !d->chain && d->now > 1;
}

uint32_t hn_emit_count_points(struct emit_nest *n)
{
	int64_t lanes = chain_now(n), points;

	n->w = n->width;
	while (!n->across && n->w > 1 && lanes <= n->w / 2) {
		n->w /= 2;
	}
	points = n->n_chain ? hn_ceildiv(lanes, n->w) : 1;
	for (uint32_t i = 0; i < n->n_dim; i++) {
		points *= in_block(&n->dim[i]) ? n->dim[i].now : 1;
	}
	return (uint32_t)points;
}

static void set_lanes(struct emit *e, struct emit_nest *n, int64_t v)
{
	int64_t lanes = chain_now(n), first = v * n->w;

	e->n_lane = n->w;
	e->n_active = (uint32_t)(lanes - first < n->w ? lanes - first : n->w);
	e->lane = n->w > 1 ? -1 : 0;
	for (uint32_t k = 0; k < n->w; k++) {
		int64_t at = first + (k < e->n_active ? k : 0);

		for (uint32_t i = 0; i < n->n_chain; i++) {
			n->lane[i][k] = at % n->chain[i]->now;
			at /= n->chain[i]->now;
		}
	}
	for (uint32_t i = 0; i < n->n_chain; i++) {
		struct emit_var *var = &e->var[n->chain[i]->loop];

		var->add = n->chain[i]->base;
		var->lane = n->lane[i];
	}
}

void hn_emit_set_point(struct emit *e, struct emit_nest *n, uint32_t p)
{
	e->epoch++;
	e->mask = (struct emit_val){ 0 };
	e->spare = false;
	e->n_let = 0;
	if (n->n_chain) {
		uint32_t vectors = (uint32_t)hn_ceildiv(chain_now(n), n->w);

		set_lanes(e, n, p % vectors);
		p /= vectors;
	} else {
		e->n_lane = e->n_active = n->w;
		e->lane = n->w > 1 ? -1 : 0;
	}
	for (uint32_t i = 2 * n->n_dim; i-- > 0;) {
		struct emit_dim *d = &n->dim[i % n->n_dim];

		if (in_block(d) && d->fast == (i >= n->n_dim)) {
			e->var[d->loop].add = d->base + p % d->now;
			p /= (uint32_t)d->now;
		}
	}
}

void hn_emit_no_point(struct emit *e, struct emit_nest *n)
{
	for (uint32_t i = 0; i < n->n_dim; i++) {
		if (!n->dim[i].reduce) {
			e->var[n->dim[i].loop].lane = NULL;
			e->var[n->dim[i].loop].add = n->dim[i].base;
		}
	}
	e->mask = (struct emit_val){ 0 };
	e->spare = false;
	e->n_lane = e->n_active = 1;
	e->lane = 0;
	e->epoch++;
}
