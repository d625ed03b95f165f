/* graph/import/branch.c -- If: the branch that a constant condition takes; of another condition both,
 * and each result is chosen.
 *
 * A branch reads values of the graphs around it, and its own names end with it.  Both branches may be
 * computed, because nothing that an operator does can be seen but its results.
 */
#include "graph/import/import_int.h"

#include <string.h>

static const struct hn_onnx_graph *find_graph(const struct hn_onnx_node *n, const char *name)
{
	for (uint32_t k = 0; k < n->n_attribute; k++) {
		if (strcmp(n->attribute[k].name, name) == 0 &&
		    n->attribute[k].type == HN_ONNX_ATTR_GRAPH) {
			return n->attribute[k].g;
		}
	}
	return NULL;
}

static void forget(struct hn_importer *i, const char *name)
{
	*hn_names_at(&i->name, name, HN_UNKNOWN_NAME) = HN_UNKNOWN_NAME;
}

static void forget_all(struct hn_importer *i, const struct hn_onnx_graph *g)
{
	for (uint32_t k = 0; k < g->n_initializer; k++) {
		forget(i, g->initializer[k].name);
	}
	for (uint32_t k = 0; k < g->n_node; k++) {
		for (uint32_t j = 0; j < g->node[k].n_output; j++) {
			forget(i, g->node[k].output[j]);
		}
	}
}

/* Whether the branch gives no name to a value that has one already. */
static bool check_names(struct hn_importer *i, const struct hn_onnx_graph *g)
{
	for (uint32_t k = 0; k < g->n_initializer; k++) {
		if (hn_import_has_name(i, g->initializer[k].name)) {
			hn_graph_fail(i->g, HONE_E_INVALID, "weight %.80s is there already",
				      g->initializer[k].name);
			return false;
		}
		*hn_names_at(&i->name, g->initializer[k].name, HN_UNKNOWN_NAME) =
			hn_import_tensor(i, &g->initializer[k]);
	}
	return !i->g->failed;
}

/* The results of a branch into out[]. */
static int import_branch(struct hn_importer *i, const struct hn_onnx_node *n,
			 const struct hn_onnx_graph *g, int32_t *out)
{
	const char *at = i->g->at;
	int rc = 0;

	if (g == NULL || g->n_output != n->n_output || g->n_input != 0 ||
	    g->n_sparse_initializer != 0) {
		hn_graph_fail(i->g, HONE_E_INVALID, "a branch has other results");
		return 0;
	}
	if (check_names(i, g)) {
		for (uint32_t k = 0; rc == 0 && k < g->n_node; k++) {
			rc = hn_import_node(i, &g->node[k]);
		}
		i->g->at = at;
		for (uint32_t k = 0; rc == 0 && k < g->n_output; k++) {
			out[k] = hn_import_value(i, g->output[k].name);
		}
	}
	forget_all(i, g);
	return rc;
}

static bool same_shape(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	return x->dtype == y->dtype && x->rank == y->rank &&
	       (x->rank == 0 || memcmp(x->shape, y->shape, x->rank * sizeof(*x->shape)) == 0);
}

/* Each result from one of the two branches. */
static void choose(struct hn_importer *i, const struct hn_onnx_node *n, int32_t condition,
		   const int32_t *yes, const int32_t *no, int32_t *out)
{
	for (uint32_t k = 0; k < n->n_output && !i->g->failed; k++) {
		const int32_t in[] = { condition, yes[k], no[k] };

		if (yes[k] < 0 || no[k] < 0) {
			continue; /* refused already */
		}
		if (!same_shape(&i->g->value[yes[k]], &i->g->value[no[k]])) {
			hn_graph_fail(i->g, HONE_E_UNSUPPORTED,
				      "the condition is not constant, and the branches give other "
				      "shapes; export the model for one side");
			return;
		}
		out[k] = hn_graph_add(i->g, "Where", 3, in, 0, NULL);
	}
}

int hn_import_if(struct hn_importer *i, const struct hn_onnx_node *n, int32_t *out)
{
	int32_t condition = n->n_input == 1 ? hn_import_value(i, n->input[0]) : HN_BAD;
	const struct hn_onnx_graph *yes = find_graph(n, "then_branch");
	const struct hn_onnx_graph *no = find_graph(n, "else_branch");
	int32_t *side = HN_NEW_ARRAY(i->g->arena, int32_t, 2 * n->n_output);
	double number;
	int rc;

	if (condition < 0 || i->g->value[condition].dtype != HN_BOOL ||
	    hn_gvalue_elements(&i->g->value[condition]) != 1) {
		hn_graph_fail(i->g, HONE_E_INVALID, "the condition is no bool");
		return 0;
	}
	if (hn_gvalue_number(&i->g->value[condition], 0, &number)) {
		return import_branch(i, n, number != 0 ? yes : no, out);
	}
	for (uint32_t k = 0; k < 2 * n->n_output; k++) {
		side[k] = HN_BAD;
	}
	rc = import_branch(i, n, yes, side);
	rc = rc ? rc : import_branch(i, n, no, side + n->n_output);
	if (rc == 0 && !i->g->failed) {
		choose(i, n, condition, side, side + n->n_output, out);
	}
	return rc;
}
