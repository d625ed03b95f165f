/* exact_eval.h -- whether a loop tree is right, by running it instance by instance in the types
 * of the program: integers wrap, and floats are rounded where every bit counts.
 *
 * What looptree_trace.h watches is watched here too.  Inputs are of the program's family
 * (random_runs.h), for several sizes where sizes are parameters, and iterations of parallel and
 * vector loops run in several orders. */
#ifndef HN_TESTS_EXACT_EVAL_H
#define HN_TESTS_EXACT_EVAL_H

#include "lower/interp/interp_priv.h"
#include "tests/lib/looptree_trace.h"
#include "tests/lib/random_runs.h"

#define EXACT_INPUTS 60 /* of refused trees, and orders; of accepted ones it is one */

/* ---- numbers: the reference interpreter's, one node at a time */

static union hn_value exact_leaf(const struct hn_cell *c, union hn_value *frame)
{
	(void)frame;
	return c->v;
}

static union cell exact_node(struct eval *x, const struct hn_expr *e, bool index);

/* Sums and products wrap to their type; in indices int32 does not (expr.h).  Where any order
 * gives the same sum, floats are as wide as in the interpreter. */
static union cell exact_typed(const struct eval *x, union cell v, enum hn_dtype type, bool index)
{
	if (hn_dtype_class(type) == HN_CLASS_FLOAT) {
		bool rounds = x->rounds || hn_dtype_is_narrow(type);

		return (union cell){ .f = rounds ? hn_float_round(type, v.f) : v.f };
	}
	return index && type == HN_I32 ? v : (union cell){ .i = hn_interp_wrap(v.i, type) };
}

static union cell exact_operation(struct eval *x, const struct hn_expr *e, bool index)
{
	struct hn_cell leaf[3] = { 0 }, node = { .type = e->dtype, .slot = e->ref };
	enum hn_dtype operand = e->arg[e->n_arg - 1]->dtype;
	union hn_value frame[1] = { 0 }; /* what C leaves undefined is counted there */

	for (uint32_t i = 0; i < e->n_arg; i++) {
		leaf[i].eval = exact_leaf;
		leaf[i].v.i = exact_node(x, e->arg[i], index).i;
		node.arg[i] = &leaf[i];
	}
	node.from = operand;
	hn_eval_fn fn = e->op == HN_EXPR_CAST   ? hn_interp_cast
			: e->op == HN_EXPR_CALL ? hn_interp_call
						: hn_interp_node_fn(e->op, operand);

	return exact_typed(x, (union cell){ .i = fn(&node, frame + 1).i }, e->dtype, index);
}

static union cell exact_var(struct eval *x, const struct hn_expr *e)
{
	if (e->ref >= HN_SLOT_LET && e->ref < HN_SLOT_SIZE) {
		return x->let[e->ref - HN_SLOT_LET];
	}
	if (e->ref >= HN_SLOT_RHS && e->ref < HN_SLOT_LET) {
		return x->rhs[e->ref - HN_SLOT_RHS];
	}
	if (e->ref >= HN_SLOT_LHS && e->ref < HN_SLOT_RHS) {
		return x->lhs[e->ref - HN_SLOT_LHS];
	}
	return (union cell){ .i = (int64_t)eval_var(x, e) }; /* a loop, an axis or a size */
}

static union cell exact_node(struct eval *x, const struct hn_expr *e, bool index)
{
	int64_t at[HN_DAG_MAX_RANK];
	union cell v, old;

	switch (e->op) {
	case HN_EXPR_INT:
		return (union cell){ .i = e->u.i };
	case HN_EXPR_FLOAT:
		return exact_typed(x, (union cell){ .f = e->u.f }, e->dtype, index);
	case HN_EXPR_VAR:
		return exact_var(x, e);
	case HN_EXPR_LOAD:
		for (uint32_t d = 0; d < e->n_arg; d++) {
			at[d] = exact_node(x, e->arg[d], true).i;
		}
		return eval_element(x, e, at);
	case HN_EXPR_LET:
		v = exact_node(x, e->arg[0], index);
		old = x->let[e->ref - HN_SLOT_LET];
		x->let[e->ref - HN_SLOT_LET] = v;
		v = exact_node(x, e->arg[1], index);
		x->let[e->ref - HN_SLOT_LET] = old;
		return v;
	case HN_EXPR_AND:
	case HN_EXPR_OR: /* the first guards what the second loads */
		v = exact_node(x, e->arg[0], index);
		return (v.i != 0) == (e->op == HN_EXPR_OR) ? v : exact_node(x, e->arg[1], index);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return exact_node(x, exact_node(x, e->arg[0], index).i ? e->arg[1] : e->arg[2],
				  index);
	default:
		return exact_operation(x, e, index);
	}
}

static union cell exact_value(struct eval *x, const struct hn_expr *e)
{
	return exact_node(x, e, /* index= */ false);
}

/* ---- runs */

/* Numbers that swallow no others: no NaN, no zero; integers are odd. */
static uint64_t exact_plain(struct hn_rng *r, enum hn_dtype type)
{
	uint64_t v = hn_rng_u64(r);
	double d = (hn_rng_unit(r) + 0.25) * (v & 1 ? 4 : -4);

	if (hn_dtype_class(type) != HN_CLASS_FLOAT) {
		return type == HN_BOOL ? v >> 1 & 1 : v | 1;
	}
	v = 0;
	hn_float_put(type, &v, 0, d);
	return v;
}

/* Small numbers, of both signs where the type has them. */
static uint64_t exact_small(struct hn_rng *r, enum hn_dtype type)
{
	uint64_t v = rr_small(r, type), less = hn_rng_below(r, 2) * 2;

	return hn_dtype_class(type) == HN_CLASS_SIGNED ? v - less : v;
}

/* Seeds take turns: of the family, plain, small; of small ones many are equal, a tensor's two
 * values or its one: order shows in ties, and else there are few. */
static void exact_fill(const struct eval *x, struct tensor *t, uint32_t arg, enum hn_dtype type)
{
	static const uint64_t n_values[] = { 0, 2, 1 }; /* 0: each is drawn */
	struct hn_rng r = hn_rng_stream(x->seed, 6, arg, 0);
	bool small = x->family == RD_WHOLE || x->seed % 3 == 2;
	uint64_t few = small ? n_values[x->seed / 3 % HN_COUNT_OF(n_values)] : 0;
	const uint64_t value[] = { exact_small(&r, type), exact_small(&r, type) };

	for (int64_t i = 0; i < t->n; i++) {
		uint64_t v = few > 0		? value[hn_rng_below(&r, few)]
			     : small		? exact_small(&r, type)
			     : x->seed % 3 == 0 ? rr_bits(&r, type)
						: exact_plain(&r, type);

		t->v[i].i = hn_interp_get(&v, type, 0).i; /* little-endian */
	}
}

static struct eval exact_open(const struct hn_dag *dag, enum rd_family family, const int64_t *size,
			      uint64_t seed)
{
	return (struct eval){ .dag = dag,
			      .value = exact_value,
			      .fill = exact_fill,
			      .family = family,
			      .rounds = family != RD_WHOLE,
			      .size = size,
			      .seed = seed };
}

/* Whether the outputs are the same; of NaNs the bits are free, and inexact sums may be in
 * another order. */
static bool exact_same(const struct eval *want, const struct eval *got)
{
	for (uint32_t k = want->dag->n_input; k < want->dag->n_arg; k++) {
		int32_t op = want->dag->arg[k];
		const struct tensor *p = &want->tensor[op], *q = &got->tensor[got->dag->arg[k]];

		for (int64_t i = 0; i < p->n * p->n_out; i++) {
			bool real = hn_dtype_class(want->dag->op[op]->dtype[i / p->n]) ==
				    HN_CLASS_FLOAT;
			double x = p->v[i].f, y = q->v[i].f;

			if (p->v[i].i != q->v[i].i && !eval_is_poison(&q->v[i]) &&
			    real && ((isnan(x) && isnan(y)) ||
				     (!want->rounds && fabs(x - y) <= 1e-9 * (1 + fabs(x))))) {
				continue;
			}
			if (p->v[i].i != q->v[i].i) {
				return false;
			}
		}
	}
	return true;
}

/* One run against the dag with these sizes; formal: what a proof asks for besides the numbers,
 * each point of a reduction once and in order, is asked for.  Why not in `why`. */
static bool exact_once(const struct hn_looptree *t, const struct rr_case *c, enum rd_family family,
		       uint64_t seed, bool formal, char why[300])
{
	const int64_t *size = t->dag->sizes != NULL ? c->size : NULL;
	struct eval want = exact_open(c->dag, family, NULL, seed);
	struct eval got = exact_open(t->dag, family, size, seed);

	got.numbers_decide = !formal;
	eval_dag_as(&want, c->dag);
	trace_tree_as(&got, t);
	bool same = got.fault[0] == 0 && exact_same(&want, &got);

	snprintf(why, 300, "%s", got.fault[0] ? got.fault : same ? "" : "other numbers");
	eval_free(&want);
	eval_free(&got);
	return same;
}

/* What a refused tree has to be to be refused in error: right for all inputs tried, in all
 * orders, for all sizes tried. */
static bool exact_right(const struct hn_looptree *t, const struct rr_cases *x, char why[300])
{
	for (uint32_t i = 0; i < EXACT_INPUTS; i++) {
		for (uint32_t k = 0; k < x->n; k++) {
			if (!exact_once(t, &x->at[k], x->family, i, /* formal= */ false, why)) {
				return false;
			}
		}
	}
	return true;
}

#endif
