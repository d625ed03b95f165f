/* lower/prove/equal_expand.c -- bodies over the points of the stage at hand, with what only one of
 * the two dags has unfolded. */
#include "lower/prove/equal_int.h"

/* Kept in a node's ref, which conversions do not use. */
#define DATA_MARK 0x64617461

bool hn_eq_is_data(const struct hn_expr *e)
{
	return e->op == HN_EXPR_CAST && e->ref == DATA_MARK;
}

const struct hn_expr *hn_eq_slot(struct hn_eq *c, uint32_t k)
{
	return c->slot[k].extent == 1 ? hn_expr_int(c->slot[k].min, HN_I32, c->arena)
				      : hn_expr_var((int32_t)k, HN_I32, NULL, c->arena);
}

static const struct hn_expr *convert(struct hn_eq *c, const struct hn_expr *e, uint8_t dtype,
				     int32_t mark)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = dtype, .ref = mark };

	return hn_expr_with_args(&like, &e, 1, c->arena);
}

static bool is_int_type(uint8_t t)
{
	return t == HN_I32 || t == HN_I64;
}

/* Whether no node of e can leave its type, so that it means the same as an index and as data. */
static bool stays(const struct hn_eq *c, const struct hn_expr *e)
{
	bool divides = (e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) &&
		       e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0;
	bool picks = e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX || e->op == HN_EXPR_SELECT ||
		     e->op == HN_EXPR_IF || (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_NOT);

	if (e->n_arg == 0 || e->op == HN_EXPR_LOAD || hn_eq_exact(c, e)) {
		return true;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (!(divides || picks) || !stays(c, e->arg[i])) {
			return false;
		}
	}
	return true;
}

/* Data where an index is read: its own arithmetic ends at its type. */
static const struct hn_expr *as_index(struct hn_eq *c, const struct hn_expr *e)
{
	if (stays(c, e)) {
		return e;
	}
	if (hn_poly_is_affine(e, NULL)) {
		hn_eq_fail(c, "data that may leave its type becomes an index");
		return NULL;
	}
	return convert(c, e, e->dtype, DATA_MARK);
}

static const struct hn_expr *expand_axis(struct hn_eq *c, const struct hn_eq_env *env,
					 const struct hn_expr *e, bool index)
{
	const struct hn_expr *v;

	if (e->ref < 0 || (uint32_t)e->ref >= env->n_value) {
		return e;
	}
	v = env->value[e->ref];
	if (!index && v->n_arg > 0 && !hn_eq_exact(c, v)) {
		hn_eq_fail(c, "an index that may leave its type becomes data");
		return NULL;
	}
	return v->dtype == e->dtype ? v : convert(c, v, e->dtype, 0);
}

static const struct hn_expr *expand_name(struct hn_eq *c, const struct hn_eq_env *env,
					 const struct hn_expr *e, bool index)
{
	if (hn_expr_is_size(e)) {
		return e;
	}
	if (e->ref < HN_SLOT_LET) {
		return e->ref < HN_SLOT_LHS ? expand_axis(c, env, e, index) : e;
	}
	for (const struct hn_eq_let *l = env->let; l; l = l->up) {
		if (l->from == e->ref) {
			return l->value ? l->value
					: hn_expr_var(l->to, (enum hn_dtype)e->dtype, NULL,
						      c->arena);
		}
	}
	hn_eq_fail(c, "a name that nothing binds");
	return NULL;
}

static const struct hn_expr *expand_let(struct hn_eq *c, const struct hn_eq_env *env,
					const struct hn_expr *e, bool index)
{
	struct hn_eq_let let = { env->let, e->ref, HN_SLOT_LET + env->depth, NULL };
	struct hn_eq_env within = *env;
	struct hn_expr like = *e;
	const struct hn_expr *arg[2] = { hn_eq_expand(c, env, e->arg[0], false), NULL };

	within.let = &let;
	if (arg[0] && is_int_type(arg[0]->dtype) && hn_eq_exact(c, arg[0])) {
		let.value = arg[0]; /* an index under a name is that index */
		return hn_eq_expand(c, &within, e->arg[1], index);
	}
	within.depth++;
	arg[1] = arg[0] ? hn_eq_expand(c, &within, e->arg[1], index) : NULL;
	like.ref = let.to;
	like.u.name = NULL;
	return arg[1] ? hn_expr_with_args(&like, arg, 2, c->arena) : NULL;
}

static bool expand_args(struct hn_eq *c, const struct hn_eq_env *env, const struct hn_expr *e,
			bool index, const struct hn_expr **arg)
{
	for (uint32_t i = 0; i < e->n_arg; i++) {
		bool number = is_int_type(e->arg[i]->dtype) || e->arg[i]->dtype == HN_BOOL;

		arg[i] = hn_eq_expand(c, env, e->arg[i], index && number);
		if (!arg[i]) {
			return false;
		}
	}
	return true;
}

/* The op of the task's dag that a load means, or n_op + stage; -1: it is to be unfolded. */
static int32_t target_of(const struct hn_eq *c, const struct hn_eq_env *env,
			 const struct hn_expr *e)
{
	const struct hn_op *op = env->derived ? c->derived->op[e->ref] : c->given->op[e->ref];
	bool whole = op->kind != HN_OP_COMPUTE || op->reduce;

	if (env->derived) {
		return c->is[e->ref] >= 0 ? c->is[e->ref]
		       : whole		  ? (int32_t)c->given->n_op + e->ref
					  : -1;
	}
	return c->known[e->ref] || whole ? e->ref : -1;
}

static const struct hn_expr *expand_load(struct hn_eq *c, const struct hn_eq_env *env,
					 const struct hn_expr *e, bool index)
{
	const struct hn_dag *dag = env->derived ? c->derived : c->given;
	const struct hn_expr **arg = HN_NEW_ARRAY(c->arena, const struct hn_expr *, e->n_arg);
	int32_t target = target_of(c, env, e);
	struct hn_expr like = *e;

	if (!expand_args(c, env, e, true, arg)) {
		return NULL;
	}
	if (target >= 0) {
		like.ref = target;
		return hn_expr_with_args(&like, arg, e->n_arg, c->arena);
	}
	const struct hn_eq_env body = { .derived = env->derived, .value = arg,
					.n_value = e->n_arg, .depth = env->depth };
	const struct hn_expr *r =
		hn_eq_expand(c, &body, dag->op[e->ref]->body[e->out], false);

	c->unfolded[env->derived ? c->given->n_op + (uint32_t)e->ref : (uint32_t)e->ref] = true;
	return r && index ? as_index(c, r) : r;
}

static const struct hn_expr *expand(struct hn_eq *c, const struct hn_eq_env *env,
				    const struct hn_expr *e, bool index)
{
	const struct hn_expr *arg[HN_DAG_MAX_RANK];

	switch (e->op) {
	case HN_EXPR_INT:
	case HN_EXPR_FLOAT:
		return e;
	case HN_EXPR_VAR:
		return expand_name(c, env, e, index);
	case HN_EXPR_LOAD:
		return expand_load(c, env, e, index);
	case HN_EXPR_LET:
		return expand_let(c, env, e, index);
	default:
		break;
	}
	if (e->n_arg > HN_DAG_MAX_RANK || !expand_args(c, env, e, index, arg)) {
		return NULL;
	}
	return index ? hn_eq_ranged(c, hn_expr_with_args(e, arg, e->n_arg, c->arena), true)
		     : hn_eq_ranged(c, hn_eq_data(c, e, arg), false);
}

const struct hn_expr *hn_eq_expand(struct hn_eq *c, const struct hn_eq_env *env,
				   const struct hn_expr *e, bool index)
{
	const struct hn_expr *r = NULL;

	c->nesting++;
	if (c->nesting > HN_EQ_MAX_NESTING) {
		hn_eq_fail(c, "its expressions are nested deeper than what is compared");
	} else if (hn_eq_spend(c, 1)) {
		r = expand(c, env, e, index);
	}
	c->nesting--;
	return r;
}

const struct hn_expr *hn_eq_decide(struct hn_eq *c, const struct hn_eq_dom *dom,
				   const struct hn_expr *e)
{
	const struct hn_expr **arg;

	if (!hn_eq_spend(c, 1) || e->n_arg == 0 || e->op == HN_EXPR_LOAD) {
		return e;
	}
	if (e->dtype == HN_BOOL && hn_eq_is_affine_condition(c, e)) {
		return hn_eq_nowhere(c, hn_eq_where(c, dom, e, false))
			       ? hn_expr_int(1, HN_BOOL, c->arena)
		       : hn_eq_nowhere(c, hn_eq_where(c, dom, e, true))
			       ? hn_expr_int(0, HN_BOOL, c->arena)
			       : e;
	}
	arg = HN_NEW_ARRAY(c->arena, const struct hn_expr *, e->n_arg);
	for (uint32_t i = 0; i < e->n_arg; i++) {
		arg[i] = hn_eq_decide(c, dom, e->arg[i]);
	}
	return hn_eq_data(c, e, arg);
}
