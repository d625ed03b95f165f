/* measure/drv/cuda_api.h -- CUDA's driver (proto/cuda_driver.h) and NVIDIA's management library, as
 * boards open them. */
#ifndef HN_MEASURE_DRV_CUDA_API_H
#define HN_MEASURE_DRV_CUDA_API_H

#include "base/err.h"
#include "proto/cuda_driver.h"

/* Open the driver, or the file that $HONE_CUDA_DRIVER names where $HONE_TEST_HOOKS is 1.
 * HONE_E_NO_BOARD. */
int cuda_api_open(struct cuda_api *ret, struct hn_err *err) HN_NODISCARD;

/* What is used of NVIDIA's management library, libnvidia-ml.so.1: reading alone. */
#define NVML_FUNCTIONS(X)                                                                \
	X(Init, nvmlInit_v2, (void))                                                     \
	X(DeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2,                   \
	  (const char *, cuda_id *))                                                     \
	X(DeviceGetClockInfo, nvmlDeviceGetClockInfo, (cuda_id, int, unsigned int *))    \
	X(DeviceGetPowerUsage, nvmlDeviceGetPowerUsage, (cuda_id, unsigned int *))       \
	X(DeviceGetTemperature, nvmlDeviceGetTemperature, (cuda_id, int, unsigned int *))

struct nvml_api {
#define X(name, symbol, parameters) cuda_result(*name) parameters;
	NVML_FUNCTIONS(X)
#undef X
};

/* HONE_E_NO_BOARD: it is not installed, and nothing is known of clocks. $HONE_NVML_DRIVER as
 * above. */
int nvml_api_open(struct nvml_api *ret, struct hn_err *err) HN_NODISCARD;

#endif
