/* graph/op/table.c -- the table of operators, and what rows share. */
#include "graph/ir/op.h"

#include <string.h>

#include "graph/op/rows.h"

static const struct hn_gop ops[] = {
#define REWRITE(name, in_min, in_max, out_max, attrs, expand_fn)                         \
	{ name,	 HN_GOP_REWRITE, in_min,    in_max, out_max,                             \
	  attrs, NULL,		 expand_fn, NULL,   NULL },
#define ELEMENTWISE(name, n_in, attrs, text, infer_fn)                                   \
	{ name,	    HN_GOP_ELEMENTWISE, n_in, n_in, 1, attrs, text, NULL,                \
	  infer_fn, hn_elementwise_say },
#define TEMPLATE(name, class, in_min, in_max, out_max, infer_fn, say_fn)                 \
	{ name, HN_GOP_##class, in_min, in_max,	  out_max,                               \
	  NULL, NULL,		NULL,	infer_fn, say_fn },
#include "graph/op/ops.def"
#undef REWRITE
#undef ELEMENTWISE
#undef TEMPLATE
};

const struct hn_gop *hn_gop_find(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(ops); i++) {
		if (strcmp(ops[i].name, name) == 0) {
			return &ops[i];
		}
	}
	return NULL;
}

const char *hn_gop_why_not(const char *name)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
#define REFUSED(name, why) { name, why },
#include "graph/op/refused.def"
#undef REFUSED
	};

	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		if (strcmp(refused[i].name, name) == 0) {
			return refused[i].why;
		}
	}
	return "not an operator that hone has";
}

const struct hn_gop *hn_gop_all(uint32_t *ret_n)
{
	*ret_n = HN_COUNT_OF(ops);
	return ops;
}

bool hn_gcall_axis(const struct hn_gcall *c, int64_t axis, uint32_t rank, uint32_t *ret)
{
	if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "%s: axis %lld of a tensor with %u dimensions",
			      c->node->op->name, (long long)axis, rank);
		return false;
	}
	*ret = (uint32_t)(axis < 0 ? axis + rank : axis);
	return true;
}

bool hn_gcall_ints(const struct hn_gcall *c, uint32_t i, uint32_t *ret_n,
		   const int64_t **ret)
{
	const struct hn_gvalue *v = hn_gcall_in(c, i);
	int64_t n = v != NULL ? hn_gvalue_elements(v) : 0, *list;

	if (v == NULL || v->data == NULL || v->rank > 1 || n > HN_GRAPH_MAX_INTS) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
			      "%s: operand %u is not constant: shapes have to be known",
			      c->node->op->name, i);
		return false;
	}
	list = HN_NEW_ARRAY(c->g->arena, int64_t, (size_t)n + 1);
	for (int64_t k = 0; k < n; k++) {
		if (!hn_gvalue_int(v, k, &list[k])) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "%s: operand %u is not of integers",
				      c->node->op->name, i);
			return false;
		}
	}
	*ret_n = (uint32_t)n;
	*ret = list;
	return true;
}

bool hn_gcall_list(const struct hn_gcall *c, const char *name, int64_t since, uint32_t i,
		   uint32_t *ret_n, const int64_t **ret)
{
	const struct hn_gattr *a = hn_gattr_find(c->node, name);

	*ret_n = 0;
	*ret = NULL;
	if (c->g->opset >= since && hn_gcall_in(c, i) != NULL) {
		return hn_gcall_ints(c, i, ret_n, ret);
	}
	if (a != NULL && a->kind == HN_GATTR_INTS) {
		*ret_n = a->n;
		*ret = a->i;
	}
	return true;
}

bool hn_gcall_broadcast(const struct hn_gcall *c, struct hn_gshape *to,
			const struct hn_gvalue *x)
{
	uint32_t rank = to->rank > x->rank ? to->rank : x->rank;
	struct hn_gshape wide = { .dtype = to->dtype, .rank = rank };

	for (uint32_t d = 0; d < rank; d++) { /* from the last */
		int64_t p = d < to->rank ? to->dim[to->rank - 1 - d] : 1;
		int64_t q = d < x->rank ? x->shape[x->rank - 1 - d] : 1;

		if (p != q && p != 1 && q != 1) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "%s: shapes %s and %s do not broadcast",
				      c->node->op->name,
				      hn_shape_text(c->g->arena, to->rank, to->dim),
				      hn_shape_text(c->g->arena, x->rank, x->shape));
			return false;
		}
		wide.dim[rank - 1 - d] = p == 1 ? q : p;
	}
	*to = wide;
	return true;
}
