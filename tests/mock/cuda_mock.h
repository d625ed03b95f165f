/* tests/mock/cuda_mock.h -- the mock of CUDA's driver in two files: its functions (cuda_driver.c), and
 * what launches do (cuda_launch.c). */
#ifndef HN_TESTS_MOCK_CUDA_MOCK_H
#define HN_TESTS_MOCK_CUDA_MOCK_H

#include "measure/drv/cuda_api.h"

#define MOCK_ARGS 8 /* of a launch, at most */
#define MOCK_SEEN 64
#define MOCK_UNKNOWN 999
#define MOCK_NO_DEVICE 100

/* As it was asked for; parameters are copied, as the driver does. */
struct mock_launch {
	cuda_id function;
	unsigned int grid[3], block[3], shared;
	cuda_address value[MOCK_ARGS];
};

struct cuda_object {
	char what[32]; /* of a module, and its function */
	char name[32]; /* of a function */
	uint32_t n_arg; /* of a function's launch */
	cuda_id next;	/* of a module its functions, and each the one before */
	double ns;     /* of an event */
	uint32_t n;    /* of a graph */
	struct mock_launch *launch;
	int most_shared;
};

/* What there is now, and what was asked for since the last time that somebody set it to zero. */
struct mock_seen {
	int allocations, modules, streams, contexts, graphs, pushed; /* now */
	uint32_t uploads, downloads, graph_launches, maps, n;
	struct mock_launch launch[MOCK_SEEN]; /* the first ones that ran */
	uint32_t calls;	/* of what a network's run time needs */
	uint32_t fail_at; /* the call, from 1, that says fail_with; 0: none */
	cuda_result fail_with;
};

extern struct mock_seen mock_seen;
extern cuda_result mock_sticky; /* what each call says from now on */

cuda_result mock_run(const struct mock_launch *l);

#endif
