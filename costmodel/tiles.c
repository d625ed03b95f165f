/* costmodel/tiles.c -- how long a sum takes that is given to an instruction on tiles, data in L1.
 *
 * The block of results that registers hold, and the reduction loops that they stay there for, are
 * the code generator's (lower/cpu/emit_amx_plan.c): the loops just around the instruction's own,
 * as far as results and factors fit.  A step of it is bound by the instruction, which takes a
 * cycle for each row; by the rows of factors that are loaded; or, where few results are summed at
 * once, by how long one of them takes.
 *
 * Source of the cycles: Intel's Optimization Reference Manual, chapter 20 (TMUL 16 cycles apart
 * and 52 long, TILELOADD 8, TILESTORED 16).
 */
#include "costmodel/analytic_int.h"
#include "loopstate/state/intrin.h"

#define LATENCY 52.0  /* of a sum, before the next one of the same result */
#define ROW_LOADS 2.0 /* rows loaded in a cycle */
#define STEP_CYCLES 2.0
#define BLOCK_CYCLES 20.0
#define ABSENT UINT32_MAX

struct tiles {
	const struct hn_view *v;
	const struct hn_intrin *in;
	uint32_t at[HN_INTRIN_DIMS]; /* positions of its loops */
	uint32_t left, right;	     /* streams */
	uint32_t first;		     /* position of the outermost of its loops */
	double mt, nt;
};

static int64_t extent(const struct tiles *x, enum hn_intrin_dim d)
{
	return x->v->loop[x->at[d]]->extent;
}

/* Its loops, none of others inside. */
static bool find_loops(struct tiles *x)
{
	const struct hn_view *v = x->v;
	uint32_t n = 0;

	x->first = v->n_loop;
	for (uint32_t l = 0; l < v->n_loop; l++) {
		const struct hn_node *loop = v->loop[l];

		if (loop->stage == v->stmt->stage && loop->intrin != NULL &&
		    hn_intrin_is_tile(loop->intrin)) {
			x->in = loop->intrin;
			x->at[loop->intrin_dim] = l;
			x->first = l < x->first ? l : x->first;
			n++;
		} else if (n > 0 && loop->extent > 1) {
			return false;
		}
	}
	return n == HN_INTRIN_DIMS;
}

static bool is_stride(const struct tiles *x, uint32_t stream, enum hn_intrin_dim d,
		      int64_t want)
{
	return extent(x, d) == 1 || x->v->stream[stream].stride[x->at[d]] == want;
}

/* Whether operands lie as tiles read them. */
static bool find_streams(struct tiles *x)
{
	int64_t terms = hn_intrin_terms(x->in);

	for (uint32_t i = 0; i < x->v->n_stream; i++) {
		if (x->v->stream[i].buffer->swizzle.bits > 0) {
			return false;
		}
	}
	if (x->v->n_stream != 3 || !is_stride(x, 2, HN_INTRIN_N, 1)) {
		return false;
	}
	for (x->left = 0; x->left < 2; x->left++) {
		x->right = 1 - x->left;
		if (is_stride(x, x->left, HN_INTRIN_TERMS, 1) &&
		    is_stride(x, x->left, HN_INTRIN_K, terms) &&
		    is_stride(x, x->left, HN_INTRIN_N, 0) &&
		    is_stride(x, x->right, HN_INTRIN_TERMS, 1) &&
		    is_stride(x, x->right, HN_INTRIN_N, terms) &&
		    is_stride(x, x->right, HN_INTRIN_M, 0)) {
			return true;
		}
	}
	return false;
}

static bool reduces(const struct tiles *x, uint32_t l)
{
	return x->v->loop[l]->stage == x->v->stmt->stage &&
	       x->v->loop[l]->iter_kind == HN_ITER_REDUCE;
}

/* One loop more in the block. */
static bool join(struct tiles *x, uint32_t l)
{
	const struct hn_view *v = x->v;
	bool left = v->stream[x->left].moves[l], right = v->stream[x->right].moves[l];
	double k = (double)v->loop[l]->extent, mt = x->mt * (left ? k : 1),
	       nt = x->nt * (right ? k : 1);

	if (v->loop[l]->stage != v->stmt->stage || left == right ||
	    mt * nt > HN_INTRIN_RESULTS) {
		return false;
	}
	x->mt = mt;
	x->nt = nt;
	return true;
}

static double times(const struct hn_view *v, uint32_t from, uint32_t to)
{
	double n = 1;

	for (uint32_t l = from; l < to; l++) {
		n *= (double)v->loop[l]->extent;
	}
	return n;
}

/* The block, and from which loop on it stays in registers; ABSENT where no reduction goes on
 * around it: then each tile is stored at once. */
static uint32_t choose(struct tiles *x, uint32_t *ret_block)
{
	const struct hn_view *v = x->v;
	uint32_t block = x->first, at;

	x->mt = x->nt = 1;
	if (!v->loop[x->first]->held) {
		*ret_block = x->first;
		return ABSENT;
	}
	while (block > 0 && !(reduces(x, block - 1) && v->loop[block - 1]->extent > 1) &&
	       (v->loop[block - 1]->extent == 1 || join(x, block - 1))) {
		block--;
	}
	at = block;
	while (at > 0 && reduces(x, block - 1) &&
	       (reduces(x, at - 1) || v->loop[at - 1]->extent == 1)) {
		at--;
	}
	if (at == block && !(block < x->first && reduces(x, block))) {
		x->mt = x->nt = 1;
		*ret_block = x->first;
		return ABSENT;
	}
	*ret_block = block;
	return at;
}

/* Rows of factors loaded for all results: once, or those of the longer side for each tile of the
 * other, where registers do not hold that. */
static double loaded(const struct tiles *x, double rows, double groups)
{
	double side = x->mt < x->nt ? x->mt : x->nt;
	double again = x->mt * x->nt + side + 1 > HN_INTRIN_TILES ? side : 1;

	return x->mt <= x->nt ? x->mt * rows + again * x->nt * groups
			      : again * x->mt * rows + x->nt * groups;
}

static bool starts_anew(const struct tiles *x, uint32_t at)
{
	bool seen = x->v->stmt->init != NULL;

	for (uint32_t l = at; l < x->v->n_loop; l++) {
		seen = seen || x->v->loop[l]->init != NULL;
	}
	return seen;
}

bool hn_view_tiles(const struct hn_view *v, const struct hn_target *t,
		   struct hn_compute *ret)
{
	struct tiles x = { .v = v };
	uint32_t block, at;

	if (v->stmt->stmt != HN_STMT_UPDATE || !find_loops(&x) ||
	    !hn_target_has_intrin(t, x.in) || !find_streams(&x)) {
		return false;
	}
	at = choose(&x, &block);
	double rows = (double)extent(&x, HN_INTRIN_M),
	       groups = (double)extent(&x, HN_INTRIN_K);
	double sums = x.mt * x.nt * rows, loads = loaded(&x, rows, groups) / ROW_LOADS;
	double step = sums > loads ? sums : loads;
	uint32_t from = at == ABSENT ? x.first : at;

	step = (step > LATENCY ? step : LATENCY) + STEP_CYCLES;
	double first = starts_anew(&x, from) ? 1 : rows / ROW_LOADS;
	double ends = x.mt * x.nt * (first + rows) + BLOCK_CYCLES;

	ret->trips = times(v, from, at == ABSENT ? from : block);
	ret->cycles = times(v, 0, from) * (ret->trips * step + ends);
	ret->lanes = (struct hn_lanes){ (int32_t)x.at[HN_INTRIN_N], false,
					extent(&x, HN_INTRIN_N) };
	ret->at = at == ABSENT ? -1 : (int32_t)at;
	ret->rows = ret->block_rows = x.mt * rows;
	ret->vecs = ret->block_vecs = x.nt;
	ret->registers = 0; /* of those that vectors have */
	return true;
}
