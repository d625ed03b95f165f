/* measure/tensor.h -- an argument of a kernel, as a board sees it: bytes, type and
 * extents.
 */
#ifndef HN_MEASURE_TENSOR_H
#define HN_MEASURE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

enum hn_elem {
#define ELEM(name, text, ctype, class) HN_ELEM_##name,
#include "measure/elems.def"
#undef ELEM
	HN_N_ELEM
};

enum hn_elem_class { HN_ELEM_CLASS_BOOL, HN_ELEM_CLASS_INT, HN_ELEM_CLASS_FLOAT };

#define HN_TENSOR_MAX_DIM 32
#define HN_TENSOR_MAX_ARG 256
#define HN_TENSOR_MAX_BYTES ((int64_t)1 << 40)

struct hn_tensor {
	const char *name;
	enum hn_elem elem;
	uint32_t n_dim;	      /* 0 = a scalar in memory */
	const int64_t *shape; /* each >= 1 */
	bool output;
	int64_t n_elem; /* product of shape */
	int64_t bytes;
};

const char *hn_elem_name(enum hn_elem e);
uint32_t hn_elem_bytes(enum hn_elem e);
enum hn_elem_class hn_elem_class(enum hn_elem e);
enum hn_elem hn_elem_of(const char *name); /* HN_N_ELEM when there is none */

/* Read the array "args" of a WORKLOAD frame (measure.h). Everything is checked; results
 * live in a. HONE_E_INVALID names the argument. */
int hn_tensors_parse(const struct hn_json *args, struct hn_arena *a, uint32_t *ret_n,
		     struct hn_tensor **ret, struct hn_err *err) HN_NODISCARD;

#endif
