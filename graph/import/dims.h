/* graph/import/dims.h -- sizes that a model leaves open: those that the user gave, and one line that
 * asks for all that are missing. */
#ifndef HN_GRAPH_IMPORT_DIMS_H
#define HN_GRAPH_IMPORT_DIMS_H

#include "base/buf.h"
#include "graph/import/import.h"
#include "graph/import/names.h"

struct hn_dims {
	struct hn_import *im;
	struct hn_arena *a;
	struct hn_names asked;
	struct hn_buf options; /* " --dim batch=.. --dim x:1=.." */
	struct hn_buf inputs;  /* "x[batch, ?, 3], y[batch]": those with a dimension missing */
	uint32_t n_unsaid, n_untold; /* of both, what the line has no room for */
};

/* `most`: dimensions that there are at most. */
void hn_dims_init(struct hn_dims *d, struct hn_import *im, uint32_t most, struct hn_arena *a);
void hn_dims_fini(struct hn_dims *d);

/* The input's shape, ret[n_dim]; 0 where nobody knows. */
void hn_dims_shape(struct hn_dims *d, const struct hn_onnx_value_info *v, int64_t *ret);

/* After all inputs.  HONE_E_INVALID: sizes are missing, or one was given that no input has. */
int hn_dims_check(const struct hn_dims *d, struct hn_err *err) HN_NODISCARD;

#endif
