/* cuda_run.c -- calls of a program on a device of CUDA's, timed by its events.
 *
 * Several calls in a row are one graph, so that launching them from this machine takes none of
 * their time.  Before the clock starts the device is kept busy with a fill and a call that is not
 * timed: by their end all that is timed is in its queue.
 */
#include "measure/drv/cuda_int.h"

#define LEAST_SCRATCH ((size_t)128 << 20)

static cuda_result launch(struct cuda_device *d, const struct cuda_program *p)
{
	cuda_result code = 0;

	for (uint32_t i = 0; i < p->n && code == 0; i++) {
		const struct cuda_kernel *k = &p->kernel[i];

		code = d->api.LaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2],
					   k->block[0], k->block[1], k->block[2], k->shared,
					   d->stream, k->arg, NULL);
	}
	return code;
}

/* The calls as a graph, launched once. */
static cuda_result make_graph(struct cuda_device *d, struct cuda_program *p, uint32_t n)
{
	cuda_id graph = NULL;
	cuda_result code, end;

	if (p->graph != NULL) {
		d->api.GraphExecDestroy(p->graph);
		p->graph = NULL;
	}
	code = d->api.StreamBeginCapture(d->stream, CUDA_CAPTURE_THREAD_LOCAL);
	if (code != 0) {
		return code;
	}
	for (uint32_t i = 0; i < n && code == 0; i++) {
		code = launch(d, p);
	}
	end = d->api.StreamEndCapture(d->stream, &graph);
	code = code != 0 ? code : end;
	code = code != 0 ? code : d->api.GraphInstantiate(&p->graph, graph, 0);
	if (code != 0) {
		p->graph = NULL;
	}
	if (graph != NULL) {
		d->api.GraphDestroy(graph);
	}
	p->graph_calls = n;
	return code != 0 ? code : d->api.GraphLaunch(p->graph, d->stream);
}

/* Write over more than the second cache holds. */
static cuda_result fill_scratch(struct cuda_device *d)
{
	cuda_result code = 0;

	if (d->scratch == 0) {
		int l2 = 0;

		code = d->api.DeviceGetAttribute(&l2, CUDA_ATTRIBUTE_L2, d->device);
		d->scratch_bytes = l2 > 0 ? 2 * (size_t)l2 : 0;
		if (d->scratch_bytes < LEAST_SCRATCH) {
			d->scratch_bytes = LEAST_SCRATCH;
		}
		code = code != 0 ? code : d->api.MemAlloc(&d->scratch, d->scratch_bytes);
		d->scratch = code == 0 ? d->scratch : 0;
	}
	return code != 0 ? code
			 : d->api.MemsetD8Async(d->scratch, 0, d->scratch_bytes, d->stream);
}

enum hn_verdict cuda_run(void *dev, void *program, uint32_t n, bool lead, bool cold,
			 double *ret_ns, struct hn_err *err)
{
	struct cuda_device *d = dev;
	struct cuda_program *p = program;
	cuda_result code = 0;
	float ms = 0;

	if (n > 1 && (p->graph == NULL || p->graph_calls != n)) {
		code = make_graph(d, p, n);
	}
	if (lead || cold) {
		code = code != 0 ? code : fill_scratch(d);
	}
	if (lead && !cold) {
		code = code != 0 ? code : launch(d, p);
	}
	code = code != 0 ? code : d->api.EventRecord(d->begin, d->stream);
	if (code == 0) {
		code = n > 1 ? d->api.GraphLaunch(p->graph, d->stream) : launch(d, p);
	}
	code = code != 0 ? code : d->api.EventRecord(d->end, d->stream);
	code = code != 0 ? code : d->api.EventSynchronize(d->end);
	code = code != 0 ? code : d->api.EventElapsedTime(&ms, d->begin, d->end);
	*ret_ns = (double)ms * 1e6;
	return cuda_done(d, code, "run", err);
}
