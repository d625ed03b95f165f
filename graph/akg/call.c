/* graph/akg/call.c -- see call.h: attributes of an operator, and small operators. */
#include "graph/akg/call.h"

#include <string.h>

#include "graph/op/build.h"

const struct hn_json *hn_akg_attr(const struct hn_akg_call *c, const char *name)
{
	for (uint32_t i = 0; i < c->op->n_attr; i++) {
		if (strcmp(c->op->attr[i].name, name) == 0) {
			return c->op->attr[i].value;
		}
	}
	return NULL;
}

static bool read_int(const struct hn_json *v, int64_t *ret)
{
	bool flag;

	if (hn_json_bool(v, &flag)) {
		*ret = flag;
		return true;
	}
	return hn_json_int(v, ret);
}

int64_t hn_akg_int(const struct hn_akg_call *c, const char *name, int64_t otherwise)
{
	const struct hn_json *v = hn_akg_attr(c, name);

	if (v != NULL && hn_json_kind(v) != HN_JSON_NULL && !read_int(v, &otherwise)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute %s is %s; an integer is wanted", name,
			      hn_json_kind_name(v));
	}
	return otherwise;
}

const char *hn_akg_text(const struct hn_akg_call *c, const char *name, const char *otherwise)
{
	const struct hn_json *v = hn_akg_attr(c, name);

	if (v == NULL || hn_json_kind(v) == HN_JSON_NULL) {
		return otherwise;
	}
	if (hn_json_string(v) == NULL) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute %s is %s; a string is wanted", name,
			      hn_json_kind_name(v));
		return otherwise;
	}
	return hn_json_string(v);
}

/* A list of integers, or one. */
static bool read_ints(const struct hn_json *v, uint32_t *ret_n, int64_t *ret)
{
	*ret_n = 0;
	if (hn_json_kind(v) != HN_JSON_ARRAY) {
		*ret_n = 1;
		return read_int(v, ret);
	}
	for (const struct hn_json *e = hn_json_first(v); e != NULL; e = hn_json_next(e)) {
		if (*ret_n == HN_GRAPH_MAX_INTS || !read_int(e, &ret[(*ret_n)++])) {
			return false;
		}
	}
	return true;
}

bool hn_akg_ints(const struct hn_akg_call *c, const char *name, uint32_t i, uint32_t *ret_n,
		 int64_t ret[HN_GRAPH_MAX_INTS])
{
	const struct hn_json *v = hn_akg_attr(c, name);

	*ret_n = 0;
	if (v == NULL || hn_json_kind(v) == HN_JSON_NULL) {
		v = i < c->op->n_in ? c->op->in[i].value : NULL;
		if (v != NULL && c->op->in[i].shape[0] == 0) {
			return true;
		}
		if (v == NULL && i < c->op->n_in) {
			hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				      "%s is computed: shapes have to be known", name);
		}
	}
	if (v == NULL) {
		return false;
	}
	if (!read_ints(v, ret_n, ret)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s is no list of at most %d integers", name,
			      HN_GRAPH_MAX_INTS);
		return false;
	}
	return true;
}

bool hn_akg_axis(const struct hn_akg_call *c, uint32_t i, uint32_t rank, int64_t otherwise,
		 uint32_t *ret)
{
	int64_t axis[HN_GRAPH_MAX_INTS];
	uint32_t n;

	if (!hn_akg_ints(c, "axis", i, &n, axis)) {
		axis[0] = otherwise;
		n = 1;
	}
	if (n != 1 || axis[0] < -(int64_t)rank || axis[0] >= (int64_t)rank) {
		hn_graph_fail(c->g, HONE_E_INVALID, "axis is none of %u dimensions", rank);
	}
	*ret = (uint32_t)(axis[0] < 0 ? axis[0] + rank : axis[0]);
	return !c->g->failed;
}

int32_t hn_akg_filled(struct hn_graph *g, enum hn_dtype t, uint32_t rank, const int64_t *shape,
		      double v)
{
	const struct hn_gvalue as = { .rank = rank, .shape = shape };
	int64_t *to = HN_NEW_ARRAY(g->arena, int64_t, rank + 1);
	int32_t one = hn_graph_scalar(g, t, v);

	if (hn_gvalue_elements(&as) > HN_GRAPH_MAX_ELEMENTS) {
		return hn_graph_fail(g, HONE_E_QUOTA, "shape %s, more than " HN_GRAPH_MAX_ELEMENTS_TEXT,
				     hn_shape_text(g->arena, rank, shape));
	}
	memcpy(to, shape, rank * sizeof(*to));
	return hn_graph_const(g, g->at, t, rank, to, g->value[one].data, true);
}

enum hn_dtype hn_akg_promoted(enum hn_dtype x, enum hn_dtype y)
{
	bool float_x = hn_dtype_class(x) == HN_CLASS_FLOAT;
	bool float_y = hn_dtype_class(y) == HN_CLASS_FLOAT;

	if (x == y || y == HN_BOOL || (float_x && !float_y)) {
		return x;
	}
	if (x == HN_BOOL || (float_y && !float_x)) {
		return y;
	}
	if (hn_dtype_bytes(x) != hn_dtype_bytes(y)) {
		return hn_dtype_bytes(x) > hn_dtype_bytes(y) ? x : y;
	}
	return float_x			   ? HN_F32 /* float16 and bfloat16 */
	       : hn_dtype_bytes(x) == 1 ? HN_I16
	       : hn_dtype_bytes(x) == 2 ? HN_I32
					   : HN_I64;
}

int32_t hn_akg_part(struct hn_graph *g, int32_t v, uint32_t part)
{
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];

	if (x == NULL) {
		return v;
	}
	uint32_t rank = x->rank - 1;
	const int64_t *shape = x->shape;

	return hn_reshaped(g, hn_part(g, v, rank, part, 1), rank, shape);
}

int32_t hn_akg_pair(struct hn_graph *g, int32_t re, int32_t im)
{
	struct hn_gattr axis = hn_gattr_of_int(g->arena, "axis", -1);
	int32_t in[2] = { re, im };
	int64_t shape[HN_GRAPH_MAX_RANK];

	for (uint32_t k = 0; k < 2 && in[k] >= 0; k++) {
		const struct hn_gvalue *x = &g->value[in[k]];

		if (x->rank == HN_GRAPH_MAX_RANK) {
			return hn_graph_fail(g, HONE_E_UNSUPPORTED,
					     "complex numbers of %u dimensions", x->rank);
		}
		memcpy(shape, x->shape, x->rank * sizeof(*shape));
		shape[x->rank] = 1;
		in[k] = hn_reshaped(g, in[k], x->rank + 1, shape);
	}
	return re < 0 || im < 0 ? HN_BAD : hn_graph_add(g, "Concat", 2, in, 1, &axis);
}
