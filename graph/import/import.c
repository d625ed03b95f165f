/* graph/import/import.c -- nodes of a model, one after the other, as operators. */
#include "graph/import/import.h"

#include <stdio.h>
#include <string.h>

#include "graph/import/names.h"
#include "graph/ir/op.h"
#include "graph/op/dtype.h"
#include "graph/pass/pass.h"

#define UNKNOWN (-3) /* a name that nothing has defined */

struct importer {
	struct hn_onnx *onnx;
	const struct hn_onnx_model *model;
	struct hn_import *im;
	struct hn_graph *g;
	struct hn_names name;	     /* values; HN_BAD: of a node that was refused */
	uint32_t n_name;	     /* it has at most */
	struct hn_names initializer; /* numbers of the file's weights */
	struct hn_err node_err;	     /* why a node is refused */
	struct hn_err *err;
};

/* -- what is refused -------------------------------------------------------------------- */

static const char *op_text(struct importer *i, const struct hn_onnx_node *n)
{
	return *n->domain != '\0'
		       ? hn_arena_printf(i->g->arena, "%s.%s", n->domain, n->op_type)
		       : n->op_type;
}

static void refuse(struct importer *i, const struct hn_onnx_node *n, const char *why)
{
	struct hn_import *im = i->im;
	const char *op = op_text(i, n);

	for (uint32_t k = 0; k < im->n_refusal; k++) {
		if (strcmp(im->refusal[k].op, op) == 0 &&
		    strcmp(im->refusal[k].why, why) == 0) {
			im->refusal[k].n++;
			return;
		}
	}
	im->refusal = hn_arena_grow(i->g->arena, im->refusal, im->n_refusal,
				    &im->cap_refusal, sizeof(*im->refusal));
	im->refusal[im->n_refusal++] =
		(struct hn_refusal){ .op = op,
				     .node = i->g->at,
				     .why = hn_arena_strdup(i->g->arena, why),
				     .n = 1 };
}

/* -- constants -------------------------------------------------------------------------- */

/* Integers of 4 or 2 bits as bytes, which hone computes with: the first is in the lowest bits. */
static int32_t import_packed(struct importer *i, const struct hn_onnx_tensor *t,
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

static bool is_packed(int32_t onnx_type)
{
	return onnx_type == HN_ONNX_INT4 || onnx_type == HN_ONNX_UINT4 ||
	       onnx_type == HN_ONNX_INT2 || onnx_type == HN_ONNX_UINT2;
}

/* A tensor of the file as a constant.  The elements stay in the file. */
static int32_t import_tensor(struct importer *i, const struct hn_onnx_tensor *t)
{
	bool packed = is_packed(t->data_type);
	enum hn_dtype type = packed ? HN_I8 : hn_dtype_of_onnx(t->data_type);
	struct hn_onnx_bytes bytes;

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
	return hn_graph_const(i->g, t->name, type, t->n_dims, t->dims,
			      bytes.at != NULL ? (const void *)bytes.at : "", false);
}

static int32_t import_numbers(struct importer *i, enum hn_dtype t, uint32_t n,
			      bool scalar, const void *data)
{
	int64_t *shape = HN_NEW(i->g->arena, int64_t);

	*shape = n;
	return hn_graph_const(i->g, i->g->at, t, scalar ? 0 : 1, shape, data, false);
}

/* The operator Constant. */
static int32_t import_constant(struct importer *i, const struct hn_onnx_node *n)
{
	const struct hn_onnx_attr *a = n->n_attribute == 1 ? &n->attribute[0] : NULL;

	switch (a != NULL ? a->type : HN_ONNX_ATTR_NONE) {
	case HN_ONNX_ATTR_TENSOR:
		return import_tensor(i, a->t);
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

/* -- attributes ------------------------------------------------------------------------- */

static bool is_word_of(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = words; n > 0 && (p = strstr(p, name)) != NULL; p += n) {
		if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

/* Attributes that are no integers, by their names, which mean the same in all operators. */
static const char floats[] =
	"alpha beta bias cubic_coeff_a epsilon extrapolation_value gamma lambd "
	"max min momentum ratio scale scales softcap value";
static const char texts[] =
	"approximate auto_pad coordinate_transformation_mode direction equation "
	"keep_aspect_ratio_policy mode nearest_mode round_mode";

/* Whether an attribute is of its kind; one tensor is a number, too. */
static bool is_of_kind(const struct hn_onnx_attr *a)
{
	bool number = is_word_of(floats, a->name), text = is_word_of(texts, a->name);

	switch (a->type) {
	case HN_ONNX_ATTR_INT:
	case HN_ONNX_ATTR_INTS:
		return !number && !text;
	case HN_ONNX_ATTR_FLOAT:
	case HN_ONNX_ATTR_FLOATS:
		return number;
	case HN_ONNX_ATTR_STRING:
		return text;
	default:
		return a->type == HN_ONNX_ATTR_TENSOR && strcmp(a->name, "value") == 0;
	}
}

/* The value of ConstantOfShape: a tensor of one element. */
static bool import_value(struct importer *i, const struct hn_onnx_attr *from,
			 struct hn_gattr to[2])
{
	int32_t v = import_tensor(i, from->t);
	double *number = HN_NEW(i->g->arena, double);

	if (v < 0 || !hn_gvalue_number(&i->g->value[v], 0, number)) {
		hn_graph_fail(i->g, HONE_E_INVALID, "attribute %s has no element",
			      from->name);
		return false;
	}
	to[0] = (struct hn_gattr){ from->name, HN_GATTR_FLOATS, 1, NULL, number, NULL };
	to[1] = hn_gattr_of_int(i->g->arena, "value_type", i->g->value[v].dtype);
	return true;
}

static const double *widened(struct hn_arena *a, uint32_t n, const float *v)
{
	double *d = HN_NEW_ARRAY(a, double, n);

	for (uint32_t k = 0; k < n; k++) {
		float f;

		memcpy(&f, v + k, sizeof(f)); /* the file's, of any alignment */
		d[k] = (double)f;
	}
	return d;
}

/* One attribute into to[], which has room for two; returns how many. */
static uint32_t import_attr(struct importer *i, const struct hn_onnx_attr *from,
			    struct hn_gattr *to)
{
	struct hn_arena *a = i->g->arena;
	int64_t *one;

	*to = (struct hn_gattr){ .name = from->name };
	switch (from->type) {
	case HN_ONNX_ATTR_INT:
		*to = hn_gattr_of_int(a, from->name, from->i);
		return 1;
	case HN_ONNX_ATTR_INTS:
		one = HN_NEW_ARRAY(a, int64_t, from->n_ints);
		for (uint32_t k = 0; k < from->n_ints; k++) {
			memcpy(one + k, from->ints + k, sizeof(*one)); /* of any alignment */
		}
		*to = hn_gattr_of_ints(from->name, from->n_ints, one);
		return 1;
	case HN_ONNX_ATTR_FLOAT:
		*to = (struct hn_gattr){ from->name, HN_GATTR_FLOATS,	      1,
					 NULL,	     widened(a, 1, &from->f), NULL };
		return 1;
	case HN_ONNX_ATTR_FLOATS:
		*to = (struct hn_gattr){ from->name,
					 HN_GATTR_FLOATS,
					 from->n_floats,
					 NULL,
					 widened(a, from->n_floats, from->floats),
					 NULL };
		return 1;
	case HN_ONNX_ATTR_STRING:
		*to = (struct hn_gattr){
			.name = from->name,
			.kind = HN_GATTR_STRING,
			.s = hn_arena_strndup(a, (const char *)from->s.at, from->s.n)
		};
		return 1;
	case HN_ONNX_ATTR_TENSOR:
		return import_value(i, from, to) ? 2 : 0;
	default:
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "attribute %.40s of kind %s",
			      from->name, hn_onnx_attr_type_name(from->type));
		return 0;
	}
}

/* Two of a name: which one counts nobody can say. */
static bool check_attr(struct importer *i, const struct hn_onnx_node *n, uint32_t k,
		       const struct hn_gop *op)
{
	const char *name = n->attribute[k].name;

	if (!is_word_of(op->attrs, name)) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "attribute %.40s", name);
		return false;
	}
	if (!is_of_kind(&n->attribute[k])) {
		hn_graph_fail(i->g, HONE_E_INVALID, "attribute %.40s is of kind %s", name,
			      hn_onnx_attr_type_name(n->attribute[k].type));
		return false;
	}
	for (uint32_t j = 0; j < k; j++) {
		if (strcmp(n->attribute[j].name, name) == 0) {
			hn_graph_fail(i->g, HONE_E_INVALID,
				      "attribute %.40s is there twice", name);
			return false;
		}
	}
	return true;
}

/* -- nodes ------------------------------------------------------------------------------ */

static const struct hn_onnx_tensor *find_initializer(struct importer *i, const char *name)
{
	int32_t *at = hn_names_at(&i->initializer, name, UNKNOWN);

	return *at == UNKNOWN ? NULL : &i->model->graph->initializer[*at];
}

/* The value of that name; weights are imported when they are first used. */
static int32_t value_of(struct importer *i, const char *name)
{
	int32_t *v;

	if (*name == '\0') {
		return HN_NONE;
	}
	v = hn_names_at(&i->name, name, UNKNOWN);
	if (*v == UNKNOWN && find_initializer(i, name) != NULL) {
		*v = import_tensor(i, find_initializer(i, name));
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
static bool check_packed(struct importer *i, const struct hn_onnx_node *n,
			 const char *operand)
{
	const struct hn_onnx_tensor *t = find_initializer(i, operand);

	if (t != NULL && is_packed(t->data_type) &&
	    strcmp(n->op_type, "DequantizeLinear") != 0 &&
	    strcmp(n->op_type, "Cast") != 0) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "operand %.80s of %s", operand,
			      hn_onnx_dtype_name(t->data_type));
		return false;
	}
	return true;
}

/* The row; NULL after hn_graph_fail. */
static const struct hn_gop *find_op(struct importer *i, const struct hn_onnx_node *n)
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
static bool old_broadcast(struct importer *i, const struct hn_gattr *attr,
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

static void call(struct importer *i, const struct hn_onnx_node *n, int32_t *out)
{
	const struct hn_gop *op = find_op(i, n);
	struct hn_gattr *attr =
		HN_NEW_ARRAY(i->g->arena, struct hn_gattr, 2 * n->n_attribute + 2);
	int32_t *in = HN_NEW_ARRAY(i->g->arena, int32_t, n->n_input);
	uint32_t n_attr = 0, n_in = n->n_input, n_out = n->n_output;

	if (op == NULL) {
		return;
	}
	for (uint32_t k = 0; k < n->n_attribute && check_attr(i, n, k, op); k++) {
		n_attr += import_attr(i, &n->attribute[k], attr + n_attr);
	}
	for (uint32_t k = 0; k < n_in; k++) {
		in[k] = check_packed(i, n, n->input[k]) ? value_of(i, n->input[k])
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
static bool depends_on_refused(struct importer *i, const struct hn_onnx_node *n)
{
	for (uint32_t k = 0; k < n->n_input; k++) {
		if (*n->input[k] != '\0' &&
		    *hn_names_at(&i->name, n->input[k], UNKNOWN) == HN_BAD) {
			return true;
		}
	}
	return false;
}

static void define(struct importer *i, const struct hn_onnx_node *n, const int32_t *out)
{
	for (uint32_t k = 0; k < n->n_output; k++) {
		if (*n->output[k] != '\0') {
			*hn_names_at(&i->name, n->output[k], UNKNOWN) = out[k];
		}
	}
}

static bool check_results(struct importer *i, const struct hn_onnx_node *n)
{
	for (uint32_t k = 0; k < n->n_output; k++) {
		if (*n->output[k] != '\0' &&
		    (*hn_names_at(&i->name, n->output[k], UNKNOWN) != UNKNOWN ||
		     find_initializer(i, n->output[k]) != NULL)) {
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

static int import_node(struct importer *i, const struct hn_onnx_node *n)
{
	int32_t *out = HN_NEW_ARRAY(i->g->arena, int32_t, n->n_output + 1);
	bool refused = depends_on_refused(i, n);

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
			out[0] = import_constant(i, n);
		} else {
			call(i, n, out);
		}
	}
	if (i->g->failed) {
		size_t skip = strlen(i->g->at);

		if (i->node_err.code == HONE_E_NOMEM) {
			return hn_fail(i->err, HONE_E_NOMEM, "%s", i->node_err.msg);
		}
		/* the line begins with the node's name, which is told apart */
		skip = strncmp(i->node_err.msg, i->g->at, skip) == 0 &&
				       *i->g->at != '\0' && i->node_err.msg[skip] == ':'
			       ? skip + 2
			       : 0;
		refuse(i, n, i->node_err.msg + skip);
		i->g->failed = false;
		for (uint32_t k = 0; k < n->n_output; k++) {
			out[k] = HN_BAD;
		}
	}
	define(i, n, out);
	return 0;
}

/* -- inputs and outputs ----------------------------------------------------------------- */

static struct hn_import_dim *find_dim(struct importer *i, const char *name)
{
	for (uint32_t k = 0; k < i->im->n_dim; k++) {
		if (strcmp(i->im->dim[k].name, name) == 0) {
			i->im->dim[k].used = true;
			return &i->im->dim[k];
		}
	}
	return NULL;
}

/* The number of dimension d; 0, and its name among the missing ones, where nobody knows it. */
static int64_t import_dim(struct importer *i, const struct hn_onnx_value_info *v,
			  uint32_t d, struct hn_buf *missing)
{
	const struct hn_onnx_dim *dim = &v->dim[d];
	const char *place = hn_arena_printf(i->g->arena, "%s:%u", v->name, d);
	const char *name = dim->kind == HN_ONNX_DIM_PARAM && *dim->dim_param != '\0' &&
					   strcmp(dim->dim_param, "?") != 0
				   ? dim->dim_param
				   : place;
	const struct hn_import_dim *given = find_dim(i, place);

	given = given != NULL ? given : find_dim(i, name);
	if (given != NULL) {
		return given->value;
	}
	if (dim->kind == HN_ONNX_DIM_VALUE && dim->dim_value > 0) {
		return dim->dim_value;
	}
	if (strstr(missing->s, name) == NULL) {
		hn_buf_printf(missing, " --dim %s=..", name);
	}
	return 0;
}

static int import_input(struct importer *i, const struct hn_onnx_value_info *v,
			struct hn_buf *missing)
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
	for (uint32_t d = 0; d < v->n_dim; d++) {
		shape[d] = import_dim(i, v, d, missing);
	}
	value = hn_graph_input(i->g, v->name, t, v->n_dim, shape);
	if (hn_gvalue_elements(&i->g->value[value]) > HN_GRAPH_MAX_ELEMENTS) {
		return hn_fail(i->err, HONE_E_QUOTA, "input %.80s has shape %s", v->name,
			       hn_shape_text(i->g->arena, v->n_dim, shape));
	}
	i->g->input[i->g->n_input++] = value;
	*hn_names_at(&i->name, v->name, UNKNOWN) = value;
	return 0;
}

static int import_inputs(struct importer *i)
{
	const struct hn_onnx_graph *from = i->model->graph;
	struct hn_buf missing;
	int rc = 0;

	hn_buf_init(&missing);
	i->g->input = HN_NEW_ARRAY(i->g->arena, int32_t, from->n_input);
	for (uint32_t k = 0; rc == 0 && k < from->n_input; k++) {
		const char *name = from->input[k].name;

		if (find_initializer(i, name) != NULL) {
			continue; /* old files list weights as inputs, too */
		}
		rc = *hn_names_at(&i->name, name, UNKNOWN) != UNKNOWN
			     ? hn_fail(i->err, HONE_E_INVALID,
				       "input %.80s is there twice", name)
			     : import_input(i, &from->input[k], &missing);
	}
	if (rc == 0 && missing.n > 0) {
		rc = hn_fail(i->err, HONE_E_INVALID,
			     "the model leaves dimensions open; give their sizes:%s",
			     missing.s);
	}
	for (uint32_t k = 0; rc == 0 && k < i->im->n_dim; k++) {
		if (!i->im->dim[k].used) {
			rc = hn_fail(i->err, HONE_E_INVALID,
				     "--dim %.80s: no input has a dimension of that name",
				     i->im->dim[k].name);
		}
	}
	hn_buf_fini(&missing);
	return rc;
}

static int import_outputs(struct importer *i)
{
	const struct hn_onnx_graph *from = i->model->graph;
	struct hn_graph *g = i->g;

	g->output = HN_NEW_ARRAY(g->arena, int32_t, from->n_output);
	g->output_name = HN_NEW_ARRAY(g->arena, const char *, from->n_output);
	g->at = "";
	for (uint32_t k = 0; k < from->n_output; k++) {
		g->output_name[k] = from->output[k].name;
		g->output[k] = value_of(i, from->output[k].name);
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

static int check_model(struct importer *i)
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

static int index_initializers(struct importer *i)
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

/* How many names of values a model can have. */
static uint32_t count_names(const struct hn_onnx_graph *g)
{
	uint32_t n = g->n_input + g->n_output;

	for (uint32_t k = 0; k < g->n_node; k++) {
		n += g->node[k].n_input + g->node[k].n_output;
	}
	return n;
}

int hn_graph_import(struct hn_onnx *o, struct hn_import *im, struct hn_graph *g,
		    struct hn_err *err)
{
	struct importer i = {
		.onnx = o, .model = hn_onnx_model(o), .im = im, .g = g, .err = err
	};
	const struct hn_onnx_graph *from = i.model->graph;
	int rc;

	i.n_name = count_names(from);
	hn_names_init(&i.name, i.n_name, g->arena);
	g->err = &i.node_err;
	g->simplify = hn_pass_simplify;
	rc = check_model(&i);
	rc = rc ? rc : index_initializers(&i);
	rc = rc ? rc : import_inputs(&i);
	for (uint32_t k = 0; rc == 0 && k < from->n_node; k++) {
		rc = import_node(&i, &from->node[k]);
	}
	if (rc == 0 && im->n_refusal > 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: %s (node %.80s)%s",
			     im->refusal[0].op, im->refusal[0].why, im->refusal[0].node,
			     im->n_refusal > 1 ? ", and others" : "");
	}
	rc = rc ? rc : import_outputs(&i);
	g->err = err;
	if (rc == 0) {
		hn_graph_sweep(g);
	}
	return rc;
}
