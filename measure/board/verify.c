/* verify.c -- comparing outputs, one loop per class of element. */
#include "measure/board/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double hn_verify_scale(const struct hn_tensor *t, const void *want)
{
	double sum = 0;
	int64_t n = 0;

	if (hn_dtype_class(t->elem) != HN_CLASS_FLOAT) {
		return 0;
	}
	for (int64_t i = 0; i < t->n_elem; i++) {
		double v = hn_float_get(t->elem, want, i);

		if (isfinite(v)) {
			sum += v * v;
			n++;
		}
	}
	return n > 0 ? sqrt(sum / (double)n) : 0;
}

/* Ratio of the difference to what is allowed: <= 1 passes. */
static double float_excess(double got, double want, double tolerance, double scale, double unit)
{
	double allowed, diff;

	if (isnan(want) || isnan(got)) {
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	}
	if (isinf(want) || isinf(got)) {
		return got == want ? 0 : INFINITY;
	}
	diff = fabs(got - want);
	allowed = fmax(tolerance * fmax(fabs(want), scale), unit);
	if (diff <= allowed) {
		return 0;
	}
	return allowed > 0 ? diff / allowed : INFINITY;
}

static void note(struct hn_mismatch *m, int64_t i, double excess)
{
	if (m->n++ == 0) {
		m->first = i;
	}
	if (excess > m->worst) {
		m->worst = excess;
	}
}

#define BLOCK 1024

/* Whether n elements of the reference are finite and got's as close as allowed: no branches, so
 * that it takes a fraction of a nanosecond an element.  What it does not pass is looked at one by
 * one. */
#define CLOSE_KERNEL(type)                                                               \
	__attribute__((optimize("O3"))) static bool close_##type(                        \
		const type *got, const type *want, int64_t n, double tolerance,          \
		double scale)                                                            \
	{                                                                                \
		int far = 0;                                                             \
                                                                                         \
		for (int64_t i = 0; i < n; i++) {                                        \
			double w = fabs((double)want[i]);                                \
			double d = fabs((double)got[i] - (double)want[i]);               \
                                                                                         \
			far |= !(d <= tolerance * (w > scale ? w : scale)) |             \
			       !(w < (double)INFINITY);                                  \
		}                                                                        \
		return far == 0;                                                         \
	}

CLOSE_KERNEL(float)
CLOSE_KERNEL(double)

/* n elements of a type of 16 bits as float32. */
static void widen(enum hn_dtype t, const void *array, int64_t i, int64_t n, float *ret)
{
	for (int64_t k = 0; k < n; k++) {
		ret[k] = (float)hn_float_get(t, array, i + k);
	}
}

static bool narrow_close(const struct hn_tensor *t, const void *got, const void *want, int64_t i,
			 int64_t n, double tolerance, double scale)
{
	float g[BLOCK], w[BLOCK];

	widen(t->elem, got, i, n, g);
	widen(t->elem, want, i, n, w);
	return close_float(g, w, n, tolerance, scale);
}

static bool block_close(const struct hn_tensor *t, const void *got, const void *want, int64_t i,
			int64_t n, double tolerance, double scale)
{
	switch (t->elem) {
	case HN_F16:
	case HN_BF16:
		return narrow_close(t, got, want, i, n, tolerance, scale);
	case HN_F32:
		return close_float((const float *)got + i, (const float *)want + i, n, tolerance,
				   scale);
	case HN_F64:
		return close_double((const double *)got + i, (const double *)want + i, n, tolerance,
				    scale);
	default:
		return false; /* to be looked at one by one */
	}
}

static void compare_block(const struct hn_tensor *t, const void *got, const void *want,
			  int64_t begin, int64_t end, double tolerance, double scale,
			  struct hn_mismatch *m)
{
	double unit = hn_dtype_is_narrow(t->elem) && tolerance > 0 ? hn_dtype_least(t->elem) : 0;

	for (int64_t i = begin; i < end; i++) {
		double e = float_excess(hn_float_get(t->elem, got, i),
					hn_float_get(t->elem, want, i), tolerance, scale, unit);

		if (e > 0) {
			note(m, i, e);
		}
	}
}

static void compare_float(const struct hn_tensor *t, const void *got, const void *want,
			  int64_t begin, int64_t end, double tolerance, double scale,
			  struct hn_mismatch *m)
{
	for (int64_t i = begin; i < end; i += BLOCK) {
		int64_t n = end - i < BLOCK ? end - i : BLOCK;

		if (!block_close(t, got, want, i, n, tolerance, scale)) {
			compare_block(t, got, want, i, i + n, tolerance, scale, m);
		}
	}
}

static void compare_exact(const struct hn_tensor *t, const char *got, const char *want,
			  int64_t begin, int64_t end, struct hn_mismatch *m)
{
	uint32_t size = hn_dtype_bytes(t->elem);

	if (memcmp(got + begin * size, want + begin * size, (size_t)((end - begin) * size)) == 0) {
		return;
	}
	for (int64_t i = begin; i < end; i++) {
		if (memcmp(got + i * size, want + i * size, size) != 0) {
			note(m, i, INFINITY);
		}
	}
}

bool hn_verify(const struct hn_tensor *t, const void *got, const void *want,
	       double tolerance, double scale, struct hn_mismatch *ret)
{
	return hn_verify_part(t, got, want, 0, t->n_elem, tolerance, scale, ret);
}

bool hn_verify_part(const struct hn_tensor *t, const void *got, const void *want, int64_t begin,
		    int64_t end, double tolerance, double scale, struct hn_mismatch *ret)
{
	*ret = (struct hn_mismatch){0};
	if (hn_dtype_class(t->elem) == HN_CLASS_FLOAT) {
		compare_float(t, got, want, begin, end, tolerance, scale, ret);
	} else {
		compare_exact(t, got, want, begin, end, ret);
	}
	return ret->n == 0;
}

double hn_verify_error(const struct hn_tensor *t, const void *got, const void *want, double scale)
{
	double worst = 0;

	if (hn_dtype_class(t->elem) != HN_CLASS_FLOAT) {
		return 0;
	}
	for (int64_t i = 0; i < t->n_elem; i++) {
		double w = hn_float_get(t->elem, want, i);
		double d = fabs(hn_float_get(t->elem, got, i) - w);

		if (isfinite(w) && d > 0) { /* NaN is not */
			worst = fmax(worst, d / fmax(fabs(w), scale));
		}
	}
	return worst;
}

static double value_at(const struct hn_tensor *t, const void *array, int64_t i)
{
	uint32_t size = hn_dtype_bytes(t->elem);
	unsigned shift = 64 - 8 * size;
	uint64_t u = 0;

	if (hn_dtype_class(t->elem) == HN_CLASS_FLOAT) {
		return hn_float_get(t->elem, array, i);
	}
	memcpy(&u, (const char *)array + i * size, size);
	return hn_dtype_class(t->elem) == HN_CLASS_SIGNED ? (double)((int64_t)(u << shift) >> shift)
							  : (double)u;
}

static bool is_between(double got, double want, double low, double high)
{
	if (isnan(want) || isnan(got)) {
		return isnan(want) && isnan(got);
	}
	/* of a NaN fmin and fmax take the other */
	return got >= fmin(want, fmin(low, high)) && got <= fmax(want, fmax(low, high));
}

bool hn_verify_between(const struct hn_tensor *t, const void *got, const void *want, const void *low,
		       const void *high, int64_t begin, int64_t end, struct hn_mismatch *ret)
{
	size_t size = hn_dtype_bytes(t->elem);

	*ret = (struct hn_mismatch){0};
	if (memcmp((const char *)got + (size_t)begin * size,
		   (const char *)want + (size_t)begin * size, (size_t)(end - begin) * size) == 0) {
		return true;
	}
	for (int64_t i = begin; i < end; i++) {
		/* 64 bits are more than a double tells apart */
		bool same = memcmp((const char *)got + (size_t)i * size,
				   (const char *)want + (size_t)i * size, size) == 0;

		if (!same && (size == 8 || !is_between(value_at(t, got, i), value_at(t, want, i),
						       value_at(t, low, i), value_at(t, high, i)))) {
			note(ret, i, INFINITY);
		}
	}
	return ret->n == 0;
}

static void print_value(const struct hn_tensor *t, const void *bytes, int64_t i,
			char *text, size_t n)
{
	uint32_t size = hn_dtype_bytes(t->elem);
	uint64_t u = 0;

	if (hn_dtype_class(t->elem) == HN_CLASS_FLOAT) {
		snprintf(text, n, "%.9g", hn_float_get(t->elem, bytes, i));
		return;
	}
	memcpy(&u, (const char *)bytes + i * size, size);
	if (hn_dtype_class(t->elem) == HN_CLASS_SIGNED) {
		unsigned shift = 64 - 8 * size;

		snprintf(text, n, "%" PRId64, (int64_t)(u << shift) >> shift);
	} else {
		snprintf(text, n, "%" PRIu64, u);
	}
}

static void print_place(const struct hn_tensor *t, int64_t i, char *text, size_t n)
{
	size_t at = 0;
	int64_t below = t->n_elem;

	text[0] = '\0';
	for (uint32_t d = 0; d < t->n_dim && at < n; d++) {
		below /= t->shape[d];
		at += (size_t)snprintf(text + at, n - at, "%s%" PRId64, d > 0 ? "," : "",
				       i / below);
		i %= below;
	}
}

void hn_verify_print(const struct hn_tensor *t, int64_t at, const void *got, const void *want,
		     char *text, size_t text_bytes)
{
	char place[256], g[48], w[48];

	print_place(t, at, place, sizeof place);
	print_value(t, got, 0, g, sizeof g);
	print_value(t, want, 0, w, sizeof w);
	snprintf(text, text_bytes, "%.60s[%s]: got %s, want %s", t->name, place, g, w);
}

void hn_mismatch_print(const struct hn_tensor *t, const void *got, const void *want,
		       const struct hn_mismatch *m, char *text, size_t text_bytes)
{
	int64_t at = m->first * hn_dtype_bytes(t->elem);
	char first[440];

	hn_verify_print(t, m->first, (const char *)got + at, (const char *)want + at, first,
			sizeof first);
	snprintf(text, text_bytes, "%s; %" PRId64 " of %" PRId64 " elements differ", first, m->n,
		 t->n_elem);
}
