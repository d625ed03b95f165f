/* lower/cpu/emit_make.c -- what all emitters make their code of: types, constants, blocks,
 * functions, loops, and values that are one number or a vector of lanes.
 *
 * Nothing here knows the tree, the expressions or the plan; all that do stand on it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/dag/liberty.h"
#include "lower/cpu/emit_int.h"

void hn_emit_refuse(struct emit *e, int code, const char *fmt, ...)
{
	char line[600];
	va_list ap;

	if (e->rc) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	e->rc = hn_fail(e->err, code, "emitter: %s", line);
}

bool hn_emit_may(const struct emit *e, enum hn_liberty l)
{
	return (e->forbidden >> l & 1) == 0;
}

static LLVMTypeRef float_type(const struct emit *e, enum hn_dtype t)
{
	switch (hn_dtype_arith(t)) {
	case HN_F32:
		return LLVMFloatTypeInContext(e->ctx);
	case HN_F64:
		return LLVMDoubleTypeInContext(e->ctx);
	default:
		hn_bug(__FILE__, __LINE__, "no code computes with this type");
	}
}

LLVMTypeRef hn_emit_type(const struct emit *e, enum hn_dtype t)
{
	switch (hn_dtype_class(t)) {
	case HN_CLASS_BOOL:
		return e->i1;
	case HN_CLASS_FLOAT:
		return float_type(e, t);
	default:
		return LLVMIntTypeInContext(e->ctx, 8 * hn_dtype_bytes(t));
	}
}

LLVMValueRef hn_emit_const(const struct emit *e, int64_t v)
{
	return LLVMConstInt(e->i64, (uint64_t)v, 1);
}

LLVMBasicBlockRef hn_emit_block(struct emit *e, const char *name)
{
	return LLVMAppendBasicBlockInContext(e->ctx, e->fn->fn, name);
}

LLVMValueRef hn_emit_alloca(struct emit *e, uint64_t bytes, uint32_t align)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

	LLVMPositionBuilderBefore(e->b, e->fn->alloca_anchor);
	LLVMValueRef v = LLVMBuildAlloca(e->b, LLVMArrayType2(e->i8, bytes), "");

	LLVMSetAlignment(v, align);
	LLVMPositionBuilderAtEnd(e->b, here);
	return v;
}

void hn_emit_fn_begin(struct emit *e, struct emit_fn *fn, LLVMValueRef value)
{
	LLVMBasicBlockRef entry, start;

	e->fn = fn;
	fn->fn = value;
	fn->cap_scope = 32;
	fn->scope = HN_NEW_ARRAY(e->a, struct emit_scope, fn->cap_scope);
	entry = hn_emit_block(e, "entry");
	start = hn_emit_block(e, "start");
	LLVMPositionBuilderAtEnd(e->b, entry);
	fn->alloca_anchor = LLVMBuildBr(e->b, start);
	fn->scope[0].anchor = fn->alloca_anchor;
	LLVMPositionBuilderAtEnd(e->b, start);
	e->epoch++;
}

void hn_emit_scope_push(struct emit *e, LLVMValueRef anchor)
{
	struct emit_fn *fn = e->fn;

	fn->depth++;
	fn->scope = hn_arena_grow(e->a, fn->scope, (uint32_t)fn->depth, &fn->cap_scope,
				  sizeof(*fn->scope));
	fn->scope[fn->depth].anchor = anchor;
	fn->scope[fn->depth].n_memo = 0;
	e->epoch++;
}

void hn_emit_scope_pop(struct emit *e)
{
	e->fn->depth--;
	e->epoch++;
}

void hn_emit_loop_begin(struct emit *e, LLVMValueRef begin, LLVMValueRef end, uint32_t n,
			LLVMValueRef *carried, struct emit_loop *ret)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
	LLVMBasicBlockRef body;

	ret->header = hn_emit_block(e, "head");
	body = hn_emit_block(e, "body");
	ret->end = end;
	ret->n = n;
	ret->phi = HN_NEW_ARRAY(e->a, LLVMValueRef, n);
	LLVMBuildBr(e->b, ret->header);
	LLVMPositionBuilderAtEnd(e->b, ret->header);
	ret->iv = LLVMBuildPhi(e->b, e->i64, "i");
	LLVMAddIncoming(ret->iv, &begin, &before, 1);
	for (uint32_t i = 0; i < n; i++) {
		ret->phi[i] = LLVMBuildPhi(e->b, LLVMTypeOf(carried[i]), "acc");
		LLVMAddIncoming(ret->phi[i], &carried[i], &before, 1);
		carried[i] = ret->phi[i];
	}
	hn_emit_scope_push(e, LLVMBuildBr(e->b, body));
	LLVMPositionBuilderAtEnd(e->b, body);
}

void hn_emit_loop_end(struct emit *e, struct emit_loop *loop, LLVMValueRef *carried)
{
	LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
	LLVMValueRef next = LLVMBuildNSWAdd(e->b, loop->iv, hn_emit_const(e, 1), "");
	LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntNE, next, loop->end, "");
	LLVMBasicBlockRef after = hn_emit_block(e, "after");

	LLVMSetNUW(next, 1);
	LLVMBuildCondBr(e->b, more, loop->header, after);
	LLVMAddIncoming(loop->iv, &next, &latch, 1);
	for (uint32_t i = 0; i < loop->n; i++) {
		LLVMAddIncoming(loop->phi[i], &carried[i], &latch, 1);
	}
	hn_emit_scope_pop(e);
	LLVMPositionBuilderAtEnd(e->b, after);
}

LLVMValueRef hn_emit_splat(struct emit *e, struct emit_val v)
{
	if (v.vec) {
		return v.v;
	}
	LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(v.v), e->n_lane);

	if (LLVMIsConstant(v.v)) {
		LLVMValueRef lane[EMIT_MAX_LANES];

		for (uint32_t k = 0; k < e->n_lane; k++) {
			lane[k] = v.v;
		}
		return LLVMConstVector(lane, e->n_lane);
	}
	LLVMValueRef first = LLVMBuildInsertElement(e->b, LLVMGetPoison(type), v.v,
						    LLVMConstInt(e->i32, 0, 0), "");
	LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(e->i32, e->n_lane));

	return LLVMBuildShuffleVector(e->b, first, LLVMGetPoison(type), zeros, "");
}

bool hn_emit_match(struct emit *e, struct emit_val *x, struct emit_val *y)
{
	if (x->vec == y->vec) {
		return x->vec;
	}
	x->v = hn_emit_splat(e, *x);
	y->v = hn_emit_splat(e, *y);
	x->vec = y->vec = true;
	return true;
}

bool hn_emit_is_const_bool(struct emit_val v, bool *ret)
{
	if (!v.v) {
		*ret = true;
		return true;
	}
	if (v.vec || !LLVMIsAConstantInt(v.v)) {
		return false;
	}
	*ret = LLVMConstIntGetZExtValue(v.v) != 0;
	return true;
}

struct emit_val hn_emit_and(struct emit *e, struct emit_val x, struct emit_val y)
{
	bool known;

	if (hn_emit_is_const_bool(x, &known)) {
		return known ? y : x;
	}
	if (hn_emit_is_const_bool(y, &known)) {
		return known ? x : y;
	}
	bool vec = hn_emit_match(e, &x, &y);

	return (struct emit_val){ LLVMBuildAnd(e->b, x.v, y.v, ""), vec };
}

struct emit_val hn_emit_select(struct emit *e, struct emit_val c, struct emit_val t,
			       struct emit_val f)
{
	bool known;

	if (hn_emit_is_const_bool(c, &known)) {
		return known ? t : f;
	}
	if (t.v == f.v) {
		return t;
	}
	if (c.vec) {
		struct emit_val shape = c;

		hn_emit_match(e, &shape, &t);
		shape = c;
		hn_emit_match(e, &shape, &f);
		return (struct emit_val){ LLVMBuildSelect(e->b, c.v, t.v, f.v, ""),
					  true };
	}
	bool vec = hn_emit_match(e, &t, &f);

	return (struct emit_val){ LLVMBuildSelect(e->b, c.v, t.v, f.v, ""), vec };
}

LLVMValueRef hn_emit_intrinsic(struct emit *e, const char *name, LLVMValueRef *arg,
			       uint32_t n, LLVMTypeRef over)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->mod, id, &over, over != NULL);

	return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, arg, n, "");
}

uint32_t hn_emit_n_size(const struct emit *e)
{
	return e->t->dag->sizes ? e->t->dag->sizes->n : 0;
}
