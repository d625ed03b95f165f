/* lower/gpu/gpu_index.c -- how an index is put together.
 *
 * An index is a sum.  What is known earliest is added first, so that the parts that do not change
 * in a loop are computed outside of it; the constant comes last, and becomes part of the
 * instruction.  Neighbours then differ in their constants alone, which is how instructions on
 * several elements are found.  Sums are of 32 bits where all of their parts fit: registers of 64
 * bits are two, and so are additions.
 */
#include <stdlib.h>

#include "base/arith.h"
#include "lower/gpu/gpu_int.h"

#define LEAST32 ((int64_t)INT32_MIN)
#define MOST32 ((int64_t)INT32_MAX)

/* Whether a variable has a value here. */
static void see_known(const struct hn_expr *e, void *ctx)
{
	struct gpu *g = ((void **)ctx)[0];
	bool *known = ((void **)ctx)[1];

	if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < g->n_slot && g->value[e->ref] != NULL) {
		*known = true;
	}
}

const struct hn_expr *hn_gpu_here(struct gpu *g, const struct hn_expr *e)
{
	bool known = false;
	void *ctx[2] = { g, &known };

	hn_expr_visit(e, see_known, ctx);
	return known ? hn_expr_substitute(e, g->value, g->n_slot, g->a) : e;
}

struct hn_affine hn_gpu_affine(struct gpu *g, const struct hn_expr *at)
{
	return hn_affine_of(hn_gpu_here(g, at), g->span, g->n_slot, g->a);
}

int64_t hn_gpu_divides(const struct hn_affine *sum)
{
	int64_t ret = llabs(sum->c);

	for (uint32_t i = 0; i < sum->n; i++) {
		int64_t x = llabs(sum->term[i].coef);

		while (x != 0) {
			int64_t rest = ret % x;

			ret = x;
			x = rest;
		}
	}
	return ret;
}

static bool is_within32(int64_t lo, int64_t hi)
{
	return lo >= LEAST32 && hi <= MOST32;
}

/* Whether every part of e fits in an int32. */
bool hn_gpu_is_narrow_index(const struct gpu *g, const struct hn_expr *e)
{
	int64_t lo, hi;

	if (e->op == HN_EXPR_LOAD) {
		return hn_dtype_bits((enum hn_dtype)e->dtype) < 32;
	}
	if (!hn_expr_range(e, g->span, g->n_slot, &lo, &hi) || !is_within32(lo, hi)) {
		return false;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (hn_dtype_class((enum hn_dtype)e->arg[i]->dtype) != HN_CLASS_BOOL &&
		    !hn_gpu_is_narrow_index(g, e->arg[i])) {
			return false;
		}
	}
	return true;
}

static gpu_val from_data(struct gpu *g, const struct hn_expr *e, enum hn_dtype t)
{
	gpu_val v = hn_gpu_value(g, e);

	return e->dtype == t ? v : g->lang->cast(g, t, (enum hn_dtype)e->dtype, v);
}

/* floordiv and floormod of natural numbers are those of C. */
static gpu_val divide(struct gpu *g, const struct hn_expr *e, bool wide)
{
	enum hn_dtype t = wide ? HN_I64 : HN_I32;
	gpu_val x = hn_gpu_index(g, e->arg[0], wide), y = hn_gpu_index(g, e->arg[1], wide);
	enum hn_expr_op op = (enum hn_expr_op)e->op;
	int64_t lo, hi;

	if (hn_expr_range(e->arg[0], g->span, g->n_slot, &lo, &hi) && lo >= 0 &&
	    hn_expr_range(e->arg[1], g->span, g->n_slot, &lo, &hi) && lo > 0) {
		op = op == HN_EXPR_FLOORDIV ? HN_EXPR_DIV
		     : op == HN_EXPR_FLOORMOD ? HN_EXPR_TRUNCMOD
					      : op;
		t = wide ? HN_U64 : HN_U32;
	}
	return g->lang->binary(g, op, t, x, y, true);
}

gpu_val hn_gpu_index(struct gpu *g, const struct hn_expr *e, bool wide)
{
	enum hn_dtype t = wide ? HN_I64 : HN_I32;

	switch ((enum hn_expr_op)e->op) {
	case HN_EXPR_INT:
		return g->lang->number(g, t, e->u.i);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MUL:
	case HN_EXPR_MIN:
	case HN_EXPR_MAX: {
		gpu_val x = hn_gpu_index(g, e->arg[0], wide);
		gpu_val y = hn_gpu_index(g, e->arg[1], wide);

		return g->lang->binary(g, (enum hn_expr_op)e->op, t, x, y, true);
	}
	case HN_EXPR_DIV:
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
	case HN_EXPR_TRUNCMOD:
		return divide(g, e, wide);
	case HN_EXPR_CAST:
		if (e->arg[0]->dtype == HN_I32 || e->arg[0]->dtype == HN_I64) {
			return hn_gpu_index(g, e->arg[0], wide);
		}
		return from_data(g, e, t);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF: {
		void *choice = g->lang->choose(g, t, hn_gpu_value(g, e->arg[0]));

		g->lang->otherwise(g, choice, hn_gpu_index(g, e->arg[1], wide));
		return g->lang->chosen(g, choice, hn_gpu_index(g, e->arg[2], wide));
	}
	default:
		return from_data(g, e, t);
	}
}

struct ranked {
	struct hn_term term;
	uint32_t rank;
};

static void see_rank(const struct hn_expr *e, void *ctx)
{
	struct gpu *g = ((void **)ctx)[0];
	uint32_t *rank = ((void **)ctx)[1];

	if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < g->n_slot && g->rank[e->ref] > *rank) {
		*rank = g->rank[e->ref];
	}
}

/* Terms as they become known; those of one rank stay as they are. */
static struct ranked *in_order(struct gpu *g, const struct hn_affine *sum)
{
	struct ranked *r = HN_NEW_ARRAY(g->a, struct ranked, sum->n);

	for (uint32_t i = 0; i < sum->n; i++) {
		struct ranked x = { sum->term[i], 0 };
		void *ctx[2] = { g, &x.rank };
		uint32_t j = i;

		hn_expr_visit(x.term.atom, see_rank, ctx);
		for (; j > 0 && r[j - 1].rank > x.rank; j--) {
			r[j] = r[j - 1];
		}
		r[j] = x;
	}
	return r;
}

/* Whether some of the sums on the way may leave an int32. */
static bool is_wide(struct gpu *g, const struct hn_affine *sum, const struct ranked *r)
{
	int64_t lo = 0, hi = 0, from, to;

	for (uint32_t i = 0; i < sum->n; i++) {
		int64_t c = r[i].term.coef;

		if (!hn_gpu_is_narrow_index(g, r[i].term.atom) ||
		    !hn_expr_range(r[i].term.atom, g->span, g->n_slot, &from, &to) ||
		    !is_within32(c, c)) {
			return true;
		}
		from *= c;
		to *= c;
		lo += from < to ? from : to;
		hi += from < to ? to : from;
		if (!is_within32(lo, hi) || !is_within32(from, to) || !is_within32(to, from)) {
			return true;
		}
	}
	return !is_within32(lo + sum->c, hi + sum->c);
}

/* The largest power of two, up to 16, that divides the sum. */
static uint32_t aligned_to(const struct hn_affine *sum)
{
	int64_t divides = hn_gpu_divides(sum) | 16;

	return (uint32_t)(divides & -divides);
}

struct gpu_at hn_gpu_at(struct gpu *g, int32_t buffer, const struct hn_affine *sum)
{
	struct gpu_at at = { .buffer = buffer, .c = sum->c, .aligned = aligned_to(sum) };
	struct ranked *r = in_order(g, sum);

	at.wide = is_wide(g, sum, r);
	enum hn_dtype t = at.wide ? HN_I64 : HN_I32;

	for (uint32_t i = 0; i < sum->n; i++) {
		gpu_val x = hn_gpu_index(g, r[i].term.atom, at.wide);

		if (r[i].term.coef != 1) {
			x = g->lang->binary(g, HN_EXPR_MUL, t, x,
					    g->lang->number(g, t, r[i].term.coef), true);
		}
		at.base = at.base == NULL
				  ? x
				  : g->lang->binary(g, HN_EXPR_ADD, t, at.base, x, true);
	}
	return at;
}
