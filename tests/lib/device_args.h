/* Arguments of a device program, with numbers in them, and how far two sets are apart: what tests of
 * device programs by hand share. */
#ifndef HN_TESTS_DEVICE_ARGS_H
#define HN_TESTS_DEVICE_ARGS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/device/device.h"
#include "tests/lib/lower_run.h"

struct args {
	uint32_t n;
	void *at[16];
	size_t bytes[16];
	enum hn_dtype type[16];
};

static inline void make_args(const struct hn_device *d, struct args *x)
{
	struct hn_rng rng = hn_rng_stream(5, 6, 7, 8);

	*x = (struct args){ 0 };
	for (uint32_t i = 0; i < d->n_buffer; i++) {
		const struct hn_device_buffer *b = &d->buffer[i];

		if (b->arg >= 0) {
			x->n = (uint32_t)b->arg >= x->n ? (uint32_t)b->arg + 1 : x->n;
			x->type[b->arg] = (enum hn_dtype)b->dtype;
			x->bytes[b->arg] = (size_t)b->n_elem * hn_dtype_bytes(x->type[b->arg]);
			x->at[b->arg] = calloc(1, x->bytes[b->arg]);
		}
	}
	for (uint32_t i = 0; i < x->n; i++) {
		run_fill(x->at[i], x->bytes[i], x->type[i], &rng);
	}
}

static inline void free_args(struct args *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		free(x->at[i]);
	}
}

/* Of floats the largest relative difference; others are the same, or it is infinite. */
static inline double difference(const struct args *x, const struct args *y)
{
	double worst = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		size_t n = x->bytes[i] / hn_dtype_bytes(x->type[i]);

		if (hn_dtype_class(x->type[i]) != HN_CLASS_FLOAT) {
			worst = memcmp(x->at[i], y->at[i], x->bytes[i]) == 0 ? worst : INFINITY;
			continue;
		}
		for (size_t j = 0; j < n; j++) {
			double u = hn_float_get(x->type[i], x->at[i], (int64_t)j);
			double v = hn_float_get(x->type[i], y->at[i], (int64_t)j);
			double far = fabs(u - v) / (1 + fabs(u)) / hn_dtype_tolerance(x->type[i]);

			worst = far > worst || isnan(far) ? far : worst;
		}
	}
	return worst;
}

#endif
