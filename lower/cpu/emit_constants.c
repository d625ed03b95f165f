/* lower/cpu/emit_constants.c -- constants of what follows a sum made by an instruction are
 * loaded where they are used.
 *
 * Such a sum's loop holds 28 vectors of results, two of panels and one of what is broadcast.
 * What is done with the results, as scaling and saturating them to bytes, or erf of them, has
 * constants.  LLVM moves them out of all loops; then there are more vectors than registers inside
 * the sum's loop, and it moves the results about and to the stack in every iteration (a 1x1
 * convolution of 128 channels to bytes: 50 moves to 28 sums).  A volatile load stays where it is.
 */
#include "lower/cpu/emit_int.h"

#include <string.h>

#include "loopstate/state/intrin.h"

#define FEW 1	/* constants that a register is left for */
#define MANY 64 /* of a block: others stay as they are */

struct constants {
	uint32_t n;
	LLVMValueRef was[MANY], now[MANY];
};

/* The called function's name begins so. */
static bool calls(LLVMValueRef x, const char *prefix)
{
	LLVMValueRef f = LLVMIsACallInst(x) ? LLVMGetCalledValue(x) : NULL;
	size_t n = 0;

	return f && LLVMIsAFunction(f) &&
	       strncmp(LLVMGetValueName2(f, &n), prefix, strlen(prefix)) == 0;
}

static bool sums(LLVMBasicBlockRef b)
{
	for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x)) {
		for (uint32_t i = 0; i < hn_intrin_count(); i++) {
			const struct hn_intrin *in = hn_intrin_at(i);

			if (!hn_intrin_is_tile(in) && calls(x, in->llvm)) {
				return true;
			}
		}
	}
	return false;
}

/* Arithmetic that takes any vector where it takes a constant. */
static bool computes(LLVMValueRef x)
{
	switch (LLVMGetInstructionOpcode(x)) {
	case LLVMAdd:
	case LLVMSub:
	case LLVMMul:
	case LLVMFAdd:
	case LLVMFSub:
	case LLVMFMul:
	case LLVMFCmp:
	case LLVMICmp:
	case LLVMSelect:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
		return true;
	default:
		return calls(x, "llvm.fma.") || calls(x, "llvm.fmuladd.");
	}
}

/* The scalar of which the operand has one in each lane; NULL = it is no such constant. */
static LLVMValueRef lane_of(LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	LLVMValueRef first;

	if (!LLVMIsConstant(v) || LLVMGetTypeKind(t) != LLVMVectorTypeKind) {
		return NULL;
	}
	first = LLVMGetAggregateElement(v, 0);
	for (unsigned k = 1; first && k < LLVMGetVectorSize(t); k++) {
		first = LLVMGetAggregateElement(v, k) == first ? first : NULL;
	}
	return first && (LLVMIsAConstantFP(first) || LLVMIsAConstantInt(first)) ? first : NULL;
}

static uint32_t find(struct constants *c, LLVMValueRef v)
{
	uint32_t i = 0;

	while (i < c->n && c->was[i] != v) {
		i++;
	}
	if (i == c->n && c->n < MANY) {
		c->was[c->n] = v;
		c->now[c->n++] = NULL;
	}
	return i;
}

static void look_through(LLVMBasicBlockRef b, struct constants *c)
{
	for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x)) {
		for (int i = 0; computes(x) && i < LLVMGetNumOperands(x); i++) {
			if (lane_of(LLVMGetOperand(x, (unsigned)i))) {
				find(c, LLVMGetOperand(x, (unsigned)i));
			}
		}
	}
}

/* The same, loaded before x. */
static LLVMValueRef load(struct emit *e, LLVMValueRef x, LLVMValueRef v)
{
	LLVMValueRef lane = lane_of(v), zeros, one;
	LLVMTypeRef t = LLVMTypeOf(lane), wide = LLVMTypeOf(v);
	LLVMValueRef at = LLVMAddGlobal(e->mod, t, "constant");

	LLVMSetInitializer(at, lane);
	LLVMSetGlobalConstant(at, 1);
	LLVMSetLinkage(at, LLVMPrivateLinkage);
	LLVMPositionBuilderBefore(e->b, x);
	one = LLVMBuildLoad2(e->b, t, at, "");
	LLVMSetVolatile(one, 1);
	one = LLVMBuildInsertElement(e->b, LLVMGetPoison(wide), one,
				     LLVMConstInt(e->i32, 0, 0), "");
	zeros = LLVMConstNull(LLVMVectorType(e->i32, LLVMGetVectorSize(wide)));
	return LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(wide), zeros, "");
}

static void replace(struct emit *e, LLVMBasicBlockRef b, struct constants *c)
{
	for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x)) {
		for (int i = 0; computes(x) && i < LLVMGetNumOperands(x); i++) {
			LLVMValueRef v = LLVMGetOperand(x, (unsigned)i);
			uint32_t k = lane_of(v) ? find(c, v) : MANY;

			if (k < MANY) {
				c->now[k] = c->now[k] ? c->now[k] : load(e, x, v);
				LLVMSetOperand(x, (unsigned)i, c->now[k]);
			}
		}
	}
}

void hn_emit_load_constants(struct emit *e)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(e->mod); f; f = LLVMGetNextFunction(f)) {
		bool any = false;

		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && !any;
		     b = LLVMGetNextBasicBlock(b)) {
			any = sums(b);
		}
		for (LLVMBasicBlockRef b = any ? LLVMGetFirstBasicBlock(f) : NULL; b;
		     b = LLVMGetNextBasicBlock(b)) {
			struct constants c = { 0 };

			look_through(b, &c);
			if (c.n > FEW && !sums(b)) {
				replace(e, b, &c);
			}
		}
	}
}
