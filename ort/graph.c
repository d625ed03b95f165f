/* ort/graph.c -- see graph.h: the runtime's graph is read. */
#include "ort/graph.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NODES 65536
#define MOST_VALUES 65536 /* of a node, or of the graph */

typedef ort_status *(*count_fn)(const void *of, size_t *n);
typedef ort_status *(*list_fn)(const void *of, const void **info, size_t n);

/* Values that a node or a graph has, by name, behind the *n that are in *to. */
static ort_status *read_values(struct ort_graph *g, const void *of, count_fn count, list_fn list,
			       struct ort_value **to, uint32_t *n)
{
	const void **info;
	struct ort_value *all;
	size_t more = 0;
	ort_status *s = count(of, &more);

	if (s != NULL || more > MOST_VALUES) {
		return s ? s
			 : ort_call(g->p->api, CreateStatus)(ORT_CODE_FAIL, "hone: too many values");
	}
	info = HN_NEW_ARRAY(&g->arena, const void *, more + 1);
	all = HN_NEW_ARRAY(&g->arena, struct ort_value, *n + more + 1);
	if (*n > 0) {
		memcpy(all, *to, *n * sizeof(*all));
	}
	s = list(of, info, more);
	for (size_t i = 0; i < more && s == NULL; i++) {
		struct ort_value *v = &all[(*n)++];

		*v = (struct ort_value){ .name = "", .info = info[i] };
		s = info[i] != NULL ? ort_call(g->p->api, GetValueInfoName)(info[i], &v->name) : NULL;
	}
	*to = all;
	return s;
}

static ort_status *read_node(struct ort_graph *g, struct ort_gnode *n)
{
	const void *api = g->p->api;
	ort_status *s = read_values(g, n->node, ort_call(api, Node_GetNumInputs),
				    ort_call(api, Node_GetInputs), &n->in, &n->n_in);

	n->n_own = n->n_in;
	s = s ? s
	      : read_values(g, n->node, ort_call(api, Node_GetNumImplicitInputs),
			    ort_call(api, Node_GetImplicitInputs), &n->in, &n->n_in);
	return s ? s
		 : read_values(g, n->node, ort_call(api, Node_GetNumOutputs),
			       ort_call(api, Node_GetOutputs), &n->out, &n->n_out);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct ort_made *)x)->name, ((const struct ort_made *)y)->name);
}

static void index_made(struct ort_graph *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_node; i++) {
		n += g->node[i].n_out;
	}
	g->made = HN_NEW_ARRAY(&g->arena, struct ort_made, n + 1);
	for (uint32_t i = 0; i < g->n_node; i++) {
		for (uint32_t k = 0; k < g->node[i].n_out; k++) {
			if (*g->node[i].out[k].name != '\0') {
				g->made[g->n_made++] =
					(struct ort_made){ g->node[i].out[k].name, i };
			}
		}
	}
	qsort(g->made, g->n_made, sizeof(*g->made), by_name);
}

ort_status *ort_graph_open(const struct provider *p, const void *graph, struct ort_graph *ret)
{
	const void *api = p->api, **node;
	size_t n = 0;

	*ret = (struct ort_graph){ .p = p };
	hn_arena_init(&ret->arena, 0);
	ort_status *s = ort_call(api, Graph_GetNumNodes)(graph, &n);

	if (s != NULL || n > MOST_NODES) {
		return s ? s : ort_call(api, CreateStatus)(ORT_CODE_FAIL, "hone: too many nodes");
	}
	node = HN_NEW_ARRAY(&ret->arena, const void *, n + 1);
	ret->node = HN_NEW_ARRAY(&ret->arena, struct ort_gnode, n + 1);
	s = ort_call(api, Graph_GetNodes)(graph, node, n);
	for (; ret->n_node < n && s == NULL; ret->n_node++) {
		ret->node[ret->n_node].node = node[ret->n_node];
		s = read_node(ret, &ret->node[ret->n_node]);
	}
	s = s ? s
	      : read_values(ret, graph, ort_call(api, Graph_GetNumInputs),
			    ort_call(api, Graph_GetInputs), &ret->input, &ret->n_input);
	s = s ? s
	      : read_values(ret, graph, ort_call(api, Graph_GetNumOutputs),
			    ort_call(api, Graph_GetOutputs), &ret->output, &ret->n_output);
	if (s == NULL) {
		index_made(ret);
	}
	return s;
}

void ort_graph_close(struct ort_graph *g)
{
	hn_arena_fini(&g->arena);
}

ort_status *ort_graph_compare(const struct provider *p, const void *info,
			      const struct hone_model_tensor *tensors, uint32_t n, bool *ret_same)
{
	const void *type = NULL, *tensor = NULL;
	int64_t dims[64];
	const char *name = "";
	size_t rank = 0;
	int element = 0;
	uint32_t at = 0;
	ort_status *s = ort_call(p->api, GetValueInfoName)(info, &name);

	s = s ? s : ort_call(p->api, GetValueInfoTypeInfo)(info, &type);
	s = s ? s : ort_call(p->api, CastTypeInfoToTensorInfo)(type, &tensor);
	*ret_same = false;
	if (s != NULL || tensor == NULL) {
		return s;
	}
	s = ort_call(p->api, GetTensorElementType)(tensor, &element);
	s = s ? s : ort_call(p->api, GetDimensionsCount)(tensor, &rank);
	if (s == NULL && rank <= HN_COUNT_OF(dims)) {
		s = ort_call(p->api, GetDimensions)(tensor, dims, rank);
	}
	while (at < n && strcmp(tensors[at].name, name) != 0) {
		at++;
	}
	if (s != NULL || at == n || rank != tensors[at].rank ||
	    element != ort_library_type(&tensors[at])) {
		return s;
	}
	*ret_same = true;
	for (size_t d = 0; d < rank; d++) {
		*ret_same = *ret_same && dims[d] == tensors[at].dims[d];
	}
	return NULL;
}
