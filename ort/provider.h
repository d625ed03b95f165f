/* ort/provider.h -- hone as an execution provider of ONNX Runtime: what its files share.
 *
 * A session is given the provider by two lines of Python (docs/onnxruntime.md). When it is made the runtime
 * shows the graph (claim.c).  The provider takes all of it if a compiled network of this very file is
 * known to be faster here; or, of a network that was compiled by regions, those that are (regions.c).
 */
#ifndef HN_ORT_PROVIDER_H
#define HN_ORT_PROVIDER_H

#include "ort/library.h"
#include "ort/slots.h"

#define PROVIDER_NAME "HoneExecutionProvider"
#define PROVIDER_MOST_PATH 4096
#define PROVIDER_MOST_REGIONS 8
#define PROVIDER_MOST_ONLY 512
#define PROVIDER_ERROR_MOST 1e-2 /* of an answer, relative to its largest element */

enum provider_claim { CLAIM_FASTER, CLAIM_ALWAYS, CLAIM_NEVER };

struct provider {
	struct ort_ep ep; /* first: the runtime's pointer is ours */
	const void *api, *ep_api, *logger;
	char runtime[32]; /* version */
	char folder[PROVIDER_MOST_PATH]; /* option "library"; "" = beside the model */
	char only[PROVIDER_MOST_ONLY]; /* option "regions": names, each behind a comma; "" = all */
	enum provider_claim claim;
	int32_t threads; /* below 1: all */
	struct hone_pool *pool; /* NULL before it is needed */
	struct ort_library *library[PROVIDER_MOST_REGIONS]; /* what was taken */
	uint32_t n_library;
	bool whole; /* it is one, of all of the graph */
};

/* One line to the runtime's log. */
void provider_say(const struct provider *p, int severity, const char *fmt, ...) HN_PRINTF(3, 4);

/* What a folder has, compiled of the file `model`; NULL and the error. */
struct ort_library *provider_open(struct provider *p, const char *dir, const char *model,
				  struct hn_err *err);
void provider_close(struct ort_library *l);
void provider_drop_all(struct provider *p); /* all of p->library */

/* The pool, made when it is first asked for. */
struct hone_pool *provider_pool(struct provider *p);

/* Take of the graph what the regions of the folder are faster at: regions.c. */
ort_status *provider_claim_regions(struct provider *p, const void *graph, const char *model,
				   const char *folder, void *support);

/* A status of the runtime's with the error's words. */
ort_status *provider_fail(const struct provider *p, const struct hn_err *err);

ort_status *provider_capability(struct ort_ep *self, const void *graph, void *support);
ort_status *provider_compile(struct ort_ep *self, const void **graphs, const void **nodes, size_t n,
			     struct ort_compute **computes, void **context_nodes);
void provider_release(struct ort_ep *self, struct ort_compute **computes, size_t n);

#endif
