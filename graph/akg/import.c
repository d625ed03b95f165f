/* graph/akg/import.c -- operators of a file, one after the other, as operators of graph/. */
#include "graph/akg/import_int.h"

#include "graph/akg/call.h"
#include "graph/akg/rows.h"
#include "graph/import/dims.h"
#include "graph/import/refuse.h"
#include "graph/op/build.h"
#include "graph/pass/pass.h"

#define OPSET 17 /* whose operators the rows call */

/* -- one operator ----------------------------------------------------------------------- */

static void build(struct hn_akg_call *c, bool of_parts)
{
	c->row->build(c);
	for (uint32_t k = 0; k < c->op->n_out && !c->g->failed; k++) {
		const struct hn_akg_tensor *t = &c->op->out[k];

		c->out[k] = hn_akg_settle(c->g, c->out[k], t, t->is_complex && !of_parts);
		if (c->out[k] < 0) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%u results", c->op->n_out);
		}
	}
}

/* The same of real and of imaginary parts. */
static void build_parts(struct hn_akg_call *c)
{
	uint32_t n_in = c->op->n_in, n_out = c->op->n_out;
	int32_t *in = HN_NEW_ARRAY(c->g->arena, int32_t, n_in + 1);
	int32_t *part[2], assigned[2] = { HN_NONE, HN_NONE };
	struct hn_akg_call one = *c;

	for (uint32_t p = 0; p < 2; p++) {
		part[p] = HN_NEW_ARRAY(c->g->arena, int32_t, n_out + 1);
		for (uint32_t k = 0; k < n_in; k++) {
			const struct hn_akg_tensor *t = &c->op->in[k];
			bool zero = p == 1 && !t->is_complex && hn_is_float(hn_akg_in(c, k));

			in[k] = t->is_complex ? hn_akg_part(c->g, c->in[k], p)
				: zero	      ? hn_graph_2(c->g, "Mul", c->in[k],
							   hn_graph_scalar(c->g, t->dtype, 0))
					      : c->in[k];
		}
		one.in = in;
		one.out = part[p];
		one.assigned = &assigned[p];
		if (!c->g->failed) {
			build(&one, true);
		}
	}
	for (uint32_t k = 0; k < n_out && !c->g->failed; k++) {
		c->out[k] = c->op->out[k].is_complex ? hn_akg_pair(c->g, part[0][k], part[1][k])
						     : part[0][k];
	}
	if (assigned[0] != HN_NONE && !c->g->failed) {
		*c->assigned = c->op->in[0].is_complex ? hn_akg_pair(c->g, assigned[0], assigned[1])
						       : assigned[0];
	}
}

static bool has_complex(const struct hn_akg_op *op)
{
	bool any = false;

	for (uint32_t k = 0; k < op->n_in; k++) {
		any = any || op->in[k].is_complex;
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		any = any || op->out[k].is_complex;
	}
	return any;
}

static void call(struct hn_akg_importer *i, struct hn_akg_call *c)
{
	const struct hn_akg_op *op = c->op;
	int32_t *in = HN_NEW_ARRAY(i->g->arena, int32_t, op->n_in + 1);

	c->row = hn_akg_row_find(op->name);
	c->in = in;
	if (c->row == NULL) {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "%s", hn_akg_why_not(op->name));
		return;
	}
	if (op->n_in < c->row->in_min || op->n_in > c->row->in_max || op->n_out == 0 ||
	    op->n_out > HN_GRAPH_MAX_OUT) {
		hn_graph_fail(i->g, HONE_E_INVALID, "%u operands and %u results", op->n_in, op->n_out);
		return;
	}
	for (uint32_t k = 0; k < op->n_in && !i->g->failed; k++) {
		in[k] = hn_akg_operand(i, &op->in[k]);
	}
	if (i->g->failed) {
		return;
	}
	if (!has_complex(op) || c->row->complex == HN_AKG_PAIRS) {
		build(c, false);
	} else if (c->row->complex == HN_AKG_PARTS) {
		build_parts(c);
	} else {
		hn_graph_fail(i->g, HONE_E_UNSUPPORTED, "of complex numbers");
	}
}

static bool depends_on_refused(struct hn_akg_importer *i, const struct hn_akg_op *op)
{
	for (uint32_t k = 0; k < op->n_in; k++) {
		const struct hn_akg_def *d = op->in[k].value != NULL ? NULL : hn_akg_find(i, op->in[k].name);

		if (d != NULL && d->value == HN_BAD) {
			return true;
		}
	}
	return false;
}

/* The tensor that is operand 0 has another value from now on. */
static void assign(struct hn_akg_importer *i, const struct hn_akg_op *op, int32_t value)
{
	struct hn_akg_def *d = op->in[0].value == NULL ? hn_akg_find(i, op->in[0].name) : NULL;

	if (d == NULL) {
		hn_graph_fail(i->g, HONE_E_INVALID, "%.80s is written, and is no tensor",
			      op->in[0].name);
		return;
	}
	value = hn_akg_settle(i->g, value, &op->in[0], op->in[0].is_complex);
	d->value = value < 0 ? d->value : value;
	d->is_assigned = value >= 0;
}

static int import_op(struct hn_akg_importer *i, const struct hn_akg_op *op)
{
	struct hn_graph *g = i->g;
	int32_t assigned = HN_NONE;
	struct hn_akg_call c = { .g = g, .im = i->im, .op = op, .assigned = &assigned };

	g->at = op->at;
	c.out = HN_NEW_ARRAY(g->arena, int32_t, op->n_out + 1);
	for (uint32_t k = 0; k < op->n_out; k++) {
		c.out[k] = HN_BAD;
	}
	if (depends_on_refused(i, op)) {
		i->im->n_unseen++;
	} else {
		call(i, &c);
		for (uint32_t k = 0; k < op->n_out && !g->failed; k++) {
			if (hn_akg_find(i, op->out[k].name) != NULL) {
				hn_graph_fail(g, HONE_E_INVALID, "result %.80s is there already",
					      op->out[k].name);
			}
		}
		if (assigned != HN_NONE && !g->failed) {
			assign(i, op, assigned);
		}
	}
	if (g->failed) {
		if (i->node_err.code == HONE_E_NOMEM) {
			return hn_fail(i->err, HONE_E_NOMEM, "%s", i->node_err.msg);
		}
		hn_import_refuse(i->im, g->arena, op->name, op->at, &i->node_err);
		g->failed = false;
		for (uint32_t k = 0; k < op->n_out; k++) {
			c.out[k] = HN_BAD;
		}
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		if (hn_akg_find(i, op->out[k].name) == NULL) {
			hn_akg_define(i, &op->out[k], c.out[k]);
		}
	}
	return 0;
}

/* -- inputs and outputs ----------------------------------------------------------------- */

/* The input's shape by --dim, in the way of models. */
static const int64_t *shape_of(struct hn_akg_importer *i, const struct hn_akg_tensor *t,
			       const char *const *name, struct hn_dims *dims)
{
	int64_t *shape = HN_NEW_ARRAY(i->g->arena, int64_t, t->rank + 1);
	struct hn_onnx_dim *dim = HN_NEW_ARRAY(i->g->arena, struct hn_onnx_dim, t->rank);

	for (uint32_t d = 0; d < t->rank; d++) {
		dim[d] = (struct hn_onnx_dim){ .dim_param = name[d] != NULL ? name[d] : "",
					       .dim_value = t->shape[d],
					       .kind = t->shape[d] > 0	 ? HN_ONNX_DIM_VALUE
						       : name[d] != NULL ? HN_ONNX_DIM_PARAM
									 : HN_ONNX_DIM_UNKNOWN };
	}
	hn_dims_shape(dims,
		      &(struct hn_onnx_value_info){ .name = t->name, .n_dim = t->rank, .dim = dim },
		      shape);
	shape[t->rank] = 2; /* of complex numbers */
	return shape;
}

static int import_input(struct hn_akg_importer *i, const struct hn_akg_tensor *t,
			const char *const *name, struct hn_dims *dims)
{
	uint32_t rank = t->rank + (t->is_complex ? 1 : 0);
	int32_t v;

	if (t->value != NULL) {
		return hn_fail(i->err, HONE_E_INVALID, "input %.80s is a literal", t->name);
	}
	if (hn_akg_find(i, t->name) != NULL) {
		return hn_fail(i->err, HONE_E_INVALID, "input %.80s is there twice", t->name);
	}
	if (rank > HN_GRAPH_MAX_RANK) {
		return hn_fail(i->err, HONE_E_UNSUPPORTED, "input %.80s of complex numbers has %u "
			       "dimensions", t->name, t->rank);
	}
	v = hn_graph_input(i->g, t->name, (enum hn_dtype)t->dtype, rank, shape_of(i, t, name, dims));
	if (hn_gvalue_elements(&i->g->value[v]) > HN_GRAPH_MAX_ELEMENTS) {
		return hn_fail(i->err, HONE_E_QUOTA,
			       "input %.80s has shape %s, more than " HN_GRAPH_MAX_ELEMENTS_TEXT, t->name,
			       hn_shape_text(i->g->arena, rank, i->g->value[v].shape));
	}
	i->g->input[i->g->n_input++] = v;
	hn_akg_define(i, t, v)->is_input = true;
	return 0;
}

static int import_inputs(struct hn_akg_importer *i)
{
	const char ***name = hn_akg_name_open(i->k, i->g->arena);
	struct hn_dims dims;
	uint32_t most = 0;
	int rc = 0;

	for (uint32_t k = 0; k < i->k->n_in; k++) {
		most += i->k->in[k].rank;
	}
	hn_dims_init(&dims, i->im, most, i->g->arena);
	i->g->input = HN_NEW_ARRAY(i->g->arena, int32_t, i->k->n_in + 1);
	for (uint32_t k = 0; rc == 0 && k < i->k->n_in; k++) {
		rc = import_input(i, &i->k->in[k], name[k], &dims);
	}
	rc = rc ? rc : hn_dims_check(&dims, i->err);
	hn_dims_fini(&dims);
	return rc;
}

static void add_output(struct hn_graph *g, const char *name, int32_t v)
{
	g->output[g->n_output] = v;
	g->output_name[g->n_output++] = name;
}

static bool is_output(const struct hn_graph *g, int32_t v)
{
	for (uint32_t k = 0; k < g->n_output; k++) {
		if (g->output[k] == v) {
			return true;
		}
	}
	return false;
}

static int import_outputs(struct hn_akg_importer *i)
{
	uint32_t most = i->k->n_out + i->k->n_in;
	struct hn_graph *g = i->g;

	g->at = "";
	g->output = HN_NEW_ARRAY(g->arena, int32_t, most + 1);
	g->output_name = HN_NEW_ARRAY(g->arena, const char *, most + 1);
	for (uint32_t k = 0; k < i->k->n_out; k++) {
		const struct hn_akg_tensor *t = &i->k->out[k];
		const struct hn_akg_def *d = hn_akg_find(i, t->name);

		if (d == NULL || d->value < 0) {
			return hn_fail(i->err, HONE_E_INVALID, "output %.80s is not computed", t->name);
		}
		if (d->as->dtype != t->dtype || d->as->is_complex != t->is_complex ||
		    !hn_akg_may_be(d->as->rank, d->as->shape, t)) {
			return hn_fail(i->err, HONE_E_INVALID,
				       "output %.80s has another type or shape where it is computed",
				       t->name);
		}
		add_output(g, t->name, d->value);
	}
	for (uint32_t k = 0; k < i->n_def; k++) {
		const struct hn_akg_def *d = &i->def[k];

		if (d->is_input && d->is_assigned && !is_output(g, d->value)) {
			add_output(g, d->as->name, d->value);
		}
	}
	return g->n_output > 0 ? 0
			       : hn_fail(i->err, HONE_E_INVALID, "a kernel without outputs");
}

static uint32_t count_names(const struct hn_akg_kernel *k)
{
	uint32_t n = k->n_in + k->n_out;

	for (uint32_t o = 0; o < k->n_op; o++) {
		n += k->op[o].n_in + k->op[o].n_out;
	}
	return n;
}

int hn_akg_import(const struct hn_akg *k, struct hn_import *im, struct hn_graph *g,
		  struct hn_err *err)
{
	struct hn_akg_importer i = { .k = hn_akg_kernel(k), .im = im, .g = g, .err = err };
	int rc;

	hn_names_init(&i.name, count_names(i.k), g->arena);
	g->err = &i.node_err;
	g->opset = OPSET;
	g->simplify = im->as_written ? hn_pass_simplify_as_written : hn_pass_simplify;
	rc = import_inputs(&i);
	for (uint32_t o = 0; rc == 0 && o < i.k->n_op; o++) {
		rc = import_op(&i, &i.k->op[o]);
	}
	rc = rc ? rc : hn_import_refused(im, err);
	rc = rc ? rc : import_outputs(&i);
	g->err = err;
	if (rc == 0) {
		hn_graph_sweep(g);
	}
	return rc;
}
