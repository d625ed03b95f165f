/* lower/c/c_call.c -- functions, casts and rounding: those of the naive program. */
#include "lower/c/c_int.h"

static struct c_text call(struct c *c, const char *name, struct c_text x)
{
	return (struct c_text){ hn_arena_printf(c->a, "%s(%s)", name, x.s), C_ATOM };
}

struct c_text hn_c_rounded(struct c *c, enum hn_dtype t, struct c_text x)
{
	switch (t) {
	case HN_BF16:
		return call(c, hn_c_helper(c, "round_bfloat16", HN_F32), x);
	case HN_F16:
		return call(c, hn_c_helper(c, "round_float16", HN_F32), x);
	default:
		hn_assert(!hn_dtype_is_narrow(t));
		return x;
	}
}

static struct c_text float_call(struct c *c, const struct hn_expr *e)
{
	const char *f = hn_dtype_arith(e->dtype) == HN_F64 ? "" : "f";
	const char *name = hn_fn_c_name((enum hn_fn)e->ref);
	struct c_text x = hn_c_value(c, e->arg[0]);

	if (e->ref == HN_FN_sigmoid) {
		return call(c, hn_c_helper(c, "sigmoid", e->dtype), x);
	}
	if (e->ref == HN_FN_rsqrt) {
		return (struct c_text){ hn_arena_printf(c->a, "1 / sqrt%s(%s)", f, x.s),
					C_PRODUCT };
	}
	if (*name == '\0') {
		hn_c_refuse(c, "function %s", hn_fn_name((enum hn_fn)e->ref));
		return x;
	}
	if (e->n_arg > 1) {
		struct c_text y = hn_c_value(c, e->arg[1]);

		return (struct c_text){ hn_arena_printf(c->a, "%s%s(%s, %s)", name, f, x.s, y.s),
					C_ATOM };
	}
	return call(c, hn_arena_printf(c->a, "%s%s", name, f), x);
}

struct c_text hn_c_call(struct c *c, const struct hn_expr *e)
{
	if (hn_dtype_class(e->dtype) == HN_CLASS_FLOAT) {
		return hn_c_rounded(c, e->dtype, float_call(c, e));
	}
	if (e->ref != HN_FN_abs) {
		hn_c_refuse(c, "function %s on %s", hn_fn_name((enum hn_fn)e->ref),
			    hn_dtype_name(e->dtype));
	}
	return hn_dtype_class(e->dtype) == HN_CLASS_SIGNED
		       ? call(c, hn_c_helper(c, "abs", e->dtype), hn_c_value(c, e->arg[0]))
		       : hn_c_value(c, e->arg[0]);
}

static struct c_text as(struct c *c, enum hn_dtype t, struct c_text x)
{
	return (struct c_text){ hn_arena_printf(c->a, "(%s)%s", hn_c_type(t),
						hn_c_at(c, x, C_UNARY)),
				C_UNARY };
}

struct c_text hn_c_cast(struct c *c, const struct hn_expr *e)
{
	enum hn_dtype from = e->arg[0]->dtype, to = e->dtype;
	bool from_float = hn_dtype_class(from) == HN_CLASS_FLOAT;
	struct c_text x = hn_c_value(c, e->arg[0]);

	if (from == to) {
		return x;
	}
	if (hn_dtype_class(to) == HN_CLASS_BOOL) {
		return (struct c_text){ hn_arena_printf(c->a, "%s != 0", hn_c_at(c, x, C_LESS)),
					C_EQUAL };
	}
	if (hn_dtype_class(to) == HN_CLASS_FLOAT) {
		x = hn_dtype_arith(from) == hn_dtype_arith(to) ? x : as(c, to, x);
		return hn_c_rounded(c, to, x);
	}
	return from_float ? call(c, hn_c_saturating(c, to, from), x) : as(c, to, x);
}
