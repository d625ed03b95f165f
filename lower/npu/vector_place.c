/* lower/npu/vector_place.c -- how large a tile is, and where its values lie in the unified buffer.
 *
 * What is loaded and stored has a place for each slot.  Other values may share one when they do not
 * live at the same time, or when one is made of the other lane by lane.
 */
#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define LEAST_TRANSFER 8192 /* bytes of a tile's load, under which the latency decides */
#define MOST_STRIDE 4095

static int64_t size_of(const struct vec_value *v)
{
	return hn_dtype_bytes((enum hn_dtype)v->dtype);
}

static int64_t rounded(int64_t n, int64_t to)
{
	return hn_ceildiv(n, to) * to;
}

static bool has_halves(const struct vec *x)
{
	for (uint32_t i = 0; i < x->n_value; i++) {
		if (x->v[i].dtype == HN_F16) {
			return true;
		}
	}
	return false;
}

static void sizes(struct vec *x, int64_t rows, int64_t columns)
{
	x->padded = rounded(columns, has_halves(x) ? 16 : 8);
	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];
		int64_t size = size_of(v), repeats = hn_ceildiv(x->padded * size, 256) * rows;
		const int64_t bytes[] = {
			[VEC_ONE] = 8 * HN_NPU_BLOCK, /* what vbrcb writes */
			[VEC_ROW] = rounded(rows, 16) * size,
			[VEC_SPREAD] = rounded(rows, 8) * HN_NPU_BLOCK,
			[VEC_COLUMN] = rounded(x->padded * size, HN_NPU_BLOCK),
			[VEC_FULL] = rounded(rows * x->padded * size, HN_NPU_BLOCK),
			[VEC_BITS] = repeats * HN_NPU_BLOCK,
			[VEC_CHUNK] = rows * 256,
		};

		v->bytes = bytes[v->shape];
	}
}

/* Each lane of the result is made of the same lane alone. */
static bool is_lane_by_lane(const struct vec *x, const struct vec_op *op)
{
	return op->what < HN_NPU_N_OP && op->what != HN_NPU_I_CONV && op->what != HN_NPU_I_SEL &&
	       (hn_npu_op[op->what].kind == HN_NPU_K_BINARY || hn_npu_op[op->what].kind == HN_NPU_K_UNARY ||
		hn_npu_op[op->what].kind == HN_NPU_K_SCALED) && x->v[op->to].shape == VEC_FULL;
}

static bool meet(const struct vec *x, const struct vec_value *a, const struct vec_value *b, int64_t at)
{
	bool apart = at >= a->at + a->bytes * a->copies || at + b->bytes * b->copies <= a->at;
	bool lasting = a->loaded || a->stored || a->once || b->loaded || b->stored || b->once ||
		       !x->plan->reuse;

	if (apart || (!lasting && (a->last < b->first || b->last < a->first))) {
		return false;
	}
	return lasting || a->last != b->first || at != a->at || a->bytes != b->bytes ||
	       !is_lane_by_lane(x, &x->op[b->first]);
}

/* The lowest place that meets nothing placed before. */
static int64_t place(const struct vec *x, uint32_t n, const struct vec_value *v)
{
	int64_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (meet(x, &x->v[i], v, at)) {
			int64_t next = INT64_MAX;

			/* behind one of those that are there */
			for (uint32_t k = 0; k < n; k++) {
				int64_t end = x->v[k].at + x->v[k].bytes * x->v[k].copies;

				next = end > at && end < next ? end : next;
			}
			at = next;
			i = UINT32_MAX;
		}
	}
	return at;
}

/* Bytes that a tile takes; more than there are when it does not fit. */
static int64_t arrange(struct vec *x, int64_t rows, int64_t columns)
{
	int64_t end = 0;

	sizes(x, rows, columns);
	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];

		v->at = place(x, i, v);
		end = v->at + v->bytes * v->copies > end ? v->at + v->bytes * v->copies : end;
		if (end > x->m->ub_bytes) {
			break;
		}
	}
	return end;
}

static void touch(struct vec *x, int32_t v, int32_t i)
{
	if (v >= 0) {
		x->v[v].first = x->v[v].first < 0 ? i : x->v[v].first;
		x->v[v].last = i;
	}
}

static void live(struct vec *x)
{
	for (uint32_t i = 0; i < x->n_op; i++) {
		touch(x, x->op[i].to, (int32_t)i);
		for (int k = 0; k < 3; k++) {
			/* rows of one repeat are reduced where they are */
			touch(x, x->op[i].from[k], (int32_t)i + (x->op[i].what == VEC_FOLD));
		}
	}
}

/* Rows, or elements of flat tiles, that a core gets a multiple of, so that no two cores write to a
 * block. */
static int64_t unit(const struct vec *x)
{
	int64_t most = x->flat ? 256 : 1;

	for (uint32_t i = 0; i < x->n_value && !x->flat; i++) {
		int64_t bytes = size_of(&x->v[i]) * (x->v[i].shape == VEC_ROW ? 1 : x->columns);
		int64_t n = HN_NPU_BLOCK / hn_gcd(HN_NPU_BLOCK, bytes);

		most = x->v[i].stored && n > most ? n : most;
	}
	return most;
}

int vec_place(struct vec *x)
{
	int64_t all = x->flat ? x->columns : x->rows, step = unit(x), core, n, bytes;

	live(x);
	core = hn_ceildiv(hn_ceildiv(all, step), x->m->cores) * step;
	n = x->plan->tile > 0 && x->plan->tile < core ? rounded(x->plan->tile, step) : core;
	n = n < core ? n : core;
	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];

		v->copies = (v->loaded || v->stored) && !v->once ? x->plan->slots : 1;
	}
	/* enough tiles that one is loaded while another is computed */
	if (x->plan->tile == 0 && x->plan->slots > 1) {
		int64_t few = rounded(hn_ceildiv(core, 4), step);
		int64_t least = rounded(LEAST_TRANSFER / (x->flat ? 2 : 2 * x->columns) + 1, step);

		few = few > least ? few : least;
		n = few < n ? few : n;
	}
	while ((bytes = x->flat ? arrange(x, 1, n) : arrange(x, n, x->columns)) > x->m->ub_bytes) {
		if (n == 1 || (x->flat && n <= step)) {
			return hn_fail(x->err, HONE_E_UNSUPPORTED, "the unified buffer of %s has %lld bytes, and "
				       "one tile takes more: a row of %lld numbers, %u values", x->m->name,
				       (long long)x->m->ub_bytes, (long long)x->columns, x->n_value);
		}
		n = n > step ? rounded(n * 3 / 4, step) < n ? rounded(n * 3 / 4, step) : n - step : n - 1;
	}
	if (!x->flat && x->padded * 4 / HN_NPU_BLOCK > MOST_STRIDE) {
		return hn_fail(x->err, HONE_E_UNSUPPORTED, "rows of %lld numbers: repeats are at most %d "
			       "blocks apart", (long long)x->columns, MOST_STRIDE);
	}
	if (hn_ceildiv(core, n) > HN_NPU_MOST_INSNS / 16 / (int64_t)x->n_op) {
		return hn_fail(x->err, HONE_E_UNSUPPORTED, "%lld tiles of %u operations are too many for one "
			       "program", (long long)hn_ceildiv(core, n), x->n_op);
	}
	x->ub_bytes = bytes;
	x->tile_rows = n;
	x->rows_core = core;
	x->n_tile = hn_ceildiv(core, n);
	x->n_core = (uint32_t)hn_ceildiv(all, core);
	return 0;
}
