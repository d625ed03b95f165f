/* lower/emit_plan.c -- choose the register tile of a nest.
 *
 * Per element of a reduction the order of its iterations stays as scheduled (unless the
 * tile runs across lanes); what is chosen is how many neighbouring points run together:
 * which loop (or chain of loops whose elements lie in a row) becomes lanes, at which
 * reduction loop the accumulators are loaded and stored, and how large a block of points
 * is held in registers.  The choice minimises a small model of a core: FMA throughput and
 * latency against loads an iteration.
 */
#include "lower/emit_int.h"

#include <string.h>

#include "base/arith.h"

static bool is_update(const struct emit_nest *n)
{
	return n->stmt->stmt == HN_STMT_UPDATE;
}

static void count_loads(const struct hn_expr *x, void *ctx)
{
	struct emit_nest *n = ctx;

	if (x->op == HN_EXPR_LOAD) {
		if (n->load) {
			n->load[n->n_load] = x;
		}
		n->n_load++;
	} else if (x->op == HN_EXPR_CALL && x->ref != HN_FN_sqrt &&
		   x->ref != HN_FN_rsqrt &&
		   (x->ref < HN_FN_abs || x->ref > HN_FN_trunc)) {
		n->calls = true;
	}
}

static void visit_body(struct emit_nest *n)
{
	const struct hn_op *op = n->op;

	n->n_load = 0;
	if (n->stmt->stmt == HN_STMT_COMPUTE) {
		for (uint32_t k = 0; k < op->n_out; k++) {
			hn_expr_visit(op->body[k], count_loads, n);
		}
	} else if (is_update(n)) {
		for (uint32_t k = 0; k < op->reduce->n; k++) {
			hn_expr_visit(op->reduce->source[k], count_loads, n);
		}
		if (op->reduce->condition) {
			hn_expr_visit(op->reduce->condition, count_loads, n);
		}
	}
}

/* Offset of access a (0 = output, else load a - 1). */
static void access_offset(struct emit *e, struct emit_nest *n, uint32_t a,
			  struct emit_lin *ret)
{
	if (a == 0) {
		e->axis = NULL;
		hn_emit_offset(e, n->stmt->stage, n->stmt->axis, 0, ret);
		return;
	}
	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
	hn_emit_offset(e, n->load[a - 1]->ref, n->load[a - 1]->arg, 0, ret);
	e->axis = NULL;
}

/* How access a moves along d, judged by its first iterations. */
static int64_t stride_along(struct emit *e, struct emit_nest *n, struct emit_dim *d,
			    uint32_t a)
{
	struct emit_var saved = e->var[d->loop];
	struct emit_lin first, next;
	int64_t stride = 0;
	int64_t count = d->extent < 16 ? d->extent : 16;

	e->var[d->loop] = (struct emit_var){ 0 };
	e->epoch++;
	access_offset(e, n, a, &first);
	for (int64_t j = 1; j < count && stride != EMIT_NONLINEAR; j++) {
		e->var[d->loop].add = j;
		e->epoch++;
		access_offset(e, n, a, &next);
		if (!hn_emit_lin_same_terms(&first, &next) ||
		    (j > 1 && next.c - first.c != stride * j)) {
			stride = EMIT_NONLINEAR;
		} else {
			stride = (next.c - first.c) / j;
		}
	}
	e->var[d->loop] = saved;
	return stride;
}

static void find_strides(struct emit *e, struct emit_nest *n)
{
	e->dry = true;
	e->lane = 0;
	e->n_lane = e->n_active = 1;
	for (uint32_t i = 0; i < n->n_dim; i++) {
		struct emit_dim *d = &n->dim[i];

		e->var[d->loop] = (struct emit_var){ 0 };
		if (d->extent > 1) {
			uintptr_t word = ((uintptr_t)d->loop + 1) * 16 + 4;

			e->var[d->loop] = (struct emit_var){ .base = (LLVMValueRef)word,
							     .mul = 1,
							     .hi = d->extent - 1 };
		}
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		struct emit_dim *d = &n->dim[i];

		d->stride = HN_NEW_ARRAY(e->a, int64_t, n->n_load + 1);
		for (uint32_t a = 0; d->extent > 1 && a <= n->n_load; a++) {
			d->stride[a] = stride_along(e, n, d, a);
		}
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		e->var[n->dim[i].loop] = (struct emit_var){ 0 };
	}
	e->dry = false;
	e->n_dry = 0;
	e->epoch++;
}

static uint32_t machine_width(const struct emit *e, const struct emit_nest *n)
{
	uint32_t bytes = 1;

	for (uint32_t k = 0; k < n->op->n_out; k++) {
		uint32_t b = hn_dtype_bytes(n->op->dtype[k]);

		bytes = b > bytes ? b : bytes;
	}
	for (uint32_t i = 0; i < n->n_load; i++) {
		uint32_t b = hn_dtype_bytes(n->load[i]->dtype);

		bytes = b > bytes ? b : bytes;
	}
	int64_t w = e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES] / bytes;

	return w > EMIT_MAX_LANES ? EMIT_MAX_LANES : w < 1 ? 1 : (uint32_t)w;
}

/* Points along which access a lies in a row, d being the lanes: a block to transpose. */
static struct emit_dim *turn_of(const struct emit_nest *n, const struct emit_dim *d,
				uint32_t a)
{
	for (uint32_t i = n->n_dim; i-- > 0 && a > 0 && !is_update(n);) {
		struct emit_dim *x = &n->dim[i];

		if (x != d && x->extent >= 4 && x->stride[a] == 1 &&
		    d->stride[a] != EMIT_NONLINEAR) {
			return x;
		}
	}
	return NULL;
}

/* Instructions of access a for a vector along d (emit_mem.c, emit_stride.c). */
static double access_cost(const struct emit_nest *n, const struct emit_dim *d, uint32_t a,
			  double lanes)
{
	int64_t stride = d->stride[a];

	if (stride == 0 || stride == 1) {
		return stride == 0 ? 0.1 : 1;
	}
	if (a > 0 && stride > 1 && stride <= 8) {
		double whole = 2.0 * (double)stride - 1;

		return whole < 1.5 * lanes ? whole : 1.5 * lanes;
	}
	return turn_of(n, d, a) ? 5 : 1.5 * lanes;
}

/* Instructions per element when d runs over lanes. */
static double lane_cost(const struct emit_nest *n, const struct emit_dim *d,
			uint32_t width)
{
	double lanes = d->extent < width ? (double)d->extent : width;
	double cost = 1;

	for (uint32_t a = 0; a <= n->n_load; a++) {
		double weight = a == 0 && is_update(n) ? 0.25 : 1;

		if (a == 0 && d->reduce) {
			continue;
		}
		cost += weight * access_cost(n, d, a, lanes);
	}
	if (d->reduce) {
		cost *= 1.2 + (d->extent < 4 * width ? 0.3 : 0);
	} else if (d->node->ann == HN_ANN_VECTORIZE) {
		cost *= 0.7;
	}
	return cost / lanes;
}

static bool may_cross(const struct emit_nest *n)
{
	return is_update(n) && n->op->reduce->n == 1 &&
	       n->op->reduce->kind != HN_COMBINE_NONE &&
	       n->op->reduce->kind != HN_COMBINE_GENERAL;
}

static struct emit_dim *best_lanes(struct emit_nest *n, uint32_t width)
{
	double best = 1.0 + 0.9 * n->n_load; /* as scalars */
	struct emit_dim *ret = NULL;

	for (uint32_t i = n->n_dim; i-- > 0;) {
		struct emit_dim *d = &n->dim[i];

		if (d->extent < 2 ||
		    (d->reduce && (d->extent < width || !may_cross(n)))) {
			continue;
		}
		double cost = lane_cost(n, d, width);

		if (cost < best) {
			best = cost;
			ret = d;
		}
	}
	return ret;
}

static uint32_t pow2_ceil(int64_t v)
{
	uint32_t p = 1;

	while (p < v) {
		p *= 2;
	}
	return p;
}

/* Whether every access goes on along d where a chain of `total` elements ends. */
static bool continues(const struct emit_nest *n, const struct emit_dim *d, int64_t total)
{
	if (d->reduce || d->chain || d->extent < 2) {
		return false;
	}
	for (uint32_t a = 0; a <= n->n_load; a++) {
		int64_t first = n->chain[0]->stride[a];

		if (first == EMIT_NONLINEAR || d->stride[a] != first * total) {
			return false;
		}
	}
	return true;
}

static int64_t choose_lanes(struct emit_nest *n, uint32_t width)
{
	struct emit_dim *d = best_lanes(n, width);
	int64_t total;

	n->width = 1;
	if (!d) {
		return 1;
	}
	if (d->reduce) {
		n->across = d;
		n->width = width;
		return 1;
	}
	n->chain[n->n_chain++] = d;
	d->chain = true;
	total = d->extent;
	while (total % width != 0 && n->n_chain < 8) {
		struct emit_dim *next = NULL;

		for (uint32_t i = n->n_dim; i-- > 0 && !next;) {
			next = continues(n, &n->dim[i], total) ? &n->dim[i] : NULL;
		}
		if (!next) {
			break;
		}
		n->chain[n->n_chain++] = next;
		next->chain = true;
		total = hn_mul_sat(total, next->extent);
	}
	n->width = total < width ? pow2_ceil(total) : width;
	return total;
}

struct blocks {
	uint32_t n;
	struct emit_dim *dim[64];
	int64_t block[64];
};

struct model {
	const struct emit *e;
	const struct emit_nest *nest;
	int64_t registers, per_cycle, latency;
};

/* Registers that hold the operands of v vectors of lanes. */
static int64_t operand_registers(const struct emit_nest *n, int64_t v)
{
	int64_t r = 1;

	for (uint32_t a = 1; n->n_chain && a <= n->n_load; a++) {
		r += n->chain[0]->stride[a] != 0 ? v : 0;
	}
	return r;
}

/* Moving along d changes vectors but no broadcast: such loops run fastest after the
 * lanes, so that one broadcast at a time is alive. */
static bool runs_fast(const struct emit_nest *n, const struct emit_dim *d)
{
	bool vectors = false;

	for (uint32_t a = 1; n->n_chain && a <= n->n_load; a++) {
		if (n->chain[0]->stride[a] != 0) {
			vectors = vectors || d->stride[a] != 0;
		} else if (d->stride[a] != 0) {
			return false;
		}
	}
	return vectors;
}

static bool too_many(const struct model *m, const struct blocks *b, int64_t v)
{
	int64_t points = v, vectors = v;

	for (uint32_t i = 0; i < b->n; i++) {
		points *= b->block[i];
		vectors *= b->dim[i]->fast ? b->block[i] : 1;
	}
	return points > 1 && points + operand_registers(m->nest, vectors) > m->registers;
}

/* Cycles of one reduction iteration of a block. */
static double block_cycles(const struct model *m, const struct blocks *b, int64_t v)
{
	const struct emit_nest *n = m->nest;
	double points = (double)v, loads = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		points *= (double)b->block[i];
	}
	for (uint32_t a = 1; a <= n->n_load; a++) {
		int64_t along = n->n_chain ? n->chain[0]->stride[a] : 0;
		double count = along == 0   ? 1
			       : along == 1 ? (double)v
					    : (double)v * n->width;

		for (uint32_t i = 0; i < b->n; i++) {
			count *= b->dim[i]->stride[a] != 0 ? (double)b->block[i] : 1;
		}
		loads += count;
	}
	double cycles = points / (double)m->per_cycle;
	double front = (points + loads + 1) / 4;

	cycles = cycles < loads / 2 ? loads / 2 : cycles;
	cycles = cycles < front ? front : cycles;
	return 0.5 + (cycles < (double)m->latency ? (double)m->latency : cycles);
}

/* The same for all blocks of the nest, remainders included. */
static double all_cycles(const struct model *m, struct blocks *b, uint32_t i, int64_t v,
			 int64_t total_v)
{
	if (i == b->n) {
		int64_t rest = total_v % v;

		return (double)(total_v / v) * block_cycles(m, b, v) +
		       (rest ? block_cycles(m, b, rest) : 0);
	}
	int64_t k = b->block[i], extent = b->dim[i]->extent;
	double sum = (double)(extent / k) * all_cycles(m, b, i + 1, v, total_v);

	if (extent % k) {
		b->block[i] = extent % k;
		sum += all_cycles(m, b, i + 1, v, total_v);
		b->block[i] = k;
	}
	return sum;
}

#define MODEL_LOOPS 3 /* loops whose blocks are searched together */

struct best {
	double cycles;
	int64_t v;
	int64_t block[64];
};

/* Try every block of loops i.. that fits the registers, the largest inner ones first. */
static void try_blocks(const struct model *m, struct blocks *b, uint32_t i, int64_t v,
		       int64_t total_v, struct best *best)
{
	if (i == b->n || i == MODEL_LOOPS) {
		uint32_t n = b->n;

		b->n = i;
		double cycles = all_cycles(m, b, 0, v, total_v);

		b->n = n;
		if (best->cycles == 0 || cycles < best->cycles * 0.999) {
			best->cycles = cycles;
			best->v = v;
			memcpy(best->block, b->block, sizeof(b->block));
		}
		return;
	}
	int64_t k = b->dim[i]->extent;

	for (k = k > m->registers ? m->registers : k; k >= 1; k--) {
		b->block[i] = k;
		if (!too_many(m, b, v)) {
			try_blocks(m, b, i + 1, v, total_v, best);
		}
	}
	b->block[i] = 1;
}

static int64_t param_or(const struct emit *e, enum hn_param p, int64_t least)
{
	int64_t v = e->em->target.param[p];

	return v < least ? least : v;
}

/* Vectors the loops inside dim t make when held whole. */
static int64_t vectors_inside(const struct emit_nest *n, uint32_t t)
{
	int64_t lanes = 1, other = 1;

	for (uint32_t i = t; i < n->n_dim; i++) {
		const struct emit_dim *d = &n->dim[i];

		if (!d->reduce && d->chain) {
			lanes = hn_mul_sat(lanes, d->extent);
		} else if (!d->reduce) {
			other = hn_mul_sat(other, d->extent);
		}
	}
	return hn_mul_sat(hn_ceildiv(lanes, n->width), other);
}

static bool real_reduction(const struct emit_dim *d)
{
	return d->reduce && d->extent > 1;
}

/* The reduction loop that starts the tile. */
static uint32_t choose_level(const struct emit *e, const struct emit_nest *n)
{
	int64_t registers = param_or(e, HN_PARAM_VECTOR_REGISTERS, 8);
	uint32_t chosen = n->n_dim, inner = n->n_dim;

	for (uint32_t i = 0; i < n->n_dim && chosen == n->n_dim; i++) {
		if (real_reduction(&n->dim[i])) {
			inner = i;
			int64_t v = n->n_chain ? hn_ceildiv(n->chain[0]->extent, n->width)
					       : 1;

			v = v > 4 ? 4 : v;
			if (vectors_inside(n, i) + operand_registers(n, v) <= registers) {
				chosen = i;
			}
		}
	}
	if (chosen == n->n_dim) {
		chosen = inner;
	}
	/* few iterations inside do not pay for loading and storing the accumulators */
	int64_t trips = 1;

	for (uint32_t i = chosen; i < n->n_dim; i++) {
		trips = hn_mul_sat(trips,
				   real_reduction(&n->dim[i]) ? n->dim[i].extent : 1);
	}
	for (uint32_t i = chosen; i-- > 0 && trips < 16;) {
		if (real_reduction(&n->dim[i])) {
			trips = hn_mul_sat(trips, n->dim[i].extent);
			chosen = i;
		}
	}
	return chosen;
}

/* Loops whose iterations may be held together, innermost first; not the lanes. */
static void block_loops(const struct emit_nest *n, struct blocks *b)
{
	b->n = 0;
	for (uint32_t i = n->n_dim; i-- > 0 && b->n < 64;) {
		struct emit_dim *d = (struct emit_dim *)&n->dim[i];

		if (i < n->tile && real_reduction(d)) {
			return;
		}
		if (!d->reduce && !d->chain && d->extent > 1) {
			b->dim[b->n++] = d;
		}
	}
}

static void set_lanes(struct emit_nest *n, int64_t vectors)
{
	int64_t lanes = vectors * n->width;

	for (uint32_t i = 0; i < n->n_chain; i++) {
		struct emit_dim *d = n->chain[i];

		d->block = lanes < 1 ? 1 : lanes > d->extent ? d->extent : lanes;
		lanes /= d->extent;
	}
}

/* The first real reduction loop inside d that is outside the tile, n_dim when there is
 * none. */
static uint32_t reduction_between(const struct emit_nest *n, const struct emit_dim *d)
{
	for (uint32_t i = (uint32_t)(d - n->dim) + 1; i < n->tile; i++) {
		if (real_reduction(&n->dim[i])) {
			return i;
		}
	}
	return n->n_dim;
}

/* Lanes and tile must agree: no reduction loop outside the tile may separate them, or the
 * tile would not be what that loop's iterations need initialised. Returns the lanes. */
static int64_t settle_lanes(struct emit_nest *n)
{
	int64_t total = 1;
	uint32_t kept = 0;

	if (n->across && n->across < n->dim + n->tile) {
		n->tile = (uint32_t)(n->across - n->dim);
	}
	if (n->n_chain && reduction_between(n, n->chain[0]) < n->n_dim) {
		n->tile = reduction_between(n, n->chain[0]);
	}
	while (kept < n->n_chain && reduction_between(n, n->chain[kept]) == n->n_dim) {
		total = hn_mul_sat(total, n->chain[kept++]->extent);
	}
	for (uint32_t i = kept; i < n->n_chain; i++) {
		n->chain[i]->chain = false;
	}
	n->n_chain = kept;
	if (!n->across && total < n->width) {
		n->width = pow2_ceil(total);
	}
	return total;
}

static void plan_update(struct emit *e, struct emit_nest *n)
{
	struct model m = { e, n, param_or(e, HN_PARAM_VECTOR_REGISTERS, 8),
			   param_or(e, HN_PARAM_FMA_PER_CYCLE, 1),
			   param_or(e, HN_PARAM_FMA_LATENCY, 1) };
	struct blocks b;
	int64_t total_v, best_v, points;
	struct best best = { .cycles = 0, .v = 1 };

	n->tile = choose_level(e, n);
	total_v = hn_ceildiv(settle_lanes(n), n->width);
	block_loops(n, &b);
	for (uint32_t i = 0; i < b.n; i++) {
		b.block[i] = best.block[i] = 1;
		b.dim[i]->fast = runs_fast(n, b.dim[i]);
	}
	for (int64_t v = total_v < m.registers ? total_v : m.registers; v >= 1; v--) {
		if (!too_many(&m, &b, v)) {
			try_blocks(&m, &b, 0, v, total_v, &best);
		}
	}
	best_v = points = best.v;
	for (uint32_t i = 0; i < b.n; i++) {
		b.dim[i]->block = best.block[i];
		points *= best.block[i];
	}
	set_lanes(n, best_v);
	if (n->across) {
		int64_t want =
			param_or(e, HN_PARAM_FMA_LATENCY, 1) * m.per_cycle / points;
		int64_t most = n->across->extent / n->width;

		want = want > most ? most : want;
		n->n_across = want < 1 ? 1 : (uint32_t)want;
	}
	int64_t budget = 48;

	for (uint32_t i = n->n_dim; i-- > n->tile;) {
		struct emit_dim *d = &n->dim[i];
		int64_t room = (d->node->ann == HN_ANN_UNROLL ||
				d->node->unroll_max_step >= d->extent)
				       ? 2 * budget
				       : budget;

		if (!real_reduction(d) || d == n->across) {
			continue;
		}
		room = n->across || n->calls ? 1 : room / points;
		d->block = d->extent;
		while (d->block > 1 && (d->block > room || d->extent % d->block)) {
			d->block--;
		}
		if (d->block < d->extent) {
			break;
		}
		budget /= d->block;
	}
}

/* The loop whose points make blocks to transpose with the lanes. */
static struct emit_dim *find_turn(const struct emit_nest *n)
{
	for (uint32_t a = 1; a <= n->n_load && n->n_chain && n->width > 1; a++) {
		const struct emit_dim *d = n->chain[0];
		bool row = d->stride[a] >= 0 && d->stride[a] <= 8;
		struct emit_dim *x = row ? NULL : turn_of(n, d, a);

		if (x && !x->chain && n->width <= 16) {
			return x;
		}
	}
	return NULL;
}

static void plan_pointwise(struct emit_nest *n, int64_t total)
{
	int64_t total_v = hn_ceildiv(total, n->width);
	int64_t v = n->calls ? 1 : total_v > 4 ? 4 : total_v;
	struct blocks b;

	n->tile = n->n_dim;
	n->turn = find_turn(n);
	if (n->turn) {
		set_lanes(n, 1);
		n->turn->block =
			n->turn->extent < n->width ? n->turn->extent : n->width;
		return;
	}
	set_lanes(n, v);
	block_loops(n, &b);
	for (uint32_t i = 0; i < b.n && !n->calls && v >= total_v; i++) {
		if (v * b.dim[i]->extent > 8) {
			break;
		}
		b.dim[i]->block = b.dim[i]->extent;
		v *= b.dim[i]->extent;
	}
}

/* The initial values may be set in registers: nothing runs between them and the tile. */
static bool starts_from_identity(const struct emit_nest *n)
{
	bool seen = false;

	for (uint32_t i = 0; i < n->tile; i++) {
		seen = seen || n->dim[i].node->init;
		if (seen && real_reduction(&n->dim[i])) {
			return false;
		}
	}
	for (uint32_t i = n->tile; i < n->n_dim; i++) {
		seen = seen || n->dim[i].node->init;
	}
	return seen || n->stmt->init;
}

void hn_emit_plan(struct emit *e, struct emit_nest *n)
{
	int64_t total = 1;

	for (uint32_t i = 0; i < n->n_dim; i++) {
		n->dim[i].block = 1;
	}
	n->width = 1;
	n->n_across = 1;
	n->tile = n->n_dim;
	visit_body(n);
	n->load = HN_NEW_ARRAY(e->a, const struct hn_expr *, n->n_load + 1);
	visit_body(n);
	if (!e->opt->scalar && n->n_dim > 0) {
		find_strides(e, n);
		total = choose_lanes(n, machine_width(e, n));
		if (is_update(n)) {
			plan_update(e, n);
		} else {
			plan_pointwise(n, total);
		}
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		n->dim[i].inside = i >= n->tile && !n->dim[i].reduce;
	}
	n->from_identity = is_update(n) && !e->opt->scalar && starts_from_identity(n);
}
