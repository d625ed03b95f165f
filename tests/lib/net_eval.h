/* net_eval.h -- the numbers of a graph by the reference interpreter: node by node as it is written,
 * or step by step as it is laid out and fused. */
#ifndef HN_TESTS_NET_EVAL_H
#define HN_TESTS_NET_EVAL_H

#include <stdlib.h>
#include <string.h>

#include "graph/ir/text.h"
#include "graph/net/net.h"
#include "lower/lower.h"

/* Memory of each value; made when it is first asked for. */
struct memory {
	const struct hn_graph *g;
	void **at;
};

static inline void *memory_of(struct memory *m, int32_t v)
{
	const struct hn_gvalue *value = &m->g->value[v];
	size_t bytes = hn_gvalue_bytes(value), one = hn_dtype_bytes(value->dtype);

	if (m->at[v] == NULL) {
		m->at[v] = calloc(1, bytes + 1);
		for (size_t i = 0; value->data != NULL && i < bytes; i += one) {
			memcpy((char *)m->at[v] + i,
			       (const char *)value->data + (value->fill ? 0 : i), one);
		}
	}
	return m->at[v];
}

static inline void memory_free(struct memory *m)
{
	for (uint32_t v = 0; v < m->g->n_value; v++) {
		free(m->at[v]);
	}
	free(m->at);
}

static inline int run_dag(const struct hn_dag *dag, struct memory *m, uint32_t n_arg,
			  const int32_t *arg, const int32_t *root, struct hn_err *err)
{
	void *at[64];

	for (uint32_t i = 0; i < n_arg; i++) {
		at[i] = memory_of(m, root != NULL ? root[arg[i]] : arg[i]);
	}
	return hn_interpret(dag, at, err);
}

/* Each node by itself; inputs are in the memory. */
static inline int run_nodes(struct memory *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < m->g->n_node; i++) {
		const struct hn_gnode *n = &m->g->node[i];
		const struct hn_dag *dag;
		struct hn_gtext t;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		rc = hn_graph_text(m->g, "node", 1, &i, n->n_out, n->out, &a, &t, err);
		rc = rc ? rc : hn_graph_dag(&t, "node", &a, &dag, err);
		rc = rc ? rc : run_dag(dag, m, t.n_arg, t.arg, NULL, err);
		hn_arena_fini(&a);
	}
	return rc;
}

static inline int run_steps(const struct hn_net *net, struct memory *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < net->n_step; i++) {
		const struct hn_gstep *s = &net->step[i];

		rc = run_dag(net->task[s->task].dag, m, s->n_arg, s->arg, net->part.root, err);
	}
	return rc;
}

#endif
