/* layout.c -- see layout.h.
 *
 * A chunk's number keeps all but its lowest `bits` bits, so whole periods of 2^(unit + bits)
 * elements stay where they are.  Forms therefore leave out what moves an index by whole periods.
 */
#include "loopstate/nest/layout.h"

#include "base/arith.h"

static int64_t two_to(uint32_t n)
{
	return (int64_t)1 << n;
}

static uint32_t last_dim(const struct hn_buffer *b)
{
	return b->n_dim - 1;
}

int64_t hn_layout_turned(const struct hn_swizzle *z, int64_t row, int64_t last)
{
	int64_t unit = two_to(z->unit), n = two_to(z->bits);
	int64_t chunk = hn_floormod(hn_floordiv(last, unit), n);
	int64_t key = hn_floormod(hn_floordiv(row, two_to(z->shift)), n);

	return last + ((chunk ^ key) - chunk) * unit;
}

int64_t hn_layout_size(const struct hn_buffer *b)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		n = hn_mul_sat(n, b->extent[d]);
	}
	return n;
}

int64_t hn_layout_place(const struct hn_buffer *b, const int64_t *x)
{
	int64_t at = 0;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		int64_t i = d == last_dim(b) && b->swizzle.bits > 0
				    ? hn_layout_turned(&b->swizzle, x[b->swizzle.row_dim],
						       x[d])
				    : x[d];

		at += i * b->stride[d];
	}
	return at;
}

/* Bits [first, first + bits) of x as a number. */
static void bits_of(const struct hn_linear_maker *f, const struct hn_linear *x,
		    uint32_t first, uint32_t bits, struct hn_linear *ret)
{
	struct hn_linear rest = { .c = hn_floormod(x->c, two_to(first + bits)) }, high;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->t[i].coef % two_to(first + bits) != 0) {
			rest.t[rest.n++] = x->t[i];
		}
	}
	hn_linear_floordiv(f, &rest, two_to(first), ret);
	hn_linear_floordiv(f, &rest, two_to(first + bits), &high);
	hn_linear_add(f, ret, &high, -two_to(bits));
}

void hn_layout_linear(const struct hn_linear_maker *f, const struct hn_buffer *b,
		      struct hn_linear *x, struct hn_linear *ret)
{
	const struct hn_swizzle *z = &b->swizzle;
	struct hn_linear chunk, key, turned;

	if (z->bits > 0) {
		bits_of(f, &x[last_dim(b)], z->unit, z->bits, &chunk);
		bits_of(f, &x[z->row_dim], z->shift, z->bits, &key);
		hn_linear_xor(f, &chunk, &key, z->bits, &turned);
		hn_linear_add(f, &x[last_dim(b)], &turned, two_to(z->unit));
		hn_linear_add(f, &x[last_dim(b)], &chunk, -two_to(z->unit));
	}
	ret->n = 0;
	ret->c = 0;
	for (uint32_t d = 0; d < b->n_dim; d++) {
		hn_linear_add(f, ret, &x[d], b->stride[d]);
	}
}

static const struct hn_expr *with(enum hn_expr_op op, const struct hn_expr *x, int64_t c,
				  struct hn_arena *a)
{
	return hn_expr_binary(op, x, hn_expr_int(c, x->dtype, a), a);
}

/* Bit k of the chunk's number becomes the last digit of its sum with the key's. */
const struct hn_expr *hn_layout_expr(const struct hn_swizzle *z,
				     const struct hn_expr *row,
				     const struct hn_expr *last, struct hn_arena *a)
{
	const struct hn_expr *ret = last;

	for (uint32_t k = 0; k < z->bits; k++) {
		const struct hn_expr *of =
			with(HN_EXPR_FLOORDIV, last, two_to(z->unit + k), a);
		const struct hn_expr *by =
			with(HN_EXPR_FLOORDIV, row, two_to(z->shift + k), a);
		const struct hn_expr *sum = hn_expr_binary(HN_EXPR_ADD, of, by, a);

		ret = hn_expr_binary(HN_EXPR_ADD, ret,
				     with(HN_EXPR_MUL, with(HN_EXPR_FLOORMOD, sum, 2, a),
					  two_to(z->unit + k), a),
				     a);
		ret = hn_expr_binary(HN_EXPR_SUB, ret,
				     with(HN_EXPR_MUL, with(HN_EXPR_FLOORMOD, of, 2, a),
					  two_to(z->unit + k), a),
				     a);
	}
	return ret;
}

/* Whether the chunks of a period keep to it and stay apart, in a row whose key is that. */
static bool row_is_one_to_one(const struct hn_swizzle *z, int64_t key)
{
	uint64_t seen = 0;

	for (int64_t c = 0; c < two_to(z->bits); c++) {
		int64_t at =
			hn_layout_turned(z, key * two_to(z->shift), c * two_to(z->unit));

		if (at < 0 || at >= two_to(z->unit + z->bits) ||
		    at % two_to(z->unit) != 0) {
			return false;
		}
		seen |= UINT64_C(1) << (at >> z->unit);
	}
	return seen == UINT64_MAX >> (64 - two_to(z->bits));
}

const char *hn_layout_why_not(const struct hn_buffer *b)
{
	const struct hn_swizzle *z = &b->swizzle;

	if (z->bits == 0) {
		return NULL;
	}
	if (z->bits > HN_SWIZZLE_MAX_BITS || z->unit > HN_SWIZZLE_MAX_UNIT ||
	    z->shift > HN_SWIZZLE_MAX_SHIFT) {
		return "its numbers are too large";
	}
	if (b->lifetime == HN_LIFETIME_ARG) {
		return "its caller has it in order";
	}
	if (b->n_dim < 2 || z->row_dim >= last_dim(b)) {
		return "the row is no dimension before the last";
	}
	if (b->extent[last_dim(b)] % two_to(z->unit + z->bits) != 0) {
		return "its last dimension is no multiple of the chunks that change "
		       "places";
	}
	for (int64_t key = 0; key < two_to(z->bits); key++) {
		if (!row_is_one_to_one(z, key)) {
			return "two elements would lie in one place";
		}
	}
	return NULL;
}
