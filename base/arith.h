/* base/arith.h -- integer arithmetic that cannot overflow silently. */
#ifndef HN_BASE_ARITH_H
#define HN_BASE_ARITH_H

#include <stdint.h>

#define HN_EXTENT_MAX ((int64_t)1 << 62) /* products saturate here */

/* a * b for a, b >= 0, saturating at HN_EXTENT_MAX. */
static inline int64_t hn_mul_sat(int64_t a, int64_t b)
{
	int64_t p;

	if (__builtin_mul_overflow(a, b, &p) || p > HN_EXTENT_MAX) {
		return HN_EXTENT_MAX;
	}
	return p;
}

/* a + b, likewise. */
static inline int64_t hn_add_sat(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) || s > HN_EXTENT_MAX ? HN_EXTENT_MAX : s;
}

/* Division that rounds towards minus infinity, and its remainder (sign of b). b != 0. */
static inline int64_t hn_floordiv(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static inline int64_t hn_floormod(int64_t a, int64_t b)
{
	int64_t r = a % b; /* the quotient times b may be below the least int64 */

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Greatest common divisor, never negative; hn_gcd(0, b) = |b|. */
static inline int64_t hn_gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* The least power of two that is v or more. */
static inline uint32_t hn_pow2_ceil(int64_t v)
{
	uint32_t p = 1;

	while (p < v) {
		p *= 2;
	}
	return p;
}

/* ceil(a / b) for a >= 0, b > 0. */
static inline int64_t hn_ceildiv(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

#endif
