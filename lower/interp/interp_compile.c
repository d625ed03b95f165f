/* lower/interp/interp_compile.c -- from expressions to cells. */
#include <string.h>

#include "loopstate/expr/linear.h"
#include "lower/interp/interp_priv.h"

static const struct hn_cell *compile(struct hn_compile *c, const struct hn_expr *e,
				     bool index);

static union hn_value eval_const(const struct hn_cell *c, union hn_value *frame)
{
	(void)frame;
	return c->v;
}

static union hn_value eval_slot(const struct hn_cell *c, union hn_value *frame)
{
	return frame[c->slot];
}

static union hn_value eval_let(const struct hn_cell *c, union hn_value *frame)
{
	frame[c->slot] = c->arg[0]->eval(c->arg[0], frame);
	return c->arg[1]->eval(c->arg[1], frame);
}

static union hn_value eval_wrap(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = hn_interp_wrap(c->arg[0]->eval(c->arg[0], frame).i,
						     c->type) };
}

static inline int64_t address(const struct hn_cell *c, const union hn_value *frame)
{
	int64_t at = c->v.i;

	for (uint32_t i = 0; i < c->n_term; i++) {
		at += c->term[i].stride * frame[c->term[i].slot].i;
	}
	return at;
}

static union hn_value eval_load(const struct hn_cell *c, union hn_value *frame)
{
	return hn_interp_get(c->base, c->type, address(c, frame));
}

static union hn_value eval_load_f32(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){
		.f = (double)((const float *)c->base)[address(c, frame)]
	};
}

/* Matrices: two terms, no loop. */
static union hn_value eval_load_f32_two(const struct hn_cell *c, union hn_value *frame)
{
	const struct hn_interp_term *t = c->term;
	int64_t at = c->v.i + t[0].stride * frame[t[0].slot].i +
		     t[1].stride * frame[t[1].slot].i;

	return (union hn_value){ .f = (double)((const float *)c->base)[at] };
}

static int64_t gathered(const struct hn_cell *c, union hn_value *frame)
{
	int64_t at = 0;

	for (uint32_t d = 0; d < c->n_index; d++) {
		at += c->stride[d] * c->index[d]->eval(c->index[d], frame).i;
	}
	return at;
}

static union hn_value eval_gather(const struct hn_cell *c, union hn_value *frame)
{
	return hn_interp_get(c->base, c->type, gathered(c, frame));
}

/* Of an op that is computed as far as it is asked for. */
static union hn_value eval_lazy(const struct hn_cell *c, union hn_value *frame)
{
	int64_t at = c->index != NULL ? gathered(c, frame) : address(c, frame);
	struct hn_lazy *l = c->lazy;

	hn_assert(at >= 0 && at < l->n_elem); /* the dag was checked */
	if (l->done != NULL) {
		if ((l->done[at / 8] >> (at % 8) & 1) == 0) {
			l->make(l, at);
		}
		frame[-1].i += l->bad[at / 8] >> (at % 8) & 1;
	}
	return hn_interp_get(c->base, c->type, at);
}

static union hn_value eval_round(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .f = hn_float_round(c->type,
						     c->arg[0]->eval(c->arg[0], frame).f) };
}

/* By class: a float's elements are known to dtype.h alone. */
#define GET_INT(type, T)                                                                 \
	case type:                                                                       \
		return (union hn_value){ .i = ((const T *)base)[at] };
#define GET_FLOAT(type, T)                                                               \
	case type:                                                                       \
		return (union hn_value){ .f = hn_float_get(type, base, at) };
#define PUT_INT(type, T)                                                                 \
	case type:                                                                       \
		((T *)base)[at] = (T)v.i;                                                \
		return;
#define PUT_FLOAT(type, T)                                                               \
	case type:                                                                       \
		hn_float_put(type, base, at, v.f);                                       \
		return;
#define GET_BOOL GET_INT
#define GET_SIGNED GET_INT
#define GET_UNSIGNED GET_INT
#define PUT_BOOL PUT_INT
#define PUT_SIGNED PUT_INT
#define PUT_UNSIGNED PUT_INT

union hn_value hn_interp_get(const void *base, enum hn_dtype t, int64_t at)
{
	switch (t) {
#define DTYPE(name, text, bytes, cls, T, ...) GET_##cls(HN_##name, T)
#include "base/dtypes.def"
#undef DTYPE
	default:
		hn_bug(__FILE__, __LINE__, "type of an element");
	}
}

void hn_interp_put(void *base, enum hn_dtype t, int64_t at, union hn_value v)
{
	switch (t) {
#define DTYPE(name, text, bytes, cls, T, ...) PUT_##cls(HN_##name, T)
#include "base/dtypes.def"
#undef DTYPE
	default:
		hn_bug(__FILE__, __LINE__, "type of an element");
	}
}

/* term[0..*n) and *shift += times * e; false when e is no sum of axes. */
static bool sum_of_axes(const struct hn_expr *e, int64_t times, struct hn_interp_term *term,
			uint32_t *n, int64_t *shift)
{
	switch (e->op) {
	case HN_EXPR_INT:
		*shift += times * e->u.i;
		return true;
	case HN_EXPR_VAR:
		if (e->ref >= HN_SLOT_LHS || *n == HN_DAG_MAX_ITERS) {
			return false;
		}
		term[(*n)++] = (struct hn_interp_term){ e->ref, times };
		return true;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return sum_of_axes(e->arg[0], times, term, n, shift) &&
		       sum_of_axes(e->arg[1], e->op == HN_EXPR_ADD ? times : -times, term,
				   n, shift);
	case HN_EXPR_MUL:
		for (int k = 0; k < 2; k++) {
			if (e->arg[k]->op == HN_EXPR_INT) {
				return sum_of_axes(e->arg[1 - k], times * e->arg[k]->u.i,
						   term, n, shift);
			}
		}
		return false;
	default:
		return false;
	}
}

static bool compile_affine(struct hn_compile *c, const struct hn_expr *e,
			   const int64_t *stride, struct hn_cell *cell)
{
	struct hn_interp_term term[HN_DAG_MAX_ITERS];
	uint32_t n = 0;
	int64_t shift = 0;

	for (uint32_t d = 0; d < e->n_arg; d++) {
		if (!sum_of_axes(e->arg[d], stride[d], term, &n, &shift)) {
			return false;
		}
	}
	struct hn_interp_term *own = HN_NEW_ARRAY(c->a, struct hn_interp_term, n);

	for (uint32_t i = 0; i < n; i++) {
		own[i] = term[i];
	}
	cell->term = own;
	cell->n_term = n;
	cell->v.i = shift;
	cell->eval = cell->type != HN_F32 ? eval_load
		     : n == 2		  ? eval_load_f32_two
					  : eval_load_f32;
	return true;
}

static void compile_load(struct hn_compile *c, const struct hn_expr *e,
			 struct hn_cell *cell)
{
	const struct hn_op *p = c->dag->op[e->ref];
	int64_t *stride = HN_NEW_ARRAY(c->a, int64_t, e->n_arg);
	int64_t step = 1;

	for (uint32_t d = e->n_arg; d-- > 0; step *= p->shape[d]) {
		stride[d] = step;
	}
	cell->base = c->data[e->ref][e->out];
	cell->lazy = c->lazy != NULL ? c->lazy[e->ref] : NULL;
	if (compile_affine(c, e, stride, cell)) {
		cell->eval = cell->lazy != NULL ? eval_lazy : cell->eval;
		return;
	}
	const struct hn_cell **index =
		HN_NEW_ARRAY(c->a, const struct hn_cell *, e->n_arg);

	for (uint32_t d = 0; d < e->n_arg; d++) {
		index[d] = compile(c, e->arg[d], /* index= */ true);
	}
	cell->stride = stride;
	cell->index = index;
	cell->n_index = e->n_arg;
	cell->eval = cell->lazy != NULL ? eval_lazy : eval_gather;
}

int32_t hn_interp_slot(struct hn_compile *c, int32_t slot)
{
	uint32_t at;

	if (slot >= HN_SLOT_LET) {
		at = c->n_axis + 2 * c->n_out + (uint32_t)(slot - HN_SLOT_LET);
	} else if (slot >= HN_SLOT_RHS) {
		at = c->n_axis + c->n_out + (uint32_t)(slot - HN_SLOT_RHS);
	} else if (slot >= HN_SLOT_LHS) {
		at = c->n_axis + (uint32_t)(slot - HN_SLOT_LHS);
	} else {
		at = (uint32_t)slot;
	}
	c->n_frame = at >= c->n_frame ? at + 1 : c->n_frame;
	return (int32_t)at;
}

/* Sums and products wrap to their type, or are rounded to it; in indices int32 does not wrap
 * (expr.h).  Narrow floats round in the exact evaluation too: their rounding is what a program
 * that names them means. */
static const struct hn_cell *wrapped(struct hn_compile *c, const struct hn_cell *cell,
				     bool index)
{
	bool is_float = hn_dtype_class(cell->type) == HN_CLASS_FLOAT;
	bool rounds = is_float &&
		      (hn_dtype_is_narrow(cell->type) ||
		       (cell->type != HN_F64 && c->floats == HN_INTERP_ROUNDED));
	bool wide = (is_float && !rounds) ||
		    cell->type == HN_I64 || cell->type == HN_U64 ||
		    (index && cell->type == HN_I32);

	if (wide) {
		return cell;
	}
	struct hn_cell *w = HN_NEW(c->a, struct hn_cell);

	w->eval = rounds ? eval_round : eval_wrap;
	w->arg[0] = cell;
	w->type = cell->type;
	return w;
}

/* Numbers of loops are compared in 64 bits, as everywhere: what a condition allows, a load relies on. */
static bool compares_indices(const struct hn_compile *c, const struct hn_expr *e)
{
	return e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && hn_linear_is_index(e->arg[0], c->n_axis) &&
	       hn_linear_is_index(e->arg[1], c->n_axis);
}

static void compile_args(struct hn_compile *c, const struct hn_expr *e, bool index,
			 struct hn_cell *cell)
{
	for (uint32_t i = 0; i < e->n_arg; i++) {
		cell->arg[i] = compile(c, e->arg[i], index);
	}
}

static const struct hn_cell *compile(struct hn_compile *c, const struct hn_expr *e,
				     bool index)
{
	struct hn_cell *cell = HN_NEW(c->a, struct hn_cell);
	uint8_t operand = e->n_arg > 0 ? e->arg[e->n_arg - 1]->dtype : e->dtype;

	c->n_cell++;
	cell->type = e->dtype;
	if (hn_interp_sum(c, e, index, cell)) {
		return cell;
	}
	switch (e->op) {
	case HN_EXPR_INT:
		cell->v.i = e->u.i;
		cell->eval = eval_const;
		return cell;
	case HN_EXPR_FLOAT:
		cell->v.f = e->u.f;
		cell->eval = eval_const;
		return wrapped(c, cell, index);
	case HN_EXPR_VAR:
		cell->slot = hn_interp_slot(c, e->ref);
		cell->eval = eval_slot;
		return cell;
	case HN_EXPR_LOAD:
		if (c->load != NULL) {
			return c->load(c, e);
		}
		compile_load(c, e, cell);
		return cell;
	case HN_EXPR_LET:
		cell->slot = hn_interp_slot(c, e->ref);
		cell->eval = eval_let;
		break;
	case HN_EXPR_CAST:
		cell->from = operand;
		cell->eval = hn_interp_cast;
		break;
	case HN_EXPR_CALL:
		cell->slot = e->ref;
		cell->eval = hn_interp_call;
		break;
	default:
		cell->eval = hn_interp_node_fn(e->op, operand);
	}
	hn_assert(cell->eval != NULL);
	compile_args(c, e, index || compares_indices(c, e), cell);
	bool wraps = e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB ||
		     e->op == HN_EXPR_MUL || e->op == HN_EXPR_DIV ||
		     e->op == HN_EXPR_FLOORDIV ||
		     (e->op == HN_EXPR_CALL && hn_dtype_class(e->dtype) == HN_CLASS_FLOAT);

	return wraps ? wrapped(c, cell, index) : cell;
}

const struct hn_cell *hn_interp_compile_index(struct hn_compile *c, const struct hn_expr *e)
{
	return compile(c, e, /* index= */ true);
}

const struct hn_cell *hn_interp_compile(struct hn_compile *c, const struct hn_expr *e)
{
	return compile(c, e, /* index= */ false);
}
