/* sketch/heuristic/warp.c -- a product of matrices on tensor cores, as steps.
 *
 * A block's threads in y are its warps.  All of its threads fetch tiles of both operands into shared
 * memory, asynchronously and some steps ahead (PL), 16 bytes each; chunks of 16 bytes change places
 * from row to row (SW), so that 8 rows of one column of chunks lie in different banks.  A warp's
 * instruction makes the sum (TE) from there, and holds it to the end.  Neighbouring blocks go down
 * the rows, a few at a time, so that they find what they read in the second cache.
 *
 * Source: NVIDIA, "CUTLASS", efficient_gemm.md, and its layouts of shared memory.
 */
#include "sketch/heuristic/warp_int.h"

#include <string.h>

#include "base/arith.h"

#define ROW_BYTES 128 /* that all banks of shared memory hold */
#define WARP 32
#define CHUNK 16      /* bytes that one thread moves */
#define MOST_MAP_DIMS 5
#define MOST_GROUP 8  /* rows of blocks that are gone through together */

static bool uses(const struct hn_heuristic_read *r, uint32_t a)
{
	return (r->uses >> a & 1) != 0;
}

/* The operand whose load is `factor`; NULL: none. */
static const struct hn_heuristic_read *read_of(const struct hn_heuristic_view *v,
					       const struct hn_expr *factor)
{
	for (uint32_t i = 0; i < v->n_read; i++) {
		if (hn_expr_equal(v->read[i].load, factor)) {
			return &v->read[i];
		}
	}
	return NULL;
}

/* Results that lie side by side are columns: a lane holds two of them.  Factors of one type change
 * places for that, and the instruction does not mind. */
static void turn(struct hn_warp_product *p)
{
	const struct hn_heuristic_read *left = p->read[0];
	uint32_t rows = p->rows;

	if (p->in->left == p->in->right && p->rows > p->columns) {
		p->read[0] = p->read[1];
		p->read[1] = left;
		p->rows = p->columns;
		p->columns = rows;
	}
}

/* Each axis is of one kind: an index of the operands as it is.  Of several that go down the rows (or
 * along the columns) the last one is taken, and there is a product for each point of the others. */
static bool find_axes(struct hn_warp_product *p)
{
	const struct hn_heuristic_view *v = p->v;
	uint32_t n[3] = { 0 };

	p->batch = 1;
	for (uint32_t a = 0; a < v->n_axis; a++) {
		bool left = uses(p->read[0], a), right = uses(p->read[1], a);
		bool plain = (!left || hn_heuristic_dimension(p->read[0], a) >= 0) &&
			     (!right || hn_heuristic_dimension(p->read[1], a) >= 0);

		if (v->extent[a] == 1) {
			continue;
		}
		if (!plain || (!left && !right)) {
			return false;
		}
		if (a >= v->n_spatial) {
			p->terms = a;
			n[2] += left && right ? 1 : 2;
		} else if (left && right) {
			p->batch = hn_mul_sat(p->batch, v->extent[a]);
		} else if (left) {
			p->batch = hn_mul_sat(p->batch, n[0] > 0 ? v->extent[p->rows] : 1);
			p->rows = a;
			n[0] = 1;
		} else {
			p->batch = hn_mul_sat(p->batch, n[1] > 0 ? v->extent[p->columns] : 1);
			p->columns = a;
			n[1] = 1;
		}
	}
	if (n[0] != 1 || n[1] != 1 || n[2] != 1) {
		return false;
	}
	turn(p);
	return true;
}

struct unit {
	enum hn_intrin_of of;
	const char *isa;
	bool confirmed;
};

static const struct unit units[] = {
#define WARP_UNIT(of, isa, confirmed) { HN_INTRIN_OF_##of, isa, confirmed },
#include "sketch/heuristic/warp_units.def"
#undef WARP_UNIT
};

/* Whether the job may use the instruction. */
static bool is_allowed(const struct hn_heuristic_job *g, const struct hn_intrin *in)
{
	for (size_t i = 0; i < HN_COUNT_OF(units); i++) {
		const struct unit *u = &units[i];

		if (u->of == in->of) {
			return u->confirmed != g->v.unconfirmed &&
			       (u->isa == NULL || strcmp(u->isa, g->target->isa) == 0);
		}
	}
	return false;
}

/* A warpgroup reads bytes along terms alone. */
static bool reads_so(const struct hn_warp_product *p)
{
	bool ok = true;

	for (int i = 0; i < 2 && hn_intrin_is_warpgroup(p->in) &&
			hn_dtype_bytes(p->in->left) == 1; i++) {
		uint32_t last = p->read[i]->load->n_arg - 1;

		ok = ok && hn_heuristic_dimension(p->read[i], p->terms) == (int32_t)last;
	}
	return ok;
}

/* Tensor maps have such strides (lower/device/device_role.h). */
static bool has_boxes(const struct hn_heuristic_job *g, const struct hn_warp_product *p)
{
	int64_t bytes = (int64_t)hn_dtype_bytes(p->in->left);
	bool ok = hn_intrin_is_warpgroup(p->in);

	for (int i = 0; i < 2 && ok; i++) {
		const struct hn_op *of = hn_stage_op(g->c.s, p->read[i]->producer);

		ok = of->n_dim >= 2 && of->n_dim <= MOST_MAP_DIMS &&
		     of->shape[of->n_dim - 1] * bytes % CHUNK == 0;
	}
	return ok;
}

bool hn_warp_product_of(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			struct hn_warp_product *ret)
{
	const struct hn_expr *factor[2];
	uint32_t n = g->target->caps & HN_CAP_MATRIX_UNIT ? hn_intrin_count() : 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_intrin *in = hn_intrin_at(i);

		*ret = (struct hn_warp_product){ .in = in, .v = v };
		if (!is_allowed(g, in) ||
		    hn_intrin_why_not(in, g->c.s->root_dag, v->op) != NULL ||
		    !hn_intrin_factors(in, v->op, factor)) {
			continue;
		}
		ret->read[0] = read_of(v, factor[0]);
		ret->read[1] = read_of(v, factor[1]);
		if (ret->read[0] != NULL && ret->read[1] != NULL &&
		    ret->read[0]->producer != ret->read[1]->producer && find_axes(ret) &&
		    reads_so(ret)) {
			ret->boxes = has_boxes(g, ret);
			return true;
		}
	}
	return false;
}

/* ---- steps */

struct build {
	struct hn_heuristic_job *g;
	const struct hn_warp_product *p;
	int32_t sum, host, source[2], copy[2];
	int32_t rounds; /* loops outside of blocks: 1 or none */
};

/* All stages from `at` on have moved up. */
static void moved(struct build *b, int32_t at)
{
	int32_t *of[] = { &b->sum,	 &b->host,    &b->source[0],
			  &b->source[1], &b->copy[0], &b->copy[1] };

	for (size_t k = 0; k < HN_COUNT_OF(of); k++) {
		*of[k] += *of[k] >= at;
	}
}

static void cache(struct build *b, int i)
{
	hn_chain_cache_read(&b->g->c, b->source[i], "shared", b->sum);
	hn_heuristic_inserted(b->g, b->source[i] + 1, b->source[i]);
	moved(b, b->source[i] + 1);
	b->copy[i] = b->source[i] + 1;
}

/* Rows of blocks that are gone through before the next column is. */
static int64_t group(const struct hn_warp_product *p)
{
	int64_t n = hn_ceildiv(p->v->extent[p->rows], p->shape.rows), ret = MOST_GROUP;

	while (n % ret != 0) {
		ret /= 2;
	}
	return ret;
}

/* All tiles' loop, bound to blocks: each makes one, or one in each round. */
static void bind_blocks(struct build *b)
{
	if (b->p->shape.blocks > 0) {
		hn_chain_split(&b->g->c, b->host, 0, &b->p->shape.blocks, 1);
		b->rounds = 1;
	}
	hn_chain_annotate(&b->g->c, b->host, b->rounds, HN_ANN_BLOCK_X);
}

/* Blocks, warps, a warp's tiles, and the rows and columns of a tile. */
static void host_loops(struct build *b)
{
	struct hn_chain *c = &b->g->c;
	const struct hn_warp_product *p = b->p;
	const struct hn_warp_shape *s = &p->shape;
	int64_t unit[] = { p->in->most[HN_INTRIN_M], p->in->most[HN_INTRIN_N] };
	int64_t row_len[] = { group(p), s->rows / s->warp_rows, s->warp_rows / unit[0],
			      unit[0] };
	int64_t column_len[] = { s->columns / s->warp_columns, s->warp_columns / unit[1],
				 unit[1] };
	int64_t order[HN_DAG_MAX_ITERS + 8];
	int32_t at = 0, row = 0, column = 0;
	uint32_t n = 0, n_batch = 0;

	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		if (a == p->rows) {
			row = at;
			hn_chain_split(c, b->host, at, row_len, 4);
			at += 5;
		} else if (a == p->columns) {
			column = at;
			hn_chain_split(c, b->host, at, column_len, 3);
			at += 4;
		} else {
			order[n++] = at++;
			n_batch++;
		}
	}
	order[n++] = row;
	order[n++] = column;
	for (int32_t k = 1; k <= 4; k++) {
		order[n++] = row + k;
		if (k > 1) {
			order[n++] = column + k - 1;
		}
	}
	hn_chain_reorder(c, b->host, order, n);
	hn_chain_fuse(c, b->host, 0, n_batch + 3);
	bind_blocks(b);
	hn_chain_fuse(c, b->host, b->rounds + 1, 2);
	hn_chain_annotate(c, b->host, b->rounds + 1, HN_ANN_THREAD_Y);
}

/* Terms outside, then tiles, then what the instruction does. */
static void sum_loops(struct build *b)
{
	struct hn_chain *c = &b->g->c;
	const struct hn_warp_product *p = b->p;
	int64_t terms[] = { p->shape.terms / hn_intrin_terms(p->in), hn_intrin_terms(p->in) };
	int64_t rows = p->in->most[HN_INTRIN_M], columns = p->in->most[HN_INTRIN_N], order[HN_DAG_MAX_ITERS + 8], given[3];
	int32_t at = 0, row = 0, column = 0, sum = 0;
	int64_t batch[HN_DAG_MAX_ITERS];
	uint32_t n = 0, n_batch = 0;

	hn_chain_compute_at(c, b->sum, b->host, b->rounds + 1);
	for (uint32_t a = 0; a < p->v->n_axis; a++) {
		if (a == p->rows) {
			row = at;
			hn_chain_split(c, b->sum, at, &rows, 1);
			at += 2;
		} else if (a == p->columns) {
			column = at;
			hn_chain_split(c, b->sum, at, &columns, 1);
			at += 2;
		} else if (a == p->terms) {
			sum = at;
			hn_chain_split(c, b->sum, at, terms, 2);
			at += 3;
		} else {
			batch[n_batch++] = at++;
		}
	}
	order[n++] = sum;
	order[n++] = sum + 1;
	for (uint32_t i = 0; i < n_batch; i++) {
		order[n++] = batch[i];
	}
	order[n++] = row;
	order[n++] = column;
	for (int k = 0; k < 3; k++) {
		given[k] = n + k;
	}
	order[n++] = row + 1;
	order[n++] = column + 1;
	order[n++] = sum + 2;
	hn_chain_reorder(c, b->sum, order, n);
	hn_chain_tensorize(c, b->sum, given, 3, p->in->name);
	hn_chain_annotate(c, b->sum, 1, HN_ANN_UNROLL);
}

static int64_t log2_of(int64_t n)
{
	int64_t ret = 0;

	while (n > 1) {
		n /= 2;
		ret++;
	}
	return ret;
}

/* The operand's dimension that the axis is. */
static int64_t tile_of(const struct build *b, int i, uint32_t dim)
{
	const struct hn_warp_product *p = b->p;
	const struct hn_heuristic_read *r = p->read[i];
	const struct hn_warp_shape *s = &p->shape;

	return hn_heuristic_dimension(r, p->terms) == (int32_t)dim ? s->terms
	       : i == 0 && hn_heuristic_dimension(r, p->rows) == (int32_t)dim ? s->rows
	       : i == 1 && hn_heuristic_dimension(r, p->columns) == (int32_t)dim
		       ? s->columns
		       : 1;
}

/* Rows of one chunk's column lie in different banks: 8 chunks of 16 bytes, which ldmatrix takes at
 * a time; or 4 of 32, of words that lanes take from 4 rows. */
static void swizzle(struct build *b, int i, uint32_t row, uint32_t last)
{
	int64_t bytes = hn_dtype_bytes(b->p->in->left), width = tile_of(b, i, last);
	bool along = hn_heuristic_dimension(b->p->read[i], b->p->terms) == (int32_t)last;
	int64_t chunk = (!along && bytes == 4 ? 2 * CHUNK : CHUNK) / bytes;
	int64_t turned = ROW_BYTES;

	while (width * bytes % turned != 0) {
		turned /= 2;
	}
	int64_t bits = log2_of(turned / (chunk * bytes));

	if (bits > 0 && width % (chunk << bits) == 0) {
		hn_chain_swizzle(&b->g->c, b->copy[i], row, log2_of(chunk), bits,
				 log2_of(ROW_BYTES / turned));
	}
}

/* All threads bring in the tile, a chunk each. */
static void fetch(struct build *b, int i)
{
	struct hn_chain *c = &b->g->c;
	const struct hn_op *of = hn_stage_op(c->s, b->source[i]);
	int64_t bytes = hn_dtype_bytes(b->p->in->left), chunk = CHUNK / bytes;
	const struct hn_warp_shape *s = &b->p->shape;
	int64_t n_warp = s->rows / s->warp_rows * (s->columns / s->warp_columns);
	uint32_t last = of->n_dim - 1, row = last;
	int64_t width = tile_of(b, i, last);

	while (row > 0 && tile_of(b, i, --row) == 1) {
	}
	hn_chain_compute_at(c, b->copy[i], b->sum, 0);
	if (row < last) {
		swizzle(b, i, row, last);
	}
	while (of->shape[last] % chunk != 0 || width % chunk != 0) {
		chunk /= 2;
	}
	int64_t len[] = { n_warp, hn_intrin_is_warpgroup(b->p->in) ? 4 * WARP : WARP, chunk };

	if (of->n_dim > 1) {
		hn_chain_fuse(c, b->copy[i], 0, of->n_dim);
	}
	hn_chain_split(c, b->copy[i], 0, len, 3);
	hn_chain_annotate(c, b->copy[i], 1, HN_ANN_THREAD_Y);
	hn_chain_annotate(c, b->copy[i], 2, HN_ANN_THREAD_X);
	hn_chain_annotate(c, b->copy[i], 3, HN_ANN_VECTORIZE);
}

static void schedule(struct hn_heuristic_job *g, const struct hn_warp_product *p, int32_t host)
{
	struct build b = { .g = g, .p = p, .sum = p->v->stage, .host = host };
	int first = p->read[0]->producer < p->read[1]->producer;

	if (host == p->v->stage) {
		hn_chain_cache_write(&g->c, host, "local");
		hn_heuristic_inserted(g, host, host + 1);
		b.host = host + 1;
	}
	for (int i = 0; i < 2; i++) {
		b.source[i] = p->read[i]->producer;
		b.copy[i] = -1;
	}
	for (int i = 0; i < 2; i++) { /* the later one does not move the other */
		cache(&b, i == 0 ? first : !first);
	}
	host_loops(&b);
	sum_loops(&b);
	fetch(&b, 0);
	fetch(&b, 1);
	if (p->v->extent[p->terms] > p->shape.terms) {
		hn_chain_pipeline(&g->c, b.sum, 0, p->shape.stages,
				  p->shape.bulk	  ? HN_PIPELINE_BULK
				  : p->shape.open ? HN_PIPELINE_OPEN
						  : HN_PIPELINE_ASYNC);
	}
	g->done[b.host] = g->done[b.sum] = g->done[b.copy[0]] = g->done[b.copy[1]] = true;
	g->inlined = NULL;
}

bool hn_warp_product(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	struct hn_warp_shape shape[HN_HEURISTIC_MAX];
	struct hn_warp_product p;

	if (!hn_warp_product_of(g, v, &p)) {
		return false;
	}
	uint32_t n = hn_intrin_is_warpgroup(p.in)
			     ? hn_wgmma_shapes(g->target, &p, shape, HN_HEURISTIC_MAX)
			     : hn_warp_shapes(g->target, &p, shape, HN_HEURISTIC_MAX);

	if (n == 0) {
		return false;
	}
	p.shape = shape[g->v.tile < n ? g->v.tile : n - 1];
	schedule(g, &p, host);
	return true;
}
