/* lower/npu/vector_place.c -- how large a tile is, and where its values lie in the unified buffer.
 *
 * What is loaded and stored has a place for each slot.  Other values may share one when they do not
 * live at the same time, or when one is made of the other lane by lane.
 */
#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define LEAST_TRANSFER 8192 /* bytes of a tile's load, under which the latency decides */
#define SHORT_ROW 256	    /* numbers that a row keeps while other dimensions can give way */

static int64_t rounded(int64_t n, int64_t to)
{
	return hn_mul_sat(hn_ceildiv(n, to), to);
}

/* Numbers that rows are padded to a multiple of: whole blocks of each type there is. */
static int64_t padding(const struct vec *x)
{
	int64_t most = 8;

	for (uint32_t i = 0; i < x->n_value; i++) {
		int64_t n = HN_NPU_BLOCK / vec_size(x, (int32_t)i);

		most = x->v[i].form == VEC_FULL && n > most ? n : most;
	}
	return most;
}

int64_t vec_padded(const struct vec *x, int64_t columns)
{
	return rounded(columns, x->padding);
}

int64_t vec_rows(const struct vec *x, uint32_t dims, const int64_t *n)
{
	int64_t rows = 1;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		rows = vec_has(dims & ~vec_last(x), d) ? hn_mul_sat(rows, n[d]) : rows;
	}
	return rows;
}

static void sizes(struct vec *x)
{
	int64_t columns = x->n_dim > 0 ? x->tile[x->n_dim - 1] : 1, padded = vec_padded(x, columns);

	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];
		int64_t size = vec_size(x, (int32_t)i), rows = vec_rows(x, v->dims, x->tile);
		bool full = (v->dims & vec_last(x)) != 0;
		int64_t repeats = full ? hn_mul_sat(hn_ceildiv(hn_mul_sat(padded, size), 256), rows) : rounded(rows, 8);
		const int64_t bytes[] = {
			[VEC_FULL] = rounded(hn_mul_sat(rows, hn_mul_sat(padded, size)), HN_NPU_BLOCK),
			[VEC_NUMBERS] = rounded(hn_mul_sat(rounded(rows, 16), size), HN_NPU_BLOCK),
			[VEC_SPREAD] = hn_mul_sat(rounded(rows, 8), HN_NPU_BLOCK),
			[VEC_STAGED] = full ? hn_mul_sat(hn_mul_sat(rows, rounded(columns, 8)), HN_NPU_BLOCK)
					    : hn_mul_sat(rounded(rows, 8), HN_NPU_BLOCK),
			[VEC_BITS] = hn_mul_sat(repeats, HN_NPU_BLOCK),
			[VEC_CHUNK] = hn_mul_sat(rows, 256),
		};

		v->bytes = hn_add_sat(bytes[v->form], v->behind);
	}
}

/* Each lane of the result is made of the same lane alone. */
static bool is_lane_by_lane(const struct vec *x, const struct vec_op *op)
{
	return op->what < HN_NPU_N_OP && op->what != HN_NPU_I_CONV && op->what != HN_NPU_I_SEL &&
	       (hn_npu_op[op->what].kind == HN_NPU_K_BINARY || hn_npu_op[op->what].kind == HN_NPU_K_UNARY ||
		hn_npu_op[op->what].kind == HN_NPU_K_SCALED) && x->v[op->to].form == VEC_FULL;
}

static bool meet(const struct vec *x, const struct vec_value *a, const struct vec_value *b, int64_t at)
{
	bool apart = at >= a->at + a->bytes * a->copies || at + b->bytes * b->copies <= a->at;
	bool alike = at == a->at && a->bytes == b->bytes && a->dims == b->dims && a->dtype == b->dtype;

	if (apart) {
		return false;
	}
	if (a->exclusive || b->exclusive) {
		return true;
	}
	for (uint32_t p = 0; p < x->n_phase; p++) {
		if (a->first[p] < 0 || b->first[p] < 0 || a->last[p] < b->first[p] ||
		    b->last[p] < a->first[p]) {
			continue;
		}
		if (!alike || a->last[p] != b->first[p] || !is_lane_by_lane(x, &x->op[b->first[p]])) {
			return true;
		}
	}
	return false;
}

/* The lowest place that meets nothing placed before. */
static int64_t place(const struct vec *x, const int32_t *placed, uint32_t n, const struct vec_value *v)
{
	int64_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (meet(x, &x->v[placed[i]], v, at)) {
			int64_t next = INT64_MAX;

			/* behind one of those that are there */
			for (uint32_t k = 0; k < n; k++) {
				const struct vec_value *w = &x->v[placed[k]];
				int64_t end = w->at + w->bytes * w->copies;

				next = end > at && end < next ? end : next;
			}
			at = next;
			i = UINT32_MAX;
		}
	}
	return at;
}

static bool is_used(const struct vec *x, const struct vec_value *v)
{
	bool used = false;

	for (uint32_t p = 0; p < x->n_phase; p++) {
		used = used || v->first[p] >= 0;
	}
	return used;
}

/* Bytes that a tile takes; more than there are when it does not fit. */
static int64_t arrange(struct vec *x, int32_t *placed)
{
	int64_t end = 0;
	uint32_t n = 0;

	sizes(x);
	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];

		if (v->root != (int32_t)i || !is_used(x, v)) {
			continue;
		}
		if (v->bytes > x->m->ub_bytes) {
			return x->m->ub_bytes + 1;
		}
		v->at = place(x, placed, n, v);
		placed[n++] = (int32_t)i;
		end = v->at + v->bytes * v->copies > end ? v->at + v->bytes * v->copies : end;
		if (end > x->m->ub_bytes) {
			return end;
		}
	}
	for (uint32_t i = 0; i < x->n_value; i++) {
		x->v[i].at = x->v[x->v[i].root].at;
	}
	return end;
}

/* The dimension that gives way: first outer ones that nothing sums over, then long rows, then sums. */
static int32_t yielding(const struct vec *x)
{
	uint32_t last = x->n_dim - 1;

	for (int sums = 0; sums < 2; sums++) {
		for (uint32_t d = 0; d < last; d++) {
			if (vec_has(x->reduced, d) == (sums != 0) && x->tile[d] > 1 && !vec_has(x->kept, d)) {
				return (int32_t)d;
			}
		}
		if (vec_has(x->reduced, last) == (sums != 0) && x->tile[last] > SHORT_ROW &&
		    !vec_has(x->kept, last)) {
			return (int32_t)last;
		}
	}
	return x->tile[last] > x->padding && !vec_has(x->kept, last) ? (int32_t)last : -1;
}

/* Lengths of a tile are multiples of it. */
static int64_t step_of(const struct vec *x, uint32_t d)
{
	return (int32_t)d == x->split[0] ? x->step : d == x->n_dim - 1 ? x->padding : 1;
}

static void shrink(struct vec *x, int32_t d)
{
	int64_t step, n, less;

	step = step_of(x, (uint32_t)d);
	n = x->tile[d];
	less = rounded(n - hn_ceildiv(n, 4), step);
	x->tile[d] = n > step ? less < n ? less : n - step
			      : (uint32_t)d == x->n_dim - 1 ? x->padding : n - 1;
}

/* What a history says of the axes of its op: those of one dimension multiply up.  What is summed over
 * stays whole while there is room. */
static void begin_by(struct vec *x, const struct hn_npu_tiles *t)
{
	int64_t want[VEC_DIMS] = { 0 };

	for (uint32_t i = 0; i < t->n_axis; i++) {
		int8_t found = t->axis[i].tile > 0 ? x->home[t->op][i] : -1;

		if (found >= 0) {
			int64_t *w = &want[x->to[found]];

			*w = hn_mul_sat(*w > 0 ? *w : 1, t->axis[i].tile);
		}
	}
	for (uint32_t d = 0; d < x->n_dim; d++) {
		if (want[d] > 0 && want[d] < x->part[d] && !vec_has(x->reduced, d)) {
			want[d] = rounded(want[d], step_of(x, d));
			x->tile[d] = want[d] < x->part[d] ? want[d] : x->part[d];
		}
	}
}

/* What the plan says; or, of the dimension that cores share, enough tiles that one is loaded while
 * another is computed. */
static void begin(struct vec *x)
{
	uint32_t lead = x->split[0] < 0 ? 0 : (uint32_t)x->split[0];
	int64_t others = 1, core, few, least;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		x->tile[d] = x->part[d];
		others = d == lead ? others : hn_mul_sat(others, x->part[d]);
	}
	if (x->plan->tiles != NULL) {
		begin_by(x, x->plan->tiles);
		return;
	}
	if (x->n_dim == 0 || vec_has(x->reduced, lead)) {
		return;
	}
	core = x->part[lead];
	if (x->plan->tile > 0 && x->plan->tile < core) {
		few = rounded(x->plan->tile, x->step);
		x->tile[lead] = few < core ? few : core;
	} else if (x->plan->tile == 0 && x->plan->slots > 1) {
		few = rounded(hn_ceildiv(core, 4), x->step);
		least = rounded(LEAST_TRANSFER / hn_mul_sat(2, others) + 1, x->step);
		few = few > least ? few : least;
		x->tile[lead] = few < core ? few : core;
	}
}

int vec_place(struct vec *x)
{
	int32_t *placed = HN_NEW_ARRAY(x->a, int32_t, x->n_value + 1);
	double tiles = 1;
	int64_t bytes = 0;
	int32_t d = -1;

	x->by = HN_NEW_ARRAY(x->a, uint32_t, x->n_value + 1);
	x->padding = padding(x);
	begin(x);
	while (!vec_phases(x) || (bytes = arrange(x, placed)) > x->m->ub_bytes) {
		if (!x->phased && x->rc == 0 && d >= 0) { /* a dimension that must not be in tiles */
			x->kept |= vec_bit((uint32_t)d);
			x->tile[d] = x->part[d];
		}
		d = x->n_dim == 0 ? -1 : yielding(x);
		if (d < 0 && x->rc == 0) {
			x->rc = hn_fail(x->err, HONE_E_UNSUPPORTED, "the unified buffer of %s has %lld bytes, and "
					"one tile takes more: %u values", x->m->name,
					(long long)x->m->ub_bytes, x->n_value);
		}
		if (x->rc != 0) {
			return x->rc;
		}
		shrink(x, d);
	}
	x->ub_bytes = bytes;
	for (uint32_t k = 0; k < x->n_dim; k++) {
		tiles *= (double)hn_ceildiv(x->part[k], x->tile[k]);
	}
	x->n_tile = tiles < 1e15 ? (int64_t)tiles : (int64_t)1e15;
	if (tiles > HN_NPU_MOST_INSNS) {
		return hn_fail(x->err, HONE_E_UNSUPPORTED, "%.0f tiles of %u operations are too many for one program",
			       tiles, x->n_op);
	}
	return 0;
}
