/* lower/npu/dag.c -- a dag's program for the NPU: of a product of matrices for the cube, of what goes
 * through rows for the vector unit; by rule, or as the machine itself runs it fastest.
 */
#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

#define SIZES 5 /* of tiles: each half of the one before */

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

struct choice {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	bool product;
	struct hn_npu_product p, best_p;
	struct hn_npu_plan plan, best_plan;
	int64_t least; /* cycles of the best; 0 = none yet */
};

static int code(const struct choice *c, const struct hn_npu_product *p, const struct hn_npu_plan *plan,
		struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	return c->product ? hn_npu_product(p, c->m, a, ret, NULL, err)
			  : hn_npu_vector(c->dag, c->m, plan, a, ret, NULL, err);
}

/* What has no program is no choice. */
static void try(struct choice *c)
{
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (code(c, &c->p, &c->plan, &a, &p, &err) == 0 && hn_npu_run(p, c->m, &o, &a, &r, &err) == 0 &&
	    (c->least == 0 || r.cycles < c->least)) {
		c->least = r.cycles;
		c->best_p = c->p;
		c->best_plan = c->plan;
	}
	hn_arena_fini(&a);
}

static void try_tiles(struct choice *c, int64_t largest)
{
	for (int64_t i = 0; i < SIZES && largest >> i > 0; i++) {
		for (c->plan.slots = 1; c->plan.slots <= 2; c->plan.slots++) {
			c->plan.tile = largest >> i;
			try(c);
		}
	}
}

int hn_npu_tuned(const struct hn_dag *dag, const struct hn_npu_profile *m, struct hn_arena *a,
		 const struct hn_npu_program **ret, struct hn_err *err)
{
	struct choice c = { .dag = dag, .m = m };
	struct hn_npu_product plans[HN_NPU_MOST_PLANS];
	struct hn_npu_vector_facts facts;
	int rc;

	c.plan = (struct hn_npu_plan){ .order = HN_NPU_FLAGS, .slots = 1, .reuse = true };
	c.product = is_product(dag, &c.p);
	c.best_plan = c.plan;
	if (c.product) {
		uint32_t n;

		c.p.order = HN_NPU_FLAGS;
		n = hn_npu_product_plans(m, &c.p, HN_NPU_MOST_PLANS, plans);
		c.best_p = c.p;
		for (uint32_t i = 0; i < n; i++) {
			c.p = plans[i];
			try(&c);
		}
	} else {
		rc = hn_npu_vector(dag, m, &c.plan, a, ret, &facts, err);
		if (rc != 0) {
			return rc;
		}
		try_tiles(&c, facts.rows == 1 ? facts.columns : facts.rows);
		c.plan.tile = 0;
		c.plan.slots = 2;
		try(&c);
	}
	return code(&c, &c.best_p, &c.best_plan, a, ret, err);
}
