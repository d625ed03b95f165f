/* measure/board/check.h -- kernels that are run once, when they are made: hone-board --check.
 *
 * Each case of the file (HN_FRAME_KERNEL and HN_FRAME_CASE: hone-build writes it) is a call in a
 * child of its own (child.h, sandbox.h): buffers between guard pages, outputs poisoned, a
 * workspace of just the size, parallel loops in an order drawn at random on three workers, every
 * other time with prepared data.  Nothing is timed.
 */
#ifndef HN_MEASURE_BOARD_CHECK_H
#define HN_MEASURE_BOARD_CHECK_H

#include "base/buf.h"
#include "base/err.h"

/* Run the cases of the file, and append
 *
 *   {"verdict": "OK", "detail": "", "why": "" or why there is no case, "ms",
 *    "cases": [{"inputs", "sizes": [..], "elements": compared, "of": there are,
 *              "error": the largest (verify.h), "allowed": how large it may be}, ...]}
 *
 * of those that were run and were right.  A kernel that is wrong ends it with the verdict, and
 * the first element that differs in "detail".  A division trap of a program that divides by data
 * is no verdict: the case is left out.  HONE_E_CORRUPT, HONE_E_IO for a file that is none,
 * HONE_E_NOMEM, HONE_E_UNSUPPORTED where this machine loads no objects. */
int hn_check_run(const char *path, struct hn_buf *json, struct hn_err *err) HN_NODISCARD;

#endif
