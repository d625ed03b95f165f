/* lower/cpu/emit_stride.c -- vectors whose elements do not lie in a row, by whole vectors and
 * shuffles.
 *
 * A gather or sixteen scalar loads cost a load slot an element.  Two forms do better:
 *   - a small constant stride (a window of stride 2, a last dimension of 3): the vectors
 *     that cover the elements, and a shuffle for each but the first;
 *   - a block to be transposed: the elements are far apart over the lanes, but in a row
 *     over neighbouring points of the tile.  The rows are loaded, one for each lane, and
 *     turned in log2(lanes) rounds of two-vector shuffles (Eklundh, "A fast computer
 *     method for matrix transposing", 1972); the vectors of all points are made at the
 *     first.
 */
#include "lower/cpu/emit_int.h"

#define MAX_STRIDE 8

static LLVMValueRef lane_const(struct emit *e, uint32_t k)
{
	return LLVMConstInt(e->i32, k, 0);
}

/* -- small strides ----------------------------------------------------------------------- */

/* The constant distance of neighbouring lanes; 0 = there is none. */
static int64_t stride_of(const struct emit *e, const struct emit_address *x)
{
	int64_t stride = 0;

	for (uint32_t k = 1; k < e->n_active; k++) {
		int64_t delta = x->lane[k].c - x->lane[0].c;

		if (!hn_linear_same_terms(&x->lane[0], &x->lane[k]) ||
		    (k > 1 && delta != stride * k)) {
			return 0;
		}
		stride = k == 1 ? delta : stride;
	}
	return stride;
}

/* Which of the row's elements [first, first + n_lane) may be touched: all that count, or
 * under a mask of lanes the lanes' own. NULL = all n_lane. */
static LLVMValueRef row_mask(struct emit *e, int64_t first, int64_t stride, int64_t span)
{
	LLVMValueRef at[EMIT_MAX_LANES];
	LLVMTypeRef type = LLVMVectorType(e->i1, e->n_lane);
	bool all = true;

	for (uint32_t i = 0; i < e->n_lane; i++) {
		int64_t k = first + i;
		bool in = k < span;

		all = all && in;
		if (e->mask.vec) {
			in = in && k % stride == 0;
			at[i] = lane_const(e, in ? (uint32_t)(k / stride) : e->n_lane);
		} else {
			at[i] = LLVMConstInt(e->i1, in, 0);
		}
	}
	if (e->mask.vec) {
		return LLVMBuildShuffleVector(e->b, e->mask.v, LLVMConstNull(type),
					      LLVMConstVector(at, e->n_lane), "");
	}
	return all ? NULL : LLVMConstVector(at, e->n_lane);
}

static LLVMValueRef load_small_stride(struct emit *e, const struct emit_address *x,
				      int64_t stride)
{
	int64_t n = e->n_lane, span = (e->n_active - 1) * stride + 1;
	LLVMValueRef cond = e->mask.vec ? NULL : e->mask.v, v = NULL;

	for (int64_t first = 0; first < span; first += n) {
		/* the last vector ends where the elements do, where they fill one */
		int64_t from = first + n > span && span >= n ? span - n : first;
		LLVMValueRef m = row_mask(e, from, stride, span);
		LLVMValueRef p = hn_emit_guarded(
			e, hn_emit_pointer(e, x, 0, from, !cond && !m), cond);
		LLVMValueRef row = hn_emit_load_row(e, x, p, e->n_lane, m);
		LLVMValueRef at[EMIT_MAX_LANES];

		for (uint32_t k = 0; k < e->n_lane; k++) {
			int64_t want = k < e->n_active ? k * stride : 0;
			bool here = want >= first && want < first + n;

			at[k] = lane_const(e, here ? (uint32_t)(n + want - from) : k);
		}
		v = LLVMBuildShuffleVector(e->b, v ? v : row, row,
					   LLVMConstVector(at, e->n_lane), "");
	}
	return v;
}

/* -- blocks to be transposed ------------------------------------------------------------- */

/* Where lane k's element lies for every point: in a row. */
static bool in_rows(struct emit *e, const struct hn_expr *load,
		    const struct emit_address *first)
{
	struct emit_turn *t = e->turn;
	bool rows = true;

	for (uint32_t q = 1; q < t->count && rows; q++) {
		t->var->add = t->first + q;
		e->epoch++;
		for (uint32_t k = 0; k < e->n_active && rows; k++) {
			struct hn_linear at;

			hn_emit_offset(e, load->ref, load->arg, k, &at);
			rows = hn_linear_same_terms(&first->lane[k], &at) &&
			       at.c - first->lane[k].c == q;
		}
	}
	t->var->add = t->first;
	e->epoch++;
	return rows;
}

/* Exchange element j of row i with element i of row j, for all where bit `d` of i is 0 and
 * of j is 1. */
static void turn_round(struct emit *e, LLVMValueRef *row, uint32_t d)
{
	LLVMValueRef low[EMIT_MAX_LANES], high[EMIT_MAX_LANES];
	uint32_t n = e->n_lane;

	for (uint32_t k = 0; k < n; k++) {
		low[k] = lane_const(e, k & d ? n + k - d : k);
		high[k] = lane_const(e, k & d ? n + k : k + d);
	}
	LLVMValueRef lows = LLVMConstVector(low, n), highs = LLVMConstVector(high, n);

	for (uint32_t i = 0; i < n; i++) {
		if (i & d) {
			continue;
		}
		LLVMValueRef x = row[i], y = row[i + d];

		row[i] = LLVMBuildShuffleVector(e->b, x, y, lows, "");
		row[i + d] = LLVMBuildShuffleVector(e->b, x, y, highs, "");
	}
}

static LLVMValueRef *turn_block(struct emit *e, const struct emit_address *x)
{
	uint32_t n = e->n_lane, count = e->turn->count;
	LLVMValueRef *row = HN_NEW_ARRAY(e->a, LLVMValueRef, n);
	LLVMValueRef bit[EMIT_MAX_LANES], mask = NULL;

	if (count < n) {
		for (uint32_t q = 0; q < n; q++) {
			bit[q] = LLVMConstInt(e->i1, q < count, 0);
		}
		mask = LLVMConstVector(bit, n);
	}
	for (uint32_t k = 0; k < n; k++) {
		row[k] = LLVMGetPoison(LLVMVectorType(x->type, n));
		if (k < e->n_active) {
			LLVMValueRef cond = hn_emit_mask_of_lane(e, k);
			LLVMValueRef p = hn_emit_pointer(e, x, k, 0, !mask && !cond);

			row[k] = hn_emit_load_row(e, x, hn_emit_guarded(e, p, cond), n, mask);
		}
	}
	for (uint32_t d = n / 2; d >= 1; d /= 2) {
		turn_round(e, row, d);
	}
	return row;
}

/* The load's vectors for all points of the turn; NULL = they make no block. */
static LLVMValueRef *turned(struct emit *e, const struct hn_expr *load,
			    const struct emit_address *x)
{
	struct emit_turn *t = e->turn;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->known[i].load == load) {
			return t->known[i].point;
		}
	}
	if (t->n == sizeof(t->known) / sizeof(t->known[0]) || t->var->add != t->first ||
	    t->count > e->n_lane || !in_rows(e, load, x)) {
		return NULL;
	}
	t->known[t->n].load = load;
	t->known[t->n].point = turn_block(e, x);
	return t->known[t->n++].point;
}

struct emit_val hn_emit_load_strided(struct emit *e, const struct hn_expr *load,
				     const struct emit_address *x)
{
	struct emit_val r = { NULL, true };
	int64_t stride;

	if (e->n_active < 2 || x->dtype == HN_BOOL || (e->n_lane & (e->n_lane - 1)) != 0) {
		return r;
	}
	stride = stride_of(e, x);
	if (stride > 1 && stride <= MAX_STRIDE && stride < e->n_lane &&
	    MAX_STRIDE * e->n_lane * x->unit <= 512) {
		r.v = load_small_stride(e, x, stride);
		return r;
	}
	/* in a side of a choice, other points may not want theirs */
	bool alike = e->turn && (e->turn->still || (e->n_choice == 0 && !e->mask.v));

	if (load && alike && e->n_lane <= 16) {
		LLVMValueRef *point = turned(e, load, x);

		r.v = point ? point[e->turn->var->add - e->turn->first] : NULL;
	}
	return r;
}
