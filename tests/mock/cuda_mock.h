/* tests/mock/cuda_mock.h -- the mock of CUDA's driver in two files: its functions (cuda_driver.c), and
 * what launches do (cuda_launch.c). */
#ifndef HN_TESTS_MOCK_CUDA_MOCK_H
#define HN_TESTS_MOCK_CUDA_MOCK_H

#include "measure/drv/cuda_api.h"

#define MOCK_UNKNOWN 999
#define MOCK_NO_DEVICE 100

struct cuda_object {
	char what[32]; /* of a module, and its function */
	double ns;     /* of an event */
	uint32_t n;    /* of a graph: launches */
	cuda_id function;
	void *arg[4];
	unsigned int shared;
	int most_shared;
};

extern cuda_result mock_sticky; /* what each call says from now on */

cuda_result mock_run(cuda_id function, void **value, unsigned int shared);

#endif
