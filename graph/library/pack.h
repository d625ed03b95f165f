/* graph/library/pack.h -- a compiled network whose prepared blocks are weights: `hone compile` ran
 * what prepares them, so that a program has nothing to prepare, and all processes share them.
 *
 * A weight that is read in its prepared form alone is left out.  The idea is that of the
 * pre-packed weights of ONNX Runtime and oneDNN.
 */
#ifndef HN_GRAPH_LIBRARY_PACK_H
#define HN_GRAPH_LIBRARY_PACK_H

#include "graph/library/weights.h"
#include "proto/model.h"

struct hn_packed {
	struct hn_model model; /* for hn_library_settle, with these weights */
	uint32_t n_weight;
	const struct hn_weight *weight;
};

/* m: as hn_library_settle takes it, with `weight`; settled: what that made of it; prepared: the
 * blocks, settled->prepared_bytes; reads[kernel][input]: whether a run reads the input beside them.
 * All in a, borrowing from m, weight and prepared.  Pure. */
void hn_library_pack(const struct hn_model *m, const struct hn_weight *weight, uint32_t n_weight,
		     const struct hn_model *settled, const void *prepared,
		     const bool *const *reads, struct hn_arena *a, struct hn_packed *ret);

#endif
