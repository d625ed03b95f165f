/* lower/device/device_hold_int.h -- what finding sums and holding them share. */
#ifndef HN_LOWER_DEVICE_DEVICE_HOLD_INT_H
#define HN_LOWER_DEVICE_DEVICE_HOLD_INT_H

#include "loopstate/expr/simplify.h"
#include "lower/device/device_hold.h"

#define MOST_LOOPS 16 /* inside the loop over terms */
#define MOST_GUARDS 16

struct hold {
	struct hn_device *d; /* the new program; its buffers and kernels grow */
	struct hn_arena *a;
	int64_t most_bytes;
	uint32_t cap_buffer;
	/* of the kernel at hand */
	struct hn_device_kernel *k;
	uint8_t *type;
	uint32_t n_slot, cap_slot;
	struct hn_span *span; /* [n_slot] */
};

/* The loop over terms, what is inside it, and the one store there. */
struct sum {
	const struct hn_device_node *terms, *store;
	uint32_t n_loop;
	const struct hn_device_node *loop[MOST_LOOPS]; /* outermost first */
	bool of_result[MOST_LOOPS];
	uint32_t n_guard;
	const struct hn_device_node *guard[MOST_GUARDS];
	bool of_results[MOST_GUARDS]; /* the guard names no loop over terms */
	int64_t elements; /* of the tile */
	int32_t tile; /* buffer */
};

/* device_hold_find.c: whether n is a loop over terms whose results may be held, and what is in it. */
bool hn_hold_is_sum(struct hold *h, const struct hn_device_node *n, struct sum *s);

#endif
