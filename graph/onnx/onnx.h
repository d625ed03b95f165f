/* graph/onnx/onnx.h -- a model file of ONNX, read and not yet understood.
 *
 * What the file says, as immutable values: graphs, nodes, tensors, types.  Nothing here knows an
 * operator, a shape rule or an opset; who imports a graph reads these structs.
 *
 * The file is mapped, and weights stay in the mapping: `raw_data` points into it, without any
 * alignment.  Only structure is allocated, at most HN_ONNX_PER_BYTE bytes for each byte of the
 * file and HN_ONNX_FREE_BYTES more, never above HN_ONNX_MOST_BYTES.  Time is linear in the bytes
 * that are not weights.
 *
 * Texts end with a NUL, are UTF-8 without control characters and never NULL: what the file does
 * not say is "".  Members are named as in ONNX, and a list `x` has `n_x` items.
 *
 * Two readers must not read two models from one file.  So a message that should be there once and
 * is there twice is refused, as are two members of a oneof and data in two fields of a tensor.  Of
 * a number or text that is repeated the last counts, as everywhere.
 *
 * Why the reader is our own: protobuf's C readers copy every field, weights of gigabytes included,
 * bound neither depth nor memory, and name no place in the file when they fail.  ONNX needs a
 * dozen messages.
 */
#ifndef HN_GRAPH_ONNX_ONNX_H
#define HN_GRAPH_ONNX_ONNX_H

#include <stdbool.h>

#include "base/err.h"

#define HN_ONNX_MAX_NODES ((uint32_t)1 << 20) /* of all graphs of a file */
#define HN_ONNX_MAX_DEPTH 8   /* graphs within graphs, the outermost counted */
#define HN_ONNX_MAX_TEXT 4096 /* bytes of a name */
#define HN_ONNX_PER_BYTE 32
#define HN_ONNX_FREE_BYTES ((uint64_t)1 << 20)
#define HN_ONNX_MOST_BYTES ((uint64_t)1 << 30)

struct hn_onnx; /* an open file */

/* TensorProto.DataType */
enum hn_onnx_dtype {
	HN_ONNX_NO_TYPE = 0,
#define TYPE(number, name, ...) HN_ONNX_##name = number,
#include "graph/onnx/types.def"
#undef TYPE
};

/* AttributeProto.AttributeType */
enum hn_onnx_attr_type {
	HN_ONNX_ATTR_NONE = 0,
#define ATTR(number, name, field) HN_ONNX_ATTR_##name = number,
#include "graph/onnx/attrs.def"
#undef ATTR
};

/* Bytes of the file, of any content, where they lie; NULL and 0 where there are none. */
struct hn_onnx_bytes {
	const uint8_t *at;
	uint64_t n;
};

struct hn_onnx_entry {
	const char *key;
	struct hn_onnx_bytes value; /* people's text: any */
};

struct hn_onnx_opset {
	const char *domain; /* "" = ai.onnx */
	int64_t version;
};

/* Where the bytes of an external tensor are. */
struct hn_onnx_external {
	const char *location; /* as the file says; checked by hn_onnx_tensor_bytes */
	uint64_t offset;      /* of the first byte in that file */
};

struct hn_onnx_tensor {
	const char *name;
	uint64_t at;	     /* place in the file, as of all that have it */
	const int64_t *dims; /* each 0 or more; none = a scalar */
	int64_t n_element;   /* their product */
	struct hn_onnx_bytes
		raw_data; /* n_bytes of them, little endian; none if string or external */
	uint64_t n_bytes; /* that its elements take: sub-byte types in whole bytes */
	const struct hn_onnx_bytes
		*string_data; /* n_element of them if data_type is STRING */
	const struct hn_onnx_external *external;   /* NULL = the data is in this file */
	const struct hn_onnx_entry *external_data; /* what `external` was made of */
	uint32_t n_dims, n_string_data, n_external_data;
	int32_t data_type;     /* enum hn_onnx_dtype; never NO_TYPE */
	int32_t data_location; /* 1 = external */
};

enum hn_onnx_dim_kind { HN_ONNX_DIM_UNKNOWN, HN_ONNX_DIM_VALUE, HN_ONNX_DIM_PARAM };

struct hn_onnx_dim {
	const char *dim_param; /* a name for a size that each call has */
	int64_t dim_value;     /* any; exporters write -1 and 0 for unknown sizes */
	enum hn_onnx_dim_kind kind;
};

struct hn_onnx_value_info {
	const char *name;
	uint64_t at;
	const char *other; /* "sequence", "map", ...: no tensor; else NULL */
	const struct hn_onnx_dim *dim;
	uint32_t n_dim;
	int32_t elem_type;	  /* enum hn_onnx_dtype or any number; 0 = not said */
	bool has_type, is_tensor; /* is_tensor: elem_type and shape are of a tensor */
	bool has_shape;		  /* else not even the rank is known */
};

struct hn_onnx_graph;

/* One value, or one list, by `type`; other members may be filled and mean nothing. */
struct hn_onnx_attr {
	const char *name;
	const char *ref_attr_name; /* in a function: the caller's attribute; else "" */
	uint64_t at;
	int64_t i;
	struct hn_onnx_bytes s;
	const struct hn_onnx_tensor *t;
	const struct hn_onnx_graph *g;
	const float *floats;
	const int64_t *ints;
	const struct hn_onnx_bytes *strings;
	const struct hn_onnx_tensor *tensors;
	const struct hn_onnx_graph *graphs;
	uint32_t n_floats, n_ints, n_strings, n_tensors, n_graphs;
	float f;
	int32_t type; /* enum hn_onnx_attr_type; never NONE but where ref_attr_name is given */
};

struct hn_onnx_node {
	const char *name, *op_type, *domain, *overload;
	uint64_t at;
	const char *const *input; /* "" = an optional one that is left out */
	const char *const *output;
	const struct hn_onnx_attr *attribute;
	uint32_t n_input, n_output, n_attribute;
};

struct hn_onnx_graph {
	const char *name;
	uint64_t at;
	const struct hn_onnx_node *node;
	const struct hn_onnx_tensor *initializer;
	const struct hn_onnx_value_info *input, *output, *value_info;
	uint32_t n_node, n_initializer, n_input, n_output, n_value_info;
	uint32_t n_sparse_initializer; /* not read */
};

/* Of a function its name alone. */
struct hn_onnx_function {
	const char *name, *domain;
	uint64_t at;
};

struct hn_onnx_model {
	int64_t ir_version, model_version;
	const char *producer_name, *producer_version, *domain;
	const struct hn_onnx_opset *opset_import;
	const struct hn_onnx_entry *metadata_props;
	const struct hn_onnx_function *functions;
	const struct hn_onnx_graph *graph; /* never NULL */
	uint32_t n_opset_import, n_metadata_props, n_functions;
	uint32_t n_training_info; /* not read */
};

/* Map and read a file.  HONE_E_NOT_FOUND, HONE_E_PERMISSION, HONE_E_IO as base/file.h,
 * HONE_E_INVALID (no model, damaged), HONE_E_QUOTA (a limit above); the message says
 * "path: where: what".  While it is open the file may be replaced by another of its name, but not
 * cut: a read past a file's new end is a SIGBUS, as of any mapping. */
int hn_onnx_open(const char *path, struct hn_onnx **ret, struct hn_err *err) HN_NODISCARD;

/* The same of bytes that outlive what is returned; `name` stands for the path in messages.
 * External data has no folder then, and is refused when it is asked for. */
int hn_onnx_parse(const char *name, const void *bytes, size_t n, struct hn_onnx **ret,
		  struct hn_err *err) HN_NODISCARD;

/* NULL is fine.  Everything the model points to goes with it. */
void hn_onnx_close(struct hn_onnx *o);

const struct hn_onnx_model *hn_onnx_model(const struct hn_onnx *o);

/* Bytes allocated for the structure, without the mapping. */
size_t hn_onnx_memory(const struct hn_onnx *o);

/* The n_bytes of a tensor that is no string: raw_data, or external data, whose file is mapped when
 * it is first asked for and lies in the model's folder or below: no "..", no symbolic link.
 * HONE_E_NOT_FOUND, HONE_E_PERMISSION, HONE_E_IO, HONE_E_INVALID.  One owner at a time. */
int hn_onnx_tensor_bytes(struct hn_onnx *o, const struct hn_onnx_tensor *t,
			 struct hn_onnx_bytes *ret, struct hn_err *err) HN_NODISCARD;

/* "float", "int64"; "?" of a number that is none. */
const char *hn_onnx_dtype_name(int32_t dtype);

/* Of an element; 0 of strings, -1 of a number that is none. */
int hn_onnx_dtype_bits(int32_t dtype);

/* "FLOAT", "INTS"; "?" of a number that is none. */
const char *hn_onnx_attr_type_name(int32_t type);

/* Whether these bytes are that text. */
bool hn_onnx_bytes_are(struct hn_onnx_bytes b, const char *text);

#endif
