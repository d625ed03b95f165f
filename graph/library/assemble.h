/* graph/library/assemble.h -- a network and what is known of its kernels, as the table of a compiled
 * network: which argument of which step lies where. */
#ifndef HN_GRAPH_LIBRARY_ASSEMBLE_H
#define HN_GRAPH_LIBRARY_ASSEMBLE_H

#include "graph/library/weights.h"
#include "graph/net/ranges.h"
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

/* The same of a network for ranges of sizes: facts[range][kernel].  Kernels of one symbol are one. */
int hn_assemble_ranges(const struct hn_ranges *ranges, const char *name,
		       const struct hn_kernel_facts *const *facts, struct hn_arena *a,
		       struct hn_assembly *ret, struct hn_err *err) HN_NODISCARD;

/* A name of the model's author as one line of what can be shown; in a. */
const char *hn_assemble_label(struct hn_arena *a, const char *name);

#endif
