/* loopstate/dag/dag_type.c -- which nodes fit together: operand types, arity, names in scope.
 *
 * One rule per kind of node, asked by the reader on every node it builds (so that
 * messages carry the place in the file) and by hn_dag_check on dags built in memory.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "loopstate/dag/dag_priv.h"

struct ask {
	const struct hn_node_place *at;
	char *buf;
	size_t buf_bytes;
};

HN_PRINTF(2, 3) static const char *say(const struct ask *q, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(q->buf, q->buf_bytes, fmt, ap);
	va_end(ap);
	return q->buf;
}

typedef const char *(*rule_fn)(const struct ask *q, const struct hn_expr *e);

static enum hn_dtype_class cls(const struct hn_expr *e)
{
	return hn_dtype_class(e->dtype);
}

static const char *tname(const struct hn_expr *e)
{
	return hn_dtype_name(e->dtype);
}

static const char *rule_var(const struct ask *q, const struct hn_expr *e)
{
	const struct hn_op *op = q->at->op;
	uint32_t n_axis = op->n_spatial + op->n_reduce;
	bool combiner_slot = e->ref >= HN_SLOT_LHS && e->ref < HN_SLOT_LET;

	if (e->ref < 0) {
		return say(q, "slot %" PRId32 " names no variable", e->ref);
	}
	if (hn_expr_is_size(e)) {
		bool known = op->sizes != NULL &&
			     (uint32_t)(e->ref - HN_SLOT_SIZE) < op->sizes->n;

		return !known || q->at->combiner || cls(e) != HN_CLASS_SIGNED
			       ? say(q, "no size parameter may stand here")
			       : NULL;
	}
	if (e->ref >= HN_SLOT_LET) {
		return NULL;
	}
	if (combiner_slot != q->at->combiner) {
		return say(q, "a combiner names its own arguments and nothing else does");
	}
	if (combiner_slot) {
		uint32_t k = (uint32_t)(e->ref - HN_SLOT_LHS) %
			     (uint32_t)(HN_SLOT_RHS - HN_SLOT_LHS);

		if (k >= op->n_out || e->dtype != op->dtype[k]) {
			return say(q, "not an argument of the combiner");
		}
		return NULL;
	}
	if ((uint32_t)e->ref >= n_axis) {
		return say(q, "slot %" PRId32 " is not an axis: the op has %" PRIu32,
			   e->ref, n_axis);
	}
	if (cls(e) != HN_CLASS_SIGNED) {
		return say(q, "an axis is an integer, not %s", tname(e));
	}
	return NULL;
}

static const char *rule_int(const struct ask *q, const struct hn_expr *e)
{
	uint32_t bits = 8 * hn_dtype_bytes(e->dtype);
	bool fits;

	switch (cls(e)) {
	case HN_CLASS_FLOAT:
		return say(q, "an int constant cannot be %s; write [\"float\", ...]",
			   tname(e));
	case HN_CLASS_BOOL:
		fits = e->u.i == 0 || e->u.i == 1;
		break;
	case HN_CLASS_UNSIGNED:
		fits = bits == 64 || (e->u.i >= 0 && e->u.i < ((int64_t)1 << bits));
		break;
	default:
		fits = bits == 64 || (e->u.i >= -((int64_t)1 << (bits - 1)) &&
				      e->u.i < ((int64_t)1 << (bits - 1)));
	}
	return fits ? NULL : say(q, "%" PRId64 " does not fit %s", e->u.i, tname(e));
}

static const char *rule_float(const struct ask *q, const struct hn_expr *e)
{
	if (cls(e) != HN_CLASS_FLOAT) {
		return say(q, "a float constant cannot be %s", tname(e));
	}
	if (isfinite(e->u.f) && isinf(hn_float_round((enum hn_dtype)e->dtype, e->u.f))) {
		return say(q, "%g does not fit %s", e->u.f, tname(e));
	}
	return NULL;
}

static const char *rule_load(const struct ask *q, const struct hn_expr *e)
{
	if (e->ref < 0 || (uint32_t)e->ref >= q->at->n_before) {
		return say(q, "reads an op that does not come before this one (a cycle)");
	}
	const struct hn_op *p = q->at->before[e->ref];

	if (e->out < 0 || (uint32_t)e->out >= p->n_out) {
		return say(q, "'%s' has %" PRIu32 " outputs, no output %" PRId32, p->id,
			   p->n_out, e->out);
	}
	if (e->n_arg != p->n_dim) {
		return say(q, "'%s' has %" PRIu32 " dimensions, %u indices are given",
			   p->id, p->n_dim, e->n_arg);
	}
	if (e->dtype != p->dtype[e->out]) {
		return say(q, "'%s' holds %s, not %s", p->id,
			   hn_dtype_name(p->dtype[e->out]), tname(e));
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		enum hn_dtype_class c = cls(e->arg[i]);

		if (c != HN_CLASS_SIGNED && c != HN_CLASS_UNSIGNED) {
			return say(q, "index %" PRIu32 " is %s, an integer is needed", i,
				   tname(e->arg[i]));
		}
	}
	return NULL;
}

static const char *same_operands(const struct ask *q, const struct hn_expr *e)
{
	if (e->arg[0]->dtype != e->arg[1]->dtype) {
		return say(q, "operands are %s and %s; cast one of them",
			   tname(e->arg[0]), tname(e->arg[1]));
	}
	return NULL;
}

static const char *rule_arith(const struct ask *q, const struct hn_expr *e)
{
	const char *fault = same_operands(q, e);

	if (fault == NULL && cls(e->arg[0]) == HN_CLASS_BOOL) {
		fault = say(q, "operands are bool, numbers are needed");
	}
	if (fault == NULL && e->dtype != e->arg[0]->dtype) {
		fault = say(q, "the value is %s, the operands are %s", tname(e),
			    tname(e->arg[0]));
	}
	return fault;
}

static const char *rule_divide(const struct ask *q, const struct hn_expr *e)
{
	const char *fault = rule_arith(q, e);

	if (fault == NULL && cls(e) != HN_CLASS_FLOAT && e->arg[1]->op == HN_EXPR_INT &&
	    e->arg[1]->u.i == 0) {
		fault = say(q, "divides by zero");
	}
	return fault;
}

static const char *rule_int_divide(const struct ask *q, const struct hn_expr *e)
{
	const char *fault = rule_divide(q, e);

	if (fault == NULL && cls(e) == HN_CLASS_FLOAT) {
		fault = say(q, "operands are %s, integers are needed", tname(e));
	}
	return fault;
}

static const char *rule_compare(const struct ask *q, const struct hn_expr *e)
{
	const char *fault = same_operands(q, e);

	return fault == NULL && e->dtype != HN_BOOL ? say(q, "a comparison is bool")
						    : fault;
}

static const char *rule_logic(const struct ask *q, const struct hn_expr *e)
{
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (e->arg[i]->dtype != HN_BOOL) {
			return say(q, "operand %" PRIu32 " is %s, bool is needed", i,
				   tname(e->arg[i]));
		}
	}
	return e->dtype == HN_BOOL ? NULL : say(q, "the value must be bool");
}

static const char *rule_choose(const struct ask *q, const struct hn_expr *e)
{
	if (e->arg[0]->dtype != HN_BOOL) {
		return say(q, "the condition is %s, bool is needed", tname(e->arg[0]));
	}
	if (e->arg[1]->dtype != e->arg[2]->dtype || e->dtype != e->arg[1]->dtype) {
		return say(q, "the two sides are %s and %s; cast one of them",
			   tname(e->arg[1]), tname(e->arg[2]));
	}
	return NULL;
}

static const char *rule_cast(const struct ask *q, const struct hn_expr *e)
{
	(void)q;
	(void)e;
	return NULL;
}

static const char *rule_call(const struct ask *q, const struct hn_expr *e)
{
	if (e->ref < 0 || e->ref >= HN_N_FN) {
		return say(q, "no such function");
	}
	enum hn_fn f = (enum hn_fn)e->ref;

	if (e->n_arg != hn_fn_arity(f)) {
		return say(q, "%s takes %" PRIu32 " arguments, %u are given",
			   hn_fn_name(f), hn_fn_arity(f), e->n_arg);
	}
	if (cls(e) == HN_CLASS_BOOL || (cls(e) != HN_CLASS_FLOAT && f != HN_FN_abs)) {
		return say(q, "%s is for floats, not %s", hn_fn_name(f), tname(e));
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (e->arg[i]->dtype != e->dtype) {
			return say(q,
				   "argument %" PRIu32
				   " is %s, the call gives %s; cast one "
				   "of them",
				   i, tname(e->arg[i]), tname(e));
		}
	}
	return NULL;
}

static const char *rule_let(const struct ask *q, const struct hn_expr *e)
{
	if (e->ref < HN_SLOT_LET) {
		return say(q, "a let needs a slot of its own");
	}
	return e->dtype == e->arg[1]->dtype
		       ? NULL
		       : say(q, "the value is not of its body's type");
}

struct node_rule {
	rule_fn fn;
	int n_arg; /* -1: any */
};

static const struct node_rule rules[HN_N_EXPR] = {
	[HN_EXPR_VAR] = { rule_var, 0 },
	[HN_EXPR_INT] = { rule_int, 0 },
	[HN_EXPR_FLOAT] = { rule_float, 0 },
	[HN_EXPR_LOAD] = { rule_load, -1 },
	[HN_EXPR_ADD] = { rule_arith, 2 },
	[HN_EXPR_SUB] = { rule_arith, 2 },
	[HN_EXPR_MUL] = { rule_arith, 2 },
	[HN_EXPR_DIV] = { rule_divide, 2 },
	[HN_EXPR_MIN] = { rule_arith, 2 },
	[HN_EXPR_MAX] = { rule_arith, 2 },
	[HN_EXPR_FLOORDIV] = { rule_int_divide, 2 },
	[HN_EXPR_FLOORMOD] = { rule_int_divide, 2 },
	[HN_EXPR_TRUNCMOD] = { rule_int_divide, 2 },
	[HN_EXPR_EQ] = { rule_compare, 2 },
	[HN_EXPR_NE] = { rule_compare, 2 },
	[HN_EXPR_LT] = { rule_compare, 2 },
	[HN_EXPR_LE] = { rule_compare, 2 },
	[HN_EXPR_GT] = { rule_compare, 2 },
	[HN_EXPR_GE] = { rule_compare, 2 },
	[HN_EXPR_AND] = { rule_logic, 2 },
	[HN_EXPR_OR] = { rule_logic, 2 },
	[HN_EXPR_NOT] = { rule_logic, 1 },
	[HN_EXPR_SELECT] = { rule_choose, 3 },
	[HN_EXPR_IF] = { rule_choose, 3 },
	[HN_EXPR_CAST] = { rule_cast, 1 },
	[HN_EXPR_CALL] = { rule_call, -1 },
	[HN_EXPR_LET] = { rule_let, 2 },
};

const char *hn_dag_node_fault(const struct hn_node_place *at, const struct hn_expr *e,
			      char *buf, size_t buf_bytes)
{
	const struct ask q = { at, buf, buf_bytes };

	if (e->op >= HN_N_EXPR || !hn_dtype_is(e->dtype)) {
		return say(&q, "not a node");
	}
	const struct node_rule *r = &rules[e->op];

	if (r->n_arg >= 0 && e->n_arg != r->n_arg) {
		return say(&q, "%s has %d arguments, not %u", hn_expr_op_name(e->op),
			   r->n_arg, e->n_arg);
	}
	return r->fn(&q, e);
}
