/* lower/emit_cpu.c -- the kernel around the tree: entry points, workspace, where buffers
 * live.
 *
 *     NAME(args.., env)      typed, puts the pointers in an array
 *     NAME_packed(args, env) finds or makes the workspace, calls
 *     hone.main(arguments, shared buffers, workers' part, env): every pointer noalias
 *
 * Workspace: the SHARED buffers, then for each worker its LOCAL buffers that are too
 * large for a stack.
 */
#include "lower/emit_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "hone/kernel.h"

#define STACK_MAX_ONE 16384
#define STACK_MAX_ALL 98304

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

static uint64_t buffer_bytes(const struct emit *e, uint32_t i, uint32_t out)
{
	const struct hn_buffer *b = &e->t->buffer[i];
	int64_t n = 1;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		n = hn_mul_sat(n, b->extent[d]);
	}
	n = hn_mul_sat(n, hn_dtype_bytes(e->t->dag->op[i]->dtype[out]));
	return ((uint64_t)n + 63) / 64 * 64;
}

static uint64_t all_bytes(const struct emit *e, uint32_t i)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < e->t->dag->op[i]->n_out; k++) {
		n += buffer_bytes(e, i, k);
		n = n > HN_EXTENT_MAX ? HN_EXTENT_MAX : n;
	}
	return n;
}

static void place_buffers(struct emit *e)
{
	uint64_t stack = 0;

	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		struct emit_buffer *b = &e->buffer[i];
		uint64_t bytes;

		if (e->t->buffer[i].op < 0) {
			continue;
		}
		b->base = HN_NEW_ARRAY(e->a, LLVMValueRef, e->t->dag->op[i]->n_out);
		bytes = all_bytes(e, i);
		if (e->t->buffer[i].scope == HN_SCOPE_ARG) {
			b->place = EMIT_ARG;
		} else if (e->t->buffer[i].scope == HN_SCOPE_SHARED) {
			b->place = EMIT_SHARED;
			b->offset = e->shared_bytes;
			e->shared_bytes += bytes;
		} else if (bytes <= STACK_MAX_ONE && stack + bytes <= STACK_MAX_ALL) {
			b->place = EMIT_STACK;
			stack += bytes;
		} else {
			b->place = EMIT_WORKER;
			b->offset = e->worker_bytes;
			e->worker_bytes += bytes;
		}
		if (e->shared_bytes > HN_EXTENT_MAX || e->worker_bytes > HN_EXTENT_MAX) {
			hn_emit_refuse(e, HONE_E_UNSUPPORTED,
				       "buffers larger than memory");
			return;
		}
	}
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

static LLVMValueRef byte_at(struct emit *e, LLVMValueRef base, LLVMValueRef offset)
{
	return LLVMBuildInBoundsGEP2(e->b, e->i8, base, &offset, 1, "");
}

/* This worker's part, made once at the function's entry. */
static LLVMValueRef worker_part(struct emit *e)
{
	struct emit_fn *fn = e->fn;
	LLVMValueRef at = hn_emit_const(e, 0);

	if (fn->worker) {
		at = LLVMBuildNSWMul(e->b, LLVMBuildSExt(e->b, fn->worker, e->i64, ""),
				     hn_emit_const(e, (int64_t)e->worker_bytes), "");
	}
	return byte_at(e, e->workers, at);
}

static void local_addresses(struct emit *e, uint32_t i)
{
	struct emit_buffer *b = &e->buffer[i];
	uint64_t offset = b->offset;
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

	b->depth = 0;
	for (uint32_t k = 0; k < e->t->dag->op[i]->n_out; k++) {
		uint64_t bytes = buffer_bytes(e, i, k);

		if (b->place == EMIT_STACK) {
			b->base[k] = hn_emit_alloca(e, bytes, 64);
		} else {
			LLVMPositionBuilderBefore(e->b, e->fn->alloca_anchor);
			b->base[k] = byte_at(e, worker_part(e),
					     hn_emit_const(e, (int64_t)offset));
			LLVMPositionBuilderAtEnd(e->b, here);
		}
		offset += bytes;
	}
}

void hn_emit_locals(struct emit *e, int32_t loop, bool enter)
{
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		const struct hn_buffer *b = &e->t->buffer[i];

		if (b->op < 0 || b->scope != HN_SCOPE_LOCAL || b->at_loop != loop) {
			continue;
		}
		if (enter) {
			local_addresses(e, i);
		} else {
			memset(e->buffer[i].base, 0,
			       e->t->dag->op[i]->n_out * sizeof(LLVMValueRef));
		}
	}
}

void hn_emit_param_attrs(struct emit *e, LLVMValueRef fn, uint32_t i)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);

	LLVMAddAttributeAtIndex(fn, i + 1, LLVMCreateEnumAttribute(e->ctx, kind, 0));
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

static uint32_t n_pointers(const struct emit *e, bool shared)
{
	uint32_t n = 0;

	if (!shared) {
		return e->t->dag->n_arg;
	}
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		n += e->buffer[i].place == EMIT_SHARED ? e->t->dag->op[i]->n_out : 0;
	}
	return n;
}

/* -- faults planted by tests
 * ---------------------------------------------------------------- */

static void plant_hang(struct emit *e)
{
	LLVMBasicBlockRef loop = hn_emit_block(e, "hang"),
			  rest = hn_emit_block(e, "rest");
	LLVMValueRef flag = hn_emit_alloca(e, 8, 8);

	LLVMSetVolatile(LLVMBuildStore(e->b, hn_emit_const(e, 1), flag), 1);
	LLVMBuildBr(e->b, loop);
	LLVMPositionBuilderAtEnd(e->b, loop);
	LLVMValueRef v = LLVMBuildLoad2(e->b, e->i64, flag, "");

	LLVMSetVolatile(v, 1);
	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, v, hn_emit_const(e, 0), ""),
			loop, rest);
	LLVMPositionBuilderAtEnd(e->b, rest);
}

static void plant_divide(struct emit *e)
{
	LLVMValueRef cell = hn_emit_alloca(e, 8, 8);

	LLVMSetVolatile(LLVMBuildStore(e->b, hn_emit_const(e, 0), cell), 1);
	LLVMValueRef zero = LLVMBuildLoad2(e->b, e->i64, cell, "");

	LLVMSetVolatile(zero, 1);
	LLVMValueRef q = LLVMBuildSDiv(e->b, hn_emit_const(e, 1), zero, "");

	LLVMSetVolatile(LLVMBuildStore(e->b, q, cell), 1);
}

/* A byte in each KiB after the end of the last argument, for a gigabyte. */
static void plant_past_end(struct emit *e, int32_t op)
{
	LLVMValueRef end = hn_emit_const(e, hn_op_bytes(e->t->dag->op[op], 0));
	struct emit_loop loop;

	hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, 1 << 20), 0, NULL,
			   &loop);
	LLVMValueRef at = LLVMBuildAdd(
		e->b, end, LLVMBuildMul(e->b, loop.iv, hn_emit_const(e, 1024), ""), "");
	LLVMValueRef p = LLVMBuildGEP2(e->b, e->i8, e->buffer[op].base[0], &at, 1, "");

	LLVMSetVolatile(LLVMBuildStore(e->b, LLVMConstInt(e->i8, 1, 0), p), 1);
	hn_emit_loop_end(e, &loop, NULL);
}

static void plant_wrong(struct emit *e, int32_t op)
{
	enum hn_dtype t = e->t->dag->op[op]->dtype[0];
	bool is_float = hn_dtype_class(t) == HN_CLASS_FLOAT;
	LLVMTypeRef type =
		hn_dtype_class(t) == HN_CLASS_BOOL ? e->i8 : hn_emit_type(e, t);
	LLVMValueRef p = e->buffer[op].base[0];
	LLVMValueRef v = LLVMBuildLoad2(e->b, type, p, "");

	v = is_float ? LLVMBuildFAdd(e->b, v, LLVMConstReal(type, 1), "")
		     : LLVMBuildAdd(e->b, v, LLVMConstInt(type, 1, 0), "");
	LLVMBuildStore(e->b, v, p);
}

static void plant(struct emit *e)
{
	int32_t last = e->t->dag->arg[e->t->dag->n_arg - 1];

	switch (e->opt->plant) {
	case HN_PLANT_HANG:
		plant_hang(e);
		break;
	case HN_PLANT_DIVIDE_BY_ZERO:
		plant_divide(e);
		break;
	case HN_PLANT_OUT_OF_BOUNDS:
		plant_past_end(e, last);
		break;
	case HN_PLANT_WRONG_RESULT:
		plant_wrong(e, last);
		break;
	default:
		break;
	}
}

/* -- entry points
 * ------------------------------------------------------------------------------ */

/* The parameter index of each buffer in hone.main, arguments first; fills bases when fn.
 */
static void bind_params(struct emit *e, LLVMValueRef fn)
{
	const struct hn_dag *dag = e->t->dag;
	uint32_t p = 0;

	for (; p < dag->n_arg; p++) {
		hn_emit_param_attrs(e, fn, p);
		e->buffer[dag->arg[p]].base[hn_dag_arg_out(dag, p)] =
			LLVMGetParam(fn, p);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		for (uint32_t k = 0;
		     e->buffer[i].place == EMIT_SHARED && k < dag->op[i]->n_out;
		     k++, p++) {
			hn_emit_param_attrs(e, fn, p);
			e->buffer[i].base[k] = LLVMGetParam(fn, p);
		}
	}
	hn_emit_param_attrs(e, fn, p);
	e->workers = LLVMGetParam(fn, p);
	e->fn->env = LLVMGetParam(fn, p + 1);
}

static LLVMValueRef emit_main(struct emit *e)
{
	uint32_t n = n_pointers(e, false) + n_pointers(e, true) + 2;
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, n);
	struct emit_fn state = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		type[i] = e->ptr;
	}
	LLVMValueRef fn = LLVMAddFunction(e->mod, "hone.main",
					  LLVMFunctionType(e->void_, type, n, 0));

	LLVMSetLinkage(fn, LLVMInternalLinkage);
	hn_emit_fn_begin(e, &state, fn);
	bind_params(e, fn);
	hn_emit_node(e, e->t->root);
	plant(e);
	LLVMBuildRetVoid(e->b);
	return fn;
}

static LLVMValueRef c_function(struct emit *e, const char *name, LLVMTypeRef ret,
			       LLVMTypeRef *arg, uint32_t n)
{
	LLVMValueRef fn = LLVMGetNamedFunction(e->mod, name);

	return fn ? fn : LLVMAddFunction(e->mod, name, LLVMFunctionType(ret, arg, n, 0));
}

static LLVMValueRef env_field(struct emit *e, LLVMValueRef env, size_t offset,
			      LLVMTypeRef type)
{
	return LLVMBuildLoad2(e->b, type,
			      byte_at(e, env, hn_emit_const(e, (int64_t)offset)), "");
}

struct workspace {
	LLVMValueRef base;  /* phi: env's or our own */
	LLVMValueRef owned; /* ptr to free, or null */
};

/* n_workers of env, 1 without one. Leaves the builder in a new block. */
static LLVMValueRef count_workers(struct emit *e, LLVMValueRef env)
{
	LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), ask = hn_emit_block(e, "ask");
	LLVMBasicBlockRef known = hn_emit_block(e, "known");
	LLVMValueRef one = hn_emit_const(e, 1);

	LLVMBuildCondBr(e->b,
			LLVMBuildICmp(e->b, LLVMIntNE, env, LLVMConstNull(e->ptr), ""),
			ask, known);
	LLVMPositionBuilderAtEnd(e->b, ask);
	LLVMValueRef n = LLVMBuildSExt(
		e->b, env_field(e, env, offsetof(struct hone_env, n_workers), e->i32),
		e->i64, "");

	n = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, n, one, ""), n, one,
			    "");
	LLVMBuildBr(e->b, known);
	LLVMPositionBuilderAtEnd(e->b, known);
	LLVMValueRef phi = LLVMBuildPhi(e->b, e->i64, "workers");

	LLVMAddIncoming(phi, (LLVMValueRef[]){ one, n },
			(LLVMBasicBlockRef[]){ from, ask }, 2);
	return phi;
}

static void find_workspace(struct emit *e, LLVMValueRef env, struct workspace *ret)
{
	LLVMValueRef null = LLVMConstNull(e->ptr), n = count_workers(e, env);
	LLVMValueRef need = LLVMBuildAdd(
		e->b,
		LLVMBuildMul(e->b, n, hn_emit_const(e, (int64_t)e->worker_bytes), ""),
		hn_emit_const(e, (int64_t)e->shared_bytes), "");
	LLVMBasicBlockRef look = hn_emit_block(e, "look"),
			  given = hn_emit_block(e, "given");
	LLVMBasicBlockRef make = hn_emit_block(e, "make"),
			  fail = hn_emit_block(e, "fail");
	LLVMBasicBlockRef ready = hn_emit_block(e, "ready");

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, env, null, ""), look, make);
	LLVMPositionBuilderAtEnd(e->b, look);
	LLVMValueRef space =
		env_field(e, env, offsetof(struct hone_env, workspace), e->ptr);
	LLVMValueRef bytes =
		env_field(e, env, offsetof(struct hone_env, workspace_bytes), e->i64);
	LLVMValueRef enough =
		LLVMBuildAnd(e->b, LLVMBuildICmp(e->b, LLVMIntNE, space, null, ""),
			     LLVMBuildICmp(e->b, LLVMIntUGE, bytes, need, ""), "");

	LLVMBuildCondBr(e->b, enough, given, make);
	LLVMPositionBuilderAtEnd(e->b, given);
	LLVMBuildBr(e->b, ready);
	LLVMPositionBuilderAtEnd(e->b, make);
	LLVMTypeRef param[2] = { e->i64, e->i64 };
	LLVMValueRef alloc = c_function(e, "aligned_alloc", e->ptr, param, 2);
	LLVMValueRef arg[2] = { hn_emit_const(e, 64), need };
	LLVMValueRef own =
		LLVMBuildCall2(e->b, LLVMGlobalGetValueType(alloc), alloc, arg, 2, "");

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, own, null, ""), ready, fail);
	LLVMPositionBuilderAtEnd(e->b, fail);
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, (uint64_t)HONE_KERNEL_NOMEM, 1));
	LLVMPositionBuilderAtEnd(e->b, ready);
	ret->base = LLVMBuildPhi(e->b, e->ptr, "workspace");
	ret->owned = LLVMBuildPhi(e->b, e->ptr, "owned");
	LLVMAddIncoming(ret->base, (LLVMValueRef[]){ space, own },
			(LLVMBasicBlockRef[]){ given, make }, 2);
	LLVMAddIncoming(ret->owned, (LLVMValueRef[]){ null, own },
			(LLVMBasicBlockRef[]){ given, make }, 2);
}

static LLVMValueRef emit_packed(struct emit *e, LLVMValueRef kernel)
{
	LLVMTypeRef param[2] = { e->ptr, e->ptr };
	char *name = hn_arena_printf(e->a, "%s_packed", e->opt->symbol);
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, name, LLVMFunctionType(e->i32, param, 2, 0));
	LLVMValueRef args = LLVMGetParam(fn, 0), env = LLVMGetParam(fn, 1);
	uint32_t n_arg = n_pointers(e, false), n = n_arg + n_pointers(e, true) + 2,
		 p = n_arg;
	LLVMValueRef *arg = HN_NEW_ARRAY(e->a, LLVMValueRef, n),
		     null = LLVMConstNull(e->ptr);
	struct emit_fn state = { 0 };
	struct workspace w = { null, NULL };

	hn_emit_fn_begin(e, &state, fn);
	if (e->shared_bytes + e->worker_bytes > 0) {
		find_workspace(e, env, &w);
	}
	for (uint32_t i = 0; i < n_arg; i++) {
		arg[i] = env_field(e, args, 8 * (size_t)i, e->ptr);
	}
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		uint64_t at = e->buffer[i].offset;

		for (uint32_t k = 0;
		     e->buffer[i].place == EMIT_SHARED && k < e->t->dag->op[i]->n_out;
		     k++) {
			arg[p++] = byte_at(e, w.base, hn_emit_const(e, (int64_t)at));
			at += buffer_bytes(e, i, k);
		}
	}
	arg[p++] = e->worker_bytes ? byte_at(e, w.base,
					     hn_emit_const(e, (int64_t)e->shared_bytes))
				   : null;
	arg[p++] = env;
	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(kernel), kernel, arg, n, "");
	if (w.owned) {
		LLVMValueRef release = c_function(e, "free", e->void_, &e->ptr, 1);

		LLVMBuildCall2(e->b, LLVMGlobalGetValueType(release), release, &w.owned,
			       1, "");
	}
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, 0, 0));
	return fn;
}

static void emit_typed(struct emit *e, LLVMValueRef packed)
{
	uint32_t n = n_pointers(e, false);
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, n + 1);
	struct emit_fn state = { 0 };

	for (uint32_t i = 0; i <= n; i++) {
		type[i] = e->ptr;
	}
	LLVMValueRef fn = LLVMAddFunction(e->mod, e->opt->symbol,
					  LLVMFunctionType(e->i32, type, n + 1, 0));

	hn_emit_fn_begin(e, &state, fn);
	LLVMValueRef array = hn_emit_alloca(e, 8 * (uint64_t)(n + 1), 16);

	for (uint32_t i = 0; i < n; i++) {
		LLVMBuildStore(e->b, LLVMGetParam(fn, i),
			       byte_at(e, array, hn_emit_const(e, 8 * (int64_t)i)));
	}
	LLVMValueRef arg[2] = { array, LLVMGetParam(fn, n) };

	LLVMBuildRet(e->b, LLVMBuildCall2(e->b, LLVMGlobalGetValueType(packed), packed,
					  arg, 2, ""));
}

static void make_types(struct emit *e)
{
	e->i1 = LLVMInt1TypeInContext(e->ctx);
	e->i8 = LLVMInt8TypeInContext(e->ctx);
	e->i32 = LLVMInt32TypeInContext(e->ctx);
	e->i64 = LLVMInt64TypeInContext(e->ctx);
	e->ptr = LLVMPointerTypeInContext(e->ctx, 0);
	e->void_ = LLVMVoidTypeInContext(e->ctx);
}

int hn_emit(struct hn_emitter *em, const struct hn_looptree *t,
	    const struct hn_emit_options *options, struct hn_arena *a,
	    struct hn_artefact *ret, struct hn_err *err)
{
	struct emit e = { .em = em,
			  .t = t,
			  .opt = options,
			  .a = a,
			  .err = err,
			  .ctx = em->ctx,
			  .n_lane = 1,
			  .n_active = 1 };

	em->diagnostic[0] = '\0';
	make_types(&e);
	e.mod = LLVMModuleCreateWithNameInContext(options->symbol, e.ctx);
	LLVMSetTarget(e.mod, em->triple);
	LLVMSetDataLayout(e.mod, em->layout);
	e.b = LLVMCreateBuilderInContext(e.ctx);
	e.var = HN_NEW_ARRAY(a, struct emit_var, t->n_loop + 1);
	e.buffer = HN_NEW_ARRAY(a, struct emit_buffer, t->dag->n_op);
	place_buffers(&e);
	if (!e.rc) {
		emit_typed(&e, emit_packed(&e, emit_main(&e)));
	}
	if (!e.rc) {
		e.rc = hn_emit_object(&e, ret);
	}
	LLVMDisposeBuilder(e.b);
	LLVMDisposeModule(e.mod);
	return e.rc;
}
