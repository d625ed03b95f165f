/* graph/runtime/gpu_open.h -- a network for a GPU that is opened: its memory on the device, its code, and
 * its launches, bound to where their parameters lie. */
#ifndef HN_GRAPH_RUNTIME_GPU_OPEN_H
#define HN_GRAPH_RUNTIME_GPU_OPEN_H

#include <pthread.h>

#include "graph/runtime/gpu_run.h"

#define hone_gpu_open hone_gpu_open_3
#define hone_gpu_ready hone_gpu_ready_3
#define hone_gpu_settle hone_gpu_settle_3
#define hone_gpu_close hone_gpu_close_3

/* What a run takes of it: all steps, or those of a range of the model. */
struct hone_gpu_part {
	uint32_t first, end; /* steps */
	int ready;	     /* code is loaded, and launches are bound */
	void *recorded;	     /* its launches as one; NULL: they follow each other */
};

struct hone_gpu_opened {
	const struct hone_gpu *g;
	const struct hone_gpu_driver *driver;
	void *dev;
	pthread_mutex_t lock;
	int32_t broken; /* what the device said when it failed; 0: it did not */
	char why[400];
	uint64_t memory, weights; /* addresses; 0: none */
	uint64_t workspace;	  /* address */
	uint64_t *in, *out;	  /* addresses */
	void **code;		  /* [n_kernels] NULL: not loaded */
	void **launch;		  /* [n_launch] of all steps; NULL: not bound */
	uint32_t n_launch, *first; /* [n_steps + 1] a step's launches */
	uint32_t n_part;
	struct hone_gpu_part *part; /* [n_part] */
};

/* With what this part needs; the thread is not the device's after. */
int32_t hone_gpu_open(const struct hone_gpu *g, const void *weights, uint32_t part,
		      struct hone_gpu_opened **ret);

/* Between driver's `enter` and `leave`: what is not there yet of a part's code and launches.  What
 * fails may be tried again. */
int32_t hone_gpu_ready(struct hone_gpu_opened *o, uint32_t part);

/* Wait for what is in the queue: till then the device reads the caller's memory, and its own.  What
 * failed before, rc, is what is told. */
int32_t hone_gpu_settle(struct hone_gpu_opened *o, int32_t rc);

/* This thread's line of error stays. */
void hone_gpu_close(struct hone_gpu_opened *o);

#endif
