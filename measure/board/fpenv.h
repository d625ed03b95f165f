/* measure/board/fpenv.h -- the floating-point mode every call starts in: round to nearest, no
 * flushing of subnormals, all exceptions masked. A kernel that changes it changes only
 * itself.
 */
#ifndef HN_MEASURE_BOARD_FPENV_H
#define HN_MEASURE_BOARD_FPENV_H

#include <fenv.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Exceptions after which there is an infinity or a NaN, on the way at least. */
#define HN_FP_RANGE (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)

static inline void hn_fp_reset(void)
{
#if defined(__x86_64__)
	_mm_setcsr(0x1f80);
#else
	fesetenv(FE_DFL_ENV);
#endif
}

#endif
