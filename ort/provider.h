/* ort/provider.h -- hone as an execution provider of ONNX Runtime: what its files share.
 *
 * A session is given the provider by two lines of Python (docs/onnxruntime.md). When it is made the runtime
 * shows the graph (claim.c); the provider takes all of it if a compiled network of this very file
 * is known to be faster here, and else nothing.
 */
#ifndef HN_ORT_PROVIDER_H
#define HN_ORT_PROVIDER_H

#include "ort/library.h"
#include "ort/slots.h"

#define PROVIDER_NAME "HoneExecutionProvider"
#define PROVIDER_MOST_PATH 4096

enum provider_claim { CLAIM_FASTER, CLAIM_ALWAYS, CLAIM_NEVER };

struct provider {
	struct ort_ep ep; /* first: the runtime's pointer is ours */
	const void *api, *ep_api, *logger;
	char runtime[32]; /* version */
	char folder[PROVIDER_MOST_PATH]; /* option "library"; "" = beside the model */
	enum provider_claim claim;
	int32_t threads; /* below 1: all */
	struct ort_library library; /* model NULL: none is loaded */
};

/* A status of the runtime's with the error's words. */
ort_status *provider_fail(const struct provider *p, const struct hn_err *err);

ort_status *provider_capability(struct ort_ep *self, const void *graph, void *support);
ort_status *provider_compile(struct ort_ep *self, const void **graphs, const void **nodes, size_t n,
			     struct ort_compute **computes, void **context_nodes);
void provider_release(struct ort_ep *self, struct ort_compute **computes, size_t n);

#endif
