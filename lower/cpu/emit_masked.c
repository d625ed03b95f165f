/* lower/cpu/emit_masked.c -- replaces masked accesses that LLVM 22 compiles wrongly.
 *
 *   - A store of one lane: LLVM narrows it. If the vector is a truncated one (int64 to int32),
 *     it stores the element before the truncation: twice the bytes, past the end of the array.
 *     So the lane is stored as an element.
 *   - An access wider than a register: LLVM splits it. A part whose mask turns out to be all
 *     zeros is loaded without a mask, again past the end. So such accesses are split here, and
 *     a part without lanes is left out.
 *
 * This runs after the passes, because masks may have become constant in them.
 */
#include "lower/cpu/emit_int.h"

#include <llvm-c/Target.h>
#include <string.h>

/* The lane, when the mask is constant and has one; else -1. */
static int32_t lone_lane(LLVMValueRef mask)
{
	unsigned n = LLVMGetVectorSize(LLVMTypeOf(mask));
	int32_t lane = -1;

	if (!LLVMIsConstant(mask)) {
		return -1;
	}
	for (unsigned k = 0; k < n; k++) {
		LLVMValueRef bit = LLVMGetAggregateElement(mask, k);

		if (!bit || !LLVMIsAConstantInt(bit)) {
			return -1;
		}
		if (LLVMConstIntGetZExtValue(bit)) {
			if (lane >= 0) {
				return -1;
			}
			lane = (int32_t)k;
		}
	}
	return lane;
}

#define LOADS "llvm.masked.load."
#define STORES "llvm.masked.store."

static bool is_masked(LLVMValueRef x, const char *prefix)
{
	LLVMValueRef f = LLVMIsACallInst(x) ? LLVMGetCalledValue(x) : NULL;
	size_t n = 0;

	return f && LLVMIsAFunction(f) &&
	       strncmp(LLVMGetValueName2(f, &n), prefix, strlen(prefix)) == 0;
}

/* What the pointer, argument i, is said to be aligned to. */
static unsigned alignment(LLVMValueRef call, unsigned i)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
	LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);

	return a ? (unsigned)LLVMGetEnumAttributeValue(a) : 1;
}

static void store_lane(struct emit *e, LLVMValueRef call, int32_t lane)
{
	LLVMValueRef v = LLVMGetOperand(call, 0), p = LLVMGetOperand(call, 1);
	LLVMValueRef at = hn_emit_const(e, lane);
	LLVMTypeRef t = LLVMGetElementType(LLVMTypeOf(v));
	unsigned align = alignment(call, 1);

	LLVMPositionBuilderBefore(e->b, call);
	v = LLVMBuildExtractElement(e->b, v, at, "");
	p = LLVMBuildGEP2(e->b, t, p, &at, 1, "");
	/* Lanes lie their own size apart. */
	unsigned size = (unsigned)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(e->mod), t);

	LLVMSetAlignment(LLVMBuildStore(e->b, v, p), lane > 0 && align > size ? size : align);
	LLVMInstructionEraseFromParent(call);
}

static void lone_lanes(struct emit *e, LLVMValueRef x)
{
	int32_t lane = is_masked(x, STORES) ? lone_lane(LLVMGetOperand(x, 2)) : -1;

	if (lane >= 0) {
		store_lane(e, x, lane);
	}
}

/* Whether lanes [from, from + n) of the mask are false, as far as is seen here. */
static bool is_dead(LLVMValueRef mask, unsigned from, unsigned n)
{
	if (LLVMIsAInstruction(mask) && LLVMGetInstructionOpcode(mask) == LLVMAnd) {
		return is_dead(LLVMGetOperand(mask, 0), from, n) ||
		       is_dead(LLVMGetOperand(mask, 1), from, n);
	}
	for (unsigned k = from; k < from + n; k++) {
		LLVMValueRef bit = LLVMIsConstant(mask) ? LLVMGetAggregateElement(mask, k) : NULL;

		if (!bit || !LLVMIsAConstantInt(bit) || LLVMConstIntGetZExtValue(bit)) {
			return false;
		}
	}
	return true;
}

/* Lanes [from, from + n) of x and, behind its end, of y. */
static LLVMValueRef lanes(struct emit *e, LLVMValueRef x, LLVMValueRef y, unsigned from,
			  unsigned n)
{
	LLVMValueRef *at = HN_NEW_ARRAY(e->a, LLVMValueRef, n);

	for (unsigned k = 0; k < n; k++) {
		at[k] = LLVMConstInt(e->i32, from + k, 0);
	}
	return LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(at, n), "");
}

static LLVMValueRef part_of(struct emit *e, LLVMValueRef x, unsigned from, unsigned n)
{
	return lanes(e, x, LLVMGetPoison(LLVMTypeOf(x)), from, n);
}

/* An access to lanes [from, from + n) of the one of `call`, whose pointer is argument p_at. */
static LLVMValueRef part_access(struct emit *e, LLVMValueRef call, unsigned p_at, unsigned from,
				unsigned n)
{
	const char *name = p_at == 0 ? "llvm.masked.load" : "llvm.masked.store";
	LLVMTypeRef wide = LLVMTypeOf(p_at == 0 ? call : LLVMGetOperand(call, 0));
	LLVMTypeRef t = LLVMGetElementType(wide), over[2] = { LLVMVectorType(t, n), e->ptr };
	LLVMValueRef first = hn_emit_const(e, from), arg[3];
	unsigned bytes = n * (unsigned)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(e->mod), t);
	unsigned align = alignment(call, p_at);
	unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);

	for (unsigned i = 0; i < 3; i++) {
		LLVMValueRef x = LLVMGetOperand(call, i);

		arg[i] = i == p_at ? LLVMBuildGEP2(e->b, t, x, &first, 1, "")
				   : part_of(e, x, from, n);
	}
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(
		e->mod, LLVMLookupIntrinsicID(name, strlen(name)), over, 2);
	LLVMValueRef ret = LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, arg, 3, "");

	align = from > 0 && align > bytes ? bytes : align;
	LLVMAddCallSiteAttribute(ret, p_at + 1, LLVMCreateEnumAttribute(e->ctx, kind, align));
	return ret;
}

/* The access in parts of n lanes: a power of two, as their number is. */
static void split(struct emit *e, LLVMValueRef call, bool load, unsigned n_lane, unsigned n)
{
	LLVMValueRef mask = LLVMGetOperand(call, load ? 1 : 2);
	LLVMValueRef *part = HN_NEW_ARRAY(e->a, LLVMValueRef, n_lane / n);

	LLVMPositionBuilderBefore(e->b, call);
	for (unsigned k = 0; k * n < n_lane; k++) {
		bool dead = is_dead(mask, k * n, n);

		if (!dead) {
			part[k] = part_access(e, call, load ? 0 : 1, k * n, n);
		} else if (load) {
			part[k] = part_of(e, LLVMGetOperand(call, 2), k * n, n);
		}
	}
	for (unsigned m = n_lane / n, w = n; load && m > 1; m /= 2, w *= 2) {
		for (unsigned k = 0; k < m / 2; k++) {
			part[k] = lanes(e, part[2 * k], part[2 * k + 1], 0, 2 * w);
		}
	}
	if (load) {
		LLVMReplaceAllUsesWith(call, part[0]);
	}
	LLVMInstructionEraseFromParent(call);
}

static void wide_accesses(struct emit *e, LLVMValueRef x)
{
	bool load = is_masked(x, LOADS);

	if (!load && !is_masked(x, STORES)) {
		return;
	}
	LLVMTypeRef t = LLVMTypeOf(load ? x : LLVMGetOperand(x, 0));
	unsigned n_lane = LLVMGetVectorSize(t);
	unsigned bytes = (unsigned)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(e->mod),
						       LLVMGetElementType(t));
	unsigned n = (unsigned)e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES] / bytes;

	if (n > 0 && n_lane > n && n_lane % n == 0) {
		split(e, x, load, n_lane, n);
	}
}

static void each_instruction(struct emit *e, void (*visit)(struct emit *e, LLVMValueRef x))
{
	for (LLVMValueRef f = LLVMGetFirstFunction(e->mod); f; f = LLVMGetNextFunction(f)) {
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
		     b = LLVMGetNextBasicBlock(b)) {
			LLVMValueRef next;

			for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = next) {
				next = LLVMGetNextInstruction(x);
				visit(e, x);
			}
		}
	}
}

void hn_emit_mend_masked(struct emit *e)
{
	each_instruction(e, wide_accesses);
	each_instruction(e, lone_lanes);
}
