/* measure/board/tensor.h -- an argument of a kernel, as a board sees it: bytes, type and
 * extents.
 */
#ifndef HN_MEASURE_BOARD_TENSOR_H
#define HN_MEASURE_BOARD_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/json.h"

#define HN_TENSOR_MAX_DIM 32
#define HN_TENSOR_MAX_ARG 256
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

/* Read the array "args" of a WORKLOAD frame (measure.h). Everything is checked; results
 * live in a. HONE_E_INVALID names the argument. */
int hn_tensors_parse(const struct hn_json *args, struct hn_arena *a, uint32_t *ret_n,
		     struct hn_tensor **ret, struct hn_err *err) HN_NODISCARD;

#endif
