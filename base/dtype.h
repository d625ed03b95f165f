/* base/dtype.h -- element types, by one table (dtypes.def).
 *
 * Code asks here what a type is and which numbers it has. It never decides by the size of an
 * element: two bytes may be an integer, a float16 or a bfloat16.
 */
#ifndef HN_BASE_DTYPE_H
#define HN_BASE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cdefs.h"
#include "base/half.h"

enum hn_dtype {
#define DTYPE(name, text, bytes, cls, c, bits, exponent, inputs, tolerance, arith) HN_##name,
#include "base/dtypes.def"
#undef DTYPE
	HN_N_DTYPE
};

enum hn_dtype_class { HN_CLASS_BOOL, HN_CLASS_SIGNED, HN_CLASS_UNSIGNED, HN_CLASS_FLOAT };

const char *hn_dtype_name(enum hn_dtype t);
const char *hn_dtype_c_name(enum hn_dtype t);

/* Whether the number, which may be anyone's, is a type. */
bool hn_dtype_is(int t);

/* The type of that name, or HN_N_DTYPE. */
enum hn_dtype hn_dtype_of(const char *name);

uint32_t hn_dtype_bytes(enum hn_dtype t);
enum hn_dtype_class hn_dtype_class(enum hn_dtype t);

/* Bits that a number has: of a float its significand's, of an integer all but the sign. */
int hn_dtype_bits(enum hn_dtype t);

/* Of a float: its finite numbers are below 2^this; else 0. */
int hn_dtype_exponent(enum hn_dtype t);

/* Of a float: the largest finite number; else 0. */
double hn_dtype_largest(enum hn_dtype t);

/* Of a float: inputs that are drawn to be large are below 2^this; else 0. */
int hn_dtype_inputs_exponent(enum hn_dtype t);

/* Of a float: the least number above zero, a subnormal one; else 0. */
double hn_dtype_least(enum hn_dtype t);

/* Of a float: 2^this is the least number with all its bits; else 0. */
int hn_dtype_normal_exponent(enum hn_dtype t);

/* Relative difference of two answers of a few operations, each rounded to the type; 0 for what
 * is exact. */
double hn_dtype_tolerance(enum hn_dtype t);

/* The type in which operations on it are done. */
enum hn_dtype hn_dtype_arith(enum hn_dtype t);

/* Whether a result has to be rounded after the operation: the arithmetic has more bits. */
static inline bool hn_dtype_is_narrow(enum hn_dtype t)
{
	return hn_dtype_arith(t) != t;
}

/* v rounded to the float type; to a narrow one by way of its arithmetic's. */
static inline double hn_float_round(enum hn_dtype t, double v)
{
	switch (t) {
	case HN_F16:
		return (double)hn_half_to_float(hn_half_of_float((float)v));
	case HN_BF16:
		return (double)hn_bfloat_to_float(hn_bfloat_of_float((float)v));
	case HN_F32:
		return (double)(float)v;
	case HN_F64:
		return v;
	default:
		hn_bug(__FILE__, __LINE__, "rounding to this type is not known");
	}
}

/* Element i of an array of a float type. */
static inline double hn_float_get(enum hn_dtype t, const void *array, int64_t i)
{
	switch (t) {
	case HN_F16:
		return (double)hn_half_to_float(((const uint16_t *)array)[i]);
	case HN_BF16:
		return (double)hn_bfloat_to_float(((const uint16_t *)array)[i]);
	case HN_F32:
		return (double)((const float *)array)[i];
	case HN_F64:
		return ((const double *)array)[i];
	default:
		hn_bug(__FILE__, __LINE__, "elements of this type are not known");
	}
}

static inline void hn_float_put(enum hn_dtype t, void *array, int64_t i, double v)
{
	switch (t) {
	case HN_F16:
		((uint16_t *)array)[i] = hn_half_of_float((float)v);
		return;
	case HN_BF16:
		((uint16_t *)array)[i] = hn_bfloat_of_float((float)v);
		return;
	case HN_F32:
		((float *)array)[i] = (float)v;
		return;
	case HN_F64:
		((double *)array)[i] = v;
		return;
	default:
		hn_bug(__FILE__, __LINE__, "elements of this type are not known");
	}
}

#endif
