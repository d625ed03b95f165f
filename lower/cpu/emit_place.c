/* lower/cpu/emit_place.c -- where the code of index arithmetic goes.
 *
 * An operation is built in the outermost loop (scope) that knows its operands, and once
 * there; a sum's terms are added in the order they become known.  While planning (dry)
 * nothing is built: values are words that are only compared.
 */
#include "lower/cpu/emit_int.h"

static LLVMValueRef memo_find(const struct emit_memo *memo, uint32_t n, uint32_t op,
			      LLVMValueRef x, LLVMValueRef y)
{
	for (uint32_t i = n; i-- > 0;) {
		if (memo[i].op == op && memo[i].x == x && memo[i].y == y) {
			return memo[i].value;
		}
	}
	return NULL;
}

static void memo_add(struct emit *e, struct emit_memo **memo, uint32_t *n, uint32_t *cap,
		     struct emit_memo m)
{
	*memo = hn_arena_grow(e->a, *memo, *n, cap, sizeof(**memo));
	(*memo)[(*n)++] = m;
}

static LLVMValueRef build_floordiv(struct emit *e, LLVMValueRef x, LLVMValueRef c,
				   bool natural)
{
	if (natural) {
		return LLVMBuildUDiv(e->b, x, c, "");
	}
	LLVMValueRef q = LLVMBuildSDiv(e->b, x, c, "");
	LLVMValueRef r = LLVMBuildNSWSub(e->b, x, LLVMBuildNSWMul(e->b, q, c, ""), "");
	LLVMValueRef zero = hn_emit_const(e, 0);
	LLVMValueRef apart =
		LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, r, c, ""), zero, "");
	LLVMValueRef fix = LLVMBuildAnd(e->b, apart,
					LLVMBuildICmp(e->b, LLVMIntNE, r, zero, ""), "");

	return LLVMBuildNSWSub(e->b, q, LLVMBuildZExt(e->b, fix, e->i64, ""), "");
}

static LLVMValueRef build(struct emit *e, uint32_t op, LLVMValueRef x, LLVMValueRef y)
{
	switch (op) {
	case HN_LINEAR_ADD:
		return LLVMBuildNSWAdd(e->b, x, y, "");
	case HN_LINEAR_MUL:
		return LLVMBuildNSWMul(e->b, x, y, "");
	case EMIT_GEP:
		return LLVMBuildGEP2(e->b, e->i8, x, &y, 1, "");
	case EMIT_GEP_IN:
		return LLVMBuildInBoundsGEP2(e->b, e->i8, x, &y, 1, "");
	case HN_LINEAR_DIV:
		return build_floordiv(e, x, y, true);
	case HN_LINEAR_XOR:
		return LLVMBuildXor(e->b, x, y, "");
	case HN_LINEAR_EXPR + HN_EXPR_FLOORDIV:
		return build_floordiv(e, x, y, false);
	case HN_LINEAR_EXPR + HN_EXPR_FLOORMOD:
		return LLVMBuildNSWSub(
			e->b, x,
			LLVMBuildNSWMul(e->b, build_floordiv(e, x, y, false), y, ""), "");
	case HN_LINEAR_EXPR + HN_EXPR_DIV:
		return LLVMBuildSDiv(e->b, x, y, "");
	case HN_LINEAR_EXPR + HN_EXPR_TRUNCMOD:
		return LLVMBuildSRem(e->b, x, y, "");
	case HN_LINEAR_EXPR + HN_EXPR_MIN:
		return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, x, y, ""), x,
				       y, "");
	default:
		return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, x, y, ""), x,
				       y, "");
	}
}

LLVMValueRef hn_emit_dry_word(struct emit *e, struct emit_memo m)
{
	m.value = (LLVMValueRef)(((uintptr_t)e->n_dry + 1) * 16 + 1);
	memo_add(e, &e->dry_memo, &e->n_dry, &e->cap_dry, m);
	return m.value;
}

LLVMValueRef hn_emit_place(struct emit *e, uint32_t op, LLVMValueRef x, LLVMValueRef y,
			   int32_t depth)
{
	if (e->dry) {
		LLVMValueRef known = memo_find(e->dry_memo, e->n_dry, op, x, y);

		return known ? known
			     : hn_emit_dry_word(e, (struct emit_memo){ op, x, y, NULL });
	}
	if (depth == HN_LINEAR_HERE) {
		return build(e, op, x, y);
	}
	struct emit_scope *s = &e->fn->scope[depth];
	LLVMValueRef known = memo_find(s->memo, s->n_memo, op, x, y);

	if (known) {
		return known;
	}
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

	LLVMPositionBuilderBefore(e->b, s->anchor);
	known = build(e, op, x, y);
	LLVMPositionBuilderAtEnd(e->b, here);
	memo_add(e, &s->memo, &s->n_memo, &s->cap_memo,
		 (struct emit_memo){ op, x, y, known });
	return known;
}

LLVMValueRef hn_emit_lin_value(struct emit *e, const struct hn_linear *x)
{
	int32_t depth;

	return hn_linear_value(&e->lin, x, &depth);
}

LLVMValueRef hn_emit_lin_address(struct emit *e, LLVMValueRef base, int32_t depth,
				 const struct hn_linear *x, int64_t unit, bool inbounds)
{
	struct hn_linear s = *x;
	uint32_t op = inbounds ? EMIT_GEP_IN : EMIT_GEP;

	hn_linear_sort(&s);
	for (uint32_t i = 0; i < s.n; i++) {
		LLVMValueRef bytes = s.t[i].v;

		if (s.t[i].coef * unit != 1) {
			bytes = hn_emit_place(e, HN_LINEAR_MUL, bytes,
					      hn_emit_const(e, s.t[i].coef * unit),
					      s.t[i].depth);
		}
		depth = s.t[i].depth > depth ? s.t[i].depth : depth;
		/* a partial sum may leave the object: only the whole address is in bounds
		 */
		base = hn_emit_place(e, i + 1 == s.n && s.c == 0 ? op : EMIT_GEP, base,
				     bytes, depth);
	}
	return s.c == 0 ? base : build(e, op, base, hn_emit_const(e, s.c * unit));
}
