/* inputs.c -- see inputs.h. */
#include "measure/board/inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/draw.h"

#define SMALL 24     /* the small are 2^-24 at most */
#define ONE_ZERO_IN 16
#define ORDINARY 4   /* integers */

static bool is_signed(enum hn_dtype e)
{
	return hn_dtype_class(e) == HN_CLASS_SIGNED;
}

/* Rounding may reach 1: still a number like another. */
static void put_float(const struct hn_tensor *t, int64_t i, double v, void *bytes)
{
	hn_float_put(t->elem, bytes, i, v);
}

static void put_int(const struct hn_tensor *t, int64_t i, int64_t v, void *bytes)
{
	uint32_t size = hn_dtype_bytes(t->elem);

	/* two's complement, little-endian: the low bytes are the narrow value */
	memcpy((char *)bytes + i * size, &v, size);
}

static void put_plain(const struct hn_tensor *t, struct hn_rng *r, int64_t i, void *bytes)
{
	switch (hn_dtype_class(t->elem)) {
	case HN_CLASS_FLOAT:
		put_float(t, i, 2 * hn_rng_unit(r) - 1, bytes);
		break;
	case HN_CLASS_SIGNED:
	case HN_CLASS_UNSIGNED:
		put_int(t, i, (int64_t)hn_rng_below(r, 2 * ORDINARY + 1) -
				      (is_signed(t->elem) ? ORDINARY : 0),
			bytes);
		break;
	case HN_CLASS_BOOL:
		((uint8_t *)bytes)[i] = (uint8_t)hn_rng_below(r, 2);
		break;
	}
}

static void put_zero(const struct hn_tensor *t, struct hn_rng *r, int64_t i, void *bytes)
{
	if (hn_dtype_class(t->elem) == HN_CLASS_FLOAT) {
		put_float(t, i, hn_rng_below(r, 2) == 0 ? 0.0 : -0.0, bytes);
	} else {
		put_int(t, i, 0, bytes);
	}
}

static void put_strewn(const struct hn_tensor *t, struct hn_rng *r, int64_t i, void *bytes)
{
	if (hn_rng_below(r, ONE_ZERO_IN) == 0) {
		put_zero(t, r, i, bytes);
	} else {
		put_plain(t, r, i, bytes);
	}
}

static bool is_float(const struct hn_tensor *t)
{
	return hn_dtype_class(t->elem) == HN_CLASS_FLOAT;
}

static void put_whole(const struct hn_tensor *t, struct hn_rng *r, int64_t i, void *bytes)
{
	if (is_float(t)) {
		put_float(t, i, hn_draw_scale(r), bytes);
	} else {
		put_int(t, i, hn_draw_integer(r, t->elem), bytes);
	}
}

/* Whether every index of a row's elements but the last is beyond its dimension's first quarter. */
static bool row_in_corner(const struct hn_tensor *t, int64_t row)
{
	for (uint32_t d = t->n_dim > 0 ? t->n_dim - 1 : 0; d-- > 0;) {
		if (row % t->shape[d] < t->shape[d] / 4) {
			return false;
		}
		row /= t->shape[d];
	}
	return true;
}

/* The largest integer of a magnitude, below zero or above it. */
static uint64_t int_end(enum hn_dtype e, int32_t magnitude, bool negative)
{
	int bits = 8 * (int)hn_dtype_bytes(e) - (is_signed(e) ? 1 : 0);
	uint64_t end = (uint64_t)1 << (bits - 1);

	if (magnitude == 0) {
		return is_signed(e) ? ORDINARY : 2 * ORDINARY;
	}
	return magnitude < bits ? (uint64_t)1 << magnitude
	       : negative	? 2 * end
				: 2 * end - 1;
}

/* Outside of the corner there are large ones alone. */
static void put_extreme(const struct hn_tensor *t, struct hn_rng *r, int32_t magnitude,
			bool corner, bool negative, int64_t i, void *bytes)
{
	uint64_t draw = corner ? hn_rng_below(r, 8) : 3 + hn_rng_below(r, 5);
	bool floating = hn_dtype_class(t->elem) == HN_CLASS_FLOAT;
	int end = floating ? hn_dtype_inputs_exponent(t->elem) : 0;

	end = magnitude < end ? magnitude : end;
	if (draw < 2) {
		put_zero(t, r, i, bytes);
	} else if (floating) {
		double v = draw == 2   ? ldexp(1, end > SMALL ? -end : -SMALL)
			   : draw == 3 ? ldexp(1, end)
				       : ldexp(0.5 + 0.5 * hn_rng_unit(r), end);

		put_float(t, i, negative ? -v : v, bytes);
	} else {
		uint64_t top = int_end(t->elem, magnitude, negative);
		uint64_t v = draw == 2 ? 1 : draw == 3 ? top : top - hn_rng_below(r, top / 2 + 1);

		put_int(t, i, (int64_t)(negative ? 0 - v : v), bytes);
	}
}

static void fill_extremes(const struct hn_inputs *in, const struct hn_tensor *t,
			  uint32_t index, struct hn_rng *r, void *bytes)
{
	int64_t last = t->n_dim > 0 ? t->shape[t->n_dim - 1] : 1;
	bool floating = hn_dtype_class(t->elem) == HN_CLASS_FLOAT;

	for (int64_t row = 0; row < t->n_elem / last; row++) {
		bool outer = row_in_corner(t, row);

		for (int64_t k = 0; k < last; k++) {
			bool corner = outer && k >= last / 4;
			bool negative = corner == (index % 2 != 0);

			put_extreme(t, r, in->magnitude,
				    corner, negative && (floating || is_signed(t->elem)),
				    row * last + k, bytes);
		}
	}
}

static void put(const struct hn_inputs *in, const struct hn_tensor *t, uint32_t index,
		struct hn_rng *r, int64_t i, void *bytes)
{
	bool any = hn_dtype_class(t->elem) != HN_CLASS_BOOL;

	if (any && in->kind == HN_INPUTS_WHOLE) {
		put_whole(t, r, i, bytes);
	} else if (is_float(t) && in->kind == HN_INPUTS_TIES) {
		put_float(t, i, hn_draw_tie(r), bytes);
	} else if (is_float(t) && in->kind == HN_INPUTS_TINY && index % 2 == 0) {
		put_float(t, i, hn_draw_tiny(r, t->elem, in->subnormals), bytes);
	} else if (in->kind == HN_INPUTS_ZEROS) {
		put_strewn(t, r, i, bytes);
	} else {
		put_plain(t, r, i, bytes);
	}
}

void hn_inputs_fill(const struct hn_inputs *in, const struct hn_tensor *t, uint32_t index,
		    void *bytes)
{
	struct hn_rng r = hn_rng_stream(in->seed, 0, 0, index);

	if (in->kind == HN_INPUTS_EXTREMES && hn_dtype_class(t->elem) != HN_CLASS_BOOL) {
		fill_extremes(in, t, index, &r, bytes);
		return;
	}
	for (int64_t i = 0; i < t->n_elem; i++) {
		put(in, t, index, &r, i, bytes);
	}
}

/* Of an integer, of what has fewer bits than float32, of a float of 16 bits: is there one? */
static bool shows(enum hn_inputs_kind kind, const struct hn_tensor *t)
{
	enum hn_dtype_class c = hn_dtype_class(t->elem);

	switch (kind) {
	case HN_INPUTS_WHOLE:
		return !t->output && (c == HN_CLASS_SIGNED || c == HN_CLASS_UNSIGNED);
	case HN_INPUTS_TIES:
		return c != HN_CLASS_BOOL && hn_dtype_bits(t->elem) < hn_dtype_bits(HN_F32);
	case HN_INPUTS_TINY:
		return !t->output && c == HN_CLASS_FLOAT && hn_dtype_is_narrow(t->elem);
	default:
		return true;
	}
}

bool hn_inputs_serve(enum hn_inputs_kind kind, uint32_t n, const struct hn_tensor *t)
{
	bool ret = false, reals = false, integers = false;

	for (uint32_t i = 0; i < n; i++) {
		enum hn_dtype_class c = hn_dtype_class(t[i].elem);

		ret |= shows(kind, &t[i]);
		reals |= !t[i].output && c == HN_CLASS_FLOAT;
		integers |= t[i].output && (c == HN_CLASS_SIGNED || c == HN_CLASS_UNSIGNED);
	}
	return ret || (kind == HN_INPUTS_TIES && reals && integers);
}

void hn_inputs_print(const struct hn_inputs *in, char *text, size_t text_bytes)
{
	switch (in->kind) {
	case HN_INPUTS_EXTREMES:
		snprintf(text, text_bytes, "extremes to 2^%" PRId32, in->magnitude);
		return;
	case HN_INPUTS_WHOLE:
		snprintf(text, text_bytes, "all integers");
		return;
	case HN_INPUTS_TIES:
		snprintf(text, text_bytes, "ties");
		return;
	case HN_INPUTS_TINY:
		snprintf(text, text_bytes, "tiny%s", in->subnormals ? " and subnormal" : "");
		return;
	default:
		snprintf(text, text_bytes, "seed %" PRIu64 "%s", in->seed,
			 in->kind == HN_INPUTS_ZEROS ? " with zeros" : "");
	}
}
