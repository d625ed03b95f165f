/* lower/device/device_interp.h -- runs a device program on this machine, and watches it.
 *
 * The oracle of what is printed for a real device: slow, exact, and it finds what a device does not
 * tell.  Threads of a block run one after the other between two barriers, in an order that the
 * caller chooses; every access is looked at.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_INTERP_H
#define HN_LOWER_DEVICE_DEVICE_INTERP_H

#include "lower/device/device.h"

/* arg[i] are the elements of argument i; those that are written are outputs.  Floats are double
 * between loads and stores.  `order` 0, 1, 2, ... are different orders of the threads.
 *
 * HONE_E_INVALID with one line that names kernel, buffer and threads: an index outside its buffer,
 * an element read before anything was written to it, two threads that touch an element between the
 * same barriers, or two blocks in the same kernel, and one of them writes; a barrier that not all
 * threads of a block reach.  HONE_E_NOMEM; HONE_E_QUOTA when it takes more than `fuel` steps
 * (threads times statements).  The program is as hn_device_verify wants it, but for what only
 * running shows. */
int hn_device_interpret(const struct hn_device *d, void *const *arg, uint32_t order,
			int64_t fuel, struct hn_err *err) HN_NODISCARD;

#endif
