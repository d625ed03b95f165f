/* tests/mock/cuda_mock.h -- the mock of CUDA's driver in three files: its functions (cuda_driver.c), what
 * launches do that a word says (cuda_launch.c), and modules that really run (cuda_ptx.c). */
#ifndef HN_TESTS_MOCK_CUDA_MOCK_H
#define HN_TESTS_MOCK_CUDA_MOCK_H

#include <stdbool.h>

#include "measure/drv/cuda_api.h"

#define MOCK_ARGS 8 /* of a launch, at most */
#define MOCK_PARAM 2048 /* bytes of all parameters, maps with them */
#define MOCK_SEEN 64
#define MOCK_UNKNOWN 999
#define MOCK_NO_DEVICE 100

/* As it was asked for; parameters are copied, as the driver does. */
struct mock_launch {
	cuda_id function;
	unsigned int grid[3], block[3], shared;
	cuda_address value[MOCK_ARGS];
	_Alignas(64) char param[MOCK_PARAM]; /* of a module that really runs, one behind another */
};

struct mock_ptx;

struct cuda_object {
	char what[32]; /* of a module, and its function */
	char name[32]; /* of a function */
	uint32_t n_arg; /* of a function's launch */
	cuda_id next;	/* of a module its functions, and each the one before */
	double ns;     /* of an event */
	uint32_t n;    /* of a graph */
	struct mock_launch *launch;
	int most_shared;
	struct mock_ptx *ptx; /* NULL: a word says what it does */
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

/* -- modules that run: $MOCK_CUDA_PTX is set -------------------------------------------------- */

/* The module of the text, NULL: it is not understood, and why, of n bytes, says so. */
struct mock_ptx *mock_ptx_load(const char *image, char *why, size_t n);
void mock_ptx_free(struct mock_ptx *p);

/* Keeps the parameters' values with the launch; false: they do not fit. */
bool mock_ptx_keep(struct mock_launch *l, void **arg);
cuda_result mock_ptx_run(const struct mock_launch *l);

/* Memory that kernels may touch. */
void mock_ptx_memory(void *at, size_t bytes);
void mock_ptx_forget(void *at);

#endif
