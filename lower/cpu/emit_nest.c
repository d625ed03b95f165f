/* lower/cpu/emit_nest.c -- a pure nest: loops of one stage around a statement.
 *
 * Outside of the tile run the loops above it and the loops over its blocks.  A loop whose
 * block does not divide it gets its remainder as a smaller tile after it; one at whose
 * ends alone conditions fail gets small tiles there (emit_guard).
 */
#include "lower/cpu/emit_nest.h"

#include "loopstate/dag/liberty.h"

static void emit_level(struct emit *e, struct emit_nest *n, uint32_t i);

/* How many of `full` blocks from `begin` on hold more than `least` of the first `live`
 * iterations.  live NULL = all do. */
static LLVMValueRef blocks_alive(struct emit *e, LLVMValueRef live, int64_t begin,
				 int64_t block, int64_t full, int64_t least)
{
	if (!live) {
		return hn_emit_const(e, full);
	}
	LLVMValueRef n = LLVMBuildNSWAdd(
		e->b, live, hn_emit_const(e, block - 1 - least - begin), "");
	LLVMValueRef most = hn_emit_const(e, full);

	n = LLVMBuildUDiv(e->b, n, hn_emit_const(e, block), "");
	return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, n, most, ""), n,
			       most, "");
}

#define MOST_TAILS 4

/* Lengths of the tiles for a last block of which a size leaves a part: 1, and quarters of the
 * block.  Inside of such a tile a second loop has the first alone, for the code's size. */
static uint32_t tails_of(const struct emit_nest *n, int64_t block, int64_t ret[MOST_TAILS])
{
	uint32_t n_tail = 1;

	ret[0] = 1;
	for (int64_t k = 1; k < MOST_TAILS && !n->in_tail; k++) {
		int64_t length = (block * k + MOST_TAILS - 1) / MOST_TAILS;

		if (length > ret[n_tail - 1] && length < block) {
			ret[n_tail++] = length;
		}
	}
	return n_tail;
}

/* A tile of the first `length` iterations of block `at` from `begin` on. */
static void emit_tail(struct emit *e, struct emit_nest *n, uint32_t i, LLVMValueRef at,
		      int64_t begin, int64_t full, int64_t length)
{
	struct emit_dim *d = &n->dim[i];
	bool in_tail = n->in_tail;

	e->var[d->loop] = (struct emit_var){ .base = at,
					     .mul = d->block,
					     .add = begin,
					     .hi = full - 1,
					     .depth = e->fn->depth };
	d->base = begin;
	d->now = length;
	n->in_tail = true;
	e->epoch++;
	emit_level(e, n, i + 1);
	n->in_tail = in_tail;
}

/* The last block among the `full` from `begin` on, where a size leaves at most tail[n_tail - 1] of
 * its iterations: the shortest tile that has them all. */
static void emit_tails(struct emit *e, struct emit_nest *n, uint32_t i, LLVMValueRef live,
		       int64_t begin, int64_t full, const int64_t *tail, uint32_t n_tail)
{
	LLVMValueRef block = hn_emit_const(e, n->dim[i].block);
	LLVMValueRef last = hn_emit_place(e, HN_LINEAR_ADD, live, hn_emit_const(e, -begin - 1),
					  e->fn->depth);
	LLVMValueRef within = LLVMBuildICmp(e->b, LLVMIntULT, last,
					    hn_emit_const(e, full * n->dim[i].block), "");
	LLVMValueRef at = hn_emit_place(e, HN_LINEAR_DIV, last, block, e->fn->depth),
		     rest = LLVMBuildURem(e->b, last, block, "");
	LLVMValueRef few = LLVMBuildICmp(e->b, LLVMIntULT, rest,
					 hn_emit_const(e, tail[n_tail - 1]), "");
	LLVMBasicBlockRef join = hn_emit_when(e, LLVMBuildAnd(e->b, within, few, ""));

	for (uint32_t k = 0; k + 1 < n_tail; k++) {
		LLVMBasicBlockRef fits = hn_emit_block(e, "tail"),
				  longer = hn_emit_block(e, "longer");

		LLVMBuildCondBr(e->b,
				LLVMBuildICmp(e->b, LLVMIntULT, rest,
					      hn_emit_const(e, tail[k]), ""),
				fits, longer);
		LLVMPositionBuilderAtEnd(e->b, fits);
		emit_tail(e, n, i, at, begin, full, tail[k]);
		LLVMBuildBr(e->b, join);
		LLVMPositionBuilderAtEnd(e->b, longer);
	}
	emit_tail(e, n, i, at, begin, full, tail[n_tail - 1]);
	hn_emit_end_when(e, join);
}

/* Loop over the blocks of dim i in [begin, end), then the remainder. */
static void emit_range(struct emit *e, struct emit_nest *n, uint32_t i, int64_t begin,
		       int64_t end)
{
	struct emit_dim *d = &n->dim[i];
	struct emit_var *var = &e->var[d->loop];
	int64_t full = (end - begin) / d->block, rest = (end - begin) % d->block;
	LLVMValueRef live = hn_emit_live(e, d->node, n, i);
	bool tails = live && full && d->block > 1 && !d->chain && hn_emit_is_update(n);
	int64_t tail[MOST_TAILS];
	uint32_t n_tail = tails ? tails_of(n, d->block, tail) : 0;
	int64_t least = tails ? tail[n_tail - 1] : 0;
	LLVMBasicBlockRef past;
	struct emit_loop loop;

	*var = (struct emit_var){ .add = begin };
	d->base = begin;
	d->now = d->block;
	past = hn_emit_when(e, full ? hn_emit_more_than(e, live, begin + least) : NULL);
	if (full > 1) {
		hn_emit_loop_begin(e, hn_emit_const(e, 0),
				   blocks_alive(e, live, begin, d->block, full, least), 0,
				   NULL, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = d->block,
					  .add = begin,
					  .hi = full - 1,
					  .depth = e->fn->depth };
		hn_emit_fetch_ahead(e, n, i);
		emit_level(e, n, i + 1);
		hn_emit_loop_end(e, &loop, NULL);
	} else if (full == 1) {
		e->epoch++;
		emit_level(e, n, i + 1);
	}
	hn_emit_end_when(e, past);
	if (tails) {
		emit_tails(e, n, i, live, begin, full, tail, n_tail);
	}
	*var = (struct emit_var){ 0 };
	if (rest) {
		past = hn_emit_when(
			e, hn_emit_more_than(e, live, begin + full * d->block));
		d->base = var->add = begin + full * d->block;
		d->now = rest;
		e->epoch++;
		emit_level(e, n, i + 1);
		hn_emit_end_when(e, past);
	}
	*var = (struct emit_var){ 0 };
	d->base = 0;
	d->now = 1;
}

/* The loop of dim i.  Where pads are met at its ends alone, the ends are tiles of their
 * own and the rest has none: one loop of a nest, for the code's size. */
static void emit_blocks(struct emit *e, struct emit_nest *n, uint32_t i)
{
	struct emit_dim *d = &n->dim[i];
	int64_t begin, end, block = d->block;

	if (d->reduce || d->chain || d->settled || d->extent < 4 || n->peeled ||
	    !hn_emit_find_interior(e, n, i, &begin, &end)) {
		emit_range(e, n, i, 0, d->extent);
		return;
	}
	n->peeled = true;
	d->block = begin < block ? begin : block;
	if (begin > 0) {
		emit_range(e, n, i, 0, begin);
	}
	d->block = end - begin < block ? end - begin : block;
	emit_range(e, n, i, begin, end);
	d->block = d->extent - end < block ? d->extent - end : block;
	if (end < d->extent) {
		emit_range(e, n, i, end, d->extent);
	}
	d->block = block;
	n->peeled = false;
}

static void emit_level(struct emit *e, struct emit_nest *n, uint32_t i)
{
	if (i == n->n_dim) {
		hn_emit_one_tile(e, n);
		return;
	}
	struct emit_dim *d = &n->dim[i];

	if (d->node->init && !n->from_identity) {
		hn_emit_node(e, d->node->init);
	}
	if (i >= n->tile && d->reduce) {
		emit_level(e, n, i + 1);
		return;
	}
	if (d->reduce) {
		d->block = 1;
	}
	emit_blocks(e, n, i);
}

static void take(struct emit *e, const struct hn_nest *read, struct emit_nest *n)
{
	*n = (struct emit_nest){ .stmt = read->stmt,
				 .op = read->op,
				 .n_load = read->n_load,
				 .load = read->load,
				 .calls = read->calls,
				 .n_dim = read->n_loop };
	n->dim = HN_NEW_ARRAY(e->a, struct emit_dim, n->n_dim);
	for (uint32_t i = 0; i < n->n_dim; i++) {
		const struct hn_node *node = read->loop[i];

		n->dim[i] =
			(struct emit_dim){ .node = node,
					   .loop = node->loop,
					   .extent = node->extent,
					   .now = 1,
					   .block = 1,
					   .reduce = node->iter_kind == HN_ITER_REDUCE };
	}
}

void hn_emit_nest_read(struct emit *e, const struct hn_node *node, struct emit_nest *ret)
{
	struct hn_nest read;

	hn_nest_read(e->t, node, e->a, &read);
	take(e, &read, ret);
}

void hn_emit_nest(struct emit *e, const struct hn_node *node)
{
	const struct emit_nest *outer;
	struct emit_nest n;
	struct hn_nest read;
	uint32_t forbidden = e->forbidden;

	hn_nest_read(e->t, node, e->a, &read);
	take(e, &read, &n);
	hn_emit_zero_find(e, &n);
	hn_emit_plan(e, &n, &read);
	n.past = hn_emit_goes_past(e, &n);
	outer = e->nest;
	e->nest = &n;
	if (e->decided[n.stmt->stage]) {
		e->forbidden |= 1u << HN_LIBERTY_contraction | 1u << HN_LIBERTY_reciprocal;
	}
	if (n.stmt->init && !n.from_identity) {
		hn_emit_node(e, n.stmt->init);
	}
	emit_level(e, &n, 0);
	e->nest = outer;
	e->forbidden = forbidden;
}
