/* base/dtype.c -- element types.  See dtype.h. */
#include "base/dtype.h"

#include <math.h>
#include <string.h>

#include "base/cdefs.h"

struct row {
	const char *name, *c_name;
	uint32_t bytes;
	enum hn_dtype_class cls;
	int bits, exponent, inputs;
	double tolerance;
	enum hn_dtype arith;
};

static const struct row rows[HN_N_DTYPE] = {
#define DTYPE(name, text, bytes, cls, c, bits, exponent, inputs, tolerance, arith)               \
	[HN_##name] = { text,     #c,     bytes,     HN_CLASS_##cls, bits,                \
			exponent, inputs, tolerance, HN_##arith },
#include "base/dtypes.def"
#undef DTYPE
};

#define DTYPE(name, text, bytes, cls, c, bits, exponent, inputs, tolerance, arith)               \
	_Static_assert(sizeof(c) == (bytes), text);
#include "base/dtypes.def"
#undef DTYPE

const char *hn_dtype_name(enum hn_dtype t)
{
	return t < HN_N_DTYPE ? rows[t].name : "?";
}

const char *hn_dtype_c_name(enum hn_dtype t)
{
	return t < HN_N_DTYPE ? rows[t].c_name : "?";
}

bool hn_dtype_is(int t)
{
	return t >= 0 && t < HN_N_DTYPE;
}

enum hn_dtype hn_dtype_of(const char *name)
{
	for (int t = 0; t < HN_N_DTYPE; t++) {
		if (strcmp(rows[t].name, name) == 0) {
			return (enum hn_dtype)t;
		}
	}
	return HN_N_DTYPE;
}

uint32_t hn_dtype_bytes(enum hn_dtype t)
{
	hn_assert(t < HN_N_DTYPE);
	return rows[t].bytes;
}

enum hn_dtype_class hn_dtype_class(enum hn_dtype t)
{
	hn_assert(t < HN_N_DTYPE);
	return rows[t].cls;
}

int hn_dtype_bits(enum hn_dtype t)
{
	return rows[t].bits;
}

int hn_dtype_exponent(enum hn_dtype t)
{
	return rows[t].exponent;
}

double hn_dtype_largest(enum hn_dtype t)
{
	const struct row *r = &rows[t];

	/* 2^exponent alone may be past a double */
	return r->cls == HN_CLASS_FLOAT
		       ? ldexp(2 - ldexp(1, 1 - r->bits), r->exponent - 1)
		       : 0;
}

int hn_dtype_normal_exponent(enum hn_dtype t)
{
	return rows[t].cls == HN_CLASS_FLOAT ? 2 - rows[t].exponent : 0;
}

double hn_dtype_least(enum hn_dtype t)
{
	const struct row *r = &rows[t];

	return r->cls == HN_CLASS_FLOAT ? ldexp(1, hn_dtype_normal_exponent(t) + 1 - r->bits) : 0;
}

int hn_dtype_inputs_exponent(enum hn_dtype t)
{
	return rows[t].inputs;
}

double hn_dtype_tolerance(enum hn_dtype t)
{
	return rows[t].tolerance;
}

enum hn_dtype hn_dtype_arith(enum hn_dtype t)
{
	return rows[t].arith;
}
