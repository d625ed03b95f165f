/* graph_eval.h -- a graph, evaluated one node after the other by the reference interpreter.
 *
 * What the templates of operators mean, without search, schedules and compilers. */
#ifndef HN_TESTS_GRAPH_EVAL_H
#define HN_TESTS_GRAPH_EVAL_H

#include <stdlib.h>
#include <string.h>

#include "graph/ir/op.h"
#include "graph/ir/text.h"
#include "lower/lower.h"

/* The elements of a constant, as an array of its own. */
static inline void *eval_constant(const struct hn_gvalue *v)
{
	size_t one = hn_dtype_bytes(v->dtype), n = (size_t)hn_gvalue_elements(v);
	char *p = malloc(n * one + 1);

	hn_assert(p != NULL);
	for (size_t i = 0; i < n; i += v->fill ? 1 : n) {
		memcpy(p + i * one, v->data, v->fill ? one : n * one);
	}
	return p;
}

/* One node.  mem[] has the elements of each value. */
static inline int eval_node(const struct hn_graph *g, uint32_t i, void **mem,
			    struct hn_err *err)
{
	const struct hn_gnode *n = &g->node[i];
	void **arg;
	struct hn_arena a;
	const struct hn_dag *dag;
	struct hn_gtext t;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_graph_text(g, "node", 1, &i, n->n_out, n->out, &a, &t, err);
	rc = rc ? rc : hn_graph_dag(&t, "node", &a, &dag, err);
	if (rc == 0) {
		arg = HN_NEW_ARRAY(&a, void *, t.n_arg);
		for (uint32_t k = 0; k < t.n_arg; k++) {
			const struct hn_gvalue *v = &g->value[t.arg[k]];

			if (mem[t.arg[k]] == NULL) {
				mem[t.arg[k]] = v->data != NULL
							? eval_constant(v)
							: malloc(hn_gvalue_bytes(v) + 1);
			}
			arg[k] = mem[t.arg[k]];
		}
		rc = hn_interpret(dag, arg, err);
	}
	if (rc != 0) {
		hn_err_within(err, "%s (%s)", n->op->name, n->name);
	}
	hn_arena_fini(&a);
	return rc;
}

/* All nodes, and constants that are outputs.  mem[g->n_value]: inputs are there, the rest is NULL;
 * the caller frees. */
static inline int eval_graph(const struct hn_graph *g, void **mem, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < g->n_node; i++) {
		rc = eval_node(g, i, mem, err);
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		int32_t v = g->output[i];

		if (mem[v] == NULL && g->value[v].data != NULL) {
			mem[v] = eval_constant(&g->value[v]);
		}
	}
	return rc;
}

#endif
