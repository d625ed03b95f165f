/* lower/device/device_verify.h -- whether a device program may run.
 *
 * The exact legality check (lower/prove/legal.c) is of loop trees, where there are no barriers.
 * Here the program that is printed is judged, and nothing is taken from who made it.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_VERIFY_H
#define HN_LOWER_DEVICE_DEVICE_VERIFY_H

#include "lower/device/device.h"

#define HN_DEVICE_MOST_DEPTH 300 /* of nodes and expressions, one in the other */

/* Its form: types, names in scope, no barrier under a condition, and, unless
 * target is NULL, no more threads and memory than the target has.  0 or HONE_E_INVALID with one
 * line that names the kernel.  Microseconds. */
int hn_device_check(const struct hn_device *d, const struct hn_target *target,
		    struct hn_err *err) HN_NODISCARD;

/* hn_device_check, and by isl, for all values of all numbers:
 *   - no index leaves its buffer;
 *   - no two threads of a block touch an element, one of them writing, with no barrier between;
 *   - no two blocks touch an element in one kernel, one of them writing;
 *   - nothing that an asynchronous copy writes is touched before the copy has been waited for
 *     (device_async.c, without isl; HONE_E_QUOTA where that is too long).
 * That it computes what it should is not shown: that is the loop tree's, and what the interpreter
 * compares (device_interp.h).  An element may be read that nobody has written.
 *
 * 0; HONE_E_INVALID with one line that names kernel, buffer and statements (counted from 1 in the
 * order of the text); HONE_E_QUOTA where isl does not decide within limit_ms (0 = no limit). */
int hn_device_verify(const struct hn_device *d, const struct hn_target *target,
		     int64_t limit_ms, struct hn_err *err) HN_NODISCARD;

#endif
