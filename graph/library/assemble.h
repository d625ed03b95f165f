/* graph/library/assemble.h -- a network and what is known of its kernels, as the table of a compiled
 * network: which argument of which step lies where. */
#ifndef HN_GRAPH_LIBRARY_ASSEMBLE_H
#define HN_GRAPH_LIBRARY_ASSEMBLE_H

#include "graph/library/weights.h"
#include "graph/net/net.h"
#include "proto/model.h"

/* What a caller of a kernel has to provide. */
struct hn_kernel_facts {
	const char *symbol;
	uint64_t workspace_bytes, worker_bytes, prepared_bytes;
	bool init;
};

struct hn_assembly {
	struct hn_model model; /* for hn_library_settle: places in weights are (weight, offset) */
	uint32_t n_weight;
	const struct hn_weight *weight; /* they point to the graph's constants */
	uint64_t arena_bound; /* no plan needs less between the steps */
};

/* facts[n_kernel of net]; all in a, borrowing from net. */
int hn_assemble(const struct hn_net *net, const char *name, const struct hn_kernel_facts *facts,
		struct hn_arena *a, struct hn_assembly *ret, struct hn_err *err) HN_NODISCARD;

#endif
