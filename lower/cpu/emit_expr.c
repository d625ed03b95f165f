/* lower/cpu/emit_expr.c -- values: scalar, or a vector of lanes, always straight-line code.
 *
 * A value is a vector only when it differs between lanes; e->lane >= 0 asks for scalar
 * code of one lane.  e->mask says where the value is wanted: elsewhere it may be
 * anything, but making it must not trap or touch memory that is not ours.
 */
#include "lower/cpu/emit_int.h"

static struct emit_val scalar(LLVMValueRef v)
{
	return (struct emit_val){ v, false };
}

static LLVMTypeRef type_of(struct emit_val v)
{
	return LLVMTypeOf(v.v);
}

static struct emit_val negate(struct emit *e, struct emit_val x)
{
	return (struct emit_val){ LLVMBuildNot(e->b, x.v, ""), x.vec };
}

void hn_emit_let_push(struct emit *e, int32_t slot, struct emit_val v)
{
	e->let = hn_arena_grow(e->a, e->let, e->n_let, &e->cap_let, sizeof(*e->let));
	e->let[e->n_let++] = (struct emit_let){ slot, v };
}

static struct emit_val of_lane(struct emit *e, struct emit_val v)
{
	if (!v.vec || e->lane < 0) {
		return v;
	}
	LLVMValueRef k = LLVMConstInt(e->i32, (unsigned)e->lane, 0);

	return scalar(LLVMBuildExtractElement(e->b, v.v, k, ""));
}

static struct emit_val let_value(struct emit *e, const struct hn_expr *x)
{
	for (uint32_t i = e->n_let; i-- > 0;) {
		if (e->let[i].slot == x->ref) {
			return of_lane(e, e->let[i].val);
		}
	}
	hn_emit_refuse(e, HONE_E_INTERNAL, "expression uses unknown name slot %d",
		       x->ref);
	return scalar(LLVMConstNull(hn_emit_type(e, x->dtype)));
}

/* Of narrow types every operation rounds: LLVM may not fuse where it finds one instruction for
 * operation and rounding. */
static LLVMValueRef contract(const struct emit *e, const struct hn_expr *x, LLVMValueRef v)
{
	if (hn_emit_may(e, HN_LIBERTY_contraction) && !hn_dtype_is_narrow(x->dtype) &&
	    LLVMCanValueUseFastMathFlags(v)) {
		LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
	}
	return v;
}

static LLVMValueRef float_binary(struct emit *e, const struct hn_expr *x, LLVMValueRef u,
				 LLVMValueRef v)
{
	switch (x->op) {
	case HN_EXPR_ADD:
		return contract(e, x, LLVMBuildFAdd(e->b, u, v, ""));
	case HN_EXPR_SUB:
		return contract(e, x, LLVMBuildFSub(e->b, u, v, ""));
	case HN_EXPR_MUL:
		return contract(e, x, LLVMBuildFMul(e->b, u, v, ""));
	case HN_EXPR_DIV:
		return LLVMBuildFDiv(e->b, u, v, "");
	case HN_EXPR_TRUNCMOD:
		return LLVMBuildFRem(e->b, u, v, "");
	case HN_EXPR_MIN:
		return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, u, v, ""),
				       u, v, "");
	case HN_EXPR_MAX:
		return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, u, v, ""),
				       u, v, "");
	default:
		hn_emit_refuse(e, HONE_E_UNSUPPORTED, "%s on floating-point values",
			       hn_expr_op_name(x->op));
		return u;
	}
}

/* Division and remainder; the divisor is 1 where the value is not wanted. */
static LLVMValueRef int_divide(struct emit *e, const struct hn_expr *x, bool is_signed,
			       LLVMValueRef u, struct emit_val d)
{
	struct emit_val one = { LLVMConstInt(hn_emit_type(e, x->dtype), 1, 0), false };
	bool u_vec = LLVMGetTypeKind(LLVMTypeOf(u)) == LLVMVectorTypeKind;

	if (!LLVMIsConstant(d.v)) {
		if (e->mask.v) {
			d = hn_emit_select(e, of_lane(e, e->mask), d, one);
		}
		if (d.vec && e->n_active < e->n_lane) {
			d = hn_emit_select(
				e, (struct emit_val){ hn_emit_lane_mask(e), true }, d,
				one);
		}
		if (!d.vec && u_vec) {
			d.v = hn_emit_splat(e, d);
		}
		if (d.vec && !u_vec) { /* the mask has lanes */
			u = hn_emit_splat(e, (struct emit_val){ u, false });
		}
	}
	LLVMValueRef v = d.v, zero = LLVMConstNull(LLVMTypeOf(v));
	bool mod = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_TRUNCMOD;
	bool floored = x->op == HN_EXPR_FLOORMOD || x->op == HN_EXPR_FLOORDIV;

	if (!is_signed) {
		return mod ? LLVMBuildURem(e->b, u, v, "")
			   : LLVMBuildUDiv(e->b, u, v, "");
	}
	if (!floored) {
		return mod ? LLVMBuildSRem(e->b, u, v, "")
			   : LLVMBuildSDiv(e->b, u, v, "");
	}
	LLVMValueRef r = LLVMBuildSRem(e->b, u, v, "");
	LLVMValueRef apart = LLVMBuildAnd(
		e->b, LLVMBuildICmp(e->b, LLVMIntNE, r, zero, ""),
		LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, r, v, ""), zero, ""),
		"");

	if (mod) {
		return LLVMBuildSelect(e->b, apart, LLVMBuildAdd(e->b, r, v, ""), r, "");
	}
	LLVMValueRef q = LLVMBuildSDiv(e->b, u, v, "");

	return LLVMBuildAdd(e->b, q, LLVMBuildSExt(e->b, apart, LLVMTypeOf(q), ""), "");
}

static LLVMValueRef int_binary(struct emit *e, const struct hn_expr *x, LLVMValueRef u,
			       struct emit_val v)
{
	bool is_signed = hn_dtype_class(x->dtype) == HN_CLASS_SIGNED;

	switch (x->op) {
	case HN_EXPR_ADD:
		return LLVMBuildAdd(e->b, u, v.v, "");
	case HN_EXPR_SUB:
		return LLVMBuildSub(e->b, u, v.v, "");
	case HN_EXPR_MUL:
		return LLVMBuildMul(e->b, u, v.v, "");
	case HN_EXPR_MIN:
		return LLVMBuildSelect(e->b,
				       LLVMBuildICmp(e->b,
						     is_signed ? LLVMIntSLT : LLVMIntULT,
						     u, v.v, ""),
				       u, v.v, "");
	case HN_EXPR_MAX:
		return LLVMBuildSelect(e->b,
				       LLVMBuildICmp(e->b,
						     is_signed ? LLVMIntSGT : LLVMIntUGT,
						     u, v.v, ""),
				       u, v.v, "");
	case HN_EXPR_AND:
		return LLVMBuildAnd(e->b, u, v.v, "");
	case HN_EXPR_OR:
		return LLVMBuildOr(e->b, u, v.v, "");
	default:
		return int_divide(e, x, is_signed, u, v);
	}
}

static struct emit_val binary(struct emit *e, const struct hn_expr *x)
{
	struct emit_val u = hn_emit_value(e, x->arg[0]), v = hn_emit_value(e, x->arg[1]);
	bool is_float = hn_dtype_class(x->dtype) == HN_CLASS_FLOAT;

	if (is_float && !hn_dtype_is_narrow(x->dtype) && x->op == HN_EXPR_DIV && u.vec && !v.vec &&
	    hn_emit_may(e, HN_LIBERTY_reciprocal)) {
		return hn_emit_divide_by_one(e, u, v);
	}
	bool vec = hn_emit_match(e, &u, &v);

	if (is_float) {
		LLVMValueRef r = float_binary(e, x, u.v, v.v);
		bool picks = x->op == HN_EXPR_MIN || x->op == HN_EXPR_MAX;

		return (struct emit_val){ picks ? r : hn_emit_rounded(e, x->dtype, r), vec };
	}
	LLVMValueRef r = int_binary(e, x, u.v, v);

	/* a mask of lanes can make a divisor, and with it the quotient, a vector */
	return (struct emit_val){ r,
				  LLVMGetTypeKind(LLVMTypeOf(r)) == LLVMVectorTypeKind };
}

static struct emit_val cast(struct emit *e, const struct hn_expr *x)
{
	struct emit_val v = hn_emit_value(e, x->arg[0]);
	enum hn_dtype_class from = hn_dtype_class(x->arg[0]->dtype),
			    to = hn_dtype_class(x->dtype);
	LLVMTypeRef type = hn_emit_type(e, x->dtype);

	if (v.vec) {
		type = LLVMVectorType(type, e->n_lane);
	}
	if (x->arg[0]->dtype == x->dtype) {
		return v;
	}
	if (to == HN_CLASS_BOOL) {
		LLVMValueRef zero = LLVMConstNull(type_of(v));

		v.v = from == HN_CLASS_FLOAT
			      ? LLVMBuildFCmp(e->b, LLVMRealUNE, v.v, zero, "")
			      : LLVMBuildICmp(e->b, LLVMIntNE, v.v, zero, "");
	} else if (from == HN_CLASS_FLOAT && to == HN_CLASS_FLOAT) {
		v.v = hn_emit_rounded(e, x->dtype, LLVMBuildFPCast(e->b, v.v, type, ""));
	} else if (from == HN_CLASS_FLOAT) {
		v.v = hn_emit_saturated(e, v.v, x->arg[0], x->dtype, type);
	} else if (to == HN_CLASS_FLOAT) {
		v.v = from == HN_CLASS_SIGNED ? LLVMBuildSIToFP(e->b, v.v, type, "")
					      : LLVMBuildUIToFP(e->b, v.v, type, "");
		v.v = hn_emit_rounded(e, x->dtype, v.v);
	} else {
		v.v = LLVMBuildIntCast2(e->b, v.v, type, from == HN_CLASS_SIGNED, "");
	}
	return v;
}

/* Only the wanted side may be evaluated: the other is masked. */
static struct emit_val one_side(struct emit *e, const struct hn_expr *x)
{
	bool known, spare = e->spare;
	struct emit_val c = hn_emit_value(e, x->arg[0]), outer = e->mask;

	if (hn_emit_is_const_bool(c, &known)) {
		return hn_emit_value(e, x->arg[known ? 1 : 2]);
	}
	struct emit_val mask = of_lane(e, outer);

	e->spare = false;
	e->mask = hn_emit_and(e, mask, c);
	struct emit_val t = hn_emit_value(e, x->arg[1]);

	e->mask = hn_emit_and(e, mask, negate(e, c));
	struct emit_val f = hn_emit_value(e, x->arg[2]);

	e->mask = outer;
	e->spare = spare;
	return hn_emit_select(e, c, t, f);
}

static struct emit_val choose(struct emit *e, const struct hn_expr *x)
{
	struct emit_val v = hn_emit_from_table(e, x);

	if (!v.v) {
		e->n_choice++;
		v = one_side(e, x);
		e->n_choice--;
	}
	return v;
}

static struct emit_val let(struct emit *e, const struct hn_expr *x)
{
	struct emit_val v = hn_emit_value(e, x->arg[0]);
	uint32_t n = e->n_let;

	hn_emit_let_push(e, x->ref, v);
	struct emit_val r = hn_emit_value(e, x->arg[1]);

	e->n_let = n;
	return r;
}

struct emit_val hn_emit_value(struct emit *e, const struct hn_expr *x)
{
	if (hn_emit_is_index(e, x)) {
		return hn_emit_index_value(e, x);
	}
	if (x->op >= HN_EXPR_EQ && x->op <= HN_EXPR_GE) {
		return hn_emit_compare(e, x);
	}
	switch (x->op) {
	case HN_EXPR_VAR:
		return let_value(e, x);
	case HN_EXPR_INT:
		return scalar(
			LLVMConstInt(hn_emit_type(e, x->dtype), (uint64_t)x->u.i, 1));
	case HN_EXPR_FLOAT:
		return scalar(LLVMConstReal(hn_emit_type(e, x->dtype), x->u.f));
	case HN_EXPR_LOAD:
		return hn_emit_load(e, x);
	case HN_EXPR_NOT:
		return negate(e, hn_emit_value(e, x->arg[0]));
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
		return choose(e, x);
	case HN_EXPR_CAST:
		return cast(e, x);
	case HN_EXPR_CALL:
		return hn_emit_call_fn(e, x);
	case HN_EXPR_LET:
		return let(e, x);
	default:
		return binary(e, x);
	}
}

struct emit_val hn_emit_condition(struct emit *e, const struct hn_expr *x)
{
	return hn_emit_value(e, x);
}

LLVMValueRef hn_emit_lane_mask(struct emit *e)
{
	LLVMValueRef lane[EMIT_MAX_LANES];

	for (uint32_t k = 0; k < e->n_lane; k++) {
		lane[k] = LLVMConstInt(e->i1, k < e->n_active, 0);
	}
	return LLVMConstVector(lane, e->n_lane);
}
