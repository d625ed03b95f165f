/* cuda_api.c -- CUDA's driver and NVIDIA's management library, opened at run time. */
#include "measure/drv/cuda_api.h"

#include "measure/drv/gpu_lib.h"

#define CUDA_FILE "libcuda.so.1"
#define NVML_FILE "libnvidia-ml.so.1"

int cuda_api_open(struct cuda_api *ret, struct hn_err *err)
{
	void *lib;
	struct hn_err none;
	int rc = gpu_lib_open(CUDA_FILE, "HONE_CUDA_DRIVER", "NVIDIA's driver", &lib, err);

#define X(name, symbol, parameters) \
	rc = rc != 0 ? rc : gpu_lib_find(lib, CUDA_FILE, #symbol, &ret->name, err);
	CUDA_FUNCTIONS(X)
#undef X
#define X(name, symbol, parameters) \
	if (rc == 0 && gpu_lib_find(lib, CUDA_FILE, #symbol, &ret->name, &none) != 0) { \
		ret->name = NULL; \
	}
	CUDA_LATER_FUNCTIONS(X)
#undef X
	return rc;
}

int nvml_api_open(struct nvml_api *ret, struct hn_err *err)
{
	void *lib;
	int rc = gpu_lib_open(NVML_FILE, "HONE_NVML_DRIVER", "NVIDIA's management library", &lib,
			      err);

#define X(name, symbol, parameters) \
	rc = rc != 0 ? rc : gpu_lib_find(lib, NVML_FILE, #symbol, &ret->name, err);
	NVML_FUNCTIONS(X)
#undef X
	return rc;
}
