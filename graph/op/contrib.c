/* graph/op/contrib.c -- operators that onnxruntime's optimizer writes into files: several of ONNX's
 * in one. */
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

/* Gelu of a sum: BiasGelu, and FastGelu, which is its approximation and may have no bias. */
int32_t hn_biasgelu_expand(const struct hn_gcall *c)
{
	bool fast = strcmp(c->node->op->name, "com.microsoft.FastGelu") == 0;
	struct hn_gattr how = hn_attr_string("approximate", fast ? "tanh" : "none");
	int32_t v = hn_gcall_arg(c, 0);

	v = hn_gcall_in(c, 1) == NULL ? v
				      : hn_graph_2(c->g, "Add", v, hn_gcall_arg(c, 1));
	return hn_graph_add(c->g, "Gelu", 1, &v, 1, &how);
}

int32_t hn_fusedmatmul_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *a = hn_gcall_in(c, 0), *b = hn_gcall_in(c, 1);
	int64_t trans_a = hn_gattr_int(c->node, "transA", 0) != 0;
	int64_t trans_b = hn_gattr_int(c->node, "transB", 0) != 0;
	struct hn_gattr attr[] = { hn_gattr_of_ints("trans_a", 1, &trans_a),
				   hn_gattr_of_ints("trans_b", 1, &trans_b) };

	if (a->rank < 2 || b->rank < 2 || !hn_is_float(a) ||
	    hn_gattr_int(c->node, "transBatchA", 0) != 0 ||
	    hn_gattr_int(c->node, "transBatchB", 0) != 0) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "FusedMatMul of %u and %u dimensions", a->rank,
				     b->rank);
	}
	return hn_scaled(c->g, hn_graph_add(c->g, "matmul", 2, c->node->in, 2, attr),
			 hn_gattr_float(c->node, "alpha", 1));
}

static int32_t skipped(const struct hn_gcall *c, uint32_t bias)
{
	int32_t v = hn_graph_2(c->g, "Add", hn_gcall_arg(c, 0), hn_gcall_arg(c, 1));

	return hn_gcall_in(c, bias) == NULL
		       ? v
		       : hn_graph_2(c->g, "Add", v, hn_gcall_arg(c, bias));
}

/* input, skip, scale, then a bias behind the norm and one before it; the simple one has no mean and
 * no bias behind. */
int32_t hn_skiplayernorm_expand(const struct hn_gcall *c)
{
	bool simple = strstr(c->node->op->name, "Simplified") != NULL;
	double epsilon = hn_gattr_float(c->node, "epsilon", 1e-12);
	struct hn_gattr attr = hn_attr_float("epsilon", &epsilon);
	int32_t in[] = { skipped(c, simple ? 3 : 4), hn_gcall_arg(c, 2),
			 simple ? HN_NONE : hn_gcall_arg(c, 3) };

	return hn_graph_add(c->g, simple ? "RMSNormalization" : "LayerNormalization",
			    in[2] == HN_NONE ? 2 : 3, in, 1, &attr);
}
