/* graph/import/constants.c -- constants of a model file. */
#include <string.h>

#include "graph/import/import_int.h"
#include "graph/op/dtype.h"

/* Integers of 4 or 2 bits as bytes, which hone computes with: the first is in the lowest bits. */
static int32_t import_packed(struct hn_importer *i, const struct hn_onnx_tensor *t,
			     struct hn_onnx_bytes from)
{
	bool is_signed = t->data_type == HN_ONNX_INT4 || t->data_type == HN_ONNX_INT2;
	uint32_t bits = (uint32_t)hn_onnx_dtype_bits(t->data_type), each = 8 / bits;
	uint8_t *to, top = (uint8_t)(1u << (bits - 1));

	if (!hn_graph_afford(i->g, t->n_element)) {
		return hn_graph_fail(i->g, HONE_E_QUOTA,
				     "constant %.80s has %lld elements", t->name,
				     (long long)t->n_element);
	}
	to = hn_arena_alloc(i->g->arena, (size_t)t->n_element);
	for (int64_t k = 0; k < t->n_element; k++) {
		uint8_t v = (uint8_t)(from.at[k / each] >> (k % each * bits)) &
			    (2u * top - 1);

		to[k] = is_signed ? (uint8_t)((v ^ top) - top) : v;
	}
	return hn_graph_const(i->g, t->name, is_signed ? HN_I8 : HN_U8, t->n_dims,
			      t->dims, to, false);
}

bool hn_import_is_packed(int32_t onnx_type)
{
	return onnx_type == HN_ONNX_INT4 || onnx_type == HN_ONNX_UINT4 ||
	       onnx_type == HN_ONNX_INT2 || onnx_type == HN_ONNX_UINT2;
}

/* A tensor of the file as a constant.  The elements stay in the file. */
int32_t hn_import_tensor(struct hn_importer *i, const struct hn_onnx_tensor *t)
{
	bool packed = hn_import_is_packed(t->data_type);
	enum hn_dtype type = packed ? HN_I8 : hn_dtype_of_onnx(t->data_type);
	struct hn_onnx_bytes bytes;
	int32_t v;

	if (type == HN_N_DTYPE || t->n_dims > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(i->g, HONE_E_UNSUPPORTED,
				     "constant %.80s of %s with %u dimensions", t->name,
				     hn_onnx_dtype_name(t->data_type), t->n_dims);
	}
	if (hn_onnx_tensor_bytes(i->onnx, t, &bytes, i->g->err) != 0) {
		i->g->failed = true;
		return HN_BAD;
	}
	if (packed) {
		return import_packed(i, t, bytes);
	}
	/* a constant without elements has bytes, too: it is known */
	v = hn_graph_const(i->g, t->name, type, t->n_dims, t->dims,
			   bytes.at != NULL ? (const void *)bytes.at : "", false);
	i->g->value[v].lasts = true;
	return v;
}

static int32_t import_numbers(struct hn_importer *i, enum hn_dtype t, uint32_t n,
			      bool scalar, const void *data)
{
	int64_t *shape = HN_NEW(i->g->arena, int64_t);

	*shape = n;
	return hn_graph_const(i->g, i->g->at, t, scalar ? 0 : 1, shape, data, false);
}

/* The operator Constant. */
int32_t hn_import_constant(struct hn_importer *i, const struct hn_onnx_node *n)
{
	const struct hn_onnx_attr *a = n->n_attribute == 1 ? &n->attribute[0] : NULL;

	switch (a != NULL ? a->type : HN_ONNX_ATTR_NONE) {
	case HN_ONNX_ATTR_TENSOR:
		return hn_import_tensor(i, a->t);
	case HN_ONNX_ATTR_FLOAT:
		return import_numbers(i, HN_F32, 1, true, &a->f);
	case HN_ONNX_ATTR_FLOATS:
		return import_numbers(i, HN_F32, a->n_floats, false, a->floats);
	case HN_ONNX_ATTR_INT:
		return import_numbers(i, HN_I64, 1, true, &a->i);
	case HN_ONNX_ATTR_INTS:
		return import_numbers(i, HN_I64, a->n_ints, false, a->ints);
	default:
		return hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "no constant of numbers");
	}
}
