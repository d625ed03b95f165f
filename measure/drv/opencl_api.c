/* opencl_api.c -- the loader of OpenCL's drivers, opened at run time. */
#include "measure/drv/opencl_api.h"

#include "measure/drv/gpu_lib.h"

#define FILE_NAME "libOpenCL.so.1"

int opencl_api_open(struct opencl_api *ret, struct hn_err *err)
{
	void *lib;
	int rc = gpu_lib_open(FILE_NAME, "HONE_OPENCL_DRIVER",
			      "a loader of OpenCL drivers (Debian: ocl-icd-libopencl1)", &lib, err);

#define X(type, name, parameters) \
	rc = rc != 0 ? rc : gpu_lib_find(lib, FILE_NAME, "cl" #name, &ret->name, err);
	OPENCL_FUNCTIONS(X)
#undef X
	return rc;
}
