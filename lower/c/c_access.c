/* lower/c/c_access.c -- where an element lies, and in which form (loopstate/nest/layout.h). */
#include "loopstate/dag/size.h"
#include "loopstate/nest/layout.h"
#include "lower/c/c_int.h"

/* The index less the buffer's first one. */
static const struct hn_expr *inside(struct c *c, const struct hn_buffer *b, uint32_t d,
				    const struct hn_expr *index)
{
	const struct hn_expr *min = hn_c_settled(c, b->min[d]);

	if (min->op == HN_EXPR_INT && min->u.i == 0) {
		return hn_simplify(index, c->span, c->t->n_loop, c->a);
	}
	if (min->dtype != index->dtype) {
		min = min->op == HN_EXPR_INT
			      ? hn_expr_int(min->u.i, (enum hn_dtype)index->dtype, c->a)
			      : min;
	}
	hn_assert(min->dtype == index->dtype);
	return hn_simplify(hn_expr_binary(HN_EXPR_SUB, index, min, c->a), c->span, c->t->n_loop,
			   c->a);
}

/* Elements between neighbours along dim d, as text; NULL = 1. */
static const char *stride_of(struct c *c, int32_t op, uint32_t d)
{
	const struct hn_buffer *b = &c->t->buffer[op];
	const struct hn_op *o = c->t->dag->op[op];
	const char *s = NULL;

	if (b->lifetime != HN_LIFETIME_ARG || !hn_op_is_sized(o)) {
		return b->stride[d] == 1 ? NULL
					 : hn_arena_printf(c->a, "%lld", (long long)b->stride[d]);
	}
	for (uint32_t k = d + 1; k < o->n_dim; k++) {
		const struct hn_expr *form = hn_op_extent(o, k);
		const char *n = form != NULL
					? hn_c_at(c, hn_c_index(c, form), C_UNARY)
					: hn_arena_printf(c->a, "%lld", (long long)o->shape[k]);

		s = s == NULL ? n : hn_arena_printf(c->a, "%s * %s", s, n);
	}
	return s;
}

const char *hn_c_element(struct c *c, int32_t op, int32_t out, const struct hn_expr *const *index)
{
	const struct hn_buffer *b = &c->t->buffer[op];
	const char *at = NULL;

	if (b->op < 0) {
		hn_c_refuse(c, "%s has no buffer", c->t->dag->op[op]->id);
		return "0";
	}
	hn_c_use_buffer(c, op);
	for (uint32_t d = 0; d < b->n_dim; d++) {
		const struct hn_expr *e = inside(c, b, d, index[d]);
		const char *stride = stride_of(c, op, d);

		if (b->swizzle.bits > 0 && d + 1 == b->n_dim) {
			const struct hn_swizzle *z = &b->swizzle;

			e = hn_layout_expr(z, inside(c, b, z->row_dim, index[z->row_dim]), e, c->a);
		}
		if (e->op == HN_EXPR_INT && e->u.i == 0) {
			continue;
		}
		if (e->op == HN_EXPR_INT && stride != NULL && e->u.i == 1) {
			at = at == NULL ? stride : hn_arena_printf(c->a, "%s + %s", at, stride);
			continue;
		}
		struct c_text x = hn_c_index(c, e);
		const char *s = stride == NULL
					? hn_c_at(c, x, C_SUM)
					: hn_arena_printf(c->a, "%s * %s", hn_c_at(c, x, C_UNARY),
							  stride);

		at = at == NULL ? s : hn_arena_printf(c->a, "%s + %s", at, s);
	}
	return hn_arena_printf(c->a, "%s[%s]", c->buffer[op][out], at != NULL ? at : "0");
}

struct c_text hn_c_loaded(struct c *c, enum hn_dtype t, const char *element)
{
	const char *of = t == HN_BF16 ? "of_bfloat16" : "of_float16";

	if (t == HN_BOOL) {
		return (struct c_text){ hn_arena_printf(c->a, "%s != 0", element), C_EQUAL };
	}
	if (!hn_dtype_is_narrow(t)) {
		return (struct c_text){ element, C_ATOM };
	}
	return (struct c_text){ hn_arena_printf(c->a, "%s(%s)", hn_c_helper(c, of, HN_F32),
						element),
				C_ATOM };
}

const char *hn_c_stored(struct c *c, enum hn_dtype t, struct c_text value)
{
	const char *to = t == HN_BF16 ? "to_bfloat16" : "to_float16";

	return hn_dtype_is_narrow(t)
		       ? hn_arena_printf(c->a, "%s(%s)", hn_c_helper(c, to, HN_F32), value.s)
		       : value.s;
}
