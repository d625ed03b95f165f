/* base/half.h -- floats of 16 bits: to float32 exactly, and from it by rounding to nearest, ties
 * to even, as IEEE 754 has it.  Subnormal numbers count; a NaN stays a NaN.
 *
 * float16 is IEEE's binary16. bfloat16 is the upper half of a float32. Integer operations alone,
 * so that compilers without such types and every machine give the same bits.
 */
#ifndef HN_BASE_HALF_H
#define HN_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t hn_float_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static inline float hn_float_of_bits(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static inline float hn_bfloat_to_float(uint16_t h)
{
	return hn_float_of_bits((uint32_t)h << 16);
}

static inline uint16_t hn_bfloat_of_float(float v)
{
	uint32_t bits = hn_float_bits(v);

	if ((bits & 0x7fffffff) > 0x7f800000) {
		return (uint16_t)(bits >> 16 |
				  0x40); /* rounding could carry a NaN to infinity */
	}
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float hn_half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;

	if (rest >= 0x7c00) { /* infinity, NaN */
		return hn_float_of_bits(sign | 0x7f800000 | rest << 13);
	}
	/* the exponent's bias differs by 112; the product is exact, of subnormals too */
	return hn_float_of_bits(sign |
				hn_float_bits(hn_float_of_bits(rest << 13) * 0x1p112f));
}

static inline uint16_t hn_half_of_float(float v)
{
	uint32_t bits = hn_float_bits(v), rest = bits & 0x7fffffff;
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);

	if (rest > 0x7f800000) {
		return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
	}
	if (rest >= 0x477ff000) { /* 65520: halfway to what would be 65536 */
		return (uint16_t)(sign | 0x7c00);
	}
	if (rest <
	    0x38800000) { /* below 2^-14: the sum rounds at 2^-24, the least subnormal */
		uint32_t sum = hn_float_bits(hn_float_of_bits(rest) + 0.5f);

		return (uint16_t)(sign | (sum - 0x3f000000));
	}
	return (uint16_t)(sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13);
}

#endif
