/* measure/board/tensor.h -- an argument of a kernel, as a board sees it: bytes, type and
 * extents.
 */
#ifndef HN_MEASURE_BOARD_TENSOR_H
#define HN_MEASURE_BOARD_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/frames.h"

#define HN_TENSOR_MAX_BYTES ((int64_t)1 << 40)

struct hn_tensor {
	const char *name;
	enum hn_dtype elem;
	uint32_t n_dim;	      /* 0 = a scalar in memory */
	const int64_t *shape; /* each >= 1 */
	bool output;
	int64_t n_elem; /* product of shape */
	int64_t bytes;
};

/* The arguments of a frame.  Results live in a, and borrow what the frame's decoder made.
 * HONE_E_INVALID names an argument that is larger than memory. */
int hn_tensors_of(uint32_t n, const struct hn_frame_argument *args, struct hn_arena *a,
		  struct hn_tensor **ret, struct hn_err *err) HN_NODISCARD;

#endif
