/* proto/cuda_driver.h -- what is used of CUDA's driver interface, declared here: hone and the networks
 * that it compiles are built and run without a toolkit, and the driver (libcuda.so.1) is opened when
 * it is needed.
 *
 * Names, types and numbers are those of NVIDIA's driver API reference; tests/unit/measure/cuda_api.c
 * holds them against cuda.h where that is installed.  Symbols are those that every driver since
 * CUDA 11.4 exports: a name with _v2 is the function that the header means without it.
 */
#ifndef HN_PROTO_CUDA_DRIVER_H
#define HN_PROTO_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result; /* 0 = success */
typedef int cuda_device;
typedef unsigned long long cuda_address;
typedef struct cuda_object *cuda_id; /* context, module, function, stream, event, graph: opaque */

/* Numbers: NAME of CU_NAME or CUDA_NAME, which the second word says. */
#define CUDA_NUMBERS(X)                                                                  \
	X(E_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                              \
	X(E_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                              \
	X(E_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                            \
	X(E_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                    \
	X(E_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                \
	X(E_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)        \
	X(E_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                    \
	X(E_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                        \
	X(E_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)        \
	X(E_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                          \
	X(E_ASSERT, CUDA_ERROR_ASSERT, 710)                                          \
	X(E_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)              \
	X(E_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                \
	X(E_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                  \
	X(E_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)            \
	X(E_INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                  \
	X(E_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                            \
	X(ATTRIBUTE_MAX_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)           \
	X(ATTRIBUTE_MAX_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                 \
	X(ATTRIBUTE_MAX_BLOCK_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                 \
	X(ATTRIBUTE_MAX_BLOCK_Z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                 \
	X(ATTRIBUTE_SHARED, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)          \
	X(ATTRIBUTE_WARP, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                             \
	X(ATTRIBUTE_CORES, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                 \
	X(ATTRIBUTE_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                           \
	X(ATTRIBUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)             \
	X(ATTRIBUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)             \
	X(ATTRIBUTE_SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
	X(FUNC_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)   \
	X(JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER, 3)                                \
	X(JIT_INFO_LOG_BUFFER_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)               \
	X(JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER, 5)                              \
	X(JIT_ERROR_LOG_BUFFER_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)             \
	X(CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                  \
	X(STREAM_DEFAULT, CU_STREAM_DEFAULT, 0)                                          \
	X(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                \
	X(EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)

/* The same, that headers have since CUDA 12.0: of tensor maps. */
#define CUDA_LATER_NUMBERS(X)                                                            \
	X(MAP_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                   \
	X(MAP_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT16, 1)                                 \
	X(MAP_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                 \
	X(MAP_UINT64, CU_TENSOR_MAP_DATA_TYPE_UINT64, 4)                                 \
	X(MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_NONE, 0)                         \
	X(MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, 0)                               \
	X(MAP_SWIZZLE_32, CU_TENSOR_MAP_SWIZZLE_32B, 1)                                  \
	X(MAP_SWIZZLE_64, CU_TENSOR_MAP_SWIZZLE_64B, 2)                                  \
	X(MAP_SWIZZLE_128, CU_TENSOR_MAP_SWIZZLE_128B, 3)                                \
	X(MAP_L2_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2)                             \
	X(MAP_FILL_ZERO, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)

enum {
#define X(name, theirs, number) CUDA_##name = number,
	CUDA_NUMBERS(X)
	CUDA_LATER_NUMBERS(X)
#undef X
};

/* Functions: NAME of cuNAME, its symbol in the driver, parameters. */
#define CUDA_FUNCTIONS(X)                                                                \
	X(Init, cuInit, (unsigned int))                                                  \
	X(DriverGetVersion, cuDriverGetVersion, (int *))                                 \
	X(GetErrorName, cuGetErrorName, (cuda_result, const char **))                    \
	X(GetErrorString, cuGetErrorString, (cuda_result, const char **))                \
	X(DeviceGetCount, cuDeviceGetCount, (int *))                                     \
	X(DeviceGet, cuDeviceGet, (cuda_device *, int))                                  \
	X(DeviceGetName, cuDeviceGetName, (char *, int, cuda_device))                    \
	X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *, int, cuda_device))            \
	X(DeviceGetAttribute, cuDeviceGetAttribute, (int *, int, cuda_device))           \
	X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, cuda_device))                  \
	X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (cuda_id *, cuda_device))    \
	X(CtxSetCurrent, cuCtxSetCurrent, (cuda_id))                                     \
	X(StreamCreate, cuStreamCreate, (cuda_id *, unsigned int))                       \
	X(StreamSynchronize, cuStreamSynchronize, (cuda_id))                             \
	X(MemAlloc, cuMemAlloc_v2, (cuda_address *, size_t))                             \
	X(MemFree, cuMemFree_v2, (cuda_address))                                         \
	X(MemcpyHtoD, cuMemcpyHtoD_v2, (cuda_address, const void *, size_t))             \
	X(MemcpyDtoH, cuMemcpyDtoH_v2, (void *, cuda_address, size_t))                   \
	X(MemsetD8Async, cuMemsetD8Async, (cuda_address, unsigned char, size_t, cuda_id)) \
	X(ModuleLoadDataEx, cuModuleLoadDataEx,                                          \
	  (cuda_id *, const void *, unsigned int, unsigned int *, void **))                       \
	X(ModuleUnload, cuModuleUnload, (cuda_id))                                       \
	X(ModuleGetFunction, cuModuleGetFunction, (cuda_id *, cuda_id, const char *))    \
	X(FuncSetAttribute, cuFuncSetAttribute, (cuda_id, int, int))                     \
	X(LaunchKernel, cuLaunchKernel,                                                  \
	  (cuda_id, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	   unsigned int, unsigned int, cuda_id, void **, void **))                       \
	X(EventCreate, cuEventCreate, (cuda_id *, unsigned int))                         \
	X(EventRecord, cuEventRecord, (cuda_id, cuda_id))                                \
	X(EventSynchronize, cuEventSynchronize, (cuda_id))                               \
	X(EventElapsedTime, cuEventElapsedTime, (float *, cuda_id, cuda_id))             \
	X(StreamBeginCapture, cuStreamBeginCapture_v2, (cuda_id, int))                   \
	X(StreamEndCapture, cuStreamEndCapture, (cuda_id, cuda_id *))                    \
	X(GraphInstantiate, cuGraphInstantiateWithFlags,                                 \
	  (cuda_id *, cuda_id, unsigned long long))                                      \
	X(GraphLaunch, cuGraphLaunch, (cuda_id, cuda_id))                                \
	X(GraphExecDestroy, cuGraphExecDestroy, (cuda_id))                               \
	X(GraphDestroy, cuGraphDestroy, (cuda_id))                                       \
	X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (cuda_device))          \
	X(CtxPushCurrent, cuCtxPushCurrent_v2, (cuda_id))                                \
	X(CtxPopCurrent, cuCtxPopCurrent_v2, (cuda_id *))                                \
	X(StreamDestroy, cuStreamDestroy_v2, (cuda_id))                                  \
	X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (cuda_address, const void *, size_t, cuda_id)) \
	X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *, cuda_address, size_t, cuda_id))

/* A tensor map: what cuTensorMapEncodeTiled fills.  Code has it at a multiple of 64 bytes. */
struct cuda_map {
	_Alignas(128) unsigned char bytes[128];
};

static inline int cuda_map_type(int64_t bytes) /* of an element */
{
	return bytes == 1   ? CUDA_MAP_UINT8
	       : bytes == 2 ? CUDA_MAP_UINT16
	       : bytes == 4 ? CUDA_MAP_UINT32
			    : CUDA_MAP_UINT64;
}

static inline int cuda_map_swizzle(int64_t bytes)
{
	return bytes == 0    ? CUDA_MAP_SWIZZLE_NONE
	       : bytes == 32 ? CUDA_MAP_SWIZZLE_32
	       : bytes == 64 ? CUDA_MAP_SWIZZLE_64
			     : CUDA_MAP_SWIZZLE_128;
}

/* The same, of drivers since CUDA 12.0; NULL where the driver is older. */
#define CUDA_LATER_FUNCTIONS(X)                                                          \
	X(TensorMapEncodeTiled, cuTensorMapEncodeTiled,                                  \
	  (struct cuda_map *, int, uint32_t, void *, const uint64_t *, const uint64_t *, \
	   const uint32_t *, const uint32_t *, int, int, int, int))

struct cuda_api {
#define X(name, symbol, parameters) cuda_result(*name) parameters;
	CUDA_FUNCTIONS(X)
	CUDA_LATER_FUNCTIONS(X)
#undef X
};

#endif
