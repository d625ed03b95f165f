/* graph/op/elementwise.c -- operators whose rows are an expression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/rows.h"

/* All operands from `first` on, broadcast. */
static bool shape_of(const struct hn_gcall *c, uint32_t first, struct hn_gshape *ret)
{
	ret->dtype = hn_gcall_in(c, first)->dtype;
	ret->rank = 0;
	for (uint32_t i = 0; i < c->node->n_in; i++) {
		const struct hn_gvalue *v = hn_gcall_in(c, i);

		if (i >= first && v->dtype != ret->dtype) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%s of %s and %s",
				      c->node->op->name, hn_dtype_name(ret->dtype),
				      hn_dtype_name(v->dtype));
			return false;
		}
		if (!hn_gcall_broadcast(c, ret, v)) {
			return false;
		}
	}
	return true;
}

bool hn_elementwise_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	return shape_of(c, 0, ret);
}

bool hn_compare_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	if (!shape_of(c, 0, ret)) {
		return false;
	}
	ret->dtype = HN_BOOL;
	return true;
}

bool hn_where_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	if (hn_gcall_in(c, 0)->dtype != HN_BOOL) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: the condition is not bool",
			      c->node->op->name);
		return false;
	}
	return shape_of(c, 1, ret);
}

/* "{alpha=0.01}" at p, with its value from the node; returns what is behind it. */
static const char *put_attribute(struct hn_say *s, const struct hn_gnode *n,
				 enum hn_dtype t, const char *p)
{
	const char *equals = strchr(p, '='), *end = strchr(p, '}');
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)(equals - p - 1), p + 1);
	hn_say_number(s, t, hn_gattr_float(n, name, strtod(equals + 1, NULL)));
	return end + 1;
}

void hn_elementwise_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *out = &s->g->value[n->out[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK];
	const char *p = n->op->text;

	hn_say_indices(index, out->rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	while (*p != '\0') {
		if (*p == '%') {
			hn_say_broadcast(s, n->in[p[1] - '0'], n->out[0], 0, index);
			p += 2;
		} else if (*p == '{') {
			p = put_attribute(s, n, s->g->value[n->in[0]].dtype, p);
		} else {
			hn_say_text(s, "%c", *p++);
		}
	}
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

bool hn_cast_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	if (!shape_of(c, 0, ret)) {
		return false;
	}
	ret->dtype = (uint8_t)hn_gattr_int(c->node, "to", 0);
	return true;
}

void hn_cast_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *out = &s->g->value[n->out[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, out->rank);
	hn_say_left(s, n->out[0], index);
	if (out->dtype == HN_BOOL) {
		hn_say_text(s, " = ");
		hn_say_load(s, n->in[0], index);
		hn_say_text(s, " != 0");
	} else {
		hn_say_text(s, " = %s(", hn_dtype_name(out->dtype));
		hn_say_load(s, n->in[0], index);
		hn_say_text(s, ")");
	}
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
