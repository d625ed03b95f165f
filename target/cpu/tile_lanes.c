/* target/cpu/tile_lanes.c -- which loop of a nest, or chain of loops whose elements lie in a row,
 * becomes the lanes of vectors: the one along which an element's loads and stores take
 * the fewest instructions.
 */
#include "target/cpu/tile.h"

#include "base/arith.h"

static uint32_t machine_width(const struct hn_tile *n, const struct hn_target *target)
{
	int64_t w = target->param[HN_PARAM_VECTOR_UNIT_BYTES] / n->elem_bytes;

	return w > HN_TILE_MAX_LANES ? HN_TILE_MAX_LANES : w < 1 ? 1 : (uint32_t)w;
}

/* Points along which access a lies in a row, d being the lanes: a block to transpose. */
static struct hn_tile_dim *turn_of(const struct hn_tile *n, const struct hn_tile_dim *d,
				uint32_t a)
{
	for (uint32_t i = n->n_dim; i-- > 0 && a > 0 && !n->update;) {
		struct hn_tile_dim *x = &n->dim[i];

		if (x != d && x->extent >= 4 && x->stride[a] == 1 &&
		    d->stride[a] != HN_TILE_NONLINEAR) {
			return x;
		}
	}
	return NULL;
}

/* Instructions of access a for a vector along d (emit_mem.c, emit_stride.c). */
static double access_cost(const struct hn_tile *n, const struct hn_tile_dim *d, uint32_t a,
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
static double lane_cost(const struct hn_tile *n, const struct hn_tile_dim *d,
			uint32_t width)
{
	double lanes = d->extent < width ? (double)d->extent : width;
	double cost = 1;

	for (uint32_t a = 0; a <= n->n_load; a++) {
		double weight = a == 0 && n->update ? 0.25 : 1;

		if (a == 0 && d->reduce) {
			continue;
		}
		cost += weight * access_cost(n, d, a, lanes);
	}
	if (d->reduce) {
		cost *= 1.2 + (d->extent < 4 * width ? 0.3 : 0);
	} else if (d->vectorize) {
		cost *= 0.7;
	}
	return cost / lanes;
}

static struct hn_tile_dim *best_lanes(struct hn_tile *n, uint32_t width)
{
	double best = 1.0 + 0.9 * n->n_load; /* as scalars */
	struct hn_tile_dim *ret = NULL;

	for (uint32_t i = n->n_dim; i-- > 0;) {
		struct hn_tile_dim *d = &n->dim[i];

		if (d->extent < 2 ||
		    (d->reduce && (d->extent < width || !n->may_cross))) {
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

/* Whether every access goes on along d where a chain of `total` elements ends. */
static bool continues(const struct hn_tile *n, const struct hn_tile_dim *d, int64_t total)
{
	if (d->reduce || d->chain || d->extent < 2) {
		return false;
	}
	for (uint32_t a = 0; a <= n->n_load; a++) {
		int64_t first = n->chain[0]->stride[a];

		if (first == HN_TILE_NONLINEAR || d->stride[a] != first * total) {
			return false;
		}
	}
	return true;
}

int64_t hn_tile_choose_lanes(struct hn_tile *n, const struct hn_target *target)
{
	uint32_t width = machine_width(n, target);
	struct hn_tile_dim *d = best_lanes(n, width);
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
	while (total % width != 0 && n->n_chain < HN_TILE_MAX_CHAIN) {
		struct hn_tile_dim *next = NULL;

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
	n->width = total < width ? hn_pow2_ceil(total) : width;
	return total;
}

struct hn_tile_dim *hn_tile_find_turn(const struct hn_tile *n)
{
	for (uint32_t a = 1; a <= n->n_load && n->n_chain && n->width > 1; a++) {
		const struct hn_tile_dim *d = n->chain[0];
		bool row = d->stride[a] >= 0 && d->stride[a] <= 8;
		struct hn_tile_dim *x = row ? NULL : turn_of(n, d, a);

		if (x && !x->chain && n->width <= 16) {
			return x;
		}
	}
	return NULL;
}
