/* sketch/heuristic/simt_product.c -- a product on a machine with blocks of threads, as steps.
 *
 * All threads of a block fetch strips of both operands into shared memory, some steps ahead of
 * their use (PL, asynchronous); each thread loads a few numbers of both into registers, as vectors,
 * and multiplies each with each.  Results stay in registers to the end.
 *
 * An operand whose neighbours along the thread's results lie apart in memory is turned on its way
 * (PK, inlined into the copy), and the chunks of its rows change places (SW) so that the threads
 * that bring it in do not wait for one another.  Thread numbers go two rows, two columns, two rows,
 * two columns at a time: 16 threads then read 4 chunks of 16 bytes of each operand, in different
 * banks.  Sources: simt_plan.c's.
 */
#include <string.h>

#include "base/arith.h"
#include "loopstate/nest/bounds.h"
#include "sketch/heuristic/simt_int.h"

#define MOST_PARTS 8 /* of an axis */

enum part { PART_BLOCK, PART_HIGH, PART_TWO, PART_ONE, PART_REG, PART_LANES, N_PART };

/* One operand's stages, numbered as they are now. */
struct operand {
	const struct hn_heuristic_read *read;
	enum hn_simt_role role;
	int32_t source, turned, shared, local; /* -1: there is none */
	int32_t dim; /* of the source, along which a thread's results lie; -1: none does */
};

struct build {
	struct hn_heuristic_job *g;
	const struct hn_simt_product *p;
	struct operand op[2];
	int32_t sum, host;
};

/* All stages from `at` on have moved up. */
static void moved(struct build *b, int32_t at)
{
	for (int i = 0; i < 2; i++) {
		int32_t *of[] = { &b->op[i].source, &b->op[i].turned, &b->op[i].shared,
				  &b->op[i].local };

		for (size_t k = 0; k < HN_COUNT_OF(of); k++) {
			*of[k] += *of[k] >= at;
		}
	}
	b->sum += b->sum >= at;
	b->host += b->host >= at;
}

static bool only_reader(struct build *b, int32_t stage)
{
	int32_t reader;

	return hn_heuristic_readers(b->g, stage, &reader, 1) == 1 && reader == b->sum;
}

static int32_t turned_dim(const struct operand *o, const struct hn_op *of)
{
	return o->dim >= 0 && o->dim + 1 < (int32_t)of->n_dim ? o->dim : -1;
}

static void turn(struct build *b, struct operand *o)
{
	const struct hn_op *of = hn_stage_op(b->g->c.s, o->source);
	int64_t block[HN_DAG_MAX_RANK];
	int32_t dim = turned_dim(o, of);

	if (dim < 0 || of->n_dim >= HN_DAG_MAX_RANK || !only_reader(b, o->source)) {
		return;
	}
	for (uint32_t d = 0; d < of->n_dim; d++) {
		block[d] = (int32_t)d == dim ? of->shape[d] : 1;
	}
	hn_heuristic_pack(b->g, o->source, block);
	moved(b, o->source + 1);
	o->turned = o->source + 1;
}

/* The copies of an operand; what leads to it element by element goes into the first. */
static void cache(struct build *b, struct operand *o)
{
	const struct hn_op *of = hn_stage_op(b->g->c.s, o->source);
	bool own = of->kind == HN_OP_COMPUTE && !of->reduce && !b->g->done[o->source] &&
		   !hn_heuristic_is_result(b->g, o->source) && only_reader(b, o->source);
	int32_t from;

	turn(b, o);
	from = o->turned >= 0 ? o->turned : o->source;
	hn_simt_cache_read(b->g, from, "shared", b->sum);
	moved(b, from + 1);
	o->shared = from + 1;
	hn_simt_cache_read(b->g, o->shared, "local", b->sum);
	moved(b, o->shared + 1);
	o->local = o->shared + 1;
	if (o->turned >= 0) {
		hn_chain_inline(&b->g->c, o->turned);
		b->g->done[o->turned] = true;
	}
	if (own) {
		hn_chain_inline(&b->g->c, o->source);
		b->g->done[o->source] = true;
	}
	b->g->inlined = NULL;
}

/* ---- the loops that hold the results */

/* Lengths of an axis's parts, and of which kind each is. */
static uint32_t parts_of(const struct build *b, uint32_t a, int64_t *len, enum part *kind)
{
	const struct hn_simt_product *p = b->p;
	int64_t t = p->thread[a], r = p->reg[a];
	uint32_t n = 0;
	bool paired = p->role[a] != HN_SIMT_BATCH && p->unit[p->role[a]] == a && t % 2 == 0;

	if (t > 1) {
		int64_t one = paired ? 2 : 1, two = paired && t % 4 == 0 ? 2 : 1;

		kind[n] = PART_HIGH;
		len[n++] = t / one / two;
		kind[n] = PART_TWO;
		len[n++] = two;
		kind[n] = PART_ONE;
		len[n++] = one;
	}
	if (r > 1 || t > 1) {
		bool lanes = p->v->out_stride[a] == 1 && r % HN_SIMT_VECTOR == 0 &&
			     p->v->extent[a] % HN_SIMT_VECTOR == 0;

		kind[n] = PART_REG;
		len[n++] = lanes ? r / HN_SIMT_VECTOR : r;
		if (lanes) {
			kind[n] = PART_LANES;
			len[n++] = HN_SIMT_VECTOR;
		}
	}
	return n;
}

struct loops {
	uint32_t n; /* loops so far */
	struct {
		int32_t at; /* position after the splits */
		uint8_t kind, role;
	} item[HN_DAG_MAX_ITERS * MOST_PARTS];
};

static void collect(const struct loops *l, enum part kind, int role, int64_t *order, uint32_t *n)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->item[i].kind == kind && (role < 0 || l->item[i].role == role)) {
			order[(*n)++] = l->item[i].at;
		}
	}
}

static void split_axes(struct build *b, struct loops *l)
{
	int32_t at = 0;

	for (uint32_t a = 0; a < b->p->v->n_spatial; a++) {
		int64_t len[MOST_PARTS];
		enum part kind[MOST_PARTS];
		uint32_t n = parts_of(b, a, len, kind);

		if (n > 0) {
			hn_chain_split(&b->g->c, b->host, at, len, n);
		}
		for (uint32_t i = 0; i <= n; i++) {
			l->item[l->n].at = at++;
			l->item[l->n].kind = i == 0 ? PART_BLOCK : kind[i - 1];
			l->item[l->n++].role = b->p->role[a];
		}
	}
}

/* Blocks, threads, then what a thread goes through. */
static void host_loops(struct build *b)
{
	struct loops l = { 0 };
	int64_t order[HN_COUNT_OF(l.item)];
	uint32_t n = 0, blocks, threads, lanes = 0;

	split_axes(b, &l);
	collect(&l, PART_BLOCK, -1, order, &n);
	blocks = n;
	collect(&l, PART_HIGH, HN_SIMT_ROWS, order, &n);
	collect(&l, PART_HIGH, HN_SIMT_COLS, order, &n);
	for (enum part k = PART_TWO; k <= PART_ONE; k++) {
		collect(&l, k, HN_SIMT_ROWS, order, &n);
		collect(&l, k, HN_SIMT_COLS, order, &n);
	}
	threads = n - blocks;
	collect(&l, PART_REG, -1, order, &n);
	collect(&l, PART_LANES, -1, order, &n);
	lanes = n > 0 && l.item[order[n - 1]].kind == PART_LANES;
	hn_chain_reorder(&b->g->c, b->host, order, n);
	hn_simt_bind(b->g, b->host, 0, blocks, HN_ANN_BLOCK_X);
	hn_simt_bind(b->g, b->host, 1, threads, HN_ANN_THREAD_X);
	for (uint32_t i = 2; i < n - blocks - threads + 2 - lanes; i++) {
		hn_chain_annotate(&b->g->c, b->host, (int32_t)i, HN_ANN_UNROLL);
	}
	if (lanes) {
		hn_chain_annotate(&b->g->c, b->host, (int32_t)(n - blocks - threads + 1),
				  HN_ANN_VECTORIZE);
	}
}

/* The sum's own loops: terms outside, in one loop of steps and those of a step, results inside. */
static void sum_loops(struct build *b)
{
	const struct hn_simt_product *p = b->p;
	uint32_t ns = p->v->n_spatial, nr = p->v->n_axis - ns, n = 0;
	int64_t order[3 * HN_DAG_MAX_ITERS];
	int32_t outer[HN_DAG_MAX_ITERS], at = (int32_t)ns;

	hn_chain_compute_at(&b->g->c, b->sum, b->host, 1);
	for (uint32_t a = ns; a < p->v->n_axis; a++) {
		hn_chain_split(&b->g->c, b->sum, at, &p->inner[a], 1);
		outer[a] = at;
		at += 2;
	}
	for (uint32_t i = 0; i < nr; i++) {
		order[n++] = outer[p->order[i]];
	}
	for (uint32_t i = 0; i < nr; i++) {
		order[n++] = outer[p->order[i]] + 1;
	}
	for (uint32_t a = 0; a < ns; a++) {
		order[n++] = a;
	}
	hn_chain_reorder(&b->g->c, b->sum, order, n);
	if (nr > 1) {
		hn_chain_fuse(&b->g->c, b->sum, 0, nr);
		hn_chain_fuse(&b->g->c, b->sum, 1, nr);
	}
	for (uint32_t i = 1; i < ns + 2; i++) {
		hn_chain_annotate(&b->g->c, b->sum, (int32_t)i, HN_ANN_UNROLL);
	}
}

/* ---- copies */

static int64_t extent_of(const struct hn_state *s, int32_t stage, int32_t iter)
{
	return s->stage[stage]->iter[iter].extent;
}

/* Whether the last dimension of what the load reads is walked in whole vectors: it begins at
 * multiples of them, in every block, step and thread. */
static bool whole_vectors(const struct hn_simt_product *p, const struct hn_heuristic_read *r,
			  int32_t dim, int64_t length, bool in_memory)
{
	const struct hn_expr *x = r->load->arg[dim];
	int64_t slope;

	if (length % HN_SIMT_VECTOR != 0) {
		return false;
	}
	for (uint32_t a = 0; a < p->v->n_axis; a++) {
		bool sum = a >= p->v->n_spatial;
		int64_t part = sum ? p->inner[a] : in_memory ? p->reg[a] * p->thread[a] : p->reg[a];

		if (!hn_heuristic_uses(x, a)) {
			continue;
		}
		if (!hn_heuristic_slope(x, a, &slope) || slope * part % HN_SIMT_VECTOR != 0) {
			return false;
		}
	}
	return x->op != HN_EXPR_INT || x->u.i % HN_SIMT_VECTOR == 0;
}

/* All threads bring in the strip, those of a warp neighbours in memory. */
static void fetch(struct build *b, const struct operand *o)
{
	struct hn_chain *c = &b->g->c;
	const struct hn_op *of = hn_stage_op(c->s, o->source);
	int32_t n = (int32_t)c->s->stage[o->shared]->n_iter, last = n - 1;
	int64_t order[HN_DAG_MAX_RANK + 2], threads = b->p->threads, all = 1, lanes = 1;

	for (int32_t i = 0; i < n; i++) {
		all = hn_mul_sat(all, extent_of(c->s, o->shared, i));
	}
	if (o->turned < 0 &&
	    whole_vectors(b->p, o->read, (int32_t)of->n_dim - 1, of->shape[of->n_dim - 1], true) &&
	    extent_of(c->s, o->shared, last) % HN_SIMT_VECTOR == 0 && !b->g->done[o->source]) {
		lanes = HN_SIMT_VECTOR;
	}
	if (o->turned >= 0 && n >= 2) { /* few neighbours of a row, then the next row */
		int64_t near = extent_of(c->s, o->shared, last - 1);
		int32_t k = 0;

		near = near % HN_SIMT_VECTOR == 0 ? HN_SIMT_VECTOR : near;
		hn_chain_split(c, o->shared, last - 1, &near, 1);
		for (int32_t i = 0; i < last; i++) {
			order[k++] = i;
		}
		order[k++] = last + 1;
		order[k++] = last;
		n++;
		hn_chain_reorder(c, o->shared, order, (uint32_t)n);
	}
	if (n > 1) {
		hn_chain_fuse(c, o->shared, 0, (uint32_t)n);
	}
	while (lanes > 1 && all / lanes < threads) {
		lanes /= 2;
	}
	int64_t len[] = { threads, lanes };

	hn_chain_split(c, o->shared, 0, len, 2);
	hn_chain_annotate(c, o->shared, 0, HN_ANN_UNROLL);
	hn_chain_annotate(c, o->shared, 1, HN_ANN_THREAD_X);
	if (lanes > 1) {
		hn_chain_annotate(c, o->shared, 2, HN_ANN_VECTORIZE);
	}
}

/* A turned strip's chunks of 8 columns change places from row to row: 4 rows of 8 columns, which 32
 * threads write, lie in different banks. */
static void swizzle(struct build *b, const struct operand *o)
{
	struct hn_chain *c = &b->g->c;
	int32_t n = (int32_t)c->s->stage[o->shared]->n_iter;

	if (o->turned >= 0 && n >= 2 && extent_of(c->s, o->shared, n - 1) % 32 == 0 &&
	    extent_of(c->s, o->shared, n - 2) > 1) {
		hn_chain_swizzle(c, o->shared, (uint32_t)n - 2, 3, 2, 0);
	}
}

/* A thread's own numbers of the operand, for a term. */
static void load(struct build *b, const struct operand *o)
{
	struct hn_chain *c = &b->g->c;
	int32_t n = (int32_t)c->s->stage[o->local]->n_iter, last = n - 1;
	int64_t len = HN_SIMT_VECTOR;
	bool vectors = o->dim >= 0 && (o->turned >= 0 || o->dim == last) &&
		       extent_of(c->s, o->local, last) % HN_SIMT_VECTOR == 0 &&
		       whole_vectors(b->p, o->read, o->dim,
				     extent_of(c->s, o->shared, (int32_t)c->s->stage[o->shared]->n_iter - 1),
				     false);

	if (vectors) {
		hn_chain_split(c, o->local, last, &len, 1);
		hn_chain_annotate(c, o->local, n, HN_ANN_VECTORIZE);
	}
	for (int32_t i = 0; i <= last; i++) {
		hn_chain_annotate(c, o->local, i, HN_ANN_UNROLL);
	}
}

static void copies(struct build *b)
{
	struct hn_chain *c = &b->g->c;

	for (int i = 0; i < 2; i++) {
		hn_chain_compute_at(c, b->op[i].shared, b->sum, 0);
		hn_chain_compute_at(c, b->op[i].local, b->sum, 1);
	}
	if (!c->failed && hn_bounds_extents(c->s, c->a, &c->s, NULL) < 0) {
		c->failed = true;
	}
	for (int i = 0; i < 2 && !c->failed; i++) {
		load(b, &b->op[i]);
		swizzle(b, &b->op[i]);
		fetch(b, &b->op[i]);
	}
	if (b->p->shape.stages > 1) {
		hn_chain_pipeline(c, b->sum, 0, b->p->shape.stages, HN_PIPELINE_ASYNC);
	}
}

static void schedule(struct hn_heuristic_job *g, const struct hn_simt_product *p, int32_t host)
{
	struct build b = { .g = g, .p = p, .sum = p->v->stage, .host = host };

	if (host == p->v->stage) {
		hn_simt_cache_write(g, host, "local");
		b.host = host + 1;
	}
	for (int i = 0; i < 2; i++) {
		enum hn_simt_role role = i == 0 ? HN_SIMT_ROWS : HN_SIMT_COLS;
		const struct hn_heuristic_read *r = p->read[i];

		b.op[i] = (struct operand){ .read = r,
					    .role = role,
					    .source = r->producer,
					    .turned = -1,
					    .shared = -1,
					    .local = -1,
					    .dim = hn_heuristic_dimension(r, p->unit[role]) };
	}
	int first = b.op[0].source < b.op[1].source; /* the later one does not move the other */

	for (int i = 0; i < 2 && !g->c.failed; i++) {
		cache(&b, &b.op[i == 0 ? first : !first]);
	}
	host_loops(&b);
	sum_loops(&b);
	copies(&b);
	g->done[b.host] = g->done[b.sum] = true;
	for (int i = 0; i < 2 && !g->c.failed; i++) {
		g->done[b.op[i].shared] = g->done[b.op[i].local] = true;
	}
	g->inlined = NULL;
}

/* Parts of the sum become an axis of their own: of the axis that has most steps. */
static bool cut(struct hn_heuristic_job *g, const struct hn_simt_product *p,
		struct hn_heuristic_view *ret)
{
	const struct hn_heuristic_view *v = p->v;
	uint32_t axis = hn_simt_cut_axis(p);
	int32_t stage = v->stage;
	int64_t steps = hn_ceildiv(v->extent[axis], p->inner[axis]);
	int64_t len = hn_ceildiv(steps, p->shape.split) * p->inner[axis];

	if (len >= v->extent[axis]) {
		return false;
	}
	hn_chain_split(&g->c, stage, (int32_t)axis, &len, 1);
	hn_heuristic_rfactor(g, stage, (int32_t)axis, 0);
	return !g->c.failed && hn_heuristic_view(g, stage, ret);
}

bool hn_simt_product(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	struct hn_simt_shape shape[HN_HEURISTIC_MAX], one;
	struct hn_heuristic_view partial;
	struct hn_simt_product p;

	if (!hn_simt_product_of(g, v, &p)) {
		return false;
	}
	uint32_t n = hn_simt_shapes(g, &p, shape, HN_HEURISTIC_MAX);

	if (n == 0) {
		return false;
	}
	one = shape[g->v.tile < n ? g->v.tile : n - 1];
	if (!hn_simt_plan(g, &p, &one)) {
		return false;
	}
	if (one.split > 1) {
		if (!cut(g, &p, &partial)) {
			g->c.failed = true;
			return true;
		}
		one.split = 1;
		host = v->stage;
		if (!hn_simt_product_of(g, &partial, &p) || !hn_simt_plan(g, &p, &one)) {
			g->c.failed = true;
			return true;
		}
	}
	schedule(g, &p, host);
	return true;
}
