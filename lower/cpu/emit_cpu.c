/* lower/cpu/emit_cpu.c -- the kernel around the tree: the functions that hold the tree's
 * nests.
 *
 *     hone.main(arguments, shared buffers, workers' part, env, sizes): every pointer noalias
 *     hone.prep(the same): of the nests at root those that constant inputs alone decide
 *                          (tree->prepared), when there are any; else it does not exist
 *
 * They are called by emit_entry.c.  What hone.prep computes is moved before all else of the
 * tree's order: it reads nothing but constant inputs and itself, and its buffers are its own.
 */
#include "loopstate/dag/decided.h"
#include "loopstate/state/intrin.h"
#include "lower/cpu/emit_int.h"

static void place_buffers(struct emit *e)
{
	struct hn_places places;

	e->rc = hn_places_find(e->t, !e->opt->scalar, e->a, &places, e->err);
	for (uint32_t i = 0; !e->rc && i < e->t->dag->n_op; i++) {
		struct emit_buffer *b = &e->buffer[i];

		b->place = places.at[i].place;
		b->offset = places.at[i].offset;
		if (b->place != HN_PLACE_NONE) {
			b->base = HN_NEW_ARRAY(e->a, LLVMValueRef, e->t->dag->op[i]->n_out);
		}
	}
	e->shared_bytes = places.shared_bytes;
	e->worker_bytes = places.worker_bytes;
	e->prepared_bytes = places.prepared_bytes;
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
	LLVMTypeRef type = is_float ? hn_emit_type(e, t) : hn_emit_memory_type(e, t);
	LLVMValueRef p = e->buffer[op].base[0];
	LLVMValueRef v = LLVMBuildLoad2(e->b, hn_emit_memory_type(e, t), p, "");

	if (is_float) {
		v = LLVMBuildFAdd(e->b, hn_emit_from_memory(e, t, v), LLVMConstReal(type, 1), "");
		v = hn_emit_to_memory(e, t, hn_emit_rounded(e, t, v));
	} else {
		v = LLVMBuildAdd(e->b, v, LLVMConstInt(type, 1, 0), "");
	}
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

/* -- the functions that hold nests ------------------------------------------------------ */

/* Parameters in order: arguments, shared buffers, workers' part, env, sizes. */
static void bind_params(struct emit *e, LLVMValueRef fn)
{
	const struct hn_dag *dag = e->t->dag;
	uint32_t p = 0;

	for (; p < dag->n_arg; p++) {
		hn_emit_param_attrs(e, fn, p);
		e->buffer[dag->arg[p]].base[hn_dag_arg_out(dag, p)] = LLVMGetParam(fn, p);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		for (uint32_t k = 0; hn_emit_is_shared(e, i) && k < dag->op[i]->n_out;
		     k++, p++) {
			hn_emit_param_attrs(e, fn, p);
			e->buffer[i].base[k] = LLVMGetParam(fn, p);
		}
	}
	hn_emit_param_attrs(e, fn, p);
	e->workers = LLVMGetParam(fn, p);
	e->fn->env = LLVMGetParam(fn, p + 1);
	for (uint32_t i = 0; i < hn_emit_n_size(e); i++) {
		e->size[i] = LLVMGetParam(fn, p + 2 + i);
	}
}

/* The nests at root that are prepared, or the others. */
static LLVMValueRef emit_part(struct emit *e, const char *name, bool prepared)
{
	const struct hn_node *root = e->t->root;
	uint32_t n = hn_emit_n_param(e);
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, n);
	struct emit_fn state = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		type[i] = i + hn_emit_n_size(e) < n ? e->ptr : e->i64;
	}
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, name, LLVMFunctionType(e->void_, type, n, 0));

	LLVMSetLinkage(fn, LLVMInternalLinkage);
	hn_emit_fn_begin(e, &state, fn);
	bind_params(e, fn);
	for (uint32_t k = 0; k < root->n_child; k++) {
		int32_t stage = root->child[k]->stage;

		if ((e->buffer[stage].place == HN_PLACE_PREPARED) == prepared) {
			hn_emit_node(e, root->child[k]);
		}
	}
	if (!prepared) {
		plant(e);
	}
	hn_emit_amx_end(e);
	hn_emit_past_fence(e);
	LLVMBuildRetVoid(e->b);
	return fn;
}

void hn_emit_make_types(struct emit *e)
{
	e->i1 = LLVMInt1TypeInContext(e->ctx);
	e->i8 = LLVMInt8TypeInContext(e->ctx);
	e->i32 = LLVMInt32TypeInContext(e->ctx);
	e->i64 = LLVMInt64TypeInContext(e->ctx);
	e->ptr = LLVMPointerTypeInContext(e->ctx, 0);
	e->void_ = LLVMVoidTypeInContext(e->ctx);
}

/* One program's functions, into the module. */
static void emit_program(struct emit *e)
{
	hn_emit_make_types(e);
	e->lin = hn_emit_lin_maker(e);
	e->var = HN_NEW_ARRAY(e->a, struct emit_var, e->t->n_loop + 1);
	e->buffer = HN_NEW_ARRAY(e->a, struct emit_buffer, e->t->dag->n_op);
	e->size = HN_NEW_ARRAY(e->a, LLVMValueRef, hn_emit_n_size(e));
	e->decided = HN_NEW_ARRAY(e->a, bool, e->t->dag->n_op);
	hn_dag_decided(e->t->dag, e->decided);
	place_buffers(e);
	if (e->rc) {
		return;
	}
	LLVMValueRef prep = e->prepared_bytes ? emit_part(e, "hone.prep", true) : NULL;

	hn_emit_entries(e, emit_part(e, "hone.main", false), prep);
}

static uint32_t forbidden(const struct hn_looptree *t, bool scalar)
{
	uint32_t flushing = hn_dag_may_flush(t->dag) ? 0 : 1u << HN_LIBERTY_subnormals;

	return scalar ? HN_LIBERTIES_ALL : hn_dag_forbidden(t->dag) | flushing;
}

/* Another program beside the first: LLVM gives it other internal names.  The workspace serves
 * any of them, and what it might have prepared. */
static void emit_beside(struct emit *first, const struct hn_emit_beside *is)
{
	struct hn_emit_options options = { .symbol = is->symbol, .scalar = is->scalar };
	struct emit e = { .em = first->em,
			  .t = is->tree,
			  .opt = &options,
			  .a = first->a,
			  .err = first->err,
			  .ctx = first->ctx,
			  .mod = first->mod,
			  .b = first->b,
			  .forbidden = forbidden(is->tree, is->scalar),
			  .n_lane = 1,
			  .n_active = 1 };

	emit_program(&e);
	first->rc = e.rc;
	if (e.shared_bytes + e.prepared_bytes > first->shared_bytes) {
		first->shared_bytes = e.shared_bytes + e.prepared_bytes;
	}
	if (e.worker_bytes > first->worker_bytes) {
		first->worker_bytes = e.worker_bytes;
	}
}

int hn_emit_llvm(void *state, const struct hn_looptree *t,
		 const struct hn_emit_options *options, struct hn_arena *a,
		 struct hn_artefact *ret, struct hn_err *err)
{
	struct hn_llvm *em = state;
	struct emit e = { .em = em,
			  .t = t,
			  .opt = options,
			  .a = a,
			  .err = err,
			  .ctx = em->ctx,
			  .forbidden = forbidden(t, options->scalar),
			  .n_lane = 1,
			  .n_active = 1 };

	em->diagnostic[0] = '\0';
	e.mod = LLVMModuleCreateWithNameInContext(options->symbol, e.ctx);
	LLVMSetTarget(e.mod, em->triple);
	LLVMSetDataLayout(e.mod, em->layout);
	e.b = LLVMCreateBuilderInContext(e.ctx);
	emit_program(&e);
	for (uint32_t i = 0; i < options->n_beside && !e.rc; i++) {
		emit_beside(&e, &options->beside[i]);
	}
	if (!e.rc && options->describe) {
		hn_emit_info(&e);
		hn_emit_tvm_ffi(&e);
	}
	if (!e.rc) {
		e.rc = hn_emit_object(&e, ret);
	}
	LLVMDisposeBuilder(e.b);
	LLVMDisposeModule(e.mod);
	return e.rc;
}
