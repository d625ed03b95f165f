/* loopstate/state/intrin.c -- see intrin.h. */
#include "loopstate/state/intrin.h"

#include <string.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/mark.h"

static const struct hn_intrin rows[] = {
#define INTRIN(name, feature, other, sum, left, right, m, n, k, terms, added, llvm, of, asks) \
	{ #name,           { feature, other }, HN_##sum, HN_##left,           HN_##right,  \
	  { m, n, k, terms }, added,             llvm,     HN_INTRIN_OF_##of,  asks },
#include "loopstate/state/intrins.def"
#undef INTRIN
};

uint32_t hn_intrin_count(void)
{
	return HN_COUNT_OF(rows);
}

const struct hn_intrin *hn_intrin_at(uint32_t i)
{
	return &rows[i];
}

const struct hn_intrin *hn_intrin_of(const char *name)
{
	for (uint32_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

uint32_t hn_intrin_n_dim(const struct hn_intrin *in)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		n += in->most[d] > 0;
	}
	return n;
}

enum hn_intrin_dim hn_intrin_dim(const struct hn_intrin *in, uint32_t i)
{
	uint32_t d = 0;

	while (in->most[d] == 0 || i-- > 0) {
		d++;
	}
	return (enum hn_intrin_dim)d;
}

const char *hn_intrin_dim_name(enum hn_intrin_dim d)
{
	static const char *const name[HN_INTRIN_DIMS] = { "rows", "columns", "groups",
							  "terms" };

	return name[d];
}

bool hn_intrin_takes(const struct hn_intrin *in, enum hn_intrin_dim d, int64_t extent)
{
	return d == HN_INTRIN_TERMS || hn_intrin_is_warp(in)
		       ? extent == in->most[d]
		       : extent >= 1 && extent <= in->most[d];
}

static bool is_zero(const struct hn_expr *e)
{
	return (e->op == HN_EXPR_INT && e->u.i == 0) ||
	       (e->op == HN_EXPR_FLOAT && e->u.f == 0);
}

/* A load, or one under a condition and else zero. */
static bool is_factor(const struct hn_expr *e, enum hn_dtype t)
{
	if (e->op == HN_EXPR_IF) {
		return is_zero(e->arg[2]) && is_factor(e->arg[1], t);
	}
	return e->op == HN_EXPR_LOAD && e->dtype == t;
}

/* What is converted to `to`, when it is a factor of type t; of that type it is as it stands. */
static const struct hn_expr *converted(const struct hn_expr *e, enum hn_dtype to,
				       enum hn_dtype t)
{
	if (to == t) {
		return is_factor(e, t) ? e : NULL;
	}
	return e->op == HN_EXPR_CAST && e->dtype == to && is_factor(e->arg[0], t)
		       ? e->arg[0]
		       : NULL;
}

static bool is_sum(const struct hn_intrin *in, const struct hn_op *op)
{
	const struct hn_reduce *r = op->reduce;

	return r != NULL && op->n_out == 1 && r->kind == HN_COMBINE_SUM &&
	       op->dtype[0] == in->sum && r->condition == NULL;
}

bool hn_intrin_factors(const struct hn_intrin *in, const struct hn_op *op,
		       const struct hn_expr *ret[2])
{
	const struct hn_expr *source = is_sum(in, op) ? op->reduce->source[0] : NULL;

	if (source == NULL || source->op != HN_EXPR_MUL) {
		return false;
	}
	for (int k = 0; k < 2; k++) { /* in either order */
		ret[0] = converted(source->arg[k], in->sum, in->left);
		ret[1] = converted(source->arg[1 - k], in->sum, in->right);
		if (ret[0] != NULL && ret[1] != NULL) {
			return true;
		}
	}
	return false;
}

const char *hn_intrin_why_not(const struct hn_intrin *in, const struct hn_dag *root,
			      const struct hn_op *op)
{
	const struct hn_expr *factor[2];
	bool is_float = hn_dtype_class(in->sum) == HN_CLASS_FLOAT;

	if (!is_sum(in, op)) {
		return "the stage is no sum of the instruction's type without a "
		       "condition";
	}
	if (!hn_intrin_factors(in, op, factor)) {
		return "its terms are no products of two converted loads of the "
		       "instruction's types";
	}
	if (in->asks != NULL && !hn_dag_marked(root, in->asks)) {
		return "the task does not ask for it";
	}
	if (is_float &&
	    (hn_keeps_order(root, op) || hn_dag_forbids(root, HN_LIBERTY_contraction) ||
	     hn_dag_forbids(root, HN_LIBERTY_subnormals))) {
		return "the task forbids contraction, reassociation or subnormals";
	}
	return NULL;
}

bool hn_dag_may_flush(const struct hn_dag *dag)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		for (uint32_t k = 0; k < HN_COUNT_OF(rows); k++) {
			if (hn_dtype_class(rows[k].sum) == HN_CLASS_FLOAT &&
			    !hn_intrin_is_warp(&rows[k]) &&
			    dag->op[i]->kind == HN_OP_COMPUTE &&
			    hn_intrin_why_not(&rows[k], dag, dag->op[i]) == NULL) {
				return true;
			}
		}
	}
	return false;
}
