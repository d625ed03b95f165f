/* measure/drv/opencl_api.h -- the loader of OpenCL's drivers (proto/opencl_driver.h), as boards open
 * it. */
#ifndef HN_MEASURE_DRV_OPENCL_API_H
#define HN_MEASURE_DRV_OPENCL_API_H

#include "base/err.h"
#include "proto/opencl_driver.h"

/* Open the loader, or the file that $HONE_OPENCL_DRIVER names where $HONE_TEST_HOOKS is 1.
 * HONE_E_NO_BOARD. */
int opencl_api_open(struct opencl_api *ret, struct hn_err *err) HN_NODISCARD;

#endif
