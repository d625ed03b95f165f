/* onnx_dump.h -- everything that a model says, as text, a line a thing (onnx_dump.py
 * says the same by other means).  Every byte that the
 * reader gives out is read, so that a sanitizer sees a pointer that is wrong. */
#ifndef HN_TESTS_ONNX_DUMP_H
#define HN_TESTS_ONNX_DUMP_H

#include "base/buf.h"
#include "base/hash.h"
#include "graph/onnx/onnx.h"

#define DUMP_BYTES 40 /* of more the SHA-256 is shown */

static inline void dump_bytes(struct hn_buf *b, struct hn_onnx_bytes v)
{
	char hex[HN_SHA256_HEX];

	hn_buf_printf(b, "%llu:", (unsigned long long)v.n);
	for (uint64_t i = 0; i < v.n && v.n <= DUMP_BYTES; i++) {
		hn_buf_printf(b, "%02x", v.at[i]);
	}
	if (v.n > DUMP_BYTES) {
		hn_sha256_hex(v.at, v.n, hex);
		hn_buf_printf(b, "#%s", hex);
	}
}

static inline void dump_tensor(struct hn_buf *b, int in, const struct hn_onnx_tensor *t)
{
	hn_buf_printf(b, "%*stensor \"%s\" %s[", in, "", t->name, hn_onnx_dtype_name(t->data_type));
	for (uint32_t i = 0; i < t->n_dims; i++) {
		hn_buf_printf(b, "%s%lld", i > 0 ? "," : "", (long long)t->dims[i]);
	}
	hn_buf_printf(b, "] %lld ", (long long)t->n_element);
	if (t->external) {
		hn_buf_printf(b, "in \"%s\" at %llu, %llu bytes", t->external->location,
			      (unsigned long long)t->external->offset,
			      (unsigned long long)t->n_bytes);
	} else {
		dump_bytes(b, t->raw_data);
	}
	for (uint32_t i = 0; i < t->n_string_data; i++) {
		hn_buf_putc(b, ' ');
		dump_bytes(b, t->string_data[i]);
	}
	hn_buf_putc(b, '\n');
}

static inline void dump_dim(struct hn_buf *b, const struct hn_onnx_dim *d)
{
	if (d->kind == HN_ONNX_DIM_VALUE) {
		hn_buf_printf(b, "%lld", (long long)d->dim_value);
	} else {
		hn_buf_puts(b, d->kind == HN_ONNX_DIM_PARAM ? d->dim_param : "?");
	}
}

static inline void dump_value(struct hn_buf *b, int in, const char *what,
			      const struct hn_onnx_value_info *v)
{
	hn_buf_printf(b, "%*s%s \"%s\" ", in, "", what, v->name);
	if (!v->is_tensor) {
		hn_buf_printf(b, "%s\n", v->other ? v->other : v->has_type ? "nothing" : "untyped");
		return;
	}
	hn_buf_printf(b, "%s", hn_onnx_dtype_name(v->elem_type));
	for (uint32_t i = 0; i < v->n_dim; i++) {
		hn_buf_putc(b, i > 0 ? ',' : '[');
		dump_dim(b, &v->dim[i]);
	}
	hn_buf_puts(b, !v->has_shape ? " of any rank\n" : v->n_dim > 0 ? "]\n" : "[]\n");
}

static inline void dump_graph(struct hn_buf *b, int in, const struct hn_onnx_graph *g);

static inline void dump_lists(struct hn_buf *b, const struct hn_onnx_attr *a)
{
	for (uint32_t i = 0; i < a->n_floats; i++) {
		hn_buf_printf(b, " %.9g", (double)a->floats[i]);
	}
	for (uint32_t i = 0; i < a->n_ints; i++) {
		hn_buf_printf(b, " %lld", (long long)a->ints[i]);
	}
	for (uint32_t i = 0; i < a->n_strings; i++) {
		hn_buf_putc(b, ' ');
		dump_bytes(b, a->strings[i]);
	}
}

static inline void dump_attr(struct hn_buf *b, int in, const struct hn_onnx_attr *a)
{
	hn_buf_printf(b, "%*sattribute \"%s\" %s f %.9g i %lld s ", in, "", a->name,
		      hn_onnx_attr_type_name(a->type), (double)a->f, (long long)a->i);
	dump_bytes(b, a->s);
	hn_buf_printf(b, "%s%s", a->ref_attr_name[0] ? " ref " : "", a->ref_attr_name);
	dump_lists(b, a);
	hn_buf_putc(b, '\n');
	if (a->t) {
		dump_tensor(b, in + 2, a->t);
	}
	for (uint32_t i = 0; i < a->n_tensors; i++) {
		dump_tensor(b, in + 2, &a->tensors[i]);
	}
	if (a->g) {
		dump_graph(b, in + 2, a->g);
	}
	for (uint32_t i = 0; i < a->n_graphs; i++) {
		dump_graph(b, in + 2, &a->graphs[i]);
	}
}

static inline void dump_node(struct hn_buf *b, int in, const struct hn_onnx_node *n)
{
	hn_buf_printf(b, "%*snode \"%s\" %s%s%s%s%s:", in, "", n->name, n->domain,
		      n->domain[0] ? "." : "", n->op_type, n->overload[0] ? ":" : "", n->overload);
	for (uint32_t i = 0; i < n->n_input; i++) {
		hn_buf_printf(b, " \"%s\"", n->input[i]);
	}
	hn_buf_puts(b, " ->");
	for (uint32_t i = 0; i < n->n_output; i++) {
		hn_buf_printf(b, " \"%s\"", n->output[i]);
	}
	hn_buf_putc(b, '\n');
	for (uint32_t i = 0; i < n->n_attribute; i++) {
		dump_attr(b, in + 2, &n->attribute[i]);
	}
}

static inline void dump_graph(struct hn_buf *b, int in, const struct hn_onnx_graph *g)
{
	hn_buf_printf(b, "%*sgraph \"%s\"", in, "", g->name);
	if (g->n_sparse_initializer > 0) {
		hn_buf_printf(b, ", %u sparse", g->n_sparse_initializer);
	}
	hn_buf_putc(b, '\n');
	for (uint32_t i = 0; i < g->n_input; i++) {
		dump_value(b, in + 2, "input", &g->input[i]);
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		dump_value(b, in + 2, "output", &g->output[i]);
	}
	for (uint32_t i = 0; i < g->n_value_info; i++) {
		dump_value(b, in + 2, "value", &g->value_info[i]);
	}
	for (uint32_t i = 0; i < g->n_initializer; i++) {
		dump_tensor(b, in + 2, &g->initializer[i]);
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		dump_node(b, in + 2, &g->node[i]);
	}
}

static inline void dump_model(struct hn_buf *b, const struct hn_onnx_model *m)
{
	hn_buf_printf(b, "model ir %lld version %lld by \"%s\" \"%s\" domain \"%s\"",
		      (long long)m->ir_version, (long long)m->model_version, m->producer_name,
		      m->producer_version, m->domain);
	hn_buf_printf(b, "%s\n", m->n_training_info > 0 ? ", with training" : "");
	for (uint32_t i = 0; i < m->n_opset_import; i++) {
		hn_buf_printf(b, "opset \"%s\" %lld\n", m->opset_import[i].domain,
			      (long long)m->opset_import[i].version);
	}
	for (uint32_t i = 0; i < m->n_metadata_props; i++) {
		hn_buf_printf(b, "metadata \"%s\" ", m->metadata_props[i].key);
		dump_bytes(b, m->metadata_props[i].value);
		hn_buf_putc(b, '\n');
	}
	for (uint32_t i = 0; i < m->n_functions; i++) {
		hn_buf_printf(b, "function %s.%s\n", m->functions[i].domain, m->functions[i].name);
	}
	dump_graph(b, 0, m->graph);
}

#endif
