/* graph/onnx/messages.c -- the messages of ONNX that are read, field by field: the facts of
 * onnx.proto.  What has no row is skipped, as are fields of later versions: documentation,
 * quantization annotations, placement on devices, what is inside of functions and training. */
#include <string.h>

#include "graph/onnx/onnx_int.h"

#define PLAIN(kind_, type, number_, member)                                              \
	{                                                                                \
		.name = #member, .number = number_, .kind = ONNX_##kind_,                \
		.at = offsetof(struct type, member)                                      \
	}
#define MESSAGE(kind_, of_, type, number_, name_, member)                                \
	{                                                                                \
		.name = #name_, .number = number_, .kind = ONNX_##kind_,                 \
		.of = ONNX_##of_, .at = offsetof(struct type, member)                    \
	}
#define LIST(kind_, of_, type, number_, name_, member)                                   \
	{                                                                                \
		.name = #name_, .number = number_, .kind = ONNX_##kind_,                 \
		.of = ONNX_##of_, .at = offsetof(struct type, member),                   \
		.count = offsetof(struct type, n_##member)                               \
	}
#define MANY(of, type, number, member) LIST(MANY, of, type, number, member, member)
#define LATER(number_, wire, member)                                                     \
	{                                                                                \
		.name = #member, .number = number_, .kind = ONNX_LATER,                  \
		.of = HN_WIRE_##wire                                                     \
	}
#define WORD(number_, word)                                                              \
	{                                                                                \
		.name = word, .number = number_, .kind = ONNX_WORD,                      \
		.at = offsetof(struct hn_onnx_value_info, other)                         \
	}

static const struct onnx_row model_rows[] = {
	PLAIN(INT, hn_onnx_model, 1, ir_version),
	PLAIN(TEXT, hn_onnx_model, 2, producer_name),
	PLAIN(TEXT, hn_onnx_model, 3, producer_version),
	PLAIN(TEXT, hn_onnx_model, 4, domain),
	PLAIN(INT, hn_onnx_model, 5, model_version),
	MESSAGE(ONE, GRAPH, hn_onnx_model, 7, graph, graph),
	MANY(OPSET, hn_onnx_model, 8, opset_import),
	MANY(ENTRY, hn_onnx_model, 14, metadata_props),
	PLAIN(COUNT, hn_onnx_model, 20, n_training_info),
	MANY(FUNCTION, hn_onnx_model, 25, functions),
};

static const struct onnx_row opset_rows[] = {
	PLAIN(TEXT, hn_onnx_opset, 1, domain),
	PLAIN(INT, hn_onnx_opset, 2, version),
};

static const struct onnx_row entry_rows[] = {
	PLAIN(TEXT, hn_onnx_entry, 1, key),
	PLAIN(BYTES, hn_onnx_entry, 2, value),
};

static const struct onnx_row function_rows[] = {
	PLAIN(TEXT, hn_onnx_function, 1, name),
	PLAIN(TEXT, hn_onnx_function, 10, domain),
};

static const struct onnx_row graph_rows[] = {
	MANY(NODE, hn_onnx_graph, 1, node),
	PLAIN(TEXT, hn_onnx_graph, 2, name),
	MANY(TENSOR, hn_onnx_graph, 5, initializer),
	MANY(VALUE_INFO, hn_onnx_graph, 11, input),
	MANY(VALUE_INFO, hn_onnx_graph, 12, output),
	MANY(VALUE_INFO, hn_onnx_graph, 13, value_info),
	PLAIN(COUNT, hn_onnx_graph, 15, n_sparse_initializer),
};

static const struct onnx_row node_rows[] = {
	LIST(TEXTS, MODEL, hn_onnx_node, 1, input, input),
	LIST(TEXTS, MODEL, hn_onnx_node, 2, output, output),
	PLAIN(TEXT, hn_onnx_node, 3, name),
	PLAIN(TEXT, hn_onnx_node, 4, op_type),
	MANY(ATTRIBUTE, hn_onnx_node, 5, attribute),
	PLAIN(TEXT, hn_onnx_node, 7, domain),
	PLAIN(TEXT, hn_onnx_node, 8, overload),
};

static const struct onnx_row attribute_rows[] = {
	PLAIN(TEXT, hn_onnx_attr, 1, name),
	PLAIN(FLOAT, hn_onnx_attr, 2, f),
	PLAIN(INT, hn_onnx_attr, 3, i),
	PLAIN(BYTES, hn_onnx_attr, 4, s),
	MESSAGE(ONE, TENSOR, hn_onnx_attr, 5, t, t),
	MESSAGE(ONE, GRAPH, hn_onnx_attr, 6, g, g),
	LIST(FLOATS, MODEL, hn_onnx_attr, 7, floats, floats),
	LIST(INTS, MODEL, hn_onnx_attr, 8, ints, ints),
	LIST(BYTES_LIST, MODEL, hn_onnx_attr, 9, strings, strings),
	MANY(TENSOR, hn_onnx_attr, 10, tensors),
	MANY(GRAPH, hn_onnx_attr, 11, graphs),
	LATER(14, BYTES, tp),
	LATER(15, BYTES, type_protos),
	PLAIN(INT32, hn_onnx_attr, 20, type),
	PLAIN(TEXT, hn_onnx_attr, 21, ref_attr_name),
	LATER(22, BYTES, sparse_tensor),
	LATER(23, BYTES, sparse_tensors),
};

static const struct onnx_row tensor_rows[] = {
	LIST(INTS, MODEL, hn_onnx_tensor, 1, dims, dims),
	PLAIN(INT32, hn_onnx_tensor, 2, data_type),
	LATER(3, BYTES, segment),
	LATER(4, FIXED32, float_data),
	LATER(5, VARINT, int32_data),
	LIST(BYTES_LIST, MODEL, hn_onnx_tensor, 6, string_data, string_data),
	LATER(7, VARINT, int64_data),
	PLAIN(TEXT, hn_onnx_tensor, 8, name),
	PLAIN(BYTES, hn_onnx_tensor, 9, raw_data),
	LATER(10, FIXED64, double_data),
	LATER(11, VARINT, uint64_data),
	MANY(ENTRY, hn_onnx_tensor, 13, external_data),
	PLAIN(INT32, hn_onnx_tensor, 14, data_location),
};

static const struct onnx_row value_info_rows[] = {
	PLAIN(TEXT, hn_onnx_value_info, 1, name),
	MESSAGE(HERE, TYPE, hn_onnx_value_info, 2, type, has_type),
};

static const struct onnx_row type_rows[] = {
	MESSAGE(HERE, TENSOR_TYPE, hn_onnx_value_info, 1, tensor_type, is_tensor),
	WORD(4, "sequence"),
	WORD(5, "map"),
	WORD(7, "opaque"),
	WORD(8, "sparse tensor"),
	WORD(9, "optional"),
};

static const struct onnx_row tensor_type_rows[] = {
	PLAIN(INT32, hn_onnx_value_info, 1, elem_type),
	MESSAGE(HERE, SHAPE, hn_onnx_value_info, 2, shape, has_shape),
};

static const struct onnx_row shape_rows[] = {
	MANY(DIM, hn_onnx_value_info, 1, dim),
};

static const struct onnx_row dim_rows[] = {
	PLAIN(INT, hn_onnx_dim, 1, dim_value),
	PLAIN(TEXT, hn_onnx_dim, 2, dim_param),
};

static int finish_model(struct onnx_reader *r, const struct hn_wire *w, void *to,
			const uint64_t *n)
{
	(void)w;
	(void)to;
	return n[7] > 0 ? 0
			: hn_fail(r->err, HONE_E_INVALID,
				  "no graph in it: this is no ONNX model");
}

/* The kind of the one value that is there; NONE if there is none, or several. */
static int32_t found_type(const uint64_t *n)
{
	static const uint8_t field[] = {
#define ATTR(number, name, field) [number] = field,
#include "graph/onnx/attrs.def"
#undef ATTR
	};
	int32_t found = HN_ONNX_ATTR_NONE;
	unsigned n_found = 0;

	for (int32_t i = 1; i < (int32_t)HN_COUNT_OF(field); i++) {
		if (n[field[i]] > 0) {
			found = i;
			n_found++;
		}
	}
	return n_found == 1 ? found : HN_ONNX_ATTR_NONE;
}

/* Files before IR version 2 have no types; what is there says it, if it is one thing.  A type
 * without a value is one that has the value 0, which some writers leave out. */
static int finish_attribute(struct onnx_reader *r, const struct hn_wire *w, void *to,
			    const uint64_t *n)
{
	struct hn_onnx_attr *a = to;
	const char *what = NULL;

	a->type = a->type == HN_ONNX_ATTR_NONE ? found_type(n) : a->type;
	if (a->type == HN_ONNX_ATTR_NONE && a->ref_attr_name[0] == '\0') {
		what = "an attribute without a type, and not with one value";
	} else if ((a->type == HN_ONNX_ATTR_TENSOR && !a->t) ||
		   (a->type == HN_ONNX_ATTR_GRAPH && !a->g)) {
		what = "an attribute that says it is a tensor or graph, and has none";
	} else if (strcmp(hn_onnx_attr_type_name(a->type), "?") == 0 &&
		   a->type != HN_ONNX_ATTR_NONE) {
		what = "an attribute of a type that is not known";
	}
	return !what ? 0
		     : hn_fail(r->err, HONE_E_INVALID, "byte %llu: %s",
			       (unsigned long long)hn_wire_at(w), what);
}

static int finish_dim(struct onnx_reader *r, const struct hn_wire *w, void *to,
		      const uint64_t *n)
{
	struct hn_onnx_dim *d = to;

	(void)r;
	(void)w;
	d->kind = n[1] > 0   ? HN_ONNX_DIM_VALUE
		  : n[2] > 0 ? HN_ONNX_DIM_PARAM
			     : HN_ONNX_DIM_UNKNOWN;
	return 0;
}

#define ROWS(rows) .row = rows, .n_row = HN_COUNT_OF(rows)
#define STRUCT(type) .bytes = sizeof(struct type), .at = offsetof(struct type, at)
#define UNPLACED(type) .bytes = sizeof(struct type), .at = ONNX_NOWHERE
#define INSIDE .bytes = 0, .at = ONNX_NOWHERE /* of another's struct */

const struct onnx_shape onnx_shape[ONNX_N_MESSAGE] = {
	[ONNX_MODEL] = { "model", UNPLACED(hn_onnx_model), ROWS(model_rows),
			 .finish = finish_model },
	[ONNX_OPSET] = { "opset", UNPLACED(hn_onnx_opset), ROWS(opset_rows), .name = 1 },
	[ONNX_ENTRY] = { "entry", UNPLACED(hn_onnx_entry), ROWS(entry_rows), .name = 1 },
	[ONNX_FUNCTION] = { "function", STRUCT(hn_onnx_function), ROWS(function_rows),
			    .name = 1 },
	[ONNX_GRAPH] = { "graph", STRUCT(hn_onnx_graph), ROWS(graph_rows), .name = 2 },
	[ONNX_NODE] = { "node", STRUCT(hn_onnx_node), ROWS(node_rows), .name = 3,
			.also = 4 },
	[ONNX_ATTRIBUTE] = { "attribute", STRUCT(hn_onnx_attr), ROWS(attribute_rows),
			     .name = 1, .finish = finish_attribute },
	[ONNX_TENSOR] = { "tensor", STRUCT(hn_onnx_tensor), ROWS(tensor_rows), .name = 8,
			  .finish = onnx_finish_tensor },
	[ONNX_VALUE_INFO] = { "value", STRUCT(hn_onnx_value_info), ROWS(value_info_rows),
			      .name = 1 },
	[ONNX_TYPE] = { "type", INSIDE, ROWS(type_rows), .one_of = true },
	[ONNX_TENSOR_TYPE] = { "tensor type", INSIDE, ROWS(tensor_type_rows) },
	[ONNX_SHAPE] = { "shape", INSIDE, ROWS(shape_rows) },
	[ONNX_DIM] = { "dimension", UNPLACED(hn_onnx_dim), ROWS(dim_rows), .one_of = true,
		       .finish = finish_dim },
};
