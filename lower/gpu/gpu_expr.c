/* lower/gpu/gpu_expr.c -- values of a device program's expressions.
 *
 * Integers of data wrap; those of indices do not, which is_exact tells apart.  Of two sides only
 * the wanted one is computed where the other could read what is not there, or divide by zero.
 */
#include "lower/gpu/gpu_int.h"

static bool is_int(const struct hn_expr *e)
{
	return e->dtype == HN_I32 || e->dtype == HN_I64;
}

static bool is_arithmetic(const struct hn_expr *e)
{
	return e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_TRUNCMOD;
}

/* Whether making e where it is not wanted can do harm, or names something. */
static void see_harm(const struct hn_expr *e, void *ctx)
{
	bool divides = is_arithmetic(e) && (e->op == HN_EXPR_DIV || e->op >= HN_EXPR_FLOORDIV) &&
		       hn_dtype_class((enum hn_dtype)e->dtype) != HN_CLASS_FLOAT &&
		       e->arg[1]->op != HN_EXPR_INT;

	*(bool *)ctx |= divides || e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET ||
			e->op == HN_EXPR_CALL;
}

static bool does_harm(const struct hn_expr *e)
{
	bool ret = false;

	hn_expr_visit(e, see_harm, &ret);
	return ret;
}

static gpu_val choose(struct gpu *g, const struct hn_expr *e)
{
	enum hn_dtype t = hn_dtype_arith((enum hn_dtype)e->dtype);
	gpu_val c = hn_gpu_guard(g, e->arg[0]); /* what it allows, a load relies on */

	if (!does_harm(e->arg[1]) && !does_harm(e->arg[2])) {
		gpu_val x = hn_gpu_value(g, e->arg[1]);

		return g->lang->select(g, t, c, x, hn_gpu_value(g, e->arg[2]));
	}
	void *choice = g->lang->choose(g, t, c);

	g->lang->otherwise(g, choice, hn_gpu_value(g, e->arg[1]));
	return g->lang->chosen(g, choice, hn_gpu_value(g, e->arg[2]));
}

static gpu_val cast(struct gpu *g, const struct hn_expr *e)
{
	enum hn_dtype from = (enum hn_dtype)e->arg[0]->dtype, to = (enum hn_dtype)e->dtype;
	gpu_val v = hn_gpu_value(g, e->arg[0]);

	if (from == to) {
		return v;
	}
	if (hn_dtype_arith(from) != hn_dtype_arith(to)) {
		v = g->lang->cast(g, hn_dtype_arith(to), hn_dtype_arith(from), v);
	}
	return hn_dtype_is_narrow(to) ? g->lang->round(g, to, v) : v;
}

struct numbers {
	const struct gpu *g;
	bool yes;
};

static void see_number(const struct hn_expr *e, void *ctx)
{
	struct numbers *n = ctx;

	n->yes = n->yes && (e->op != HN_EXPR_VAR || n->g->span[e->ref].lo > -HN_SPAN_MAX);
}

/* Numbers of loops, blocks and threads alone: others have no bounds. */
static bool is_of_numbers(const struct gpu *g, const struct hn_expr *e)
{
	struct numbers n = { g, true };

	hn_expr_visit(e, see_number, &n);
	return n.yes;
}

/* A guard of a tensor of some 2^31 elements or more: numbers of loops, blocks and threads alone,
 * which do not wrap, and have parts past an int32. */
static bool compares_far(struct gpu *g, const struct hn_expr *e)
{
	bool ret = g->in_guard && e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && e->arg[0]->dtype == HN_I32 &&
		   !(hn_gpu_is_narrow_index(g, e->arg[0]) && hn_gpu_is_narrow_index(g, e->arg[1]));

	return ret && !does_harm(e) && is_of_numbers(g, e);
}

static gpu_val binary(struct gpu *g, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->arg[0]->dtype;

	if (compares_far(g, e)) {
		return g->lang->binary(g, (enum hn_expr_op)e->op, HN_I64,
				       hn_gpu_index(g, e->arg[0], true),
				       hn_gpu_index(g, e->arg[1], true), false);
	}
	gpu_val x = hn_gpu_value(g, e->arg[0]), y = hn_gpu_value(g, e->arg[1]);
	gpu_val v = g->lang->binary(g, (enum hn_expr_op)e->op, hn_dtype_arith(t), x, y, false);
	bool picks = e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX;

	return is_arithmetic(e) && !picks && hn_dtype_is_narrow(t) ? g->lang->round(g, t, v) : v;
}

static gpu_val call(struct gpu *g, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;
	gpu_val x[2] = { NULL, NULL };

	for (uint32_t i = 0; i < e->n_arg && i < 2; i++) {
		x[i] = hn_gpu_value(g, e->arg[i]);
	}
	gpu_val v = g->lang->call(g, (enum hn_fn)e->ref, hn_dtype_arith(t), x);

	return hn_dtype_is_narrow(t) ? g->lang->round(g, t, v) : v;
}

gpu_val hn_gpu_value(struct gpu *g, const struct hn_expr *e)
{
	enum hn_dtype t = (enum hn_dtype)e->dtype;

	if (is_int(e) && is_arithmetic(e) && hn_expr_is_exact(e, g->span, g->n_slot)) {
		bool wide = !hn_gpu_is_narrow_index(g, e);
		enum hn_dtype made = wide ? HN_I64 : HN_I32;
		gpu_val v = hn_gpu_index(g, e, wide);

		return made == t ? v : g->lang->cast(g, t, made, v);
	}
	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_VAR:
		return g->var[e->ref];
	case HN_EXPR_INT:
		return g->lang->number(g, t, e->u.i);
	case HN_EXPR_FLOAT:
		return g->lang->real(g, hn_dtype_arith(t), hn_float_round(t, e->u.f));
	case HN_EXPR_LOAD: {
		struct hn_affine sum = hn_affine_of(e->arg[0], g->span, g->n_slot, g->a);
		struct gpu_at at = hn_gpu_at(g, e->ref, &sum);

		return g->lang->load(g, &at);
	}
	case HN_EXPR_NOT:
		return g->lang->not(g, hn_gpu_value(g, e->arg[0]));
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return choose(g, e);
	case HN_EXPR_CAST:
		return cast(g, e);
	case HN_EXPR_CALL:
		return call(g, e);
	case HN_EXPR_LET:
		g->var[e->ref] = g->lang->name(g, hn_dtype_arith((enum hn_dtype)e->arg[0]->dtype),
					       hn_gpu_value(g, e->arg[0]));
		g->rank[e->ref] = g->depth + 2;
		return hn_gpu_value(g, e->arg[1]);
	default:
		return binary(g, e);
	}
}

gpu_val hn_gpu_guard(struct gpu *g, const struct hn_expr *e)
{
	bool outside = g->in_guard;

	g->in_guard = true;
	gpu_val ret = hn_gpu_value(g, e);

	g->in_guard = outside;
	return ret;
}
