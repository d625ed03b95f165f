/* fill/cut_widest.c -- lengths of the widest op's tiles: what the buffers hold, and no less than
 * gives each core one.
 *
 * Axes of one tile are drawn together, from the innermost: whole where there is room, else a part.
 * Tiles of a product are multiples of the cube's 16, as many cores work as a draw says, and the terms
 * follow what L0 and L1 hold.  Where a length is not what the code generator can do, it takes the
 * next smaller one (target/npu/npu_tiles.h).  So no draw is refused.
 */
#include "base/arith.h"
#include "sketch/sketch_int.h"
#include "target/npu/npu.h"

#define SIDE 16	 /* of the cube */
#define SUM 4	 /* bytes of a product's sum */
#define HALVES 5 /* of the room: the smallest tiles have 1 / 2^4 of it */

struct draw {
	const struct hn_fill_ctx *ctx;
	const struct hn_hole *hole; /* of the stage */
	uint32_t n;
	struct hn_npu_profile m;
	int64_t slots;
};

static int64_t below(const struct draw *d, int64_t n)
{
	return (int64_t)hn_rng_below(d->ctx->rng, (uint64_t)(n > 0 ? n : 1));
}

static int64_t lesser(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Bytes of a point of the widest op: of all tensors that are as large, and of operands so often as
 * there are slots.  Smaller ones are a matter of the code generator. */
static int64_t bytes_of_point(const struct draw *d, int64_t points)
{
	const struct hn_dag *dag = d->ctx->sketch->state->root_dag;
	int64_t bytes = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (hn_op_elements(op) >= points / 2) {
			bytes += hn_dtype_bytes((enum hn_dtype)op->dtype[0]) *
				 (op->kind == HN_OP_PLACEHOLDER ? d->slots : 1);
		}
	}
	return bytes > 0 ? bytes : 1;
}

/* A part of the axis, at most `room`: so that few points are left over. */
static int64_t part(const struct draw *d, int64_t extent, int64_t room)
{
	int64_t least = hn_ceildiv(extent, room > 1 ? room : 1);

	return hn_ceildiv(extent, least + below(d, lesser(least, 4)));
}

static void draw_rows(const struct draw *d, int64_t *const *len)
{
	int64_t points = 1, room;

	for (uint32_t i = 0; i < d->n; i++) {
		points = hn_mul_sat(points, d->hole[i].extent);
	}
	room = lesser(d->m.ub_bytes / bytes_of_point(d, points), hn_ceildiv(points, d->m.cores));
	room = (room >> below(d, HALVES)) + 1;
	for (uint32_t i = d->n; i-- > 0;) {
		int64_t extent = d->hole[i].extent;

		len[i][0] = extent <= room ? extent : part(d, extent, room);
		room = room / len[i][0] > 1 ? room / len[i][0] : 1;
	}
}

/* Multiples of the cube's side up to `most`: one that leaves few rows over. */
static int64_t side(const struct draw *d, int64_t extent, int64_t most)
{
	int64_t all = hn_ceildiv(extent, SIDE), room = most / SIDE > 1 ? most / SIDE : 1;

	return part(d, all, lesser(all, room)) * SIDE;
}

/* The share of a part, one of so many; and how many tiles it has. */
static void draw_side(const struct draw *d, const struct hn_hole *h, int64_t cores, int64_t most,
		      int64_t *len)
{
	int64_t rows = hn_ceildiv(hn_ceildiv(h->extent, cores), SIDE) * SIDE;

	len[1] = side(d, rows, most);
	len[0] = hn_ceildiv(rows, len[1]);
}

static int64_t draw_cores(const struct draw *d, int64_t extent, int64_t most)
{
	int64_t cores = lesser(hn_ceildiv(extent, SIDE), most), n = 1;

	/* powers of two, now and then any number */
	if (below(d, 4) == 0) {
		return 1 + below(d, cores);
	}
	while (2 * n <= cores && below(d, 4) > 0) {
		n *= 2;
	}
	return n;
}

/* Holes of a product: batches, rows, columns, terms; those that do not iterate have none. */
static void draw_product(const struct draw *d, int64_t *const *len)
{
	int64_t rows = SIDE, columns = SIDE, cores = d->m.cores, bytes, in_l0, in_l1;
	const struct hn_hole *side_of[2] = { NULL, NULL }, *terms = NULL;
	int64_t *to[2] = { NULL, NULL }, *to_terms = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->hole[i].n_len == 1) {
			len[i][0] = 1;
		} else if (d->hole[i].role == HN_HOLE_REDUCE) {
			terms = &d->hole[i];
			to_terms = len[i];
		} else if (n < 2) {
			side_of[n] = &d->hole[i];
			to[n++] = len[i];
		}
	}
	bytes = 2; /* of float16; of int8 the code generator has twice the room */
	in_l0 = lesser(d->m.l0a_bytes, d->m.l0b_bytes) / (bytes * d->slots * SIDE);
	if (n > 0) {
		draw_side(d, side_of[0], draw_cores(d, side_of[0]->extent, cores), in_l0, to[0]);
		rows = to[0][1];
		cores /= hn_ceildiv(side_of[0]->extent, to[0][0] * to[0][1]);
	}
	if (n > 1) {
		draw_side(d, side_of[1], draw_cores(d, side_of[1]->extent, cores),
			  lesser(in_l0, d->m.l0c_bytes / (rows * SUM)), to[1]);
		columns = to[1][1];
	}
	if (terms != NULL) {
		int64_t most = lesser(d->m.l0a_bytes / rows, d->m.l0b_bytes / columns) / (bytes * d->slots);

		to_terms[1] = side(d, terms->extent, most);
		in_l1 = d->m.l1_bytes / ((rows + columns) * bytes * d->slots * to_terms[1]);
		to_terms[0] = 1 + below(d, lesser(in_l1, hn_ceildiv(terms->extent, to_terms[1])));
	}
}

static bool is_product(const struct draw *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->hole[i].n_len > 1) {
			return true;
		}
	}
	return false;
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	const struct hn_sketch *sk = ctx->sketch;
	const int64_t **len = HN_NEW_ARRAY(ctx->arena, const int64_t *, sk->n_hole);
	int64_t **drawn = HN_NEW_ARRAY(ctx->arena, int64_t *, sk->n_hole);
	struct draw d = { .ctx = ctx, .hole = sk->hole, .n = sk->n_hole, .slots = 1 };

	*ret = s;
	if (sk->n_hole == 0) {
		return HN_VERDICT_OK;
	}
	if (hn_npu_profile_of(ctx->target->isa, &d.m, NULL) != 0) {
		return HN_VERDICT_ILLEGAL;
	}
	for (uint32_t i = 0; i < sk->state->n_stage; i++) {
		d.slots = sk->state->stage[i]->pipeline.stages > 1 ? 2 : d.slots;
	}
	for (uint32_t i = 0; i < d.n; i++) {
		drawn[i] = HN_NEW_ARRAY(ctx->arena, int64_t, sk->hole[i].n_len);
	}
	if (is_product(&d)) {
		draw_product(&d, drawn);
	} else {
		draw_rows(&d, drawn);
	}
	for (uint32_t i = 0; i < d.n; i++) {
		len[i] = ctx->plan->len[i] ? ctx->plan->len[i] : drawn[i];
	}
	return hn_sketch_close(sk, len, ctx->arena, ret);
}

extern const struct hn_fill_ops hn_fill_cut_widest;
const struct hn_fill_ops hn_fill_cut_widest = { "cut_widest", fill };
