/* lower/device/device_banks.h -- how well the banks of shared memory serve a program's accesses.
 *
 * Shared memory has 32 banks of 4 bytes, and threads of a warp that want different words of one
 * bank wait for each other.  It changes no result; a layout (SW, loopstate/nest/layout.h) is chosen
 * by it.  Source: NVIDIA, "CUDA C++ Programming Guide", shared memory.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_BANKS_H
#define HN_LOWER_DEVICE_DEVICE_BANKS_H

#include "lower/device/device.h"

struct hn_device_banks {
	uint32_t n_access; /* looked at: copies, and indices that data decides, are not */
	int64_t ways;	   /* turns that the worst of them takes; 1 = none waits */
	double mean;	   /* the same over all of them, each warp and iteration alike */
};

/* Of what touches the buffer, which is one of shared memory, in block 0.  The program is as
 * hn_device_check wants it. */
void hn_device_count_banks(const struct hn_device *d, int32_t buffer,
			   struct hn_device_banks *ret);

#endif
