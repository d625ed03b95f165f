/* loopstate/read/dag_text_reduce.c -- reductions of the text notation: the signs that have a
 * combiner, and the one whose combiner is written out.
 *
 *   V(i), I(i) argmax=! A(i,k), k
 *   V(i), I(i) reduce=! A(i,k), k by (v, a), (w, b) ->
 *           select(w > v, w, v), select(w > v, b, a) from -inf, 0
 */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/law.h"
#include "loopstate/read/dag_text_priv.h"

const struct hn_text_reduction hn_text_reductions[] = {
	{ NULL, "+=!", HN_COMBINE_SUM, 1, HN_EXPR_ADD, HN_EXPR_ADD },
	{ NULL, "*=!", HN_COMBINE_PROD, 1, HN_EXPR_MUL, HN_EXPR_MUL },
	{ "max", "=!", HN_COMBINE_MAX, 1, HN_EXPR_MAX, HN_EXPR_MAX },
	{ "min", "=!", HN_COMBINE_MIN, 1, HN_EXPR_MIN, HN_EXPR_MIN },
	{ "argmax", "=!", HN_COMBINE_GENERAL, 2, HN_EXPR_SELECT, HN_EXPR_GT },
	{ "argmin", "=!", HN_COMBINE_GENERAL, 2, HN_EXPR_SELECT, HN_EXPR_LT },
	{ "reduce", "=!", HN_COMBINE_NONE, 0, HN_EXPR_SELECT, HN_EXPR_SELECT },
};
const uint32_t hn_text_n_reduction = HN_COUNT_OF(hn_text_reductions);

static int64_t int_extreme(enum hn_dtype t, bool lowest)
{
	uint32_t bits = 8 * hn_dtype_bytes(t);

	if (hn_dtype_class(t) == HN_CLASS_UNSIGNED) {
		return lowest ? 0 : (int64_t)(UINT64_MAX >> (64 - bits));
	}
	int64_t highest = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);

	return lowest ? -highest - 1 : highest;
}

/* The end of the type that anything replaces. */
static const struct hn_expr *extreme(enum hn_dtype t, bool lowest, double top, struct hn_arena *a)
{
	return hn_dtype_class(t) == HN_CLASS_FLOAT
		       ? hn_expr_float(lowest ? -top : top, t, a)
		       : hn_expr_int(int_extreme(t, lowest), t, a);
}

/* What a reduction of one value starts from. */
static const struct hn_expr *identity(enum hn_combiner kind, enum hn_dtype t, struct hn_arena *a)
{
	double top = hn_dtype_largest(t);
	int64_t v = kind == HN_COMBINE_PROD;

	if (kind == HN_COMBINE_MIN || kind == HN_COMBINE_MAX) {
		return extreme(t, kind == HN_COMBINE_MAX, top, a);
	}
	return hn_dtype_class(t) == HN_CLASS_FLOAT ? hn_expr_float((double)v, t, a)
						   : hn_expr_int(v, t, a);
}

static struct hn_reduce *new_reduce(uint32_t n, struct hn_arena *a)
{
	struct hn_reduce *r = HN_NEW(a, struct hn_reduce);

	r->n = n;
	r->result = HN_NEW_ARRAY(a, const struct hn_expr *, n);
	r->identity = HN_NEW_ARRAY(a, const struct hn_expr *, n);
	return r;
}

/* The largest or smallest and where: what is on the right takes the place when it is better, so
 * that the first of equals stays. */
static void fill_arg(const struct hn_text_reduction *row, const uint8_t *dtype,
		     const struct hn_expr **result, const struct hn_expr **ident,
		     struct hn_arena *a)
{
	const struct hn_expr *side[2][2];

	for (int k = 0; k < 2; k++) {
		side[0][k] = hn_expr_var(HN_SLOT_LHS + k, dtype[k], k ? "i" : "v", a);
		side[1][k] = hn_expr_var(HN_SLOT_RHS + k, dtype[k], k ? "j" : "w", a);
	}
	for (int k = 0; k < 2; k++) {
		const struct hn_expr better = { .op = (uint8_t)row->wins, .dtype = HN_BOOL };
		const struct hn_expr choose = { .op = (uint8_t)row->op, .dtype = dtype[k] };
		const struct hn_expr *first[] = { side[1][0], side[0][0] };
		const struct hn_expr *arg[] = { hn_expr_with_args(&better, first, 2, a),
						side[1][k], side[0][k] };

		result[k] = hn_expr_with_args(&choose, arg, 3, a);
	}
	ident[0] = extreme(dtype[0], row->wins == HN_EXPR_GT, __builtin_inf(), a);
	ident[1] = identity(HN_COMBINE_SUM, dtype[1], a);
}

struct hn_reduce *hn_text_reduce(const struct hn_text_reduction *row, const uint8_t *dtype,
				 struct hn_arena *a)
{
	static const char *const one[2][1] = { { "x" }, { "y" } };
	static const char *const two[2][2] = { { "v", "i" }, { "w", "j" } };
	struct hn_reduce *r = new_reduce(row->n, a);
	const struct hn_expr **result = (const struct hn_expr **)r->result;
	const struct hn_expr **ident = (const struct hn_expr **)r->identity;

	r->kind = row->kind;
	r->lhs = row->n == 1 ? one[0] : two[0];
	r->rhs = row->n == 1 ? one[1] : two[1];
	if (row->n == 2) {
		fill_arg(row, dtype, result, ident, a);
		r->any_order = hn_law_any_order(r);
		return r;
	}
	const struct hn_expr like = { .op = (uint8_t)row->op, .dtype = dtype[0] };
	const struct hn_expr *arg[2] = { hn_expr_var(HN_SLOT_LHS, dtype[0], "x", a),
					 hn_expr_var(HN_SLOT_RHS, dtype[0], "y", a) };

	result[0] = hn_expr_with_args(&like, arg, 2, a);
	ident[0] = identity(row->kind, dtype[0], a);
	r->any_order = true;
	return r;
}

/* "(" NAME, ... ")", one for each value. */
static const char *const *parse_side(struct hn_text *t, uint32_t n)
{
	const char **name = HN_NEW_ARRAY(t->a, const char *, n);

	hn_text_want(t, "(");
	for (uint32_t k = 0; t->rc == 0 && k < n; k++) {
		struct hn_token at = t->tok;

		if (k > 0) {
			hn_text_want(t, ",");
			at = t->tok;
		}
		name[k] = hn_text_want_name(t, "a combiner's argument");
		for (uint32_t j = 0; t->rc == 0 && j < 2 * n; j++) {
			const char *const *other = j < n ? t->side[0] : name;

			if (other != NULL && (j < n || j - n < k) &&
			    strcmp(other[j % n], name[k]) == 0) {
				hn_text_fail(t, &at, "the combiner's argument '%s' is there twice",
					     name[k]);
			}
		}
	}
	hn_text_want(t, ")");
	return name;
}

/* n values of these types, with commas between them. */
static void parse_values(struct hn_text *t, const uint8_t *dtype, uint32_t n, bool constant,
			 const struct hn_expr **ret)
{
	for (uint32_t k = 0; t->rc == 0 && k < n; k++) {
		struct hn_token at;

		if (k > 0) {
			hn_text_want(t, ",");
		}
		at = t->tok;
		ret[k] = hn_text_expr(t, (enum hn_dtype)dtype[k]);
		if (ret[k] == NULL) {
			return;
		}
		if (ret[k]->dtype != dtype[k]) {
			hn_text_fail(t, &at, "this is %s, the value %s", hn_dtype_name(ret[k]->dtype),
				     hn_dtype_name(dtype[k]));
		} else if (constant && ret[k]->op != HN_EXPR_INT && ret[k]->op != HN_EXPR_FLOAT) {
			hn_text_fail(t, &at, "a reduction starts from a constant");
		}
	}
}

struct hn_reduce *hn_text_combiner(struct hn_text *t, const uint8_t *dtype, uint32_t n)
{
	struct hn_reduce *r = new_reduce(n, t->a);
	const char *const *side[2];
	int32_t n_let = t->n_let;

	hn_text_want(t, "by");
	side[0] = t->side[0] = parse_side(t, n);
	hn_text_want(t, ",");
	side[1] = parse_side(t, n);
	hn_text_want(t, "->");
	t->side[1] = side[1];
	t->n_let = 0; /* a combiner numbers its own */
	memcpy(t->side_type, dtype, n);
	parse_values(t, dtype, n, false, (const struct hn_expr **)r->result);
	t->side[0] = t->side[1] = NULL;
	t->n_let = n_let;
	hn_text_want(t, "from");
	parse_values(t, dtype, n, true, (const struct hn_expr **)r->identity);
	if (t->rc != 0) {
		return NULL;
	}
	r->lhs = side[0];
	r->rhs = side[1];
	r->kind = hn_dag_combiner_of(r->result, n);
	r->any_order = hn_law_any_order(r);
	return r;
}
