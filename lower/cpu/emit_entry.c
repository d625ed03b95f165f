/* lower/cpu/emit_entry.c -- what the object exports: entry points, workspace, prepared data
 * (hone/kernel.h).
 *
 *     NAME(args.., env)      typed, puts the pointers in an array
 *     (both with the sizes in front, where these are parameters)
 *     NAME_packed(args, env) finds or makes the workspace, calls hone.main; calls hone.prep
 *                            before when there is something to prepare and env has not got it
 *     NAME_prepare(constant inputs.., prepared, env)
 *     NAME_prepare_packed(args, prepared, env) calls hone.prep
 *     NAME_init() asks the system for tile registers, of a kernel that uses them
 *
 * Workspace: the prepared block when it was not given, the SHARED buffers, then for each
 * worker its LOCAL buffers that are too large for a stack.
 */
#include "hone/kernel.h"
#include "loopstate/dag/constant.h"
#include "lower/cpu/emit_int.h"

#define PREPARED_SINCE 2 /* the ABI that has hone_env.prepared */

static LLVMValueRef c_function(struct emit *e, const char *name, LLVMTypeRef ret,
			       LLVMTypeRef *arg, uint32_t n)
{
	LLVMValueRef fn = LLVMGetNamedFunction(e->mod, name);

	return fn ? fn : LLVMAddFunction(e->mod, name, LLVMFunctionType(ret, arg, n, 0));
}

static LLVMValueRef bytes_at(struct emit *e, LLVMValueRef base, uint64_t offset)
{
	return hn_emit_byte_at(e, base, hn_emit_const(e, (int64_t)offset));
}

static LLVMValueRef env_field(struct emit *e, LLVMValueRef env, size_t offset,
			      LLVMTypeRef type)
{
	return LLVMBuildLoad2(e->b, type, bytes_at(e, env, offset), "");
}

static LLVMValueRef is_null(struct emit *e, LLVMValueRef p)
{
	return LLVMBuildICmp(e->b, LLVMIntEQ, p, LLVMConstNull(e->ptr), "");
}

static LLVMValueRef is_not_null(struct emit *e, LLVMValueRef p)
{
	return LLVMBuildICmp(e->b, LLVMIntNE, p, LLVMConstNull(e->ptr), "");
}

/* n_workers of env, 1 without one. Leaves the builder in a new block. */
static LLVMValueRef count_workers(struct emit *e, LLVMValueRef env)
{
	LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), ask = hn_emit_block(e, "ask");
	LLVMBasicBlockRef known = hn_emit_block(e, "known");
	LLVMValueRef one = hn_emit_const(e, 1);

	LLVMBuildCondBr(e->b, is_not_null(e, env), ask, known);
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

/* env's prepared block; null without one that this kernel can use.  Leaves the builder in a
 * new block. */
static LLVMValueRef find_prepared(struct emit *e, LLVMValueRef env)
{
	LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
	LLVMBasicBlockRef version = hn_emit_block(e, "version");
	LLVMBasicBlockRef look = hn_emit_block(e, "prepared"),
			  known = hn_emit_block(e, "known");
	LLVMValueRef null = LLVMConstNull(e->ptr);

	LLVMBuildCondBr(e->b, is_not_null(e, env), version, known);
	LLVMPositionBuilderAtEnd(e->b, version);
	LLVMValueRef abi = env_field(e, env, offsetof(struct hone_env, abi), e->i32);

	LLVMBuildCondBr(e->b,
			LLVMBuildICmp(e->b, LLVMIntUGE, abi,
				      LLVMConstInt(e->i32, PREPARED_SINCE, 0), ""),
			look, known);
	LLVMPositionBuilderAtEnd(e->b, look);
	LLVMValueRef p = env_field(e, env, offsetof(struct hone_env, prepared), e->ptr);
	LLVMValueRef bytes =
		env_field(e, env, offsetof(struct hone_env, prepared_bytes), e->i64);
	LLVMValueRef need = hn_emit_const(e, (int64_t)e->prepared_bytes);
	LLVMValueRef enough = LLVMBuildICmp(e->b, LLVMIntUGE, bytes, need, "");

	p = LLVMBuildSelect(e->b, enough, p, null, "");
	LLVMBuildBr(e->b, known);
	LLVMPositionBuilderAtEnd(e->b, known);
	LLVMValueRef phi = LLVMBuildPhi(e->b, e->ptr, "prepared");

	LLVMAddIncoming(phi, (LLVMValueRef[]){ null, null, p },
			(LLVMBasicBlockRef[]){ from, version, look }, 3);
	return phi;
}

struct workspace {
	LLVMValueRef base;  /* phi: env's or our own */
	LLVMValueRef owned; /* ptr to free, or null; NULL = there is no workspace */
};

/* Bytes of workspace, when `prepared` is the block that was given, or null. */
static LLVMValueRef bytes_needed(struct emit *e, LLVMValueRef env, LLVMValueRef prepared)
{
	LLVMValueRef n = count_workers(e, env);
	LLVMValueRef need = LLVMBuildAdd(
		e->b,
		LLVMBuildMul(e->b, n, hn_emit_const(e, (int64_t)e->worker_bytes), ""),
		hn_emit_const(e, (int64_t)e->shared_bytes), "");

	if (!prepared) {
		return need;
	}
	LLVMValueRef more = hn_emit_const(e, (int64_t)e->prepared_bytes);

	return LLVMBuildSelect(e->b, is_null(e, prepared),
			       LLVMBuildAdd(e->b, need, more, ""), need, "");
}

static void find_workspace(struct emit *e, LLVMValueRef env, LLVMValueRef prepared,
			   struct workspace *ret)
{
	LLVMValueRef null = LLVMConstNull(e->ptr), need = bytes_needed(e, env, prepared);
	LLVMBasicBlockRef look = hn_emit_block(e, "look"),
			  given = hn_emit_block(e, "given");
	LLVMBasicBlockRef make = hn_emit_block(e, "make"),
			  fail = hn_emit_block(e, "fail");
	LLVMBasicBlockRef ready = hn_emit_block(e, "ready");

	LLVMBuildCondBr(e->b, is_not_null(e, env), look, make);
	LLVMPositionBuilderAtEnd(e->b, look);
	LLVMValueRef space =
		env_field(e, env, offsetof(struct hone_env, workspace), e->ptr);
	LLVMValueRef bytes =
		env_field(e, env, offsetof(struct hone_env, workspace_bytes), e->i64);
	LLVMValueRef enough =
		LLVMBuildAnd(e->b, is_not_null(e, space),
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

	LLVMBuildCondBr(e->b, is_not_null(e, own), ready, fail);
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

/* Free the workspace if it is ours; return 0. */
static void finish(struct emit *e, const struct workspace *w)
{
	if (w->owned) {
		LLVMValueRef owned = w->owned,
			     release = c_function(e, "free", e->void_, &e->ptr, 1);

		LLVMBuildCall2(e->b, LLVMGlobalGetValueType(release), release, &owned, 1,
			       "");
	}
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, 0, 0));
}

/* The parameters of hone.main and hone.prep.  `base` of the workspace without the prepared
 * block; base, prepared NULL = what lies there is not used. */
static LLVMValueRef *fill_params(struct emit *e, LLVMValueRef args, LLVMValueRef base,
				 LLVMValueRef prepared, LLVMValueRef env)
{
	const struct hn_dag *dag = e->t->dag;
	LLVMValueRef *arg = HN_NEW_ARRAY(e->a, LLVMValueRef, hn_emit_n_param(e)),
		     null = LLVMConstNull(e->ptr);
	uint32_t p = 0;

	for (; p < dag->n_arg; p++) {
		arg[p] = env_field(e, args, 8 * (size_t)p, e->ptr);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		LLVMValueRef from =
			e->buffer[i].place == HN_PLACE_PREPARED ? prepared : base;
		uint64_t at = e->buffer[i].offset;

		for (uint32_t k = 0; hn_emit_is_shared(e, i) && k < dag->op[i]->n_out;
		     k++) {
			arg[p++] = from ? bytes_at(e, from, at) : null;
			at += hn_place_bytes(e->t, i, k);
		}
	}
	arg[p++] = e->worker_bytes && base ? bytes_at(e, base, e->shared_bytes) : null;
	arg[p++] = env;
	for (uint32_t i = 0; i < hn_emit_n_size(e); i++) {
		arg[p++] = e->size[i];
	}
	return arg;
}

static void call_part(struct emit *e, LLVMValueRef part, LLVMValueRef *arg)
{
	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(part), part, arg, hn_emit_n_param(e),
		       "");
}

/* hone.prep where no block was given. */
static void prepare_unless(struct emit *e, LLVMValueRef given, LLVMValueRef prep,
			   LLVMValueRef *arg)
{
	LLVMBasicBlockRef here = hn_emit_block(e, "prepare"),
			  rest = hn_emit_block(e, "ahead");

	LLVMBuildCondBr(e->b, is_null(e, given), here, rest);
	LLVMPositionBuilderAtEnd(e->b, here);
	call_part(e, prep, arg);
	LLVMBuildBr(e->b, rest);
	LLVMPositionBuilderAtEnd(e->b, rest);
}

/* The sizes in the array; the function returns HONE_KERNEL_SIZE when one is out of its range.
 * Leaves the builder in a new block. */
static void load_sizes(struct emit *e, LLVMValueRef array)
{
	LLVMBasicBlockRef wrong = hn_emit_block(e, "wrong"), fit = hn_emit_block(e, "fit");
	LLVMValueRef all = LLVMConstInt(e->i1, 1, 0);

	for (uint32_t i = 0; i < hn_emit_n_size(e); i++) {
		const struct hn_size *s = &e->t->dag->sizes->size[i];
		LLVMValueRef v = env_field(e, array, 8 * (size_t)i, e->i64);
		LLVMValueRef lo = LLVMBuildICmp(e->b, LLVMIntSGE, v,
						hn_emit_const(e, s->lo), "");
		LLVMValueRef hi = LLVMBuildICmp(e->b, LLVMIntSLE, v,
						hn_emit_const(e, s->hi), "");

		all = LLVMBuildAnd(e->b, all, LLVMBuildAnd(e->b, lo, hi, ""), "");
		e->size[i] = v;
	}
	LLVMBuildCondBr(e->b, all, fit, wrong);
	LLVMPositionBuilderAtEnd(e->b, wrong);
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, (uint64_t)HONE_KERNEL_SIZE, 1));
	LLVMPositionBuilderAtEnd(e->b, fit);
}

static LLVMValueRef emit_packed(struct emit *e, LLVMValueRef kernel, LLVMValueRef prep)
{
	LLVMTypeRef param[3] = { e->ptr, e->ptr, e->ptr };
	uint32_t sized = hn_emit_n_size(e) > 0;
	char *name = hn_arena_printf(e->a, "%s_packed", e->opt->symbol);
	LLVMValueRef fn = LLVMAddFunction(
		e->mod, name, LLVMFunctionType(e->i32, param, 2 + sized, 0));
	LLVMValueRef args = LLVMGetParam(fn, sized), env = LLVMGetParam(fn, 1 + sized);
	LLVMValueRef given = NULL, prepared = NULL;
	struct emit_fn state = { 0 };
	struct workspace w = { 0 };

	hn_emit_fn_begin(e, &state, fn);
	if (sized) {
		load_sizes(e, LLVMGetParam(fn, 0));
	}
	if (prep) {
		given = find_prepared(e, env);
	}
	if (prep || e->shared_bytes + e->worker_bytes > 0) {
		find_workspace(e, env, given, &w);
	}
	if (prep) {
		LLVMValueRef none = is_null(e, given);

		prepared = LLVMBuildSelect(e->b, none, w.base, given, "");
		w.base = LLVMBuildSelect(e->b, none,
					 bytes_at(e, w.base, e->prepared_bytes), w.base,
					 "");
	}
	LLVMValueRef *arg = fill_params(e, args, w.base, prepared, env);

	if (prep) {
		prepare_unless(e, given, prep, arg);
	}
	call_part(e, kernel, arg);
	finish(e, &w);
	return fn;
}

static LLVMValueRef emit_prepare_packed(struct emit *e, LLVMValueRef prep)
{
	LLVMTypeRef param[3] = { e->ptr, e->ptr, e->ptr };
	char *name = hn_arena_printf(e->a, "%s_prepare_packed", e->opt->symbol);
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, name, LLVMFunctionType(e->i32, param, 3, 0));
	LLVMValueRef env = LLVMGetParam(fn, 2);
	struct emit_fn state = { 0 };
	struct workspace w = { 0 };

	for (uint32_t i = 0; i < hn_emit_n_size(e); i++) { /* not looked at */
		e->size[i] = hn_emit_const(e, e->t->dag->sizes->size[i].lo);
	}
	hn_emit_fn_begin(e, &state, fn);
	if (e->worker_bytes > 0) {
		find_workspace(e, env, NULL, &w);
	}
	call_part(e, prep,
		  fill_params(e, LLVMGetParam(fn, 0), w.base, LLVMGetParam(fn, 1), env));
	finish(e, &w);
	return fn;
}

/* A function of n_size sizes, the arguments `wanted` (NULL = all) and n_more pointers behind
 * them, that calls `packed` with an array of sizes (when there are any), an array of all
 * arguments, null where not wanted, and these. */
static void emit_typed(struct emit *e, const char *name, LLVMValueRef packed, uint32_t n_size,
		       const bool *wanted, uint32_t n_more)
{
	uint32_t n = e->t->dag->n_arg, p = 0, n_array = 0;
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, n_size + n + n_more);
	LLVMValueRef arg[4];
	struct emit_fn state = { 0 };

	while (p < n_size) {
		type[p++] = e->i64;
	}
	for (uint32_t i = 0; i < n + n_more; i++) {
		type[p] = e->ptr;
		p += i >= n || !wanted || wanted[i];
	}
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, name, LLVMFunctionType(e->i32, type, p, 0));

	hn_emit_fn_begin(e, &state, fn);
	if (n_size) {
		arg[n_array++] = hn_emit_alloca(e, 8 * (uint64_t)n_size, 16);
	}
	for (p = 0; p < n_size; p++) {
		LLVMBuildStore(e->b, LLVMGetParam(fn, p),
			       bytes_at(e, arg[0], 8 * (uint64_t)p));
	}
	arg[n_array] = hn_emit_alloca(e, 8 * (uint64_t)(n + 1), 16);
	for (uint32_t i = 0; i < n; i++) {
		LLVMValueRef v = !wanted || wanted[i] ? LLVMGetParam(fn, p++)
						      : LLVMConstNull(e->ptr);

		LLVMBuildStore(e->b, v, bytes_at(e, arg[n_array], 8 * (uint64_t)i));
	}
	for (uint32_t i = 0; i < n_more; i++) {
		arg[n_array + 1 + i] = LLVMGetParam(fn, p++);
	}
	LLVMBuildRet(e->b, LLVMBuildCall2(e->b, LLVMGlobalGetValueType(packed), packed,
					  arg, n_array + 1 + n_more, ""));
}

void hn_emit_entries(struct emit *e, LLVMValueRef main, LLVMValueRef prep)
{
	const struct hn_dag *task = e->t->state->root_dag;
	bool *wanted = HN_NEW_ARRAY(e->a, bool, task->n_arg);

	if (e->tiles) {
		hn_emit_amx_init(e);
	}
	emit_typed(e, e->opt->symbol, emit_packed(e, main, prep), hn_emit_n_size(e), NULL, 1);
	if (!prep) {
		return;
	}
	for (uint32_t i = 0; i < task->n_arg; i++) {
		wanted[i] = hn_dag_arg_is_constant(task, i);
	}
	emit_typed(e, hn_arena_printf(e->a, "%s_prepare", e->opt->symbol),
		   emit_prepare_packed(e, prep), 0, wanted, 2);
}
