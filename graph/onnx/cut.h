/* graph/onnx/cut.h -- a part of a model as a model of its own: some of its nodes, what they read as inputs
 * or weights, and what they give to others as outputs.
 *
 * Nodes and weights are copied as the file has them, byte for byte, so that nothing is lost that this
 * reader does not know.
 */
#ifndef HN_GRAPH_ONNX_CUT_H
#define HN_GRAPH_ONNX_CUT_H

#include "base/buf.h"
#include "graph/onnx/onnx.h"

#define HN_ONNX_CUT_MOST ((size_t)2000 << 20) /* bytes of a model in one file */

struct hn_onnx_cut_value {
	const char *name;
	const int64_t *dims; /* [n_dim] */
	uint32_t n_dim;
	int32_t data_type; /* enum hn_onnx_dtype */
	/* Of a constant that the file has not: its elements; NULL of inputs and outputs. */
	const void *data;
	uint64_t n_bytes;
};

struct hn_onnx_cut {
	const uint32_t *node, *initializer; /* numbers in the file's graph, in its order */
	const struct hn_onnx_cut_value *input, *output, *constant;
	uint32_t n_node, n_initializer, n_input, n_output, n_constant;
};

/* Onto `ret`.  HONE_E_QUOTA: too large for one file; HONE_E_NOMEM; or as hn_onnx_tensor_bytes. */
int hn_onnx_cut(struct hn_onnx *o, const struct hn_onnx_cut *cut, struct hn_buf *ret,
		struct hn_err *err) HN_NODISCARD;

#endif
