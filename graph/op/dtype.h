/* graph/op/dtype.h -- ONNX's numbers of element types. */
#ifndef HN_GRAPH_OP_DTYPE_H
#define HN_GRAPH_OP_DTYPE_H

#include "base/dtype.h"

/* hone's type for TensorProto.DataType `t`; HN_N_DTYPE: hone has none. */
enum hn_dtype hn_dtype_of_onnx(int64_t t);

/* The other way round. */
int32_t hn_dtype_to_onnx(enum hn_dtype t);

#endif
