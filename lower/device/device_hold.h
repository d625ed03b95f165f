/* lower/device/device_hold.h -- results of sums in memory of the thread's own while they grow. */
#ifndef HN_LOWER_DEVICE_DEVICE_HOLD_H
#define HN_LOWER_DEVICE_DEVICE_HOLD_H

#include "lower/device/device.h"

/* The same program, where a loop over terms with a tile of results inside, of at most so many bytes,
 * keeps the tile to itself.  Numbers are the same to the bit.  Pure. */
const struct hn_device *hn_device_hold_sums(const struct hn_device *d, int64_t most_bytes,
					    struct hn_arena *a);

/* hn_device_place, and for a target whose threads have a core each, hn_device_hold_sums with as many
 * bytes as its vector registers have. */
int hn_device_place_for(const struct hn_looptree *t, const struct hn_target *target,
			struct hn_arena *a, const struct hn_device **ret,
			struct hn_err *err) HN_NODISCARD;

#endif
