/* lower/cpu/emit_shape.c -- arguments whose extents are size parameters (loopstate/dag/size.h).
 *
 * Such a tensor's strides are products of sizes, made once at a function's entry.  An offset
 * index * stride is, term by term of the index, one product more in the scope of the term,
 * so that in a loop a row costs an addition as it does elsewhere.  Buffers of the kernel's
 * own have the strides of the largest sizes, which are numbers, and so have all while a tile
 * is planned: the plan is that of the largest sizes.
 */
#include "lower/cpu/emit_int.h"

#include "loopstate/dag/size.h"

#define RANGE_MAX ((int64_t)1 << 61)

/* coef * v, v in [1, hi]; v NULL = 1. */
struct stride {
	LLVMValueRef v;
	int64_t coef, hi;
};

static struct stride times(struct emit *e, struct stride s, LLVMValueRef v, int64_t hi)
{
	s.v = s.v ? hn_emit_place(e, HN_LINEAR_MUL, s.v, v, 0) : v;
	s.hi = s.hi > RANGE_MAX / hi ? RANGE_MAX : s.hi * hi;
	return s;
}

/* The elements between neighbours along dim d of op's tensor. */
static struct stride stride_of(struct emit *e, int32_t op, uint32_t d)
{
	const struct hn_op *o = e->t->dag->op[op];
	struct stride s = { NULL, 1, 1 };

	for (uint32_t k = d + 1; k < o->n_dim; k++) {
		const struct hn_expr *form = hn_op_extent(o, k);
		struct hn_linear x;

		if (!form) {
			s.coef *= o->shape[k];
			continue;
		}
		hn_linear_of(&e->lin, form, &x);
		if (x.n == 1 && x.c == 0) {
			s = times(e, s, x.t[0].v, x.t[0].hi);
			s.coef *= x.t[0].coef;
		} else {
			s = times(e, s, hn_emit_lin_value(e, &x), o->shape[k]);
		}
	}
	return s;
}

/* ret += s * t. */
static void add_product(struct emit *e, const struct stride *s, struct hn_linear_term t,
			struct hn_linear *ret)
{
	__int128 lo = (__int128)t.lo * (t.lo < 0 ? s->hi : 1);
	__int128 hi = (__int128)t.hi * (t.hi > 0 ? s->hi : 1);

	t.lo = lo < -RANGE_MAX ? -RANGE_MAX : (int64_t)lo;
	t.hi = hi > RANGE_MAX ? RANGE_MAX : (int64_t)hi;
	t.coef *= s->coef;
	hn_linear_add_term(&e->lin, ret, t);
}

void hn_emit_add_index(struct emit *e, int32_t op, uint32_t d, const struct hn_linear *x,
		       int64_t sign, struct hn_linear *ret)
{
	const struct hn_buffer *b = &e->t->buffer[op];
	struct stride s = { NULL, 1, 1 };

	if (b->lifetime == HN_LIFETIME_ARG && !e->dry && hn_op_is_sized(e->t->dag->op[op])) {
		s = stride_of(e, op, d);
	} else {
		s.coef = b->stride[d];
	}
	if (!s.v) {
		hn_linear_add(&e->lin, ret, x, sign * s.coef);
		return;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		struct hn_linear_term t = x->t[i];

		t.v = hn_emit_place(e, HN_LINEAR_MUL, t.v, s.v, t.depth);
		t.coef *= sign;
		add_product(e, &s, t, ret);
	}
	/* the stride itself, for the constant */
	add_product(e, &s, (struct hn_linear_term){ s.v, sign * x->c, 1, 1, 0 }, ret);
}
