/* lower/c/c_choose.c -- the box of a register tile: the one that the code generator would hold
 * (target/cpu/tile.h), as far as it goes into vectors without masks.
 */
#include "lower/c/c_tile.h"

static bool is_plain(const struct c *c, const struct hn_nest *n)
{
	const struct hn_reduce *r = n->op->reduce;
	enum hn_dtype t = (enum hn_dtype)n->op->dtype[0];

	if (n->stmt->stmt != HN_STMT_UPDATE || r->kind != HN_COMBINE_SUM || r->n != 1 ||
	    (t != HN_F32 && t != HN_F64) || c_n_size(c) > 0 ||
	    (r->condition && !(r->condition->op == HN_EXPR_INT && r->condition->u.i != 0)) ||
	    r->identity[0]->op != HN_EXPR_FLOAT || r->identity[0]->u.f != 0 ||
	    c->t->buffer[n->stmt->stage].swizzle.bits > 0) {
		return false;
	}
	for (uint32_t i = 0; i < n->n_load; i++) {
		if (c->t->buffer[n->load[i]->ref].swizzle.bits > 0) {
			return false;
		}
	}
	return true;
}

static int64_t divisor_below(int64_t n, int64_t most)
{
	while (n % most != 0) {
		most--;
	}
	return most;
}

uint32_t hn_c_tile_chain(const struct c_tile *x, struct c_dim **ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_dim; i++) {
		if (x->dim[i].chain >= 0) {
			ret[x->dim[i].chain] = &x->dim[i];
			n++;
		}
	}
	return n;
}

/* Whether boxes of so many lanes go into the chain without a rest; their blocks. */
static bool take_lanes(struct c_tile *x, int64_t lanes)
{
	struct c_dim *chain[HN_TILE_MAX_CHAIN];
	uint32_t n = hn_c_tile_chain(x, chain);

	for (uint32_t i = 0; i < n; i++) {
		int64_t extent = chain[i]->loop->extent;

		if (lanes > extent ? lanes % extent != 0 : extent % lanes != 0) {
			return false;
		}
		chain[i]->block = lanes > extent ? extent : lanes;
		lanes /= chain[i]->block;
	}
	return lanes == 1;
}

static void choose_lanes(struct c_tile *x, uint32_t width, int64_t vectors)
{
	struct c_dim *chain[HN_TILE_MAX_CHAIN];

	x->width = width;
	if (hn_c_tile_chain(x, chain) == 1) { /* what is left over is held in narrower vectors */
		chain[0]->block = vectors * width;
		if (chain[0]->block > chain[0]->loop->extent) {
			chain[0]->block = chain[0]->loop->extent / width * width;
		}
		chain[0]->block = chain[0]->block > 0 ? chain[0]->block : width;
		return;
	}
	for (x->width = width; x->width > 1; x->width /= 2) {
		for (int64_t v = vectors; v > 0; v--) {
			if (take_lanes(x, v * x->width)) {
				return;
			}
		}
	}
	(void)!take_lanes(x, 1);
}

/* How an access moves from lane to lane. */
static void find_reach(struct c_tile *x, const struct hn_nest_loops *loops, uint32_t k)
{
	struct c_dim *chain[HN_TILE_MAX_CHAIN];
	uint32_t n = hn_c_tile_chain(x, chain);
	struct c_reach *r = &x->reach[k];
	int64_t coef[HN_TILE_MAX_CHAIN] = { 0 }, run = 1;
	struct hn_linear f;

	r->exact = hn_nest_offset(x->c->t, &x->nest, loops, k, &f);
	for (uint32_t i = 0; r->exact && i < f.n; i++) {
		int32_t loop = hn_nest_loop_of(&x->nest, &f.t[i]);

		if (loop >= 0 && x->dim[loop].chain >= 0) {
			coef[x->dim[loop].chain] = f.t[i].coef;
		}
	}
	r->lane = n > 0 ? coef[0] : 0;
	for (uint32_t i = 0; i < n; i++) {
		r->exact = r->exact && coef[i] == r->lane * run;
		run *= chain[i]->loop->extent;
	}
	r->moves = !r->exact || r->lane != 0;
}

/* Lanes that did not do are not chosen again. */
static void avoid_lanes(const struct c_tile *x, const bool *avoid, struct hn_tile *t)
{
	for (uint32_t i = 0; i < t->n_dim; i++) {
		int64_t *stride = HN_NEW_ARRAY(x->c->a, int64_t, t->n_load + 1);

		for (uint32_t k = 0; k <= t->n_load; k++) {
			stride[k] = avoid[i] ? HN_TILE_NONLINEAR : t->dim[i].stride[k];
		}
		t->dim[i].stride = stride;
	}
}

static bool read_tile(struct c_tile *x, const bool *avoid)
{
	struct c *c = x->c;
	uint32_t n_loop = c->t->n_loop;
	int64_t *extent = HN_NEW_ARRAY(c->a, int64_t, n_loop + 1);
	int64_t *place = HN_NEW_ARRAY(c->a, int64_t, n_loop + 1);
	struct hn_nest_loops loops = { extent, place };
	int64_t vectors = 1;
	struct hn_tile t;

	x->reach = HN_NEW_ARRAY(c->a, struct c_reach, x->nest.n_load + 1);
	for (uint32_t i = 0; i < n_loop; i++) {
		extent[i] = c->span[i].hi + 1;
		place[i] = (int64_t)i + 1;
	}
	hn_nest_tile(c->t, &x->nest, c->target, c->a, &t);
	t.may_cross = false; /* a sum's terms stay in order */
	hn_nest_strides(c->t, &x->nest, &loops, c->a, &t);
	avoid_lanes(x, avoid, &t);
	hn_tile_choose(&t, c->target);
	x->n_dim = x->nest.n_loop;
	x->tile = t.tile;
	x->from_identity = t.from_identity;
	x->dim = HN_NEW_ARRAY(c->a, struct c_dim, x->n_dim + 1);
	for (uint32_t i = 0; i < x->n_dim; i++) {
		const struct hn_node *loop = x->nest.loop[i];

		x->dim[i] = (struct c_dim){ .loop = loop,
					    .block = t.dim[i].block,
					    .chain = -1,
					    .reduce = loop->iter_kind == HN_ITER_REDUCE };
	}
	for (uint32_t i = 0; i < t.n_chain; i++) {
		x->dim[t.chain[i] - t.dim].chain = (int32_t)i;
		vectors *= t.chain[i]->block;
	}
	choose_lanes(x, t.width, (vectors + t.width - 1) / t.width);
	for (uint32_t k = 0; k <= x->nest.n_load; k++) {
		find_reach(x, &loops, k);
	}
	return hn_c_guards_read(x, &loops);
}

/* Blocks that fit, or nearly, without a rest do without. */
static void settle_blocks(struct c_tile *x)
{
	bool rest = false;

	for (uint32_t i = 0; i < x->n_dim; i++) {
		struct c_dim *d = &x->dim[i];
		int64_t whole = divisor_below(d->loop->extent, d->block);

		if (d->reduce || d->chain >= 0 || 4 * whole >= 3 * d->block || rest) {
			d->block = d->reduce || d->chain >= 0 ? d->block : whole;
			continue;
		}
		rest = true;
	}
}

int64_t hn_c_tile_points(const struct c_tile *x)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < x->n_dim; i++) {
		n *= x->dim[i].reduce ? 1 : x->dim[i].block;
	}
	return n / x->width;
}

/* With those loops as no lanes. */
static bool try(struct c_tile *x, const bool *avoid)
{
	if (!read_tile(x, avoid)) {
		return false;
	}
	settle_blocks(x);
	if (hn_c_tile_points(x) > C_TILE_POINTS || hn_c_tile_points(x) * x->width == 1 ||
	    (x->width > 1 && (!x->reach[0].exact || x->reach[0].lane == 0))) {
		return false;
	}
	x->type = hn_c_vector_type(x->c, x->t, x->width);
	return hn_c_vector_fits(x, x->nest.op->reduce->source[0]);
}

bool hn_c_tile_choose(struct c *c, const struct hn_node *node, struct c_tile *x)
{
	bool *avoid, more = true;

	*x = (struct c_tile){ .c = c };
	if (node->kind != HN_NODE_LOOP || !hn_nest_begins(node, c->fn->is_body)) {
		return false;
	}
	hn_nest_read(c->t, node, c->a, &x->nest);
	x->t = (enum hn_dtype)x->nest.op->dtype[0];
	if (!is_plain(c, &x->nest)) {
		return false;
	}
	avoid = HN_NEW_ARRAY(c->a, bool, x->nest.n_loop + 1);
	while (more) {
		struct c_tile fresh = { .c = c, .nest = x->nest, .t = x->t };

		*x = fresh;
		if (try(x, avoid)) {
			return true;
		}
		more = false;
		for (uint32_t i = 0; i < x->n_dim; i++) {
			more = more || (x->dim[i].chain >= 0 && !avoid[i]);
			avoid[i] = avoid[i] || x->dim[i].chain >= 0;
		}
	}
	return false;
}
