/* graph/form/int8_qdq.c -- a network that is meant to compute in integers.
 *
 * A quantized model does so by itself (graph/pass/bytes.h).  Here is only asked whether this one does:
 * who takes a model for a quantized one shall hear that it is none.  Weights alone in integers are
 * not enough, since products of theirs are of floats.
 */
#include "graph/form/form.h"
#include "graph/ir/op.h"

/* Factors are of one kind: the first tells. */
static bool multiplies_integers(const struct hn_graph *g, const struct hn_gnode *n)
{
	return n->op->class == HN_GOP_CONTRACT && n->n_in >= 2 &&
	       hn_dtype_class((enum hn_dtype)g->value[n->in[0]].dtype) != HN_CLASS_FLOAT;
}

void hn_form_int8_qdq(struct hn_graph *g)
{
	bool any = false;

	for (uint32_t i = 0; i < g->n_node && !any; i++) {
		any = multiplies_integers(g, &g->node[i]);
	}
	if (!any) {
		g->at = "";
		hn_graph_fail(g, HONE_E_INVALID,
			      "--dtype int8-qdq: no product of the model is of integers; quantize its "
			      "weights and activations first, for instance with ONNX Runtime's "
			      "quantize_static, which writes QuantizeLinear and DequantizeLinear");
	}
}
