/* lower/cpu/emit_lin.c -- linear forms (loopstate/expr/linear.h) whose values are LLVM's.
 */
#include "lower/cpu/emit_int.h"

static void *number(void *ctx, int64_t v)
{
	return hn_emit_const(ctx, v);
}

static void *place(void *ctx, uint32_t op, void *x, void *y, int32_t depth)
{
	return hn_emit_place(ctx, op, x, y, depth);
}

static void loop_form(struct emit *e, int32_t slot, struct hn_linear *ret)
{
	const struct emit_var *v = &e->var[slot];

	ret->c = v->add + (v->lane ? v->lane[e->lane < 0 ? 0 : e->lane] : 0);
	if (v->base) {
		hn_linear_add_term(&e->lin, ret,
				   (struct hn_linear_term){ v->base, v->mul, v->lo, v->hi,
							    v->depth });
	}
}

static void size_form(struct emit *e, int32_t k, struct hn_linear *ret)
{
	const struct hn_size *s = &e->t->dag->sizes->size[k];

	hn_linear_add_term(&e->lin, ret,
			   (struct hn_linear_term){ e->size[k], 1, s->lo, s->hi, 0 });
}

/* A value that comes from memory or a function: as it is, in lane e->lane. */
static void data_form(struct emit *e, const struct hn_expr *x, struct hn_linear *ret)
{
	bool varies = hn_emit_lane_varies(e, x);
	struct hn_linear_term t = { .coef = 1,
				    .lo = -HN_LINEAR_RANGE,
				    .hi = HN_LINEAR_RANGE,
				    .depth = HN_LINEAR_HERE };

	for (uint32_t i = e->n_uniform; !varies && i-- > 0;) {
		if (e->uniform[i].x == x && e->uniform[i].epoch == e->epoch) {
			t.v = e->uniform[i].v;
			hn_linear_add_term(&e->lin, ret, t);
			return;
		}
	}
	if (e->dry) {
		t.v = hn_emit_dry_word(e, (struct emit_memo){ 0 });
	} else {
		int32_t lane = e->lane;

		e->lane = lane < 0 ? 0 : lane;
		struct emit_val v = hn_emit_value(e, x);

		e->lane = lane;
		bool negative = hn_dtype_class(x->dtype) == HN_CLASS_SIGNED;

		t.v = LLVMBuildIntCast2(e->b, v.v, e->i64, negative, "");
	}
	if (!varies) {
		if (e->n_uniform && e->uniform[e->n_uniform - 1].epoch != e->epoch) {
			e->n_uniform = 0;
		}
		e->uniform = hn_arena_grow(e->a, e->uniform, e->n_uniform,
					   &e->cap_uniform, sizeof(*e->uniform));
		e->uniform[e->n_uniform++] = (struct emit_uniform){ x, t.v, e->epoch };
	}
	hn_linear_add_term(&e->lin, ret, t);
}

static void variable(void *ctx, const struct hn_expr *x, struct hn_linear *ret)
{
	struct emit *e = ctx;
	const struct hn_expr *const *axis = e->axis;

	ret->n = 0;
	ret->c = 0;
	if (hn_expr_is_size(x)) {
		size_form(e, x->ref - HN_SLOT_SIZE, ret);
	} else if (axis && (uint32_t)x->ref < e->n_axis) {
		e->axis = NULL;
		hn_linear_of(&e->lin, axis[x->ref], ret);
		e->axis = axis;
	} else if (axis) {
		data_form(e, x, ret);
	} else {
		loop_form(e, x->ref, ret);
	}
}

static void data(void *ctx, const struct hn_expr *x, struct hn_linear *ret)
{
	struct emit *e = ctx;
	const struct hn_expr *index = hn_linear_cast(x, hn_emit_n_axis(e));

	ret->n = 0;
	ret->c = 0;
	if (index) {
		hn_linear_of(&e->lin, index, ret);
	} else {
		data_form(e, x, ret);
	}
}

struct hn_linear_maker hn_emit_lin_maker(struct emit *e)
{
	static const struct hn_linear_maker_ops ops = { number, place, variable, data };

	return (struct hn_linear_maker){ .ops = &ops, .ctx = e };
}

void hn_emit_lin_lane(struct emit *e, const struct hn_expr *x, uint32_t k,
		      struct hn_linear *ret)
{
	int32_t lane = e->lane;

	if (lane < 0) {
		e->lane = (int32_t)k;
	}
	hn_linear_of(&e->lin, x, ret);
	e->lane = lane;
}
