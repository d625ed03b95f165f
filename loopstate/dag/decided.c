/* loopstate/dag/decided.c -- see decided.h. */
#include "loopstate/dag/decided.h"

#include "loopstate/dag/dag_priv.h"

struct look {
	const struct hn_dag *dag;
	bool *ret;
	bool casts, spreads;
};

static bool is_float(const struct hn_expr *e)
{
	return hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;
}

static void look_at_node(const struct hn_expr *e, void *ctx)
{
	struct look *l = ctx;

	l->casts |= e->op == HN_EXPR_CAST && is_float(e->arg[0]) && !is_float(e);
	if (l->spreads && e->op == HN_EXPR_LOAD && is_float(e)) {
		const struct hn_op *p = l->dag->op[e->ref];

		l->ret[e->ref] |= p->kind == HN_OP_COMPUTE && p->reduce == NULL;
	}
}

static void look_at(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, look_at_node, ctx);
}

void hn_dag_decided(const struct hn_dag *dag, bool *ret)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		struct look l = { .dag = dag, .ret = ret };

		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_dag_op_exprs(dag->op[i], look_at, &l);
		}
		ret[i] = l.casts;
	}
	for (uint32_t i = dag->n_op; i-- > 0;) {
		struct look l = { .dag = dag, .ret = ret, .spreads = true };

		if (ret[i]) {
			hn_dag_op_exprs(dag->op[i], look_at, &l);
		}
	}
}
