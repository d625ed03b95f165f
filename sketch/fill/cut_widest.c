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
#include "target/npu/npu_tiles.h"

#define SIDE 16	 /* of the cube */
#define HALF 2	 /* bytes of a factor's number; of bytes the code generator has twice the room */
#define SUM 4	 /* of a product's sum */
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

/* Axes of one role, the outermost first: holes, and how many points they are. */
struct group {
	uint32_t n, hole[HN_DAG_MAX_ITERS];
	int64_t extent;
};

static struct group group_of(const struct draw *d, const uint8_t *role, enum hn_npu_role want)
{
	struct group g = { .extent = 1 };

	for (uint32_t i = 0; i < d->n; i++) {
		if (role[d->hole[i].axis] == want) {
			g.hole[g.n++] = i;
			g.extent = hn_mul_sat(g.extent, d->hole[i].extent);
		}
	}
	return g;
}

/* So many points of the group in a tile, whole inner axes first; returns how many there are. */
static int64_t put_tile(const struct draw *d, const struct group *g, int64_t points, int64_t *const *len)
{
	int64_t all = 1;

	for (uint32_t i = g->n; i-- > 0;) {
		int64_t extent = d->hole[g->hole[i]].extent, room = points / all > 1 ? points / all : 1;
		int64_t *to = len[g->hole[i]];

		to[1] = g->n == 1 ? room : lesser(extent, room);
		all *= to[1];
	}
	return all;
}

/* Parts for so many cores, of outer axes first: what a part leaves are tiles one after the other. */
static int64_t put_parts(const struct draw *d, const struct group *g, int64_t cores, int64_t *const *len)
{
	int64_t used = 1;

	for (uint32_t i = 0; i < g->n; i++) {
		int64_t *to = len[g->hole[i]], tiles = hn_ceildiv(d->hole[g->hole[i]].extent, to[1]);
		int64_t parts = lesser(tiles, cores / used > 1 ? cores / used : 1);

		to[0] = hn_ceildiv(tiles, parts);
		used *= hn_ceildiv(tiles, to[0]);
	}
	return used;
}

/* A multiple of the cube's side up to `most`, that leaves few points over. */
static int64_t side(const struct draw *d, int64_t extent, int64_t most)
{
	int64_t all = hn_ceildiv(extent, SIDE), room = most / SIDE > 1 ? most / SIDE : 1;

	return part(d, all, lesser(all, room)) * SIDE;
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

static void draw_product(const struct draw *d, const uint8_t *role, int64_t *const *len)
{
	struct group rows = group_of(d, role, HN_NPU_ROLE_ROW), columns = group_of(d, role, HN_NPU_ROLE_COLUMN);
	struct group terms = group_of(d, role, HN_NPU_ROLE_TERM), batch = group_of(d, role, HN_NPU_ROLE_BATCH);
	int64_t in_l0 = lesser(d->m.l0a_bytes, d->m.l0b_bytes) / (HALF * d->slots * SIDE), in_l1;
	int64_t cores = draw_cores(d, rows.extent, d->m.cores), m = SIDE, n = SIDE, k = SIDE;

	for (uint32_t i = 0; i < batch.n; i++) {
		len[batch.hole[i]][0] = 1;
	}
	if (rows.n > 0) {
		m = put_tile(d, &rows, side(d, hn_ceildiv(rows.extent, cores), in_l0), len);
		cores = d->m.cores / put_parts(d, &rows, cores, len);
	}
	if (columns.n > 0) {
		int64_t most = lesser(in_l0, d->m.l0c_bytes / (hn_ceildiv(m, SIDE) * SIDE * SUM));

		cores = draw_cores(d, columns.extent, cores);
		n = put_tile(d, &columns, side(d, hn_ceildiv(columns.extent, cores), most), len);
		put_parts(d, &columns, cores, len);
	}
	m = hn_ceildiv(m, SIDE) * SIDE;
	n = hn_ceildiv(n, SIDE) * SIDE;
	if (terms.n > 0) {
		int64_t most = lesser(d->m.l0a_bytes / m, d->m.l0b_bytes / n) / (HALF * d->slots);

		k = hn_ceildiv(put_tile(d, &terms, side(d, terms.extent, most), len), SIDE) * SIDE;
		in_l1 = d->m.l1_bytes / ((m + n) * HALF * d->slots * k);
		put_parts(d, &terms, hn_ceildiv(hn_ceildiv(terms.extent, k),
						1 + below(d, lesser(in_l1, hn_ceildiv(terms.extent, k)))), len);
	}
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	const struct hn_sketch *sk = ctx->sketch;
	const int64_t **len = HN_NEW_ARRAY(ctx->arena, const int64_t *, sk->n_hole);
	int64_t **drawn = HN_NEW_ARRAY(ctx->arena, int64_t *, sk->n_hole);
	struct draw d = { .ctx = ctx, .hole = sk->hole, .n = sk->n_hole, .slots = 1 };
	uint8_t role[HN_DAG_MAX_ITERS];

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
	if (hn_npu_roles(sk->state->dag->op[sk->hole[0].stage], role)) {
		draw_product(&d, role, drawn);
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
