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
			  const int32_t *arg, struct hn_err *err)
{
	void *at[64];

	for (uint32_t i = 0; i < n_arg; i++) {
		at[i] = memory_of(m, arg[i]);
	}
	return hn_interpret(dag, at, err);
}

/* Elements of v between where it lies and a row: `out`, into the row. */
static inline void move_rows(struct memory *m, const struct hn_gplace *p, int32_t v, char *row,
			     bool out)
{
	const struct hn_gvalue *value = &m->g->value[v];
	size_t unit = hn_dtype_bytes(value->dtype);
	char *root = memory_of(m, p->root);

	for (int64_t i = 0; i < hn_gvalue_elements(value); i++) {
		int64_t at = p->at, left = i;

		for (uint32_t k = value->rank; k-- > 0; left /= hn_gvalue_extent(value, k)) {
			at += p->stride != NULL ? left % hn_gvalue_extent(value, k) * p->stride[k]
						: 0;
		}
		at += p->stride != NULL ? 0 : i;
		memcpy(out ? row + (size_t)i * unit : root + (size_t)at * unit,
		       out ? root + (size_t)at * unit : row + (size_t)i * unit, unit);
	}
}

static inline int run_step(const struct hn_net *net, const struct hn_gstep *s, struct memory *m,
			   struct hn_err *err)
{
	void *at[64];
	int rc;

	for (uint32_t i = 0; i < s->n_arg; i++) {
		at[i] = calloc(1, hn_gvalue_bytes(&m->g->value[s->arg[i]]) + 1);
		if (i < s->n_in) {
			move_rows(m, &net->part.place[s->arg[i]], s->arg[i], at[i], true);
		}
	}
	rc = hn_interpret(net->task[s->task].dag, at, err);
	for (uint32_t i = 0; i < s->n_arg; i++) {
		if (i >= s->n_in) {
			move_rows(m, &net->part.place[s->arg[i]], s->arg[i], at[i], false);
		}
		free(at[i]);
	}
	return rc;
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
		rc = rc ? rc : run_dag(dag, m, t.n_arg, t.arg, err);
		hn_arena_fini(&a);
	}
	return rc;
}

static inline int run_steps(const struct hn_net *net, struct memory *m, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < net->n_step; i++) {
		rc = run_step(net, &net->step[i], m, err);
	}
	return rc;
}

#endif
