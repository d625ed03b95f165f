/* poison.c -- wrong answers that look like right ones. */
#include "measure/board/poison.h"

#include <math.h>
#include <string.h>

/* By how much an element is off: of a table, so that large outputs take as long as a copy. */
#define FACTORS 1021

/* 1 to 2, of either sign. */
static double draw_factor(struct hn_rng *r)
{
	double f = 1 + hn_rng_unit(r);

	return hn_rng_below(r, 2) == 0 ? f : -f;
}

static double wrong_float(double want, double scale, double factor)
{
	if (!isfinite(want)) {
		return factor * scale;
	}
	return want + factor * fmax(fabs(want), scale);
}

/* Another integer, near it: bools stay bools. */
static void wrong_int(const struct hn_tensor *t, const uint8_t *want, uint64_t draw, uint8_t *got)
{
	uint32_t size = hn_dtype_bytes(t->elem);
	uint64_t v = 0;

	memcpy(&v, want, size);
	if (hn_dtype_class(t->elem) == HN_CLASS_BOOL) {
		v = v == 0;
	} else {
		v += draw % 2 == 0 ? 1 + draw / 2 % 9 : 0 - (1 + draw / 2 % 9);
	}
	memcpy(got, &v, size);
}

void hn_poison_one(const struct hn_tensor *t, const void *want, double scale, struct hn_rng *r,
		   int64_t i, void *got)
{
	uint32_t size = hn_dtype_bytes(t->elem);
	double factor = draw_factor(r), s = scale > 0 ? scale : 1;

	if (hn_dtype_class(t->elem) != HN_CLASS_FLOAT) {
		wrong_int(t, (const uint8_t *)want + i * size, hn_rng_u64(r),
			  (uint8_t *)got + i * size);
	} else {
		hn_float_put(t->elem, got, i,
			     wrong_float(hn_float_get(t->elem, want, i), s, factor));
	}
}

#define FILL(type)                                                                          \
	static void fill_##type(const type *want, int64_t n, double scale,                   \
				const double *factor, type *got)                             \
	{                                                                                    \
		for (int64_t i = 0; i < n; i++) {                                            \
			got[i] = (type)wrong_float((double)want[i], scale, factor[i]);       \
		}                                                                            \
	}

FILL(float)
FILL(double)

static void fill_ints(const struct hn_tensor *t, const uint8_t *want, struct hn_rng *r,
		      uint8_t *got)
{
	uint32_t size = hn_dtype_bytes(t->elem);
	uint64_t draw = hn_rng_u64(r);

	for (int64_t i = 0; i < t->n_elem; i++) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		wrong_int(t, want + i * size, draw >> 33, got + i * size);
	}
}

void hn_poison_all(const struct hn_tensor *t, const void *want, double scale, struct hn_rng *r,
		   void *got)
{
	double factor[FACTORS], s = scale > 0 ? scale : 1;

	if (hn_dtype_class(t->elem) != HN_CLASS_FLOAT) {
		fill_ints(t, want, r, got);
		return;
	}
	for (int i = 0; i < FACTORS; i++) {
		factor[i] = draw_factor(r);
	}
	for (int64_t i = 0; i < t->n_elem; i += FACTORS) {
		int64_t n = t->n_elem - i < FACTORS ? t->n_elem - i : FACTORS;

		switch (t->elem) {
		case HN_F32:
			fill_float((const float *)want + i, n, s, factor, (float *)got + i);
			break;
		case HN_F64:
			fill_double((const double *)want + i, n, s, factor, (double *)got + i);
			break;
		default:
			for (int64_t k = 0; k < n; k++) {
				hn_float_put(t->elem, got, i + k,
					     wrong_float(hn_float_get(t->elem, want, i + k), s,
							 factor[k]));
			}
		}
	}
}

void hn_poison_noise(struct hn_rng *r, void *bytes, size_t n)
{
	uint64_t draw = hn_rng_u64(r);
	uint8_t *at = bytes;

	for (size_t i = 0; i < n; i += sizeof draw) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		memcpy(at + i, &draw, n - i < sizeof draw ? n - i : sizeof draw);
	}
}
