/* frames_rows.h -- any frame by its rows: drawn at random, compared, and held to its limits. */
#ifndef HN_TESTS_FRAMES_ROWS_H
#define HN_TESTS_FRAMES_ROWS_H

#include <math.h>
#include <string.h>

#include "base/name.h"
#include "base/rng.h"
#include "proto/frames_row.h"

static inline struct hn_frame_list frames_list(const void *member)
{
	struct hn_frame_list l;

	memcpy(&l, member, sizeof l);
	return l;
}

static inline bool frames_is_list(const struct hn_frame_field *f)
{
	return f->kind == HN_FIELD_INTS || f->kind == HN_FIELD_NUMBERS || f->kind == HN_FIELD_MANY;
}

static inline bool frames_rules_hold(enum hn_shape s, const void *v)
{
	bool ret = true;

	for (uint32_t i = 0; i < hn_frame_n_rule; i++) {
		ret = ret && (hn_frame_rule[i].of != s || hn_frame_rule[i].holds(v));
	}
	return ret;
}

/* ---- what a decoder returns is within the limits of its rows ---- */

static inline bool frames_within(enum hn_shape s, const void *v);

static inline bool frames_number_within(const struct hn_frame_field *f, long double v)
{
	return v >= f->low && v <= f->high;
}

static inline bool frames_text_within(const struct hn_frame_field *f, const char *s)
{
	if (s == NULL || strlen(s) > f->most || (!f->must && *s == '\0')) {
		return s != NULL && *s == '\0';
	}
	return f->kind == HN_FIELD_NAME	  ? hn_name_fits(s, f->most)
	       : f->kind == HN_FIELD_LINE ? hn_label_fits(s, f->most)
	       : f->kind == HN_FIELD_HASH ? strlen(s) == 64 &&
						    strspn(s, "0123456789abcdef") == 64
	       : f->kind == HN_FIELD_JSON ? *s == '{' || *s == '['
					  : true;
}

static inline bool frames_field_within(const struct hn_frame_field *f, const void *member)
{
	struct hn_frame_list l;

	switch (f->kind) {
	case HN_FIELD_BOOL:
		return *(const uint8_t *)member <= 1;
	case HN_FIELD_INT:
		return (!f->must && *(const int64_t *)member == 0) ||
		       frames_number_within(f, *(const int64_t *)member);
	case HN_FIELD_NUMBER:
		return (!f->must && *(const double *)member == 0) ||
		       frames_number_within(f, *(const double *)member);
	case HN_FIELD_VERDICT:
		return *(const enum hn_verdict *)member < HN_N_VERDICT;
	case HN_FIELD_TYPE:
		return hn_dtype_is((int)*(const enum hn_dtype *)member);
	case HN_FIELD_ONE:
		return *(void *const *)member != NULL
			       ? frames_within(f->shape, *(void *const *)member)
			       : !f->must;
	default:
		if (!frames_is_list(f)) {
			return frames_text_within(f, *(const char *const *)member);
		}
	}
	l = frames_list(member);
	if (l.n > f->most || l.at == NULL || (f->must && l.n == 0)) {
		return false;
	}
	for (uint32_t i = 0; i < l.n; i++) {
		const void *item = (const char *)l.at + i * hn_frame_item_bytes(f);

		if (!(f->kind == HN_FIELD_INTS ? frames_number_within(f, *(const int64_t *)item)
		      : f->kind == HN_FIELD_NUMBERS ? frames_number_within(f, *(const double *)item)
						    : frames_within(f->shape, item))) {
			return false;
		}
	}
	return true;
}

static inline bool frames_within(enum hn_shape s, const void *v)
{
	for (uint32_t i = 0; i < hn_frame_n_field; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];

		if (f->of == s && !frames_field_within(f, (const char *)v + f->at)) {
			return false;
		}
	}
	return frames_rules_hold(s, v);
}

/* ---- the same values ---- */

static inline bool frames_equal(enum hn_shape s, const void *a, const void *b);

static inline bool frames_field_equal(const struct hn_frame_field *f, const void *a, const void *b)
{
	struct hn_frame_list x, y;
	bool ret = true;

	switch (f->kind) {
	case HN_FIELD_BOOL:
		return *(const bool *)a == *(const bool *)b;
	case HN_FIELD_INT:
		return *(const int64_t *)a == *(const int64_t *)b;
	case HN_FIELD_NUMBER:
		return *(const double *)a == *(const double *)b;
	case HN_FIELD_VERDICT:
	case HN_FIELD_TYPE:
		return *(const int *)a == *(const int *)b;
	case HN_FIELD_ONE:
		if (*(void *const *)a == NULL || *(void *const *)b == NULL) {
			return *(void *const *)a == *(void *const *)b;
		}
		return frames_equal(f->shape, *(void *const *)a, *(void *const *)b);
	default:
		if (!frames_is_list(f)) {
			return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
		}
	}
	x = frames_list(a);
	y = frames_list(b);
	for (uint32_t i = 0; i < x.n && x.n == y.n; i++) {
		size_t at = i * hn_frame_item_bytes(f);

		ret = ret && (f->kind == HN_FIELD_MANY
				      ? frames_equal(f->shape, (const char *)x.at + at,
						     (const char *)y.at + at)
				      : memcmp((const char *)x.at + at, (const char *)y.at + at,
					       8) == 0);
	}
	return ret && x.n == y.n;
}

static inline bool frames_equal(enum hn_shape s, const void *a, const void *b)
{
	bool ret = true;

	for (uint32_t i = 0; i < hn_frame_n_field; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];

		ret = ret && (f->of != s || frames_field_equal(f, (const char *)a + f->at,
							       (const char *)b + f->at));
	}
	return ret;
}

/* ---- at random, and right ---- */

static inline void frames_draw(enum hn_shape s, struct hn_rng *r, struct hn_arena *a, void *ret);

/* Its ends, and anything between. */
static inline long double frames_draw_number(const struct hn_frame_field *f, struct hn_rng *r)
{
	long double v, whole = f->kind == HN_FIELD_INT || f->kind == HN_FIELD_INTS ? 1 : 0.3L;

	switch (hn_rng_below(r, 4)) {
	case 0:
		return f->low;
	case 1:
		return f->high;
	default:
		v = (long double)(hn_rng_u64(r) >> hn_rng_below(r, 64)) * whole;
		v = v < f->low ? f->low : v > f->high ? f->high : v;
		return whole == 1 ? v : (double)v;
	}
}

static inline const char *frames_draw_text(const struct hn_frame_field *f, struct hn_rng *r,
					   struct hn_arena *a)
{
	static const char *const lines[] = { "a word", "µ \"quoted\" \\ /", "日本", "x" };
	static const char *const json[] = { "{}", "[]", "[[\"SP\",-1.5]]", "{\"a\":{\"b\":null}}" };
	static const char *const texts[] = { "two\nlines", "\x01 a bell", "plain", "[\"SP\"]" };
	char *s;
	size_t n = hn_rng_below(r, 3) == 0 ? f->most : 1 + hn_rng_below(r, 5);

	switch (f->kind) {
	case HN_FIELD_LINE:
		return lines[hn_rng_below(r, HN_COUNT_OF(lines))];
	case HN_FIELD_JSON:
		return json[hn_rng_below(r, HN_COUNT_OF(json))];
	case HN_FIELD_TEXT:
		return texts[hn_rng_below(r, HN_COUNT_OF(texts))];
	default:
		break;
	}
	n = f->kind == HN_FIELD_HASH ? 64 : n;
	s = hn_arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++) {
		s[i] = f->kind == HN_FIELD_HASH ? "0123456789abcdef"[hn_rng_below(r, 16)]
						: "az_$.:@-"[hn_rng_below(r, i == 0 ? 3 : 8)];
	}
	return s;
}

static inline void frames_draw_list(const struct hn_frame_field *f, struct hn_rng *r,
				    struct hn_arena *a, void *ret)
{
	uint64_t kind = hn_rng_below(r, 40);
	uint32_t n = kind == 0 ? f->most : (uint32_t)(1 + kind % 4);
	struct hn_frame_list l = { .n = n < f->most ? n : f->most };
	size_t bytes = hn_frame_item_bytes(f);
	char *item = hn_arena_array(a, l.n, bytes);

	l.at = item;
	for (uint32_t i = 0; i < l.n; i++, item += bytes) {
		if (f->kind == HN_FIELD_INTS) {
			*(int64_t *)(void *)item = (int64_t)frames_draw_number(f, r);
		} else if (f->kind == HN_FIELD_NUMBERS) {
			*(double *)(void *)item = (double)frames_draw_number(f, r);
		} else {
			frames_draw(f->shape, r, a, item);
		}
	}
	memcpy(ret, &l, sizeof l);
}

static inline void frames_draw_field(const struct hn_frame_field *f, struct hn_rng *r,
				     struct hn_arena *a, void *ret)
{
	bool absent = !f->must && hn_rng_below(r, 2) == 0;
	void *one;

	switch (f->kind) {
	case HN_FIELD_BOOL:
		*(bool *)ret = !absent;
		break;
	case HN_FIELD_INT:
		*(int64_t *)ret = absent ? 0 : (int64_t)frames_draw_number(f, r);
		break;
	case HN_FIELD_NUMBER:
		*(double *)ret = absent ? 0 : (double)frames_draw_number(f, r);
		break;
	case HN_FIELD_VERDICT:
		*(enum hn_verdict *)ret =
			hn_rng_below(r, 2) == 0 ? HN_VERDICT_OK
						: (enum hn_verdict)hn_rng_below(r, HN_N_VERDICT);
		break;
	case HN_FIELD_TYPE:
		*(enum hn_dtype *)ret = (enum hn_dtype)hn_rng_below(r, HN_N_DTYPE);
		break;
	case HN_FIELD_ONE:
		one = absent ? NULL : hn_arena_alloc(a, hn_frame_shape[f->shape].bytes);
		if (one != NULL) {
			frames_draw(f->shape, r, a, one);
		}
		*(void **)ret = one;
		break;
	case HN_FIELD_INTS:
	case HN_FIELD_NUMBERS:
	case HN_FIELD_MANY:
		if (!absent) {
			frames_draw_list(f, r, a, ret);
		}
		break;
	default:
		*(const char **)ret = absent ? "" : frames_draw_text(f, r, a);
	}
}

/* Drawn again until the rules hold. */
static inline void frames_draw(enum hn_shape s, struct hn_rng *r, struct hn_arena *a, void *ret)
{
	do {
		memset(ret, 0, hn_frame_shape[s].bytes);
		for (uint32_t i = 0; i < hn_frame_n_field; i++) {
			const struct hn_frame_field *f = &hn_frame_field[i];

			if (f->of == s) {
				frames_draw_field(f, r, a, (char *)ret + f->at);
			}
		}
	} while (!frames_rules_hold(s, ret));
}

#endif
