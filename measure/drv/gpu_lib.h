/* measure/drv/gpu_lib.h -- a driver's library, opened at run time. */
#ifndef HN_MEASURE_DRV_GPU_LIB_H
#define HN_MEASURE_DRV_GPU_LIB_H

#include "base/err.h"

/* Open `file`, or what the variable names where $HONE_TEST_HOOKS is 1; never closed: drivers start
 * threads.  HONE_E_NO_BOARD with a line that says what to install. */
int gpu_lib_open(const char *file, const char *variable, const char *what, void **ret,
		 struct hn_err *err) HN_NODISCARD;

/* A function of it, by one of its names, into *ret (the address of a pointer to a function).
 * HONE_E_NO_BOARD: there is none. */
int gpu_lib_find(void *lib, const char *file, const char *name, void *ret,
		 struct hn_err *err) HN_NODISCARD;

#endif
