/* proto/opencl_driver.h -- what is used of OpenCL, declared here: hone and the networks that it
 * compiles are built without its headers, and the loader of its drivers (libOpenCL.so.1) is opened
 * when it is needed.  Boards need OpenCL 1.2.
 *
 * Names, types and numbers are those of the Khronos OpenCL specification; tests/unit/measure/
 * opencl_api.c holds them against its headers where these are installed.
 */
#ifndef HN_PROTO_OPENCL_DRIVER_H
#define HN_PROTO_OPENCL_DRIVER_H

#include <stddef.h>
#include <stdint.h>

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
	X(DEVICE_SVM_CAPABILITIES, 0x1053)                                               \
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

/* Functions of OpenCL 2.0: memory by addresses, in which any part may be a kernel's argument. */
#define OPENCL_SVM_FUNCTIONS(X)                                                          \
	X(void *, SVMAlloc, (opencl_id, uint64_t, size_t, uint32_t))                     \
	X(void, SVMFree, (opencl_id, void *))                                            \
	X(int32_t, SetKernelArgSVMPointer, (opencl_id, uint32_t, const void *))          \
	X(int32_t, EnqueueSVMMemcpy,                                                     \
	  (opencl_id, uint32_t, void *, const void *, size_t, uint32_t, const opencl_id *, \
	   opencl_id *))                                                                 \
	X(int32_t, ReleaseCommandQueue, (opencl_id))                                     \
	X(int32_t, ReleaseContext, (opencl_id))

struct opencl_api {
#define X(type, name, parameters) type(*name) parameters;
	OPENCL_FUNCTIONS(X)
#undef X
};

#endif
