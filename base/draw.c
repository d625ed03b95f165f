/* base/draw.c -- see draw.h. */
#include "base/draw.h"

#include <math.h>

#define SCALES 21   /* the small are 2^-20 at least */
#define EIGHTHS 64  /* up to 8 */
#define SINGLE -126 /* float32's least normal number is 2^this */

static double signed_by(struct hn_rng *r, double v)
{
	return hn_rng_below(r, 2) == 0 ? v : -v;
}

int64_t hn_draw_integer(struct hn_rng *r, enum hn_dtype t)
{
	int bits = 8 * (int)hn_dtype_bytes(t);
	uint64_t half = (uint64_t)1 << (bits - 1);
	uint64_t v = hn_rng_u64(r), draw = hn_rng_below(r, 8);

	if (draw > 5 && bits > 16) { /* of any length, else nearly all are long */
		v >>= 64 - bits + (int)hn_rng_below(r, (uint64_t)bits);
		v = hn_rng_below(r, 2) == 0 ? v : 0 - v;
	}
	switch (draw) {
	case 0: /* the least, or the middle of an unsigned type */
		v = half;
		break;
	case 1:
		v = half - 1;
		break;
	case 2:
		v = 0;
		break;
	case 3:
		v = UINT64_MAX;
		break;
	default:
		break;
	}
	if (hn_dtype_class(t) == HN_CLASS_SIGNED) {
		return (int64_t)(v << (64 - bits)) >> (64 - bits);
	}
	return (int64_t)(v << (64 - bits) >> (64 - bits));
}

double hn_draw_scale(struct hn_rng *r)
{
	double v = ldexp(1 + hn_rng_unit(r), -(int)hn_rng_below(r, SCALES));

	return signed_by(r, v);
}

/* An odd number of so many bits, from 2^-3 to 8. */
static double odd(struct hn_rng *r, int bits)
{
	uint64_t top = (uint64_t)1 << (bits - 1);
	uint64_t v = top | hn_rng_below(r, top) | 1;

	return ldexp((double)v, (int)hn_rng_below(r, 6) - 2 - bits);
}

double hn_draw_tie(struct hn_rng *r)
{
	uint64_t draw = hn_rng_below(r, 8);

	if (draw < 6) {
		return ((double)hn_rng_below(r, 2 * EIGHTHS + 1) - EIGHTHS) / 8;
	}
	return signed_by(r, odd(r, draw == 6 ? 9 : 12));
}

double hn_draw_tiny(struct hn_rng *r, enum hn_dtype t, bool subnormals)
{
	int normal = hn_dtype_normal_exponent(t);
	bool all = subnormals || normal > SINGLE;
	int low = all ? ilogb(hn_dtype_least(t)) : SINGLE / 2;
	int high = 2 + (all ? normal : low);
	/* one of two is of the largest, the others are of any size */
	int e = hn_rng_below(r, 2) == 0
			? high
			: low + (int)hn_rng_below(r, (uint64_t)(high + 1 - low));

	return signed_by(r, ldexp(1 + hn_rng_unit(r), e));
}
