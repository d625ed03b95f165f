/* loopstate/dag/constant.c -- ops that depend on constant inputs alone (see constant.h). */
#include "loopstate/dag/constant.h"

#include <string.h>

#include "loopstate/dag/attr.h"
#include "loopstate/dag/dag_priv.h"

#define KEY "layout_free_placeholders"

bool hn_dag_arg_is_constant(const struct hn_dag *dag, uint32_t i)
{
	for (uint32_t k = 0; k < dag->n_op && i < dag->n_input; k++) {
		const struct hn_attr *attr = hn_op_attr(dag->op[k], KEY);

		for (uint32_t j = 0; attr && j < attr->n_item; j++) {
			if (hn_attr_means(dag, attr->item[j], dag->arg[i])) {
				return true;
			}
		}
	}
	return false;
}

/* All of them at once: each name that is given is looked for once. */
static bool find_inputs(const struct hn_dag *dag, const struct hn_dag *task, uint8_t *ret)
{
	bool any = false;

	for (uint32_t k = 0; k < task->n_op; k++) {
		const struct hn_attr *attr = hn_op_attr(task->op[k], KEY);

		for (uint32_t j = 0; attr && j < attr->n_item; j++) {
			int32_t meant = hn_attr_op(task, attr->item[j]);

			for (uint32_t i = 0; i < task->n_input; i++) {
				if (task->arg[i] == meant) {
					ret[dag->arg[i]] = HN_CONSTANT;
					any = true;
				}
			}
		}
	}
	return any;
}

struct reads {
	const uint8_t *before; /* of the ops before this one */
	uint8_t found;
};

static void see_load(const struct hn_expr *e, void *ctx)
{
	struct reads *r = ctx;

	if (e->op != HN_EXPR_LOAD || r->found == HN_VARIES) {
		return;
	}
	if (r->before[e->ref] != HN_ON_NOTHING) {
		r->found = r->before[e->ref];
	}
}

static void see_body(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	(void)owner;
	(void)k;
	hn_expr_visit(e, see_load, ctx);
}

/* Every call writes the outputs anew, so what reads one must run in each call, behind it. */
static bool is_output(const struct hn_dag *dag, uint32_t op)
{
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		if (dag->arg[i] == (int32_t)op) {
			return true;
		}
	}
	return false;
}

void hn_dag_find_constant(const struct hn_dag *dag, const struct hn_dag *task, uint8_t *ret)
{
	memset(ret, HN_VARIES, dag->n_op * sizeof(*ret));
	bool any = find_inputs(dag, task, ret);

	for (uint32_t i = 0; i < dag->n_op && any; i++) {
		struct reads r = { ret, HN_ON_NOTHING };

		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_dag_op_exprs(dag->op[i], see_body, &r);
			ret[i] = is_output(dag, i) ? HN_VARIES : r.found;
		}
	}
}
