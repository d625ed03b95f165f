/* lower/cpu/emit_index.c -- indices, and what compares them, as values.
 *
 * Over the lanes of a vector an index is mostly one linear form plus a constant for each
 * lane: one scalar, spread out, and a vector of constants.  Where the forms of the lanes
 * differ otherwise there is scalar code for each.
 */
#include "lower/cpu/emit_nest.h"

static struct emit_val scalar(LLVMValueRef v)
{
	return (struct emit_val){ v, false };
}

/* The forms of index x, or of comparison x's difference, in all lanes; true when they
 * differ by constants only. */
static bool lane_forms(struct emit *e, const struct hn_expr *x, struct hn_linear *first,
		       int64_t *c)
{
	for (uint32_t k = 0; k < e->n_lane; k++) {
		uint32_t lane = k < e->n_active ? k : 0;
		struct hn_linear f;

		if (hn_emit_is_index(e, x)) {
			hn_emit_lin_lane(e, x, lane, &f);
		} else {
			hn_emit_difference(e, x, lane, &f);
		}
		c[k] = f.c;
		if (k == 0) {
			*first = f;
		} else if (!hn_linear_same_terms(first, &f)) {
			return false;
		}
	}
	return true;
}

static LLVMValueRef const_lanes(struct emit *e, LLVMTypeRef type, const int64_t *c, int64_t sign)
{
	LLVMValueRef lane[EMIT_MAX_LANES];

	for (uint32_t k = 0; k < e->n_lane; k++) {
		lane[k] = LLVMConstInt(type, (uint64_t)(sign * c[k]), 1);
	}
	return LLVMConstVector(lane, e->n_lane);
}

/* Scalar code for each lane, put together. */
static struct emit_val by_lanes(struct emit *e, const struct hn_expr *x)
{
	LLVMValueRef v = NULL;

	for (uint32_t k = 0; k < e->n_active; k++) {
		e->lane = (int32_t)k;
		LLVMValueRef one = hn_emit_value(e, x).v;

		e->lane = -1;
		if (!v) {
			v = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one), e->n_lane));
		}
		v = LLVMBuildInsertElement(e->b, v, one, LLVMConstInt(e->i32, k, 0), "");
	}
	return (struct emit_val){ v, true };
}

struct emit_val hn_emit_index_value(struct emit *e, const struct hn_expr *x)
{
	LLVMTypeRef type = hn_emit_type(e, x->dtype);
	int64_t c[EMIT_MAX_LANES];
	struct hn_linear f;

	if (e->lane >= 0 || !hn_emit_lane_varies(e, x)) {
		hn_emit_lin_lane(e, x, 0, &f);
		return scalar(
			LLVMBuildIntCast2(e->b, hn_emit_lin_value(e, &f), type, 1, ""));
	}
	if (!lane_forms(e, x, &f, c)) {
		return by_lanes(e, x);
	}
	f.c = 0;
	LLVMValueRef base = hn_emit_splat(e, scalar(hn_emit_lin_value(e, &f)));
	LLVMValueRef v = LLVMBuildAdd(e->b, base, const_lanes(e, e->i64, c, 1), "");

	return (struct emit_val){
		LLVMBuildTrunc(e->b, v, LLVMVectorType(type, e->n_lane), ""), true
	};
}

static const LLVMIntPredicate unsigned_pred[] = { LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
						  LLVMIntULE, LLVMIntUGT, LLVMIntUGE };
static const LLVMRealPredicate real_pred[] = { LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
					       LLVMRealOLE, LLVMRealOGT, LLVMRealOGE };

static struct emit_val truth(struct emit *e, bool v)
{
	return scalar(LLVMConstInt(e->i1, v, 0));
}

/* What the lanes are compared in: i32 where no number needs more, for a vector has twice as many. */
static LLVMTypeRef compare_type(struct emit *e, const struct hn_linear *terms, const int64_t *c)
{
	int64_t lo, hi;
	bool narrow;

	hn_linear_range(terms, &lo, &hi);
	narrow = lo >= INT32_MIN && hi <= INT32_MAX;
	for (uint32_t k = 0; k < e->n_lane; k++) {
		narrow = narrow && -c[k] >= INT32_MIN && -c[k] <= INT32_MAX;
	}
	return narrow ? e->i32 : e->i64;
}

/* A comparison of lanes that share their terms. */
static struct emit_val compare_lanes(struct emit *e, uint8_t op, struct hn_linear *f,
				     const int64_t *c)
{
	LLVMValueRef lane[EMIT_MAX_LANES];
	bool all_known = true, same = true;

	for (uint32_t k = 0; k < e->n_lane; k++) {
		f->c = c[k];
		int known = hn_emit_judge(op, f);

		all_known = all_known && known >= 0;
		lane[k] = LLVMConstInt(e->i1, known > 0, 0);
		same = same && lane[k] == lane[0];
	}
	if (all_known) {
		return same ? scalar(lane[0])
			    : (struct emit_val){ LLVMConstVector(lane, e->n_lane), true };
	}
	f->c = 0;
	LLVMTypeRef type = compare_type(e, f, c);
	LLVMValueRef base = LLVMBuildTrunc(e->b, hn_emit_lin_value(e, f), type, "");

	return (struct emit_val){ LLVMBuildICmp(e->b, hn_emit_predicate(op),
						hn_emit_splat(e, scalar(base)),
						const_lanes(e, type, c, -1), ""),
				  true };
}

static struct emit_val compare_index(struct emit *e, const struct hn_expr *x)
{
	int64_t c[EMIT_MAX_LANES];
	struct hn_linear f;

	if (e->lane < 0 && hn_emit_lane_varies(e, x)) {
		if (!lane_forms(e, x, &f, c)) {
			return by_lanes(e, x);
		}
		return compare_lanes(e, x->op, &f, c);
	}
	hn_emit_difference(e, x, 0, &f);
	int known = hn_emit_judge(x->op, &f);

	return known >= 0 ? truth(e, known) : scalar(hn_emit_test(e, x->op, &f));
}

struct emit_val hn_emit_compare(struct emit *e, const struct hn_expr *x)
{
	if (hn_emit_is_fact(e, x) || hn_emit_is_assumed(e, x)) {
		return truth(e, true);
	}
	if (hn_emit_compares_indices(e, x)) {
		return compare_index(e, x);
	}
	struct emit_val u = hn_emit_value(e, x->arg[0]), v = hn_emit_value(e, x->arg[1]);
	bool vec = hn_emit_match(e, &u, &v);
	uint32_t row = x->op - HN_EXPR_EQ;
	LLVMValueRef r;

	switch (hn_dtype_class(x->arg[0]->dtype)) {
	case HN_CLASS_FLOAT:
		r = LLVMBuildFCmp(e->b, real_pred[row], u.v, v.v, "");
		break;
	case HN_CLASS_SIGNED:
		r = LLVMBuildICmp(e->b, hn_emit_predicate(x->op), u.v, v.v, "");
		break;
	default:
		r = LLVMBuildICmp(e->b, unsigned_pred[row], u.v, v.v, "");
	}
	return (struct emit_val){ r, vec };
}
