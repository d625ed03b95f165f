/* lower/emit_lone.c -- a masked store of one lane becomes a store of one element.
 *
 * LLVM 22 narrows such a store itself, and where the vector is a truncated one (int64 to
 * int32) it stores the element before the truncation: twice the bytes, past the end of the
 * array.  So the one lane is taken out before code is generated.  The mask may have become
 * a constant in the passes, hence after them.
 */
#include "lower/emit_int.h"

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

static bool is_masked_store(LLVMValueRef x)
{
	LLVMValueRef f = LLVMIsACallInst(x) ? LLVMGetCalledValue(x) : NULL;
	const char *prefix = "llvm.masked.store.";
	size_t n = 0;

	return f && LLVMIsAFunction(f) &&
	       strncmp(LLVMGetValueName2(f, &n), prefix, strlen(prefix)) == 0;
}

/* What the pointer (argument 1) is said to be aligned to. */
static unsigned alignment(LLVMValueRef call)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
	LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, 2, kind);

	return a ? (unsigned)LLVMGetEnumAttributeValue(a) : 1;
}

static void store_lane(struct emit *e, LLVMValueRef call, int32_t lane)
{
	LLVMValueRef v = LLVMGetOperand(call, 0), p = LLVMGetOperand(call, 1);
	LLVMValueRef at = hn_emit_const(e, lane);
	LLVMTypeRef t = LLVMGetElementType(LLVMTypeOf(v));
	unsigned align = alignment(call);

	LLVMPositionBuilderBefore(e->b, call);
	v = LLVMBuildExtractElement(e->b, v, at, "");
	p = LLVMBuildGEP2(e->b, t, p, &at, 1, "");
	/* Lanes lie their own size apart. */
	unsigned size = (unsigned)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(e->mod), t);

	LLVMSetAlignment(LLVMBuildStore(e->b, v, p), lane > 0 && align > size ? size : align);
	LLVMInstructionEraseFromParent(call);
}

void hn_emit_lone_lanes(struct emit *e)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(e->mod); f; f = LLVMGetNextFunction(f)) {
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
		     b = LLVMGetNextBasicBlock(b)) {
			LLVMValueRef next;

			for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = next) {
				next = LLVMGetNextInstruction(x);
				int32_t lane = is_masked_store(x)
						       ? lone_lane(LLVMGetOperand(x, 2))
						       : -1;

				if (lane >= 0) {
					store_lane(e, x, lane);
				}
			}
		}
	}
}
