/* lower/npu/naive.c -- each op of a dag as a dag of its own, and that one's plainest program.  See
 * naive.h. */
#include "loopstate/state/derive.h"
#include "lower/npu/naive.h"
#include "target/npu/npu_run.h"

#define MOST_WORK ((uint64_t)1 << 33) /* instructions of a step */

/* One op with placeholders for what it reads. */
struct alone {
	int32_t read[HN_DAG_MAX_OPS]; /* ops of the whole dag */
	uint32_t n;
};

static const struct hn_expr *redirect(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	struct alone *x = ctx;
	struct hn_expr *copy;
	uint32_t i = 0;

	if (e->op != HN_EXPR_LOAD) {
		return e;
	}
	while (i < x->n && x->read[i] != e->ref) {
		i++;
	}
	if (i == x->n) {
		x->read[x->n++] = e->ref;
	}
	/* with args of its own, so it may be changed */
	copy = (struct hn_expr *)(uintptr_t)hn_expr_with_args(e, e->arg, e->n_arg, a);
	copy->ref = (int32_t)i;
	return copy;
}

static const struct hn_op *placeholder(const struct hn_op *op, struct hn_arena *a)
{
	struct hn_op *ret = HN_NEW(a, struct hn_op);

	*ret = (struct hn_op){ .id = op->id, .name = op->name, .tag = "", .kind = HN_OP_PLACEHOLDER,
			       .n_dim = op->n_dim, .shape = op->shape, .n_out = 1, .dtype = op->dtype };
	return ret;
}

/* ret_op: of the dag, for each argument. */
static int cut(const struct hn_dag *dag, uint32_t i, struct hn_arena *a, const struct hn_dag **ret,
	       const int32_t **ret_op, struct hn_err *err)
{
	struct alone *x = HN_NEW(a, struct alone);
	struct hn_dag *d = HN_NEW(a, struct hn_dag);
	const struct hn_op *op, **ops;
	int32_t *arg, *of;

	op = hn_derive_map(dag->op[i], redirect, x, a);
	ops = HN_NEW_ARRAY(a, const struct hn_op *, x->n + 1);
	arg = HN_NEW_ARRAY(a, int32_t, x->n + 1);
	of = HN_NEW_ARRAY(a, int32_t, x->n + 1);
	for (uint32_t k = 0; k < x->n; k++) {
		const struct hn_op *from = dag->op[x->read[k]];

		if (from->n_out != 1) {
			return hn_fail(err, HONE_E_UNSUPPORTED, "%s: it reads %s, which has several results", op->id,
				       from->id);
		}
		ops[k] = placeholder(from, a);
		arg[k] = (int32_t)k;
		of[k] = x->read[k];
	}
	ops[x->n] = op;
	arg[x->n] = (int32_t)x->n;
	of[x->n] = (int32_t)i;
	*d = (struct hn_dag){ .n_op = x->n + 1, .op = ops, .n_arg = x->n + 1, .arg = arg, .n_input = x->n };
	*ret = d;
	*ret_op = of;
	return 0;
}

/* The least tile of which the program has room. */
static int by_vectors(const struct hn_dag *dag, const struct hn_npu_profile *m, enum hn_npu_tile tile,
		      struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_plan plan = { .order = HN_NPU_BARRIERS, .slots = 1, .tile = tile == HN_NPU_LEAST ? 1 : 0 };
	int rc = hn_npu_vector(dag, m, &plan, a, ret, NULL, err);

	while (rc == -HONE_E_UNSUPPORTED && plan.tile > 0 && plan.tile < (int64_t)1 << 40) {
		plan.tile *= 2;
		rc = hn_npu_vector(dag, m, &plan, a, ret, NULL, err);
	}
	return rc;
}

static int step(const struct hn_dag *dag, const struct hn_npu_profile *m, enum hn_npu_tile tile,
		struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_product p;

	if (!hn_npu_naive_is_product(dag, &p)) {
		return by_vectors(dag, m, tile, a, ret, err);
	}
	if (tile == HN_NPU_LEAST) {
		return hn_npu_naive_product(&p, m, a, ret, err);
	}
	hn_npu_product_plan(m, &p);
	p.order = HN_NPU_BARRIERS;
	p.slots_l0 = p.slots_l1 = 1;
	return hn_npu_product(&p, m, a, ret, NULL, err);
}

int hn_npu_naive(const struct hn_dag *dag, const struct hn_npu_profile *m, enum hn_npu_tile tile,
		 struct hn_arena *a, const struct hn_npu_steps **ret, struct hn_err *err)
{
	struct hn_npu_step *s = HN_NEW_ARRAY(a, struct hn_npu_step, dag->n_op);
	struct hn_npu_steps *steps = HN_NEW(a, struct hn_npu_steps);

	if (dag->sizes != NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "sizes that are parameters have no program for the NPU");
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_dag *alone = NULL;
		int rc;

		if (dag->op[i]->kind != HN_OP_COMPUTE) {
			continue;
		}
		rc = cut(dag, i, a, &alone, &s[steps->n].op, err);
		rc = rc ? rc : step(alone, m, tile, a, &s[steps->n].p, err);
		if (rc != 0) {
			return hn_err_within(err, "by itself");
		}
		steps->n++;
	}
	steps->step = s;
	*ret = steps;
	return 0;
}

int hn_npu_naive_run(const struct hn_npu_steps *s, const struct hn_npu_profile *m, void *const *memory,
		     int64_t *ret_cycles, struct hn_err *err)
{
	int rc = 0;

	*ret_cycles = m->launch;
	for (uint32_t i = 0; i < s->n && rc == 0; i++) {
		const struct hn_npu_program *p = s->step[i].p;
		struct hn_npu_options o = { .judge = memory != NULL, .most = MOST_WORK };
		struct hn_npu_result r;
		struct hn_arena a;
		void **gm;

		hn_arena_init(&a, 0);
		gm = HN_NEW_ARRAY(&a, void *, p->n_buffer);
		for (uint32_t k = 0; k < p->n_buffer && memory != NULL; k++) {
			gm[k] = memory[s->step[i].op[k]];
		}
		o.gm = memory != NULL ? gm : NULL;
		rc = hn_npu_run(p, m, &o, &a, &r, err);
		*ret_cycles += rc == 0 ? r.cycles - m->launch : 0;
		hn_arena_fini(&a);
	}
	return rc;
}
