/* graph/library/settle.h -- the last places of a compiled network: of its weights in their file,
 * and of what its kernels prepare from them. */
#ifndef HN_GRAPH_LIBRARY_SETTLE_H
#define HN_GRAPH_LIBRARY_SETTLE_H

#include "graph/library/weights.h"
#include "proto/model.h"

/* The model with all places: in `m`, an argument in weights has the weight's number as its index
 * and an offset in that weight; weights_bytes, stamp, prepared_bytes and steps' `prepared` are not
 * looked at, but of a step whose block is stored: that is the number of the weight which has it.
 * Other steps with one kernel and the same constant arguments share a prepared block.  The
 * result is checked (hn_model_check), lives in the arena and borrows from m.  HONE_E_INVALID names
 * the argument that leaves its weight. */
int hn_library_settle(const struct hn_model *m, const struct hn_weight *weight,
		      uint32_t n_weight, const struct hn_weights *plan,
		      struct hn_arena *a, struct hn_model *ret,
		      struct hn_err *err) HN_NODISCARD;

#endif
