/* lower/npu/task_after.c -- results, each followed back to the sum and to arguments, and where it lies
 * by the sum's axes.
 */
#include "lower/npu/task_int.h"

struct reader { /* a load of what follows the sum */
	const struct task *x;
	const struct hn_expr *load;
};

static void find_load(const struct hn_expr *e, void *ctx)
{
	struct reader *r = ctx;

	if (e->op == HN_EXPR_LOAD && r->load == NULL && r->x->env[e->ref] != NULL) {
		r->load = e;
	}
}

/* Which of the sum's axes each axis of an op is, by what it reads of them. */
static void follow(struct task *x, int32_t at)
{
	const struct hn_op *op = x->dag->op[at];
	struct reader r = { x, NULL };
	struct task_form *f;

	if (op->kind == HN_OP_PLACEHOLDER || op->reduce != NULL || op->n_out != 1) {
		return;
	}
	hn_op_visit(op, find_load, &r);
	if (r.load == NULL) {
		return;
	}
	f = HN_NEW_ARRAY(x->a, struct task_form, op->n_dim + 1u);
	for (uint32_t d = 0; d < r.load->n_arg; d++) {
		const struct hn_expr *i = r.load->arg[d];

		if (i->op == HN_EXPR_VAR && i->ref >= 0 && i->ref < (int32_t)op->n_dim) {
			f[i->ref] = x->env[r.load->ref][d];
		}
	}
	x->env[at] = f;
}

/* Its own steps, by the axes of the sum; each axis of more than one number is one of these. */
static bool result_steps(struct task *x, int32_t at, struct task_steps *ret)
{
	const struct hn_op *op = x->dag->op[at];
	int64_t step = 1;

	*ret = (struct task_steps){ .dtype = op->dtype[0] };
	for (uint32_t d = op->n_dim; d-- > 0; step *= op->shape[d]) {
		uint32_t axis = 0;

		while (axis < x->sum->n_spatial && (x->env[at][d].by[axis] != 1 || task_extent(x, axis) == 1)) {
			axis++;
		}
		if (op->shape[d] == 1) {
			continue;
		}
		if (axis == x->sum->n_spatial || task_extent(x, axis) != op->shape[d] || ret->at.by[axis] != 0) {
			return task_no(x, "a result that is wider than the sums");
		}
		ret->at.by[axis] = step;
	}
	for (uint32_t i = 0; i < x->sum->n_spatial; i++) {
		if (ret->at.by[i] == 0 && task_extent(x, i) > 1) {
			return task_no(x, "a result that has not all of the sums");
		}
	}
	return true;
}

/* Sums that are read by one conversion alone come out of the cube converted. */
static void fold_cast(struct hn_npu_task *t)
{
	int32_t reader = -1;
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->n_value; i++) {
		for (int k = 0; k < 2 && !t->value[i].loaded; k++) {
			n += t->value[i].from[k] == 0;
			reader = t->value[i].from[k] == 0 ? (int32_t)i : reader;
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		n += t->store[i].value == 0;
	}
	if (n != 1 || reader < 0 || t->value[reader].op != HN_NPU_I_CONV) {
		return;
	}
	t->value[0].dtype = t->value[reader].dtype;
	for (uint32_t i = 1; i < t->n_value; i++) {
		for (int k = 0; k < 2 && !t->value[i].loaded; k++) {
			t->value[i].from[k] = t->value[i].from[k] == reader ? 0 : t->value[i].from[k];
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		t->store[i].value = t->store[i].value == reader ? 0 : t->store[i].value;
	}
	t->value[reader].from[0] = -1; /* nobody reads it */
}

bool task_after(struct task *x)
{
	struct task_form *itself = HN_NEW_ARRAY(x->a, struct task_form, HN_DAG_MAX_ITERS);

	x->env = HN_NEW_ARRAY(x->a, const struct task_form *, x->dag->n_op);
	for (uint32_t i = 0; i < x->sum->n_spatial; i++) {
		itself[i].by[i] = 1;
	}
	x->env[x->sum_at] = itself;
	x->t->n_value = 1;
	x->t->value[0] = (struct hn_npu_value){ .shape = HN_NPU_FULL, .dtype = x->sum->dtype[0],
						.from = { -1, -1 } };
	for (uint32_t i = (uint32_t)x->sum_at + 1; i < x->dag->n_op; i++) {
		follow(x, (int32_t)i);
	}
	for (uint32_t i = x->dag->n_input; i < x->dag->n_arg; i++) {
		int32_t at = x->dag->arg[i];
		struct task_item v;

		if (x->t->n_store == HN_NPU_MOST_STORES || x->env[at] == NULL) {
			return task_no(x, "a result that does not follow the sums, or too many");
		}
		v = at == x->sum_at ? (struct task_item){ 0, 0 } : task_op_at(x, at, x->env[at]);
		if (x->why != NULL || v.value < 0 || !result_steps(x, at, &x->store[x->t->n_store])) {
			return task_no(x, "a result that is a number");
		}
		x->store[x->t->n_store].arg = (int32_t)i;
		x->t->store[x->t->n_store++].value = v.value;
	}
	fold_cast(x->t);
	return true;
}
