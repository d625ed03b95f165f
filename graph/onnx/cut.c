/* graph/onnx/cut.c -- see cut.h. */
#include "graph/onnx/cut.h"

#include <string.h>

#include "graph/onnx/onnx_int.h"

/* Numbers of fields that are written. */
enum {
	MODEL_IR_VERSION = 1,
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	VALUE_NAME = 1,
	VALUE_TYPE = 2,
	TYPE_TENSOR = 1,
	TENSOR_TYPE_ELEMENT = 1,
	TENSOR_TYPE_SHAPE = 2,
	SHAPE_DIM = 1,
	DIM_VALUE = 1,
};

#define IR_WITHOUT_INPUTS 4 /* from here on weights need not be listed as inputs */

static void put_varint(struct hn_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7) {
		hn_buf_putc(b, (char)(v | 0x80));
	}
	hn_buf_putc(b, (char)v);
}

static void put_number(struct hn_buf *b, uint32_t field, uint64_t v)
{
	put_varint(b, field << 3 | HN_WIRE_VARINT);
	put_varint(b, v);
}

static void put_bytes(struct hn_buf *b, uint32_t field, const void *bytes, uint64_t n)
{
	put_varint(b, field << 3 | HN_WIRE_BYTES);
	put_varint(b, n);
	hn_buf_add(b, bytes, n);
}

/* What was written to `inside` as one field; `inside` is empty then. */
static void put_message(struct hn_buf *b, uint32_t field, struct hn_buf *inside)
{
	put_bytes(b, field, inside->s, inside->n);
	b->failed = b->failed || inside->failed;
	hn_buf_reset(inside);
}

static void put_tensor(struct hn_buf *b, const struct hn_onnx_cut_value *v, struct hn_buf *inside)
{
	for (uint32_t d = 0; d < v->n_dim; d++) {
		put_number(inside, TENSOR_DIMS, (uint64_t)v->dims[d]);
	}
	put_number(inside, TENSOR_TYPE, (uint64_t)v->data_type);
	put_bytes(inside, TENSOR_NAME, v->name, strlen(v->name));
	put_bytes(inside, TENSOR_RAW, v->data, v->n_bytes);
	put_message(b, GRAPH_INITIALIZER, inside);
}

/* An input or output: messages within messages, written from the innermost out. */
static void put_value(struct hn_buf *b, uint32_t field, const struct hn_onnx_cut_value *v)
{
	struct hn_buf dim, shape, type, value;

	hn_buf_init(&dim);
	hn_buf_init(&shape);
	hn_buf_init(&type);
	hn_buf_init(&value);
	for (uint32_t d = 0; d < v->n_dim; d++) {
		put_number(&dim, DIM_VALUE, (uint64_t)v->dims[d]);
		put_message(&shape, SHAPE_DIM, &dim);
	}
	put_number(&type, TENSOR_TYPE_ELEMENT, (uint64_t)v->data_type);
	put_message(&type, TENSOR_TYPE_SHAPE, &shape);
	put_message(&shape, TYPE_TENSOR, &type);
	put_bytes(&value, VALUE_NAME, v->name, strlen(v->name));
	put_message(&value, VALUE_TYPE, &shape);
	put_message(b, field, &value);
	hn_buf_fini(&dim);
	hn_buf_fini(&shape);
	hn_buf_fini(&type);
	hn_buf_fini(&value);
}

/* Those fields `number` of a message whose places, counted from 0, are in place[n]; all of them where
 * place is NULL.  As they lie there. */
static int copy_fields(struct hn_buf *b, struct hn_wire w, uint32_t number, const uint32_t *place,
		       uint32_t n, struct hn_err *err)
{
	uint32_t k = 0;

	for (uint32_t at = 0; hn_wire_more(&w) && (place == NULL || k < n);) {
		struct hn_wire_field f;
		const uint8_t *from = w.at;
		int rc = hn_wire_next(&w, &f, err);

		if (rc != 0) {
			return rc;
		}
		if (f.number == number && (place == NULL || place[k] == at)) {
			hn_buf_add(b, from, (size_t)(w.at - from));
			k++;
		}
		at += f.number == number;
	}
	return 0;
}

/* The bytes of the one graph. */
static int find_graph(struct hn_wire w, struct hn_wire *ret, struct hn_err *err)
{
	while (hn_wire_more(&w)) {
		struct hn_wire_field f;
		int rc = hn_wire_next(&w, &f, err);

		if (rc != 0) {
			return rc;
		}
		if (f.number == MODEL_GRAPH) {
			*ret = f.inside;
			return 0;
		}
	}
	return hn_fail(err, HONE_E_INVALID, "no graph");
}

/* A weight whose bytes are in another file: they come into this one. */
static int put_external(struct hn_onnx *o, const struct hn_onnx_tensor *t, struct hn_buf *b,
			struct hn_buf *inside, struct hn_err *err)
{
	struct hn_onnx_bytes bytes;
	int rc = hn_onnx_tensor_bytes(o, t, &bytes, err);

	if (rc == 0) {
		const struct hn_onnx_cut_value v = { t->name,	   t->dims,  t->n_dims,
						     t->data_type, bytes.at, bytes.n };

		put_tensor(b, &v, inside);
	}
	return rc;
}

static int put_weights(struct hn_onnx *o, const struct hn_onnx_cut *cut, struct hn_wire graph,
		       struct hn_buf *b, struct hn_buf *inside, struct hn_err *err)
{
	const struct hn_onnx_tensor *t = hn_onnx_model(o)->graph->initializer;
	const uint32_t *number = cut->initializer;
	int rc = 0;

	for (uint32_t i = 0, end; i < cut->n_initializer && rc == 0; i = end) {
		for (end = i; end < cut->n_initializer && t[number[end]].external == NULL;) {
			end++;
		}
		if (end > i) {
			rc = copy_fields(b, graph, GRAPH_INITIALIZER, number + i, end - i, err);
		} else {
			rc = put_external(o, &t[number[end++]], b, inside, err);
		}
	}
	return rc;
}

static int put_graph(struct hn_onnx *o, const struct hn_onnx_cut *cut, struct hn_wire graph,
		     struct hn_buf *b, struct hn_buf *inside, struct hn_err *err)
{
	int rc = copy_fields(b, graph, GRAPH_NODE, cut->node, cut->n_node, err);

	put_bytes(b, GRAPH_NAME, "region", strlen("region"));
	rc = rc ? rc : put_weights(o, cut, graph, b, inside, err);
	for (uint32_t i = 0; i < cut->n_constant; i++) {
		put_tensor(b, &cut->constant[i], inside);
	}
	for (uint32_t i = 0; i < cut->n_input; i++) {
		put_value(b, GRAPH_INPUT, &cut->input[i]);
	}
	for (uint32_t i = 0; i < cut->n_output; i++) {
		put_value(b, GRAPH_OUTPUT, &cut->output[i]);
	}
	return rc;
}

int hn_onnx_cut(struct hn_onnx *o, const struct hn_onnx_cut *cut, struct hn_buf *ret,
		struct hn_err *err)
{
	int64_t ir = hn_onnx_model(o)->ir_version;
	struct hn_wire file = onnx_file(o), graph = file;
	struct hn_buf b, inside;
	int rc = find_graph(file, &graph, err);

	hn_buf_init(&b);
	hn_buf_init(&inside);
	ret->max_bytes = b.max_bytes = inside.max_bytes = HN_ONNX_CUT_MOST;
	put_number(ret, MODEL_IR_VERSION,
		   (uint64_t)(ir > IR_WITHOUT_INPUTS ? ir : IR_WITHOUT_INPUTS));
	rc = rc ? rc : copy_fields(ret, file, MODEL_OPSET, NULL, 0, err);
	rc = rc ? rc : put_graph(o, cut, graph, &b, &inside, err);
	put_message(ret, MODEL_GRAPH, &b);
	hn_buf_fini(&b);
	hn_buf_fini(&inside);
	return rc || !ret->failed
		       ? rc
		       : hn_fail(err, HONE_E_QUOTA, "a region of more than %zu MB",
				 HN_ONNX_CUT_MOST >> 20);
}
