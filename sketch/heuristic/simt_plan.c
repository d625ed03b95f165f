/* sketch/heuristic/simt_plan.c -- which tiles a product has on a machine with blocks of threads.
 *
 * A block makes rows x cols results from strips of both operands in shared memory, a thread
 * reg_rows x reg_cols of them in registers: each term then costs (reg_rows + reg_cols) / 4 loads of
 * 16 bytes for reg_rows * reg_cols multiplications.  A few shapes are tried, and their time told by
 * a closed form: instructions, shared memory, waves of blocks, and bytes from the second cache.
 * Sources: Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra" (SC 2008); NVIDIA,
 * "CUTLASS", efficient_gemm.md.
 */
#include "base/arith.h"
#include "loopstate/dag/liberty.h"
#include "sketch/heuristic/simt_int.h"

#define FEW_SUMS 4
#define FEW_THREADS 16
#define MOST_SPLIT 4 /* steps that each part of a sum has at least */
#define CORE_THREADS 2048
#define CORE_REGISTERS 65536
#define CORE_BLOCKS 32
#define OTHER_REGISTERS 36 /* addresses, counters, operands of the next term */
#define HALF_PAD_REGISTERS 9 /* two of an element with a condition: 2.5 to 4.8 each were seen */
#define ISSUES 4.0	   /* instructions a cycle, of a warp each */
#define SHARED_CYCLES 2.0  /* of 16 bytes for each thread of a warp, where some ask for the same */
#define FETCH_ISSUES 6.0   /* instructions around a copy of an element or a vector */
#define HIDDEN 8.0	   /* warps that hide what each waits for, a large tile each */
#define START_CYCLES 1800.0 /* of a block: its first strips come, its results go */
#define CACHE_BYTES 48.0   /* a cycle, from the second cache to a multiprocessor */
#define MEMORY_BYTES 14.0  /* a cycle, of each multiprocessor */
#define KERNEL_CYCLES 4000.0

static const struct hn_simt_shape shapes[] = {
	{ 128, 128, 8, 8, 16, 3, 1 }, { 128, 128, 8, 8, 8, 4, 1 },
	{ 128, 128, 8, 8, 16, 2, 1 }, { 256, 128, 16, 8, 8, 3, 1 },
	{ 128, 256, 8, 16, 8, 3, 1 }, { 128, 64, 8, 8, 16, 3, 1 },
	{ 64, 128, 8, 8, 16, 3, 1 },  { 64, 64, 8, 8, 16, 3, 1 },
	{ 64, 64, 8, 4, 16, 3, 1 },   { 64, 64, 4, 4, 16, 3, 1 },
	{ 64, 32, 4, 4, 16, 3, 1 },   { 32, 64, 4, 4, 16, 3, 1 },
	{ 32, 32, 4, 4, 32, 3, 1 },   { 32, 32, 4, 2, 32, 3, 1 },
	{ 16, 64, 2, 4, 32, 3, 1 },   { 64, 16, 4, 2, 32, 3, 1 },
	{ 16, 32, 2, 2, 32, 3, 1 },   { 16, 128, 4, 4, 32, 3, 1 },
	{ 128, 16, 4, 4, 32, 3, 1 },
};
static const int64_t splits[] = { 1, 2, 3, 4, 6, 8, 12, 16, 32 };

int64_t hn_simt_cores(const struct hn_target *t)
{
	int64_t n = t->param[HN_PARAM_NUM_CORES];

	return n > 0 ? n : 1;
}

static bool uses(const struct hn_heuristic_read *r, uint32_t a)
{
	return (r->uses >> a & 1) != 0;
}

/* The last spatial axis of more than one point decides which operand is the columns'. */
bool hn_simt_product_of(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       struct hn_simt_product *p)
{
	bool any[3] = { false };
	uint32_t last = v->n_spatial;

	(void)g;
	*p = (struct hn_simt_product){ .v = v };
	if (!v->op->reduce || v->op->reduce->n != 1 || v->op->n_out != 1 || v->n_read != 2 ||
	    v->reduce < FEW_SUMS || v->read[0].producer == v->read[1].producer) {
		return false;
	}
	while (last > 0 && v->extent[last - 1] == 1) {
		last--;
	}
	if (last == 0) {
		return false;
	}
	bool second = uses(&v->read[1], last - 1);

	if (second == uses(&v->read[0], last - 1)) {
		return false;
	}
	p->read[0] = &v->read[second ? 0 : 1];
	p->read[1] = &v->read[second ? 1 : 0];
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		bool rows = uses(p->read[0], a), cols = uses(p->read[1], a);

		p->role[a] = rows == cols ? HN_SIMT_BATCH : rows ? HN_SIMT_ROWS : HN_SIMT_COLS;
		if (v->extent[a] > 1) {
			any[p->role[a]] = true;
			p->unit[p->role[a]] = a;
		}
	}
	return any[HN_SIMT_ROWS] && any[HN_SIMT_COLS];
}

/* How many neighbours along an axis one thread holds: many, few of them past the end, and whole
 * vectors. */
static int64_t reg_of(int64_t extent, int64_t most)
{
	int64_t best = 1;
	double score = 0;

	for (int64_t r = most < extent ? most : extent; r >= 1; r--) {
		double used = (double)extent / (double)(hn_ceildiv(extent, r) * r);
		double s = used * (double)r / (double)(r + 2) * (r % 4 == 0 ? 1.05 : 1);

		if (s > score) {
			score = s;
			best = r;
		}
	}
	return best;
}

/* Registers and threads for the axes of a role, the innermost first. */
static void plan_side(struct hn_simt_product *p, enum hn_simt_role role, int64_t tile, int64_t reg)
{
	int64_t threads = tile / reg;

	for (uint32_t a = p->v->n_spatial; a-- > 0;) {
		int64_t e = p->v->extent[a];

		p->reg[a] = role == p->role[a] ? 1 : p->reg[a];
		p->thread[a] = role == p->role[a] ? 1 : p->thread[a];
		if (p->role[a] != role || e == 1) {
			continue;
		}
		p->reg[a] = reg_of(e, reg);
		reg /= p->reg[a];

		int64_t parts = hn_ceildiv(e, p->reg[a]);
		int64_t t = threads < parts ? threads : parts;

		t = hn_ceildiv(parts, hn_ceildiv(parts, t));
		/* lanes go two and two */
		t += t % 2 != 0 && t > 2 && t < threads && parts > t;
		p->thread[a] = t;
		threads /= t;
	}
}

/* Terms of an axis between two fetches: a divisor where there is one that is not much shorter. */
static int64_t part_of(int64_t extent, int64_t most)
{
	if (extent <= most + most / 2) {
		return extent;
	}
	for (int64_t unit = 4; unit >= 1; unit /= 4) {
		for (int64_t d = most / unit * unit; d >= 1 && 2 * d >= most; d -= unit) {
			if (extent % d == 0) {
				return d;
			}
		}
	}
	return most;
}

/* Reduction axes in the order of the loops, the one that neighbours in memory lie along last, and
 * how much of each is fetched at a time: all of the last ones, until that is `depth` terms. */
static void plan_terms(struct hn_simt_product *p, int64_t depth)
{
	const struct hn_heuristic_view *v = p->v;
	uint32_t n = v->n_axis - v->n_spatial, best = v->n_spatial, k = 0;
	int best_score = -1;

	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		int score = (p->read[0]->stride[a] == 1) + (p->read[1]->stride[a] == 1) +
			    (v->extent[a] >= depth ? 4 : 0);

		if (score >= best_score) {
			best_score = score;
			best = a;
		}
	}
	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		if (a != best) {
			p->order[k++] = a;
		}
	}
	p->order[k] = best;
	p->steps = 1;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t a = p->order[i];
		int64_t e = v->extent[a], len = depth > 1 ? part_of(e, depth) : 1;

		p->inner[a] = len;
		p->steps = hn_mul_sat(p->steps, hn_ceildiv(e, len));
		depth = len == e ? depth / len : 1;
	}
}

/* Elements of a read's box in shared memory. */
static int64_t box(const struct hn_simt_product *p, const struct hn_heuristic_read *r)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < r->load->n_arg; d++) {
		int64_t len = 1, slope;

		for (uint32_t a = 0; a < p->v->n_axis; a++) {
			int64_t tile = a >= p->v->n_spatial ? p->inner[a] : p->reg[a] * p->thread[a];

			if (tile > 1 && hn_heuristic_slope(r->load->arg[d], a, &slope)) {
				len += (slope < 0 ? -slope : slope) * (tile - 1);
			}
		}
		n = hn_mul_sat(n, len);
	}
	return n;
}

/* Time of all blocks: those that run at once on a multiprocessor share its issue slots and its
 * shared memory, and what a last wave leaves empty is lost. */
static double time_of(const struct hn_heuristic_job *g, const struct hn_simt_product *p,
		      int64_t shared, int64_t registers, double bytes)
{
	double cores = (double)hn_simt_cores(g->target), warps = (double)hn_ceildiv(p->threads, 32);
	double rr = 1, rc = 1, terms = 1;
	int64_t room = g->target->param[HN_PARAM_L1_BYTES];

	for (uint32_t a = 0; a < p->v->n_spatial; a++) {
		rr *= p->role[a] == HN_SIMT_ROWS ? (double)p->reg[a] : 1;
		rc *= p->role[a] == HN_SIMT_COLS ? (double)p->reg[a] : 1;
	}
	for (uint32_t a = p->v->n_spatial; a < p->v->n_axis; a++) {
		terms *= (double)p->inner[a];
	}
	double fetched = bytes / 4 / (double)p->threads;
	int64_t resident = CORE_THREADS / p->threads;
	int64_t by_registers = CORE_REGISTERS / (registers * hn_ceildiv(p->threads, 32) * 32);
	int64_t by_shared = shared > 0 ? room / (shared + 1024) : CORE_BLOCKS;

	resident = resident < by_registers ? resident : by_registers;
	resident = resident < by_shared ? resident : by_shared;
	resident = resident < CORE_BLOCKS ? resident : CORE_BLOCKS;
	resident = resident > 1 ? resident : 1;

	double issue = warps * (terms * (rr * rc + (rr + rc) / HN_SIMT_VECTOR) +
				fetched * FETCH_ISSUES / 2 + 24) / ISSUES;
	double lds = warps * terms * (rr + rc) / HN_SIMT_VECTOR * SHARED_CYCLES;
	double l2 = bytes / CACHE_BYTES;
	double step = issue > lds ? issue : lds;

	step = step > l2 ? step : l2;
	step += 0.1 * (issue + lds + l2 - step);

	double block = START_CYCLES / (double)resident + (double)p->steps * step;
	double waves = (double)p->blocks / (cores * (double)resident);
	double full = (double)(int64_t)waves, left = (waves - full) * (double)resident * cores;
	/* the last, partial wave: so many blocks on the fullest multiprocessor */
	double last = left > 0 ? (double)hn_ceildiv((int64_t)(left + 0.5), (int64_t)cores) : 0;
	double hides = (double)resident * warps * (1 + rr * rc / 64) / 2;
	double hides_last = last * warps * (1 + rr * rc / 64) / 2;
	double slow = hides < HIDDEN ? HIDDEN / hides : 1;
	double slow_last = last > 0 && hides_last < HIDDEN ? HIDDEN / hides_last : 1;

	return full * (double)resident * block * slow + last * (block * slow_last) +
	       START_CYCLES;
}

/* What a split costs: the parts go to memory and come back, in a kernel more. */
static double split_cycles(const struct hn_heuristic_job *g, const struct hn_simt_product *p)
{
	double bytes = (double)p->v->spatial * 4 * (double)(2 * p->shape.split);

	return p->shape.split == 1 ? 0
				   : KERNEL_CYCLES + bytes / MEMORY_BYTES /
							     (double)hn_simt_cores(g->target);
}

uint32_t hn_simt_cut_axis(const struct hn_simt_product *p)
{
	const struct hn_heuristic_view *v = p->v;
	uint32_t axis = v->n_spatial;

	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		if (hn_ceildiv(v->extent[a], p->inner[a]) >
		    hn_ceildiv(v->extent[axis], p->inner[axis])) {
			axis = a;
		}
	}
	return axis;
}

/* The parts of a split have steps enough, and none goes past the end. */
static bool splits_evenly(const struct hn_simt_product *p)
{
	uint32_t a = hn_simt_cut_axis(p);
	int64_t n = p->shape.split;

	return p->steps >= MOST_SPLIT * n && p->v->extent[a] % (p->inner[a] * n) == 0;
}

static void see_choice(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT;
}

/* Registers that a thread's part of a fetch takes where each element has a condition of its own, as
 * padding has: addresses and conditions do not change from step to step, and are kept. */
static int64_t fetch_registers(const struct hn_heuristic_job *g, const struct hn_simt_product *p,
			       const struct hn_heuristic_read *r)
{
	const struct hn_op *op = hn_stage_op(g->c.s, r->producer);
	bool chooses = false;

	if (op->kind != HN_OP_COMPUTE || op->reduce != NULL) {
		return 0;
	}
	hn_expr_visit(op->body[0], see_choice, &chooses);
	return chooses ? hn_mul_sat(hn_ceildiv(box(p, r), p->threads), HALF_PAD_REGISTERS) / 2 : 0;
}

bool hn_simt_plan(const struct hn_heuristic_job *g, struct hn_simt_product *p,
		 const struct hn_simt_shape *shape)
{
	const int64_t *param = g->target->param;
	const struct hn_heuristic_view *v = p->v;
	int64_t results = 1, registers;

	p->shape = *shape;
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		p->reg[a] = p->thread[a] = 1;
	}
	plan_side(p, HN_SIMT_ROWS, shape->rows, shape->reg_rows);
	plan_side(p, HN_SIMT_COLS, shape->cols, shape->reg_cols);
	plan_terms(p, shape->depth);
	if (shape->split > 1 && !splits_evenly(p)) {
		return false;
	}
	p->threads = 1;
	p->blocks = shape->split;
	p->steps = hn_ceildiv(p->steps, shape->split);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		p->threads *= p->thread[a];
		results *= p->reg[a];
		p->blocks = hn_mul_sat(p->blocks,
				       hn_ceildiv(v->extent[a], p->thread[a] * p->reg[a]));
	}
	if (shape->split > 1 && p->blocks / shape->split >= 2 * hn_simt_cores(g->target)) {
		return false;
	}

	int64_t bytes = hn_mul_sat(hn_add_sat(box(p, p->read[0]), box(p, p->read[1])),
				   hn_dtype_bytes((enum hn_dtype)v->op->dtype[0]));

	p->shape.stages = shape->stages < p->steps ? shape->stages : p->steps;
	registers = (results + OTHER_REGISTERS + 7) / 8 * 8;

	int64_t shared = hn_mul_sat(bytes, p->shape.stages);
	int64_t most = registers + fetch_registers(g, p, p->read[0]) +
		       fetch_registers(g, p, p->read[1]);

	if (most > param[HN_PARAM_VECTOR_REGISTERS] || p->threads > param[HN_PARAM_MAX_THREADS_PER_BLOCK] || p->threads < FEW_THREADS ||
	    shared > param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] ||
	    registers * p->threads > CORE_REGISTERS) {
		return false;
	}
	p->cycles = time_of(g, p, shared, registers, (double)bytes) + split_cycles(g, p);
	return true;
}

/* Into the list, which is sorted. */
static uint32_t keep(struct hn_simt_shape *ret, double *cycles, uint32_t n, uint32_t n_max,
		     const struct hn_simt_product *p)
{
	uint32_t at = n;

	while (at > 0 && cycles[at - 1] > p->cycles) {
		at--;
	}
	if (at >= n_max) {
		return n;
	}
	n += n < n_max;
	for (uint32_t m = n - 1; m > at; m--) {
		cycles[m] = cycles[m - 1];
		ret[m] = ret[m - 1];
	}
	cycles[at] = p->cycles;
	ret[at] = p->shape;
	return n;
}

uint32_t hn_simt_shapes(const struct hn_heuristic_job *g, const struct hn_simt_product *p,
		       struct hn_simt_shape *ret, uint32_t n_max)
{
	bool may_split = !hn_against_parts(g->c.s->root_dag, p->v->op);
	double cycles[HN_HEURISTIC_MAX];
	uint32_t n = 0;

	n_max = n_max < HN_HEURISTIC_MAX ? n_max : HN_HEURISTIC_MAX;
	for (uint32_t i = 0; i < HN_COUNT_OF(shapes); i++) {
		struct hn_simt_product best = { .cycles = 0 };

		for (uint32_t k = 0; k < (may_split ? HN_COUNT_OF(splits) : 1); k++) {
			struct hn_simt_product q = *p;
			struct hn_simt_shape s = shapes[i];

			s.split = splits[k];
			if (hn_simt_plan(g, &q, &s) &&
			    (best.cycles == 0 || q.cycles < best.cycles)) {
				best = q;
			}
		}
		if (best.cycles > 0) {
			n = keep(ret, cycles, n, n_max, &best);
		}
	}
	return n;
}
