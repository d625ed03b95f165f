/* lower/cpu/emit_constants.c -- constants of what follows a register tile are loaded where they are
 * used.
 *
 * The loop of a tile holds 28 vectors of results, two of panels and one of what is broadcast.
 * What is done with the results has constants, as scaling and saturating them to bytes, erf of them,
 * or a hard-swish.  LLVM moves them out of all loops; then there are more vectors than registers
 * inside the tile's loop, and it moves the results about and to the stack in every iteration (a 1x1
 * convolution of 128 channels to bytes: 50 moves to 28 sums).  A volatile load stays where it is.
 */
#include "lower/cpu/emit_int.h"

#include <string.h>

#include "loopstate/state/intrin.h"

#define FEW 1	/* constants that an instruction's sums leave a register for */
#define OPERANDS 2 /* registers of a tile's loop beside its results */
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

static bool has_instruction(LLVMBasicBlockRef b)
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

/* Vectors that the block hands to itself, a loop of one block: a tile's results. */
static int64_t results(LLVMBasicBlockRef b)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
	bool loops = false;
	int64_t n = 0;

	for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++) {
		loops = loops || LLVMGetSuccessor(end, i) == b;
	}
	for (LLVMValueRef x = LLVMGetFirstInstruction(b); loops && x && LLVMIsAPHINode(x);
	     x = LLVMGetNextInstruction(x)) {
		n += LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
	}
	return n;
}

static int64_t registers_of(const struct emit *e)
{
	return e->em->target.param[HN_PARAM_VECTOR_REGISTERS];
}

/* The loop of a tile: of an instruction's, or of one that takes half of the registers. */
static bool is_tile(const struct emit *e, LLVMBasicBlockRef b)
{
	return 2 * results(b) >= registers_of(e) || has_instruction(b);
}

/* For how many constants the function's tiles leave a register. */
static int64_t room_of(const struct emit *e, LLVMValueRef f)
{
	int64_t room = registers_of(e);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
		int64_t left = registers_of(e) - OPERANDS - results(b);

		left = has_instruction(b) && left > FEW ? FEW : left;
		room = is_tile(e, b) && left < room ? left : room;
	}
	return room;
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
	case LLVMFDiv:
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
		int64_t room = room_of(e, f);
		struct constants all = { 0 };

		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
		     b = LLVMGetNextBasicBlock(b)) {
			look_through(b, &all);
		}
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && (int64_t)all.n > room;
		     b = LLVMGetNextBasicBlock(b)) {
			struct constants c = { 0 };

			if (!is_tile(e, b)) {
				look_through(b, &c);
				replace(e, b, &c);
			}
		}
	}
}
