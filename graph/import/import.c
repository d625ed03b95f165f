/* graph/import/import.c -- nodes of a model, one after the other, as operators. */
#include "graph/import/import_int.h"

#include <stdio.h>
#include <string.h>

#include "graph/import/dims.h"
#include "graph/import/refuse.h"
#include "graph/op/dtype.h"
#include "graph/pass/pass.h"

#define UNKNOWN HN_UNKNOWN_NAME

static const char *op_text(struct hn_importer *i, const struct hn_onnx_node *n)
{
	return *n->domain != '\0'
		       ? hn_arena_printf(i->g->arena, "%s.%s", n->domain, n->op_type)
		       : n->op_type;
}

/* -- nodes ------------------------------------------------------------------------------ */

int32_t hn_import_initializer(struct hn_importer *i, const char *name)
{
	return *hn_names_at(&i->initializer, name, UNKNOWN);
}

static const struct hn_onnx_tensor *find_initializer(struct hn_importer *i, const char *name)
{
	int32_t at = hn_import_initializer(i, name);

	return at == UNKNOWN ? NULL : &i->model->graph->initializer[at];
}

int32_t hn_import_value(struct hn_importer *i, const char *name)
{
	int32_t *v;

	if (*name == '\0') {
		return HN_NONE;
	}
	v = hn_names_at(&i->name, name, UNKNOWN);
	if (*v == UNKNOWN && find_initializer(i, name) != NULL) {
		*v = hn_import_tensor(i, find_initializer(i, name));
	}
	if (*v == UNKNOWN) {
		return hn_graph_fail(
			i->g, HONE_E_INVALID,
			"operand %.80s is no input, no weight and no result of a "
			"node before",
			name);
	}
	return *v;
}

/* Integers of less than a byte are only taken where their values alone count. */
static bool check_packed(struct hn_importer *i, const struct hn_onnx_node *n,
			 const char *operand)
{
	const struct hn_onnx_tensor *t = find_initializer(i, operand);

	if (t != NULL && hn_import_is_packed(t->data_type) &&
	    strcmp(n->op_type, "DequantizeLinear") != 0 &&
	    strcmp(n->op_type, "Cast") != 0) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "operand %.80s of %s", operand,
			      hn_onnx_dtype_name(t->data_type));
		return false;
	}
	return true;
}

/* The row; NULL after hn_graph_fail. */
static const struct hn_gop *find_op(struct hn_importer *i, const struct hn_onnx_node *n)
{
	bool of_onnx = *n->domain == '\0' || strcmp(n->domain, "ai.onnx") == 0;
	const char *name = of_onnx ? n->op_type : op_text(i, n);
	const struct hn_gop *op = hn_gop_find(name);

	if (op != NULL && hn_gop_is_onnx(op)) {
		return op;
	}
	for (uint32_t k = 0; k < i->model->n_functions; k++) {
		if (strcmp(i->model->functions[k].name, n->op_type) == 0 &&
		    strcmp(i->model->functions[k].domain, n->domain) == 0) {
			hn_graph_fail(i->g, HONE_E_UNSUPPORTED,
				      "a function of the model; export it with functions "
				      "inlined");
			return NULL;
		}
	}
	hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "%s", hn_gop_why_not(name));
	return NULL;
}

/* Before version 7 operand 1 is broadcast where `broadcast` says so, from dimension `axis` on. */
static bool old_broadcast(struct hn_importer *i, const struct hn_gattr *attr,
			  uint32_t n_attr, uint32_t n_in, int32_t *in)
{
	const struct hn_gnode n = { .attr = attr, .n_attr = n_attr };
	uint32_t rank = n_in > 1 && in[0] >= 0 ? i->g->value[in[0]].rank : 0;
	uint32_t mine = n_in > 1 && in[1] >= 0 ? i->g->value[in[1]].rank : 0;
	int64_t axis = hn_gattr_int(&n, "axis", (int64_t)rank - mine);
	int64_t shape[HN_GRAPH_MAX_RANK];
	struct hn_gattr to;

	if (hn_gattr_int(&n, "broadcast", 0) == 0 || n_in != 2) {
		return true;
	}
	axis = axis < 0 ? axis + rank : axis;
	if (i->g->opset >= 7 || axis < 0 || axis + mine > rank) {
		hn_graph_fail(i->g, HONE_E_INVALID, "attribute broadcast");
		return false;
	}
	for (uint32_t d = (uint32_t)axis; d < rank; d++) {
		shape[d - axis] =
			d - axis < mine ? i->g->value[in[1]].shape[d - axis] : 1;
	}
	to = hn_gattr_of_ints("shape", rank - (uint32_t)axis, shape);
	in[1] = hn_graph_add(i->g, "reshape", 1, &in[1], 1, &to);
	return !i->g->failed;
}

static void call(struct hn_importer *i, const struct hn_onnx_node *n, int32_t *out)
{
	const struct hn_gop *op = find_op(i, n);
	struct hn_gattr *attr =
		HN_NEW_ARRAY(i->g->arena, struct hn_gattr, 2 * n->n_attribute + 2);
	int32_t *in = HN_NEW_ARRAY(i->g->arena, int32_t, n->n_input);
	uint32_t n_attr = 0, n_in = n->n_input, n_out = n->n_output;

	if (op == NULL) {
		return;
	}
	for (uint32_t k = 0; k < n->n_attribute && hn_import_check_attr(i, n, k, op); k++) {
		n_attr += hn_import_attr(i, &n->attribute[k], attr + n_attr);
	}
	for (uint32_t k = 0; k < n_in; k++) {
		in[k] = check_packed(i, n, n->input[k]) ? hn_import_value(i, n->input[k])
							: HN_BAD;
	}
	while (n_in > 0 && in[n_in - 1] == HN_NONE) {
		n_in--;
	}
	while (n_out > 1 && *n->output[n_out - 1] == '\0') { /* left out */
		n_out--;
	}
	if (!i->g->failed && old_broadcast(i, attr, n_attr, n_in, in)) {
		hn_graph_call(i->g, op->name, n_in, in, n_attr, attr, n_out, out);
	}
}

/* Results of a node that is refused are not looked at any further. */
static bool depends_on_refused(struct hn_importer *i, const struct hn_onnx_node *n)
{
	for (uint32_t k = 0; k < n->n_input; k++) {
		if (*n->input[k] != '\0' &&
		    *hn_names_at(&i->name, n->input[k], UNKNOWN) == HN_BAD) {
			return true;
		}
	}
	return false;
}

static void define(struct hn_importer *i, const struct hn_onnx_node *n, const int32_t *out)
{
	for (uint32_t k = 0; k < n->n_output; k++) {
		if (*n->output[k] != '\0') {
			*hn_names_at(&i->name, n->output[k], UNKNOWN) = out[k];
		}
	}
}

bool hn_import_has_name(struct hn_importer *i, const char *name)
{
	return *name != '\0' && (*hn_names_at(&i->name, name, UNKNOWN) != UNKNOWN ||
				 find_initializer(i, name) != NULL);
}

static bool check_results(struct hn_importer *i, const struct hn_onnx_node *n)
{
	for (uint32_t k = 0; k < n->n_output; k++) {
		if (hn_import_has_name(i, n->output[k])) {
			hn_graph_fail(i->g, HONE_E_INVALID,
				      "result %.80s is there already", n->output[k]);
			return false;
		}
	}
	return true;
}

/* The node's name; of one without the name of its first result. */
static const char *place_of(const struct hn_onnx_node *n)
{
	return *n->name != '\0' ? n->name : n->n_output > 0 ? n->output[0] : "";
}

int hn_import_node(struct hn_importer *i, const struct hn_onnx_node *n)
{
	int32_t *out = HN_NEW_ARRAY(i->g->arena, int32_t, n->n_output + 1);
	bool refused = depends_on_refused(i, n);
	int rc = 0;

	i->g->at = place_of(n);
	for (uint32_t k = 0; k < n->n_output; k++) {
		out[k] = HN_BAD;
	}
	if (refused) {
		i->im->n_unseen++;
	} else if (n->n_output > HN_GRAPH_MAX_OUT || n->n_output == 0) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "%u results", n->n_output);
	} else if (check_results(i, n)) {
		if (strcmp(n->op_type, "Constant") == 0 && *n->domain == '\0') {
			out[0] = hn_import_constant(i, n);
		} else if (strcmp(n->op_type, "If") == 0 && *n->domain == '\0') {
			rc = hn_import_if(i, n, out);
		} else {
			call(i, n, out);
		}
	}
	if (rc != 0) {
		return rc;
	}
	if (i->g->failed) {
		if (i->node_err.code == HONE_E_NOMEM) {
			return hn_fail(i->err, HONE_E_NOMEM, "%s", i->node_err.msg);
		}
		hn_import_refuse(i->im, i->g->arena, op_text(i, n), i->g->at, &i->node_err);
		i->g->failed = false;
		for (uint32_t k = 0; k < n->n_output; k++) {
			out[k] = HN_BAD;
		}
	}
	define(i, n, out);
	return 0;
}

/* -- inputs and outputs ----------------------------------------------------------------- */

static int import_input(struct hn_importer *i, const struct hn_onnx_value_info *v,
			struct hn_dims *dims)
{
	enum hn_dtype t = v->is_tensor ? hn_dtype_of_onnx(v->elem_type) : HN_N_DTYPE;
	int64_t *shape = HN_NEW_ARRAY(i->g->arena, int64_t, v->n_dim);
	int32_t value;

	if (t == HN_N_DTYPE || !v->has_shape || v->n_dim > HN_GRAPH_MAX_RANK) {
		return hn_fail(i->err, HONE_E_UNSUPPORTED, "input %.80s: %s", v->name,
			       !v->is_tensor	 ? "no tensor"
			       : t == HN_N_DTYPE ? hn_onnx_dtype_name(v->elem_type)
			       : !v->has_shape	 ? "no shape is said"
						 : "more than 8 dimensions");
	}
	hn_dims_shape(dims, v, shape);
	value = hn_graph_input(i->g, v->name, t, v->n_dim, shape);
	if (hn_gvalue_elements(&i->g->value[value]) > HN_GRAPH_MAX_ELEMENTS) {
		return hn_fail(i->err, HONE_E_QUOTA,
			       "input %.80s has shape %s, more than " HN_GRAPH_MAX_ELEMENTS_TEXT,
			       v->name, hn_shape_text(i->g->arena, v->n_dim, shape));
	}
	i->g->input[i->g->n_input++] = value;
	*hn_names_at(&i->name, v->name, UNKNOWN) = value;
	return 0;
}

static int import_inputs(struct hn_importer *i)
{
	const struct hn_onnx_graph *from = i->model->graph;
	struct hn_dims dims;
	uint32_t most = 0;
	int rc = 0;

	for (uint32_t k = 0; k < from->n_input; k++) {
		most += from->input[k].n_dim;
	}
	hn_dims_init(&dims, i->im, most, i->g->arena);
	i->g->input = HN_NEW_ARRAY(i->g->arena, int32_t, from->n_input);
	for (uint32_t k = 0; rc == 0 && k < from->n_input; k++) {
		const char *name = from->input[k].name;

		if (find_initializer(i, name) != NULL) {
			continue; /* old files list weights as inputs, too */
		}
		rc = *hn_names_at(&i->name, name, UNKNOWN) != UNKNOWN
			     ? hn_fail(i->err, HONE_E_INVALID,
				       "input %.80s is there twice", name)
			     : import_input(i, &from->input[k], &dims);
		if (rc == -HONE_E_UNSUPPORTED && i->in_part) {
			*hn_names_at(&i->name, name, UNKNOWN) = HN_BAD;
			rc = 0;
		}
	}
	rc = rc ? rc : hn_dims_check(&dims, i->err);
	hn_dims_fini(&dims);
	return rc;
}

static int import_outputs(struct hn_importer *i)
{
	const struct hn_onnx_graph *from = i->model->graph;
	struct hn_graph *g = i->g;

	g->output = HN_NEW_ARRAY(g->arena, int32_t, from->n_output);
	g->output_name = HN_NEW_ARRAY(g->arena, const char *, from->n_output);
	g->at = "";
	for (uint32_t k = 0; k < from->n_output; k++) {
		g->output_name[k] = from->output[k].name;
		g->output[k] = hn_import_value(i, from->output[k].name);
		if (g->output[k] < 0) {
			return hn_fail(i->err, HONE_E_INVALID,
				       "output %.80s is not computed",
				       from->output[k].name);
		}
	}
	g->n_output = from->n_output;
	return g->n_output > 0
		       ? 0
		       : hn_fail(i->err, HONE_E_INVALID, "a model without outputs");
}

/* -- the model -------------------------------------------------------------------------- */

static int check_model(struct hn_importer *i)
{
	const struct hn_onnx_model *m = i->model;

	i->g->opset = 1;
	for (uint32_t k = 0; k < m->n_opset_import; k++) {
		if (*m->opset_import[k].domain == '\0' ||
		    strcmp(m->opset_import[k].domain, "ai.onnx") == 0) {
			i->g->opset = m->opset_import[k].version;
		}
	}
	if (i->g->opset < HN_IMPORT_MIN_OPSET || i->g->opset > HN_IMPORT_MAX_OPSET) {
		return hn_fail(i->err, HONE_E_UNSUPPORTED,
			       "opset %lld; hone reads %d to %d", (long long)i->g->opset,
			       HN_IMPORT_MIN_OPSET, HN_IMPORT_MAX_OPSET);
	}
	if (m->graph->n_node > HN_IMPORT_MAX_NODES) {
		return hn_fail(i->err, HONE_E_QUOTA, "%u nodes; hone reads %d",
			       m->graph->n_node, HN_IMPORT_MAX_NODES);
	}
	if (m->graph->n_sparse_initializer > 0) {
		return hn_fail(i->err, HONE_E_UNSUPPORTED, "sparse weights");
	}
	return 0;
}

static int index_initializers(struct hn_importer *i)
{
	const struct hn_onnx_graph *from = i->model->graph;

	hn_names_init(&i->initializer, from->n_initializer + i->n_name, i->g->arena);
	for (uint32_t k = 0; k < from->n_initializer; k++) {
		int32_t *at =
			hn_names_at(&i->initializer, from->initializer[k].name, UNKNOWN);

		if (*at != UNKNOWN) {
			return hn_fail(i->err, HONE_E_INVALID,
				       "weight %.80s is there twice",
				       from->initializer[k].name);
		}
		*at = (int32_t)k;
	}
	return 0;
}

/* How many names of values a graph can have, those within counted. */
static uint32_t count_names(const struct hn_onnx_graph *g)
{
	uint32_t n = g->n_input + g->n_output + g->n_initializer;

	for (uint32_t k = 0; k < g->n_node; k++) {
		const struct hn_onnx_node *node = &g->node[k];

		n += node->n_input + node->n_output;
		for (uint32_t j = 0; j < node->n_attribute; j++) {
			n += node->attribute[j].g != NULL ? count_names(node->attribute[j].g) : 0;
		}
	}
	return n;
}

int hn_import_begin(struct hn_importer *i)
{
	int rc;

	i->n_name = count_names(i->model->graph);
	hn_names_init(&i->name, i->n_name, i->g->arena);
	i->g->err = &i->node_err;
	i->g->simplify = i->im->as_written ? hn_pass_simplify_as_written : hn_pass_simplify;
	rc = check_model(i);
	rc = rc ? rc : index_initializers(i);
	return rc ? rc : import_inputs(i);
}

int hn_graph_import(struct hn_onnx *o, struct hn_import *im, struct hn_graph *g,
		    struct hn_err *err)
{
	struct hn_importer i = {
		.onnx = o, .model = hn_onnx_model(o), .im = im, .g = g, .err = err
	};
	const struct hn_onnx_graph *from = i.model->graph;
	int rc = hn_import_begin(&i);

	for (uint32_t k = 0; rc == 0 && k < from->n_node; k++) {
		rc = hn_import_node(&i, &from->node[k]);
	}
	rc = rc ? rc : hn_import_refused(im, err);
	rc = rc ? rc : import_outputs(&i);
	g->err = err;
	if (rc == 0) {
		hn_graph_sweep(g);
	}
	return rc;
}
