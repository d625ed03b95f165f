/* graph/net/lift_form.c -- numbers as forms of sizes: found from values, computed, and written down. */
#include <inttypes.h>

#include "base/buf.h"
#include "graph/net/lift.h"

uint32_t hn_lift_pair(uint32_t j, uint32_t k)
{
	return HN_NET_MAX_SIZES + k * (k - 1) / 2 + j;
}

/* A hostile model's numbers wrap around: the forms are compared with other texts anyway. */
static int64_t times(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x * (uint64_t)y);
}

static int64_t plus(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t minus(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x - (uint64_t)y);
}

struct hn_lift_form hn_lift_form_of(const int64_t *most, uint32_t n_size, int64_t at_most,
				    const int64_t *const *below)
{
	struct hn_lift_form f = { .b = 0 };

	for (uint32_t k = 0; k < n_size; k++) {
		f.a[k] = plus(f.a[k], below[k] != NULL ? minus(at_most, *below[k]) : 0);
		for (uint32_t j = 0; j < k; j++) {
			uint32_t at = hn_lift_pair(j, k);
			int64_t *c = &f.pair[at - HN_NET_MAX_SIZES];

			if (below[at] != NULL) {
				*c = minus(plus(at_most, *below[at]), plus(*below[j], *below[k]));
				f.a[j] = minus(f.a[j], times(*c, most[k]));
				f.a[k] = minus(f.a[k], times(*c, most[j]));
			}
		}
	}
	f.b = minus(at_most, hn_lift_value(&f, most, n_size));
	return f;
}

int64_t hn_lift_value(const struct hn_lift_form *f, const int64_t *size, uint32_t n_size)
{
	int64_t v = f->b;

	for (uint32_t k = 0; k < n_size; k++) {
		v = plus(v, times(f->a[k], size[k]));
		for (uint32_t j = 0; j < k; j++) {
			int64_t c = f->pair[hn_lift_pair(j, k) - HN_NET_MAX_SIZES];

			v = plus(v, times(c, times(size[j], size[k])));
		}
	}
	return v;
}

static int64_t common_divisor(int64_t x, int64_t y)
{
	while (y != 0) {
		int64_t rest = x % y;

		x = y;
		y = rest;
	}
	return x < 0 ? -x : x;
}

/* "3 * N0 * N1 / 2" of 3 times what is half of N0 * N1; nothing where c is 0. */
static void write_term(int64_t c, int64_t step, const char *x, const char *y, const char **sign,
		       struct hn_buf *b)
{
	int64_t divisor = common_divisor(c, step);

	if (c == 0) {
		return;
	}
	hn_buf_puts(b, *sign);
	if (c / divisor != 1) {
		hn_buf_printf(b, "%" PRId64 " * ", c / divisor);
	}
	hn_buf_printf(b, "%s%s%s", x, y != NULL ? " * " : "", y != NULL ? y : "");
	if (step / divisor != 1) {
		hn_buf_printf(b, " / %" PRId64, step / divisor);
	}
	*sign = " + ";
}

void hn_lift_write_form(const struct hn_lift_form *f, const char *const *name,
			const int64_t *step, uint32_t n_size, struct hn_buf *b)
{
	const char *sign = "";

	for (uint32_t k = 0; k < n_size; k++) {
		write_term(f->a[k], step != NULL ? step[k] : 1, name[k], NULL, &sign, b);
	}
	for (uint32_t k = 0; k < n_size; k++) {
		for (uint32_t j = 0; j < k; j++) {
			write_term(f->pair[hn_lift_pair(j, k) - HN_NET_MAX_SIZES],
				   step != NULL ? step[j] * step[k] : 1, name[j], name[k], &sign, b);
		}
	}
	if (f->b != 0 || *sign == '\0') {
		hn_buf_printf(b, "%s%" PRId64, *sign == '\0' ? "" : f->b < 0 ? " - " : sign,
			      *sign != '\0' && f->b < 0 ? -f->b : f->b);
	}
}
