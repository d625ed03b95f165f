/* lower/npu/dag.c -- a dag's program for the NPU: of a product of matrices for the cube, of what goes
 * through rows for the vector unit.
 */
#include "lower/npu/npu.h"

static const struct hn_expr *without_cast(const struct hn_expr *e)
{
	return e->op == HN_EXPR_CAST ? e->arg[0] : e;
}

static bool is_load(const struct hn_dag *dag, const struct hn_expr *e, int32_t op, int32_t i, int32_t j)
{
	e = without_cast(e);
	return e->op == HN_EXPR_LOAD && e->ref == op && e->n_arg == 2 && dag->op[op]->dtype[0] == HN_F16 &&
	       e->arg[0]->op == HN_EXPR_VAR && e->arg[0]->ref == i && e->arg[1]->op == HN_EXPR_VAR &&
	       e->arg[1]->ref == j;
}

/* C(i,j) +=! float32(A(i,k)) * float32(B(k,j)), A and B of float16. */
static bool is_product(const struct hn_dag *dag, struct hn_npu_product *ret)
{
	const struct hn_op *op;
	const struct hn_expr *e;

	if (dag->n_op != 3 || dag->n_input != 2 || dag->arg[0] != 0 || dag->arg[1] != 1 ||
	    dag->sizes != NULL) {
		return false;
	}
	op = dag->op[2];
	if (op->reduce == NULL || op->reduce->kind != HN_COMBINE_SUM || op->reduce->n != 1 ||
	    op->reduce->condition != NULL || !op->reduce->any_order || op->n_spatial != 2 ||
	    op->n_reduce != 1 || op->dtype[0] != HN_F32) {
		return false;
	}
	e = op->reduce->source[0];
	*ret = (struct hn_npu_product){ .m = op->axis[0].extent, .n = op->axis[1].extent,
					.k = op->axis[2].extent, .result = HN_F32 };
	return e->op == HN_EXPR_MUL && is_load(dag, e->arg[0], 0, 0, 2) && is_load(dag, e->arg[1], 1, 2, 1);
}

int hn_npu_program(const struct hn_dag *dag, const struct hn_npu_profile *m,
		   const struct hn_npu_plan *plan, struct hn_arena *a, const struct hn_npu_program **ret,
		   struct hn_err *err)
{
	struct hn_npu_product p;

	if (!is_product(dag, &p)) {
		return hn_npu_vector(dag, m, plan, a, ret, NULL, err);
	}
	hn_npu_product_plan(m, &p);
	p.order = plan->order;
	p.slots_l0 = p.slots_l1 = plan->slots;
	return hn_npu_product(&p, m, a, ret, NULL, err);
}
