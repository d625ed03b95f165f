/* lower/npu/task_form.c -- indices as linear forms, and which argument a load reads in the end. */
#include "lower/npu/task_int.h"

static void add(struct task_form *to, const struct task_form *f, int64_t by)
{
	to->first += f->first * by;
	for (int i = 0; i < HN_DAG_MAX_ITERS; i++) {
		to->by[i] += f->by[i] * by;
	}
}

#define MOST ((int64_t)1 << 31) /* of a number in an index: products of two fit */

static bool is_small(const struct task_form *f)
{
	bool small = f->first < MOST && f->first > -MOST;

	for (int i = 0; i < HN_DAG_MAX_ITERS; i++) {
		small = small && f->by[i] < MOST && f->by[i] > -MOST;
	}
	return small;
}

static bool is_number(const struct task_form *f)
{
	for (int i = 0; i < HN_DAG_MAX_ITERS; i++) {
		if (f->by[i] != 0) {
			return false;
		}
	}
	return true;
}

bool task_form(const struct hn_expr *e, const struct task_form *env, struct task_form *ret)
{
	struct task_form x, y;

	*ret = (struct task_form){ 0 };
	switch (e->op) {
	case HN_EXPR_INT:
		ret->first = e->u.i;
		return is_small(ret);
	case HN_EXPR_VAR:
		if (e->ref < 0 || e->ref >= HN_DAG_MAX_ITERS) {
			return false;
		}
		if (env != NULL) {
			*ret = env[e->ref];
		} else {
			ret->by[e->ref] = 1;
		}
		return true;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		if (!task_form(e->arg[0], env, &x) || !task_form(e->arg[1], env, &y)) {
			return false;
		}
		add(ret, &x, 1);
		add(ret, &y, e->op == HN_EXPR_ADD ? 1 : -1);
		return is_small(ret);
	case HN_EXPR_MUL:
		if (!task_form(e->arg[0], env, &x) || !task_form(e->arg[1], env, &y) ||
		    (!is_number(&x) && !is_number(&y))) {
			return false;
		}
		add(ret, is_number(&x) ? &y : &x, is_number(&x) ? x.first : y.first);
		return is_small(ret);
	default:
		return false;
	}
}

const struct task_form *task_indices(struct task *x, const struct hn_expr *load, const struct task_form *env)
{
	struct task_form *f = HN_NEW_ARRAY(x->a, struct task_form, load->n_arg + 1u);

	for (uint32_t d = 0; d < load->n_arg; d++) {
		if (!task_form(load->arg[d], env, &f[d])) {
			(void)task_no(x, "an index that is no sum of axes");
			return NULL;
		}
	}
	return f;
}

bool task_steps(struct task *x, int32_t op, const struct task_form *index, struct task_steps *ret)
{
	const struct hn_op *o = x->dag->op[op];
	int64_t step = 1;

	*ret = (struct task_steps){ .arg = -1, .dtype = o->dtype[0] };
	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		ret->arg = x->dag->arg[i] == op ? (int32_t)i : ret->arg;
	}
	for (uint32_t d = o->n_dim; d-- > 0; step *= o->shape[d]) {
		if (step >= MOST || !is_small(&ret->at)) {
			return task_no(x, "an argument that is too large");
		}
		add(&ret->at, &index[d], step);
	}
	return (is_small(&ret->at) && ret->arg >= 0) || task_no(x, "an argument that is too large, or none");
}

static bool is_zero(const struct hn_expr *e)
{
	e = e->op == HN_EXPR_CAST ? e->arg[0] : e;
	return (e->op == HN_EXPR_FLOAT && e->u.f == 0) || (e->op == HN_EXPR_INT && e->u.i == 0);
}

struct bounds { /* of an op's axes: [lo, hi) by a condition */
	int64_t lo[HN_DAG_MAX_ITERS], hi[HN_DAG_MAX_ITERS];
};

/* Comparisons of an axis with a number, all of which hold. */
static bool read_bounds(const struct hn_expr *c, struct bounds *b)
{
	const struct hn_expr *v, *n;
	bool turned;
	int64_t at;

	if (c->op == HN_EXPR_AND) {
		return read_bounds(c->arg[0], b) && read_bounds(c->arg[1], b);
	}
	if (c->op != HN_EXPR_GE && c->op != HN_EXPR_GT && c->op != HN_EXPR_LT && c->op != HN_EXPR_LE) {
		return false;
	}
	turned = c->arg[0]->op == HN_EXPR_INT;
	v = c->arg[turned];
	n = c->arg[!turned];
	if (v->op != HN_EXPR_VAR || n->op != HN_EXPR_INT || v->ref < 0 || v->ref >= HN_DAG_MAX_ITERS) {
		return false;
	}
	at = n->u.i;
	if ((c->op == HN_EXPR_GE || c->op == HN_EXPR_GT) != turned) { /* from below */
		at += (c->op == HN_EXPR_GT || c->op == HN_EXPR_LT) ? 1 : 0;
		b->lo[v->ref] = at > b->lo[v->ref] ? at : b->lo[v->ref];
	} else {
		at += (c->op == HN_EXPR_LE || c->op == HN_EXPR_GE) ? 1 : 0;
		b->hi[v->ref] = at < b->hi[v->ref] ? at : b->hi[v->ref];
	}
	return true;
}

/* Whether op, which is c ? load : 0, reads zeros just where the load would leave its tensor. */
static bool is_padding(const struct task *x, const struct hn_op *op, const struct hn_expr *c,
		       const struct hn_expr *load)
{
	const struct hn_op *from = x->dag->op[load->ref];
	struct bounds b = { { 0 }, { 0 } };

	for (uint32_t i = 0; i < op->n_spatial; i++) {
		b.lo[i] = 0;
		b.hi[i] = op->axis[i].extent;
	}
	if (!read_bounds(c, &b)) {
		return false;
	}
	for (uint32_t d = 0; d < load->n_arg; d++) {
		struct task_form f;
		int64_t axis = -1;

		if (!task_form(load->arg[d], NULL, &f)) {
			return false;
		}
		for (uint32_t i = 0; i < op->n_spatial; i++) {
			if (f.by[i] != 0) {
				if (axis >= 0 || f.by[i] != 1) {
					return false;
				}
				axis = i;
			}
		}
		if (axis < 0) {
			continue;
		}
		/* the axis goes past the tensor where the condition is false, nowhere else */
		if ((b.lo[axis] != -f.first && b.lo[axis] != 0) || b.lo[axis] < -f.first ||
		    (b.hi[axis] != from->shape[d] - f.first && b.hi[axis] != op->axis[axis].extent) ||
		    b.hi[axis] > from->shape[d] - f.first || (b.lo[axis] == 0 && f.first < 0)) {
			return false;
		}
		b.lo[axis] = 0;
		b.hi[axis] = op->axis[axis].extent;
	}
	for (uint32_t i = 0; i < op->n_spatial; i++) { /* a condition on what the load does not read */
		if (b.lo[i] != 0 || b.hi[i] != op->axis[i].extent) {
			return false;
		}
	}
	return true;
}

bool task_factor(struct task *x, const struct hn_expr *load, struct task_factor *ret)
{
	const struct task_form *index = task_indices(x, load, NULL);

	*ret = (struct task_factor){ 0 };
	while (index != NULL && x->dag->op[load->ref]->kind != HN_OP_PLACEHOLDER) {
		const struct hn_op *op = x->dag->op[load->ref];
		const struct hn_expr *e = op->reduce != NULL || op->n_out != 1 ? NULL : op->body[0];

		if (e != NULL && (e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) &&
		    e->arg[1]->op == HN_EXPR_LOAD && is_zero(e->arg[2]) && !ret->padded) {
			if (!is_padding(x, op, e->arg[0], e->arg[1])) {
				return task_no(x, "a factor that is zero where its tensor is not left");
			}
			ret->padded = true;
			e = e->arg[1];
		}
		if (e == NULL || e->op != HN_EXPR_LOAD) {
			return task_no(x, "a factor that is computed");
		}
		index = task_indices(x, e, index);
		load = e;
	}
	if (index == NULL) {
		return false;
	}
	ret->op = load->ref;
	ret->n_dim = load->n_arg;
	ret->index = index;
	return task_steps(x, load->ref, index, &ret->steps);
}
