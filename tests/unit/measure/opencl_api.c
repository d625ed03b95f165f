/* What hone declares of OpenCL is what its headers declare: numbers, and calls with hone's types
 * compile, conversions looked at.  Skipped where there is no CL/cl.h. */
#include <stdio.h>

#include "base/cdefs.h"

/* The headers' opaque types become one, as hone has one. */
#define _cl_platform_id opencl_object
#define _cl_device_id opencl_object
#define _cl_context opencl_object
#define _cl_command_queue opencl_object
#define _cl_mem opencl_object
#define _cl_program opencl_object
#define _cl_kernel opencl_object
#define _cl_event opencl_object

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#endif

#include "measure/drv/opencl_api.h"
#include "tests/lib/each.h"

#if defined(CL_TARGET_OPENCL_VERSION)

#define X(name, number) _Static_assert((int)(number) == (int)CL_##name, #name);
OPENCL_NUMBERS(X)
#undef X

_Static_assert(sizeof(struct opencl_region) == sizeof(cl_buffer_region), "cl_buffer_region");
_Static_assert(offsetof(struct opencl_region, size) == offsetof(cl_buffer_region, size), "size");

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
/* Never called: they need no loader to be linked. */
#define X(type, name, parameters)                                                        \
	__attribute__((unused)) static type call_##name(void)                            \
	{                                                                                \
		return cl##name(EACH_ZERO parameters);                                   \
	}
OPENCL_FUNCTIONS(X)
OPENCL_SVM_FUNCTIONS(X)
#undef X
#pragma GCC diagnostic pop

int main(void)
{
	printf("as in CL/cl.h\n");
	return 0;
}

#else

int main(void)
{
	printf("no CL/cl.h: skipped\n");
	return 77;
}

#endif
