/* loopstate/read/dag_text_value.c -- values of the text notation: the types of literals, and what
 * operators make.  See dag_text_value.h. */
#include "loopstate/read/dag_text_value.h"

#include <math.h>

const struct hn_text_val hn_text_failed = { .e = NULL };

/* A literal as a value of type `to`. */
bool hn_text_settle(struct hn_text *t, struct hn_text_val *v, enum hn_dtype to)
{
	bool real = hn_dtype_class(to) == HN_CLASS_FLOAT;

	/* A fraction that stays of its type is still to be rounded to it. */
	if (!v->loose || (v->e->dtype == to && !real)) {
		v->loose = false;
		return true;
	}
	if (hn_text_is_float(v->e) && !real) {
		hn_text_fail(t, &v->at, "a fraction where %s is needed",
			     hn_dtype_name(to));
		return false;
	}
	double f = hn_text_is_float(v->e) ? v->e->u.f : (double)v->e->u.i;

	double rounded = real ? hn_float_round(to, f) : f;

	if (isfinite(f) && !isfinite(rounded)) {
		hn_text_fail(t, &v->at, "%g does not fit %s", f, hn_dtype_name(to));
		return false;
	}
	v->e = real ? hn_expr_float(rounded, to, t->a) : hn_expr_int(v->e->u.i, to, t->a);
	v->loose = false;
	return true;
}

bool hn_text_settle_open(struct hn_text *t, struct hn_text_val *v)
{
	return v->e != NULL && hn_text_settle(t, v, hn_text_is_float(v->e) ? HN_F32 : HN_I32);
}

/* The node, checked; its place is `at`. */
struct hn_text_val hn_text_make(struct hn_text *t, const struct hn_expr *like,
				const struct hn_text_val *arg, uint32_t n,
				const struct hn_token *at)
{
	/* Every name is in scope by construction; sizes come later. */
	const struct hn_op scope = { .n_spatial = HN_DAG_MAX_ITERS,
				     .n_out = HN_DAG_MAX_OUT,
				     .dtype = t->side_type,
				     .sizes = hn_text_sizes(t) };
	const struct hn_node_place place = { &scope, t->op, t->n_op, t->side[1] != NULL };
	const struct hn_expr *e[HN_DAG_MAX_RANK];
	struct hn_text_val ret = { .at = *at, .height = 1 };
	char buf[256];

	for (uint32_t i = 0; i < n; i++) {
		e[i] = arg[i].e;
		ret.height = arg[i].height >= ret.height ? arg[i].height + 1 : ret.height;
	}
	if (ret.height > HN_DAG_MAX_DEPTH) {
		hn_text_fail(t, at, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return hn_text_failed;
	}
	ret.e = hn_expr_with_args(like, e, n, t->a);
	const char *fault = hn_dag_node_fault(&place, ret.e, buf, sizeof(buf));

	if (fault != NULL) {
		hn_text_fail(t, at, "%s", fault);
		return hn_text_failed;
	}
	return ret;
}

/* Literals take the type of the value beside them. */
bool hn_text_unify(struct hn_text *t, struct hn_text_val *x, struct hn_text_val *y)
{
	if (x->loose && y->loose) {
		enum hn_dtype to = hn_text_is_float(x->e) ? x->e->dtype : y->e->dtype;

		return hn_text_settle(t, x, to) && hn_text_settle(t, y, to);
	}
	return x->loose ? hn_text_settle(t, x, y->e->dtype) : hn_text_settle(t, y, x->e->dtype);
}

/* Two literals: their value, still a literal. */
static struct hn_text_val fold_literals(struct hn_text *t, enum hn_expr_op op,
					struct hn_text_val x, struct hn_text_val y,
					const struct hn_token *at)
{
	bool real = hn_text_is_float(x.e) || hn_text_is_float(y.e);
	double a = hn_text_is_float(x.e) ? x.e->u.f : (double)x.e->u.i;
	double b = hn_text_is_float(y.e) ? y.e->u.f : (double)y.e->u.i;
	double v = op == HN_EXPR_ADD   ? a + b
		   : op == HN_EXPR_SUB ? a - b
		   : op == HN_EXPR_MUL ? a * b
				       : a / b;
	struct hn_text_val ret = { .loose = true, .at = *at, .height = 1 };

	if (real && op != HN_EXPR_DIV && isfinite(a) && isfinite(b) && !isfinite(v)) {
		hn_text_fail(t, at, "the number is too large");
		return hn_text_failed;
	}
	if (real) {
		ret.e = hn_expr_float(v, HN_F32, t->a);
		return ret;
	}
	if (op == HN_EXPR_DIV) {
		hn_text_fail(
			t, at,
			"a quotient of two whole numbers: write 1.0/3 or the result");
		return hn_text_failed;
	}
	ret.e = hn_expr_binary(op, x.e, y.e, t->a);
	if (ret.e->op != HN_EXPR_INT) {
		hn_text_fail(t, at, "the number is too large");
		return hn_text_failed;
	}
	return ret;
}

const struct hn_text_binary hn_text_binaries[] = {
	{ "||", 1, HN_EXPR_OR, HN_EXPR_OR },
	{ "&&", 2, HN_EXPR_AND, HN_EXPR_AND },
	{ "==", 3, HN_EXPR_EQ, HN_EXPR_EQ },
	{ "!=", 3, HN_EXPR_NE, HN_EXPR_NE },
	{ "<=", 4, HN_EXPR_LE, HN_EXPR_LE },
	{ ">=", 4, HN_EXPR_GE, HN_EXPR_GE },
	{ "<", 4, HN_EXPR_LT, HN_EXPR_LT },
	{ ">", 4, HN_EXPR_GT, HN_EXPR_GT },
	{ "+", 5, HN_EXPR_ADD, HN_EXPR_ADD },
	{ "-", 5, HN_EXPR_SUB, HN_EXPR_SUB },
	{ "*", 6, HN_EXPR_MUL, HN_EXPR_MUL },
	{ "/", 6, HN_EXPR_DIV, HN_EXPR_FLOORDIV },
	{ "%", 6, HN_EXPR_FLOORMOD, HN_EXPR_FLOORMOD },
};
const uint32_t hn_text_n_binary = HN_COUNT_OF(hn_text_binaries);

const struct hn_text_pair hn_text_pairs[] = {
	{ "min", HN_EXPR_MIN },
	{ "max", HN_EXPR_MAX },
	{ "div", HN_EXPR_DIV },
	{ "truncmod", HN_EXPR_TRUNCMOD },
	{ "floordiv", HN_EXPR_FLOORDIV },
	{ "floormod", HN_EXPR_FLOORMOD },
};
const uint32_t hn_text_n_pair = HN_COUNT_OF(hn_text_pairs);

struct hn_text_val hn_text_join(struct hn_text *t, const struct hn_text_binary *row,
				struct hn_text_val x, struct hn_text_val y,
				const struct hn_token *at)
{
	bool arith = row->level >= 5;

	if (x.loose && y.loose && arith && row->floats != HN_EXPR_FLOORMOD) {
		return fold_literals(t, row->floats, x, y, at);
	}
	if (!hn_text_unify(t, &x, &y)) {
		return hn_text_failed;
	}
	struct hn_expr like = { .op = (uint8_t)(hn_text_is_float(x.e) ? row->floats : row->ints),
				.dtype = arith ? x.e->dtype : HN_BOOL };
	const struct hn_text_val arg[2] = { x, y };

	return hn_text_make(t, &like, arg, 2, at);
}

struct hn_text_val hn_text_choose(struct hn_text *t, enum hn_expr_op op,
				  struct hn_text_val arg[3], const struct hn_token *at)
{
	if (!hn_text_unify(t, &arg[1], &arg[2])) {
		return hn_text_failed;
	}
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = arg[1].e->dtype };

	return hn_text_make(t, &like, arg, 3, at);
}

struct hn_text_val hn_text_negate(struct hn_text *t, struct hn_text_val v,
				  const struct hn_token *at)
{
	bool real = hn_text_is_float(v.e);
	const struct hn_expr like = { .op = HN_EXPR_SUB, .dtype = v.e->dtype };
	struct hn_text_val arg[2] = { { .loose = true, .at = *at, .height = 1 }, v };

	if (v.loose) {
		v.e = real ? hn_expr_float(-v.e->u.f, HN_F32, t->a)
			   : hn_expr_int(-v.e->u.i, HN_I32, t->a);
		return v;
	}
	arg[0].e = hn_expr_int(0, HN_I32, t->a);
	return hn_text_unify(t, &arg[0], &arg[1]) ? hn_text_make(t, &like, arg, 2, at)
						  : hn_text_failed;
}
