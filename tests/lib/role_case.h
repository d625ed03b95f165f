/* role_case.h -- products by roles as text: made, run in all orders, and spoiled. */
#ifndef HN_TESTS_ROLE_CASE_H
#define HN_TESTS_ROLE_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "tests/lib/gpu_bed.h"

#define FUEL (INT64_C(1) << 28)

/* Small integers, so that every sum is exact. */
static inline int number(int64_t i)
{
	return (int)(i * 7 % 11) - 5;
}

static inline uint16_t brain(int v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return (uint16_t)(u >> 16);
}

/* The text's numbers: A is rows x terms, B columns x terms. */
struct role_case {
	const char *text;
	int rows, columns, terms;
	uint16_t a[28000], b[40000];
	float c[21000];
};

static inline void fill(struct role_case *x)
{
	assert_true(x->rows * x->terms <= (int)HN_COUNT_OF(x->a) &&
		    x->columns * x->terms <= (int)HN_COUNT_OF(x->b) &&
		    x->rows * x->columns <= (int)HN_COUNT_OF(x->c));
	for (int i = 0; i < x->rows * x->terms; i++) {
		x->a[i] = brain(number(i));
	}
	for (int i = 0; i < x->columns * x->terms; i++) {
		x->b[i] = brain(number(i + 3));
	}
	memset(x->c, 0xff, sizeof(x->c));
}

static inline bool is_right(const struct role_case *x)
{
	for (int i = 0; i < x->rows; i++) {
		for (int j = 0; j < x->columns; j++) {
			int sum = 0;

			for (int k = 0; k < x->terms; k++) {
				sum += number(i * x->terms + k) * number(j * x->terms + k + 3);
			}
			if (x->c[i * x->columns + j] != (float)sum) {
				return false;
			}
		}
	}
	return true;
}

static inline int parse(struct bed *x, const char *text, const struct hn_device **d, struct hn_err *err)
{
	return hn_device_parse("t", text, strlen(text), &x->a, d, err);
}

static inline int interpret(struct role_case *x, const struct hn_device *d, uint32_t order,
			    struct hn_err *err)
{
	void *const arg[] = { x->a, x->b, x->c };

	fill(x);
	return hn_device_interpret(d, arg, order, FUEL, err);
}

/* It is verified, reads back, and is right in every order of warpgroups. */
static inline void role_is_right_in_every_order(struct bed *x, struct role_case *r)
{
	const struct hn_device *d;
	struct hn_err err = { 0 };
	struct hn_buf text;

	if (parse(x, r->text, &d, &err) != 0 || hn_device_verify(d, &x->gpu, 20000, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_init(&text);
	hn_device_print(d, &text);
	assert_string_equal(text.s, r->text);
	hn_buf_fini(&text);
	for (uint32_t order = 0; order < 6; order++) {
		if (interpret(r, d, order, &err) != 0) {
			fail_msg("order %u: %s", order, err.msg);
		}
		assert_true(is_right(r));
	}
}

/* The text with another in place of `from`, the first time. */
static inline char *with(const struct role_case *r, const char *from, const char *to)
{
	struct hn_buf out;
	bool done = false;

	hn_buf_init(&out);
	for (const char *s = r->text; *s != '\0';) {
		if (!done && strncmp(s, from, strlen(from)) == 0) {
			hn_buf_puts(&out, to);
			s += strlen(from);
			done = true;
		} else {
			hn_buf_putc(&out, *s++);
		}
	}
	assert_true(done);
	return hn_buf_steal(&out);
}

struct bad {
	const char *from, *to, *why;
};

/* The verifier finds it, and so does the interpreter, in every order. */
static inline void role_faults_are_found(struct bed *x, struct role_case *r, const struct bad *bad,
					 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = with(r, bad[i].from, bad[i].to);
		const struct hn_device *d;
		struct hn_err err = { 0 };

		if (parse(x, text, &d, &err) != 0) {
			fail_msg("%zu: %s", i, err.msg);
		}
		for (int order = -1; order < 6; order++) {
			int rc = order < 0 ? hn_device_verify(d, &x->gpu, 20000, &err)
					   : interpret(r, d, (uint32_t)order, &err);
			char why[160];
			bool found = false;

			snprintf(why, sizeof(why), "%s", bad[i].why);
			for (char *w = strtok(why, "|"); w != NULL; w = strtok(NULL, "|")) {
				found = found || strstr(err.msg, w) != NULL;
			}
			if (rc == 0 || !found) {
				fail_msg("%zu, order %d: %d %s", i, order, rc, rc != 0 ? err.msg : "");
			}
		}
		free(text);
	}
}

/* Behind the arguments bytes are changed: what the verifier takes runs without a fault. */
static inline void role_damage_does_no_harm(struct bed *x, struct role_case *r)
{
	static const char put[] = "0123456789+-*<>()[]., vCAB\n";
	struct hn_rng rng = hn_rng_stream(7, 0, 0, 0);
	const size_t from = (size_t)(strstr(r->text, "shared A.shared") - r->text);
	const size_t n = strlen(r->text) - from;
	uint32_t read = 0, taken = 0;

	for (uint32_t i = 0; i < 60; i++) {
		char text[8192];
		const struct hn_device *d;
		struct hn_err err = { 0 };
		size_t at = hn_rng_below(&rng, n);

		assert_true(strlen(r->text) < sizeof(text));
		strcpy(text, r->text);
		while (i % 3 > 0 && (text[from + at] < '0' || text[from + at] > '9')) {
			at = (at + 1) % n; /* mostly numbers */
		}
		text[from + at] = put[hn_rng_below(&rng, i % 3 > 0 ? 10 : sizeof(put) - 1)];
		if (parse(x, text, &d, &err) != 0) {
			continue;
		}
		read++;
		if (hn_device_verify(d, &x->gpu, 20000, &err) != 0) {
			continue;
		}
		taken++;
		if (interpret(r, d, i, &err) != 0) {
			fail_msg("%s\n%s", err.msg, text);
		}
	}
	print_message("%u read, %u of them verified and run\n", read, taken);
	assert_true(taken > 5 && taken < read);
}

#endif
