/* lower/prove/equal_value.c -- two expanded bodies, compared from the top: what is written alike is
 * equal; conditions are gone through case by case; integers that are no data are indices; of
 * all else, the same operation on equal arguments. */
#include "lower/prove/equal_int.h"

static bool is_choice(const struct hn_expr *e)
{
	return e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;
}

static bool equal(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		  const struct hn_expr *y);

/* The expression as the task's dag would write it. */
static const char *text_of(struct hn_eq *c, const struct hn_expr *e)
{
	uint32_t n_given = c->given->n_op, n = n_given + c->derived->n_op;
	const char **name = HN_NEW_ARRAY(c->arena, const char *, n);
	struct hn_buf text;
	const char *r;

	for (uint32_t i = 0; i < n; i++) {
		name[i] = i < n_given ? c->given->op[i]->name : c->derived->op[i - n_given]->name;
	}
	hn_buf_init(&text);
	text.max_bytes = 1 << 16;
	hn_expr_print(e, name, &text);
	r = text.failed ? "something longer"
	    : text.n > 90
		    ? hn_arena_printf(c->arena, "%.80s ...", text.s)
		    : hn_arena_strndup(c->arena, text.s, text.n);
	hn_buf_fini(&text);
	return r;
}

static bool differ(struct hn_eq *c, const struct hn_expr *x, const struct hn_expr *y)
{
	if (c->why) {
		return false;
	}
	if (x->dtype != y->dtype) {
		return hn_eq_fail(c, "%s (%s) stands where the program has %s (%s)", text_of(c, y),
				  hn_dtype_name(y->dtype), text_of(c, x), hn_dtype_name(x->dtype));
	}
	return hn_eq_fail(c, "%s stands where the program has %s", text_of(c, y), text_of(c, x));
}

/* Equal on the part of dom where cond holds, or does not; also where there is no such part. */
static bool equal_where(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *cond,
			bool positive, const struct hn_expr *x, const struct hn_expr *y)
{
	const struct hn_eq_dom *part = hn_eq_where(c, dom, cond, positive);
	const char *before = c->why;

	if (equal(c, part, x, y)) {
		return true;
	}
	if (!hn_eq_nowhere(c, part)) {
		return false;
	}
	c->why = before;
	return true;
}

static bool split(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		  const struct hn_expr *y)
{
	bool by_x = is_choice(x) && hn_eq_is_affine_condition(c, x->arg[0]);
	const struct hn_expr *cond = by_x ? x->arg[0] : y->arg[0];

	for (int side = 0; side < 2; side++) {
		if (!equal_where(c, dom, cond, side == 0, by_x ? x->arg[1 + side] : x,
				 by_x ? y : y->arg[1 + side])) {
			return false;
		}
	}
	return true;
}

/* Both hold at the same points: nowhere one without the other. */
static bool same_condition(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
			   const struct hn_expr *y)
{
	return hn_eq_nowhere(c, hn_eq_where(c, hn_eq_where(c, dom, x, true), y, false)) &&
	       hn_eq_nowhere(c, hn_eq_where(c, hn_eq_where(c, dom, x, false), y, true));
}

/* The same operation, arguments aside. */
static bool same_operation(const struct hn_expr *x, const struct hn_expr *y)
{
	if (x->n_arg == 0) {
		return hn_expr_equal(x, y);
	}
	return x->op == y->op && x->n_arg == y->n_arg && x->dtype == y->dtype &&
	       x->ref == y->ref && x->out == y->out;
}

static bool equal_args(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		       const struct hn_expr *y)
{
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (x->op == HN_EXPR_LOAD ? !hn_eq_index(c, dom, x->arg[i], y->arg[i])
					  : !equal(c, dom, x->arg[i], y->arg[i])) {
			return differ(c, x, y);
		}
	}
	return true;
}

static bool equal_exact(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
			const struct hn_expr *y)
{
	bool same = x->dtype != HN_BOOL ? hn_eq_index(c, dom, x, y)
					: hn_eq_is_affine_condition(c, x) &&
						  hn_eq_is_affine_condition(c, y) &&
						  same_condition(c, dom, x, y);

	return same || differ(c, x, y);
}

static bool equal(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		  const struct hn_expr *y)
{
	if (!hn_eq_spend(c, 1)) {
		return false;
	}
	if (hn_expr_equal(x, y)) {
		return true;
	}
	bool x_splits = is_choice(x) && hn_eq_is_affine_condition(c, x->arg[0]);
	bool y_splits = is_choice(y) && hn_eq_is_affine_condition(c, y->arg[0]);

	if (x_splits && y_splits && x->dtype == y->dtype && hn_eq_alike(c, x->arg[0], y->arg[0])) {
		return equal_where(c, dom, x->arg[0], true, x->arg[1], y->arg[1]) &&
		       equal_where(c, dom, x->arg[0], false, x->arg[2], y->arg[2]);
	}
	if (x_splits || y_splits) {
		return split(c, dom, x, y);
	}
	if (x->dtype == y->dtype && hn_eq_exact(c, x) && hn_eq_exact(c, y)) {
		return equal_exact(c, dom, x, y);
	}
	return same_operation(x, y) ? equal_args(c, dom, x, y) : differ(c, x, y);
}

bool hn_eq_value(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		 const struct hn_expr *y)
{
	return equal(c, dom, x, y);
}
