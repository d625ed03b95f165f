/* measure/drv/opencl_api.h -- what is used of OpenCL 1.2, declared here: hone is built without its
 * headers, and the loader of its drivers (libOpenCL.so.1) is opened when a board is.
 *
 * Names, types and numbers are those of the Khronos OpenCL specification; tests/unit/measure/
 * opencl_api.c holds them against its headers where these are installed.
 */
#ifndef HN_MEASURE_DRV_OPENCL_API_H
#define HN_MEASURE_DRV_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct opencl_object *opencl_id; /* any of its objects: all are opaque pointers */

struct opencl_region {
	size_t origin, size;
};

/* Numbers: NAME of CL_NAME. */
#define OPENCL_NUMBERS(X)                                                                \
	X(SUCCESS, 0)                                                                    \
	X(BUILD_PROGRAM_FAILURE, -11)                                                    \
	X(MEM_OBJECT_ALLOCATION_FAILURE, -4)                                             \
	X(OUT_OF_RESOURCES, -5)                                                          \
	X(OUT_OF_HOST_MEMORY, -6)                                                        \
	X(INVALID_WORK_GROUP_SIZE, -54)                                                  \
	X(INVALID_WORK_ITEM_SIZE, -55)                                                   \
	X(DEVICE_TYPE_ALL, 0xffffffff)                                                   \
	X(DEVICE_TYPE, 0x1000)                                                           \
	X(DEVICE_TYPE_CPU, 1 << 1)                                                       \
	X(DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                              \
	X(DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                            \
	X(DEVICE_MAX_WORK_ITEM_SIZES, 0x1005)                                            \
	X(DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 0x100a)                                   \
	X(DEVICE_MAX_CLOCK_FREQUENCY, 0x100c)                                            \
	X(DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                             \
	X(DEVICE_MEM_BASE_ADDR_ALIGN, 0x1019)                                            \
	X(DEVICE_GLOBAL_MEM_CACHE_SIZE, 0x101e)                                          \
	X(DEVICE_GLOBAL_MEM_SIZE, 0x101f)                                                \
	X(DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                 \
	X(DEVICE_NAME, 0x102b)                                                           \
	X(DEVICE_VERSION, 0x102f)                                                        \
	X(DRIVER_VERSION, 0x102d)                                                        \
	X(QUEUE_PROFILING_ENABLE, 1 << 1)                                                \
	X(MEM_READ_WRITE, 1 << 0)                                                        \
	X(BUFFER_CREATE_TYPE_REGION, 0x1220)                                             \
	X(PROGRAM_BUILD_LOG, 0x1183)                                                     \
	X(KERNEL_WORK_GROUP_SIZE, 0x11b0)                                                \
	X(PROFILING_COMMAND_START, 0x1282)                                               \
	X(PROFILING_COMMAND_END, 0x1283)

enum {
#define X(name, number) OPENCL_##name = (int)(number),
	OPENCL_NUMBERS(X)
#undef X
};

/* Functions: return type, NAME of clNAME, parameters. */
#define OPENCL_FUNCTIONS(X)                                                              \
	X(int32_t, GetPlatformIDs, (uint32_t, opencl_id *, uint32_t *))                  \
	X(int32_t, GetDeviceIDs, (opencl_id, uint64_t, uint32_t, opencl_id *, uint32_t *)) \
	X(int32_t, GetDeviceInfo, (opencl_id, uint32_t, size_t, void *, size_t *))       \
	X(opencl_id, CreateContext,                                                      \
	  (const intptr_t *, uint32_t, const opencl_id *,                                \
	   void (*)(const char *, const void *, size_t, void *), void *, int32_t *))     \
	X(opencl_id, CreateCommandQueue, (opencl_id, opencl_id, uint64_t, int32_t *))    \
	X(opencl_id, CreateBuffer, (opencl_id, uint64_t, size_t, void *, int32_t *))     \
	X(opencl_id, CreateSubBuffer,                                                    \
	  (opencl_id, uint64_t, uint32_t, const void *, int32_t *))                      \
	X(int32_t, ReleaseMemObject, (opencl_id))                                        \
	X(opencl_id, CreateProgramWithSource,                                            \
	  (opencl_id, uint32_t, const char **, const size_t *, int32_t *))               \
	X(int32_t, BuildProgram,                                                         \
	  (opencl_id, uint32_t, const opencl_id *, const char *,                         \
	   void (*)(opencl_id, void *), void *))                                         \
	X(int32_t, GetProgramBuildInfo,                                                  \
	  (opencl_id, opencl_id, uint32_t, size_t, void *, size_t *))                    \
	X(int32_t, ReleaseProgram, (opencl_id))                                          \
	X(opencl_id, CreateKernel, (opencl_id, const char *, int32_t *))                 \
	X(int32_t, SetKernelArg, (opencl_id, uint32_t, size_t, const void *))            \
	X(int32_t, GetKernelWorkGroupInfo,                                               \
	  (opencl_id, opencl_id, uint32_t, size_t, void *, size_t *))                    \
	X(int32_t, ReleaseKernel, (opencl_id))                                           \
	X(int32_t, EnqueueNDRangeKernel,                                                 \
	  (opencl_id, opencl_id, uint32_t, const size_t *, const size_t *, const size_t *, \
	   uint32_t, const opencl_id *, opencl_id *))                                    \
	X(int32_t, EnqueueWriteBuffer,                                                   \
	  (opencl_id, opencl_id, uint32_t, size_t, size_t, const void *, uint32_t,       \
	   const opencl_id *, opencl_id *))                                              \
	X(int32_t, EnqueueReadBuffer,                                                    \
	  (opencl_id, opencl_id, uint32_t, size_t, size_t, void *, uint32_t,             \
	   const opencl_id *, opencl_id *))                                              \
	X(int32_t, EnqueueFillBuffer,                                                    \
	  (opencl_id, opencl_id, const void *, size_t, size_t, size_t, uint32_t,         \
	   const opencl_id *, opencl_id *))                                              \
	X(int32_t, Finish, (opencl_id))                                                  \
	X(int32_t, GetEventProfilingInfo, (opencl_id, uint32_t, size_t, void *, size_t *)) \
	X(int32_t, ReleaseEvent, (opencl_id))

struct opencl_api {
#define X(type, name, parameters) type(*name) parameters;
	OPENCL_FUNCTIONS(X)
#undef X
};

/* Open the loader, or the file that $HONE_OPENCL_DRIVER names where $HONE_TEST_HOOKS is 1.
 * HONE_E_NO_BOARD. */
int opencl_api_open(struct opencl_api *ret, struct hn_err *err) HN_NODISCARD;

#endif
