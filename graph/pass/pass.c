/* graph/pass/pass.c -- rules, one after the other, and what they share. */
#include "graph/pass/pass.h"

#include <string.h>

#include "graph/ir/op.h"

enum numbers { ANY, QUANTIZED };

/* By the rules for numbers up to `most`. */
static int32_t simplify(struct hn_graph *g, const struct hn_gnode *n, enum numbers most)
{
	static const struct {
		const char *op;
		int32_t (*apply)(struct hn_graph *g, const struct hn_gnode *n);
		enum numbers numbers;
	} rules[] = {
#define RULE(name, op, function, numbers) { op, function, numbers },
#include "graph/pass/rules.def"
#undef RULE
	};
	int32_t v;

	for (size_t i = 0; i < HN_COUNT_OF(rules); i++) {
		if (rules[i].numbers <= most && strcmp(rules[i].op, n->op->name) == 0) {
			v = rules[i].apply(g, n);
			if (v != HN_NONE) {
				return v;
			}
		}
	}
	return HN_NONE;
}

int32_t hn_pass_simplify(struct hn_graph *g, const struct hn_gnode *n)
{
	return simplify(g, n, QUANTIZED);
}

int32_t hn_pass_simplify_as_written(struct hn_graph *g, const struct hn_gnode *n)
{
	return simplify(g, n, ANY);
}

const struct hn_gnode *hn_pass_made_by(const struct hn_graph *g, int32_t v,
				       const char *op)
{
	int32_t node = v >= 0 ? g->value[v].node : -1;

	return node >= 0 && strcmp(g->node[node].op->name, op) == 0 ? &g->node[node]
								    : NULL;
}

bool hn_pass_number(const struct hn_graph *g, int32_t v, double *ret)
{
	return v >= 0 && hn_gvalue_elements(&g->value[v]) == 1 &&
	       hn_gvalue_number(&g->value[v], 0, ret);
}

bool hn_pass_reduced(const struct hn_graph *g, int32_t v, const char *sign,
		     int32_t *ret_of, const struct hn_gattr **ret_axes)
{
	const struct hn_gnode *n = hn_pass_made_by(g, v, "reduce");

	if (n == NULL || strcmp(hn_gattr_string(n, "how", ""), sign) != 0 ||
	    hn_gattr_int(n, "keepdims", 0) == 0) {
		return false;
	}
	*ret_of = n->in[0];
	*ret_axes = hn_gattr_find(n, "axes");
	return true;
}

bool hn_pass_same_axes(const struct hn_gattr *x, const struct hn_gattr *y)
{
	return x->n == y->n && x->n > 0 && memcmp(x->i, y->i, x->n * sizeof(*x->i)) == 0;
}
