/* lower/cpu/emit_tvm_ffi.c -- the kernel as a function of TVM's FFI: __tvm_ffi_SYMBOL.
 *
 * A shared library with this symbol is a module to everything that speaks that interface: Python,
 * torch, C++, Rust.  The function takes tensors, looks at each as libhone does
 * (client/lib/tensor.c), and calls SYMBOL_packed on the caller's thread.  It needs nothing to be
 * linked: what a refusal says goes to TVMFFIErrorSetRaisedFromCStr where the process has that.
 *
 * Layouts are those of tvm/ffi/c_api.h (TVMFFIAny, TVMFFIObject) and dlpack.h (DLTensor), which
 * are stable; both have little-endian 64-bit machines in mind, as hone has.
 */
#include <stddef.h>
#include <string.h>

#include "hone/load.h"
#include "loopstate/dag/size.h"
#include "lower/cpu/emit_int.h"

enum { /* TVMFFIAny: 16 bytes each */
       ANY_BYTES = 16,
       ANY_VALUE = 8,
       TYPE_DLTENSOR = 7, /* the value points to a DLTensor, ... */
       TYPE_TENSOR = 70,  /* or to an object, behind whose head one lies */
       OBJECT_BYTES = 24 };

#define AT(member) offsetof(struct hone_tensor, member)

struct argument {
	LLVMValueRef tensor, place, bytes;
};

struct ffi {
	struct emit *e;
	const struct hn_dag *task;
	LLVMValueRef refuse; /* says the text, and answers -1 */
	LLVMValueRef *size;  /* of the dag's sizes; NULL: no tensor has told it yet */
	struct argument *arg;
};

static LLVMValueRef load(struct emit *e, LLVMValueRef base, uint64_t at, LLVMTypeRef type)
{
	return LLVMBuildLoad2(e->b, type,
			      hn_emit_byte_at(e, base, hn_emit_const(e, (int64_t)at)), "");
}

static LLVMValueRef is(struct emit *e, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildICmp(e->b, how, x, y, "");
}

static LLVMValueRef word(struct emit *e, uint32_t v)
{
	return LLVMConstInt(e->i32, v, 0);
}

/* Go on where it holds; else refuse with the text. */
static void want(struct ffi *f, LLVMValueRef holds, const char *text)
{
	struct emit *e = f->e;
	LLVMBasicBlockRef wrong = hn_emit_block(e, "wrong"), right = hn_emit_block(e, "right");

	LLVMBuildCondBr(e->b, holds, right, wrong);
	LLVMPositionBuilderAtEnd(e->b, wrong);
	LLVMValueRef said = LLVMBuildGlobalString(
		e->b, hn_arena_printf(e->a, "%s: %s", e->opt->symbol, text), "");

	LLVMBuildRet(e->b, LLVMBuildCall2(e->b, LLVMGlobalGetValueType(f->refuse), f->refuse,
					  &said, 1, ""));
	LLVMPositionBuilderAtEnd(e->b, right);
}

static const char *about(const struct ffi *f, uint32_t i, const char *text)
{
	return hn_arena_printf(f->e->a, "argument %u (%.60s): %s", i,
			       f->task->op[f->task->arg[i]]->name, text);
}

/* int32_t hone.refuse(const char *text) */
static LLVMValueRef emit_refuse(struct emit *e)
{
	LLVMTypeRef two[2] = { e->ptr, e->ptr };
	LLVMTypeRef set_type = LLVMFunctionType(e->void_, two, 2, 0);
	LLVMValueRef set = LLVMAddFunction(e->mod, "TVMFFIErrorSetRaisedFromCStr", set_type);
	LLVMValueRef fn = LLVMAddFunction(e->mod, "hone.refuse",
					  LLVMFunctionType(e->i32, &e->ptr, 1, 0));
	struct emit_fn state = { 0 };

	LLVMSetLinkage(set, LLVMExternalWeakLinkage);
	LLVMSetLinkage(fn, LLVMPrivateLinkage);
	hn_emit_fn_begin(e, &state, fn);
	LLVMBasicBlockRef say = hn_emit_block(e, "say"), end = hn_emit_block(e, "end");

	LLVMBuildCondBr(e->b, is(e, LLVMIntNE, set, LLVMConstNull(e->ptr)), say, end);
	LLVMPositionBuilderAtEnd(e->b, say);
	LLVMValueRef arg[2] = { LLVMBuildGlobalString(e->b, "ValueError", ""), LLVMGetParam(fn, 0) };

	LLVMBuildCall2(e->b, set_type, set, arg, 2, "");
	LLVMBuildBr(e->b, end);
	LLVMPositionBuilderAtEnd(e->b, end);
	LLVMBuildRet(e->b, LLVMConstInt(e->i32, UINT64_MAX, 1));
	return fn;
}

/* Where the argument's DLTensor is. */
static LLVMValueRef find_tensor(struct ffi *f, LLVMValueRef args, uint32_t i)
{
	struct emit *e = f->e;
	uint64_t at = (uint64_t)i * ANY_BYTES;
	LLVMValueRef type = load(e, args, at, e->i32), value = load(e, args, at + ANY_VALUE, e->ptr);
	LLVMValueRef plain = is(e, LLVMIntEQ, type, word(e, TYPE_DLTENSOR));
	LLVMValueRef object = is(e, LLVMIntEQ, type, word(e, TYPE_TENSOR));

	want(f, LLVMBuildOr(e->b, plain, object, ""), about(f, i, "no tensor"));
	want(f, is(e, LLVMIntNE, value, LLVMConstNull(e->ptr)), about(f, i, "no tensor"));
	return LLVMBuildSelect(e->b, plain, value,
			       hn_emit_byte_at(e, value, hn_emit_const(e, OBJECT_BYTES)), "");
}

static uint32_t dlpack_type(enum hn_dtype t)
{
	enum { INT = 0, UINT = 1, FLOAT = 2, BFLOAT = 4, BOOL = 6 };
	uint32_t code = hn_dtype_class(t) == HN_CLASS_BOOL	 ? BOOL
			: hn_dtype_class(t) == HN_CLASS_SIGNED	 ? INT
			: hn_dtype_class(t) == HN_CLASS_UNSIGNED ? UINT
			: t == HN_BF16				 ? BFLOAT
								 : FLOAT;

	return code | 8 * hn_dtype_bytes(t) << 8 | 1u << 16;
}

/* The number of the size that the extent is; -1: it is more than that. */
static int32_t size_of(const struct ffi *f, const struct hn_op *op, uint32_t d)
{
	int32_t ret = -1;
	struct hn_buf text;

	hn_buf_init(&text);
	hn_expr_print(hn_op_extent(op, d), NULL, &text);
	for (uint32_t k = 0; k < hn_emit_n_size(f->e); k++) {
		if (strcmp(f->task->sizes->size[k].name, text.s) == 0) {
			ret = (int32_t)k;
		}
	}
	hn_buf_fini(&text);
	return ret;
}

static LLVMValueRef check_extent(struct ffi *f, uint32_t i, uint32_t d, LLVMValueRef have)
{
	const struct hn_op *op = f->task->op[f->task->arg[i]];
	int32_t k = hn_op_extent(op, d) ? size_of(f, op, d) : -1;
	LLVMValueRef must = k < 0 ? hn_emit_const(f->e, op->shape[d]) : f->size[k];
	const char *text = k < 0 ? hn_arena_printf(f->e->a, "dimension %u is not %lld", d,
						   (long long)op->shape[d])
				 : hn_arena_printf(f->e->a, "dimension %u is not %s", d,
						   f->task->sizes->size[k].name);

	if (must == NULL) {
		f->size[k] = have;
		return have;
	}
	want(f, is(f->e, LLVMIntEQ, have, must), about(f, i, text));
	return must;
}

/* Extents, and strides where there are any; the bytes that it takes. */
static LLVMValueRef check_shape(struct ffi *f, uint32_t i, LLVMValueRef tensor)
{
	struct emit *e = f->e;
	const struct hn_op *op = f->task->op[f->task->arg[i]];
	LLVMValueRef shape = load(e, tensor, AT(shape), e->ptr), null = LLVMConstNull(e->ptr);
	LLVMValueRef strides = load(e, tensor, AT(strides), e->ptr);
	LLVMValueRef *extent = HN_NEW_ARRAY(e->a, LLVMValueRef, op->n_dim);
	LLVMValueRef one = hn_emit_const(e, 1), stride = one;

	want(f, is(e, LLVMIntEQ, load(e, tensor, AT(ndim), e->i32), word(e, op->n_dim)),
	     about(f, i, hn_arena_printf(e->a, "not of %u dimensions", op->n_dim)));
	if (op->n_dim > 0) {
		want(f, is(e, LLVMIntNE, shape, null), about(f, i, "no shape"));
	}
	for (uint32_t d = 0; d < op->n_dim; d++) {
		extent[d] = check_extent(f, i, d, load(e, shape, 8 * (uint64_t)d, e->i64));
	}
	LLVMBasicBlockRef look = hn_emit_block(e, "strides"), fine = hn_emit_block(e, "rows");

	LLVMBuildCondBr(e->b, is(e, LLVMIntNE, strides, null), look, fine);
	LLVMPositionBuilderAtEnd(e->b, look);
	for (uint32_t d = op->n_dim; d-- > 0;) {
		LLVMValueRef have = load(e, strides, 8 * (uint64_t)d, e->i64);
		LLVMValueRef any = is(e, LLVMIntEQ, extent[d], one);

		want(f, LLVMBuildOr(e->b, any, is(e, LLVMIntEQ, have, stride), ""),
		     about(f, i, "not in rows without gaps: copy it"));
		stride = LLVMBuildMul(e->b, stride, extent[d], "");
	}
	LLVMBuildBr(e->b, fine);
	LLVMPositionBuilderAtEnd(e->b, fine);
	stride = hn_emit_const(e, hn_dtype_bytes(op->dtype[hn_dag_arg_out(f->task, i)]));
	for (uint32_t d = 0; d < op->n_dim; d++) {
		stride = LLVMBuildMul(e->b, stride, extent[d], "");
	}
	return stride;
}

static void check_argument(struct ffi *f, LLVMValueRef args, uint32_t i)
{
	struct emit *e = f->e;
	enum hn_dtype dtype =
		f->task->op[f->task->arg[i]]->dtype[hn_dag_arg_out(f->task, i)];
	struct argument *x = &f->arg[i];

	x->tensor = find_tensor(f, args, i);
	want(f, is(e, LLVMIntEQ, load(e, x->tensor, AT(device_type), e->i32), word(e, 1)),
	     about(f, i, "not in this machine's memory"));
	want(f, is(e, LLVMIntEQ, load(e, x->tensor, AT(code), e->i32), word(e, dlpack_type(dtype))),
	     about(f, i, hn_arena_printf(e->a, "elements are not %s", hn_dtype_name(dtype))));
	x->bytes = check_shape(f, i, x->tensor);
	LLVMValueRef data = load(e, x->tensor, AT(data), e->ptr);

	want(f, is(e, LLVMIntNE, data, LLVMConstNull(e->ptr)), about(f, i, "no data"));
	x->place = hn_emit_byte_at(e, data, load(e, x->tensor, AT(byte_offset), e->i64));
	LLVMValueRef low = LLVMBuildAnd(e->b, LLVMBuildPtrToInt(e->b, x->place, e->i64, ""),
					hn_emit_const(e, (int64_t)hn_dtype_bytes(dtype) - 1), "");

	want(f, is(e, LLVMIntEQ, low, hn_emit_const(e, 0)), about(f, i, "not aligned"));
}

/* No output lies over another argument. */
static void check_overlap(struct ffi *f)
{
	struct emit *e = f->e;

	for (uint32_t i = f->task->n_input; i < f->task->n_arg; i++) {
		for (uint32_t k = 0; k < f->task->n_arg; k++) {
			const struct argument *x = &f->arg[i], *y = &f->arg[k];

			if (k == i) {
				continue;
			}
			LLVMValueRef after = is(e, LLVMIntUGE, x->place,
						hn_emit_byte_at(e, y->place, y->bytes));
			LLVMValueRef before = is(e, LLVMIntUGE, y->place,
						 hn_emit_byte_at(e, x->place, x->bytes));

			want(f, LLVMBuildOr(e->b, after, before, ""),
			     about(f, i, "lies over another argument"));
		}
	}
}

static void call_packed(struct ffi *f)
{
	struct emit *e = f->e;
	uint32_t n = f->task->n_arg, n_size = hn_emit_n_size(e), at = 0;
	LLVMValueRef packed = LLVMGetNamedFunction(
		e->mod, hn_arena_printf(e->a, "%s_packed", e->opt->symbol));
	LLVMValueRef pointers = hn_emit_alloca(e, 8 * (uint64_t)(n + 1), 16), arg[3];

	for (uint32_t i = 0; i < n; i++) {
		LLVMBuildStore(e->b, f->arg[i].place,
			       hn_emit_byte_at(e, pointers, hn_emit_const(e, 8 * (int64_t)i)));
	}
	if (n_size > 0) {
		arg[at++] = hn_emit_alloca(e, 8 * (uint64_t)n_size, 16);
	}
	for (uint32_t k = 0; k < n_size; k++) {
		LLVMBuildStore(e->b, f->size[k],
			       hn_emit_byte_at(e, arg[0], hn_emit_const(e, 8 * (int64_t)k)));
	}
	arg[at++] = pointers;
	arg[at++] = LLVMConstNull(e->ptr);
	LLVMValueRef answer =
		LLVMBuildCall2(e->b, LLVMGlobalGetValueType(packed), packed, arg, at, "");

	want(f, is(e, LLVMIntEQ, answer, word(e, 0)),
	     n_size > 0 ? "no memory, or a size that is out of its range" : "no memory");
}

/* Whether tensors tell all that a call takes. */
static bool is_told(const struct ffi *f)
{
	bool *told = HN_NEW_ARRAY(f->e->a, bool, hn_emit_n_size(f->e));
	bool all = true;

	for (uint32_t i = 0; i < f->task->n_arg; i++) {
		const struct hn_op *op = f->task->op[f->task->arg[i]];

		for (uint32_t d = 0; d < op->n_dim; d++) {
			int32_t k = hn_op_extent(op, d) ? size_of(f, op, d) : -1;

			all &= !hn_op_extent(op, d) || k >= 0;
			if (k >= 0) {
				told[k] = true;
			}
		}
	}
	for (uint32_t k = 0; k < hn_emit_n_size(f->e); k++) {
		all &= told[k];
	}
	return all;
}

void hn_emit_tvm_ffi(struct emit *e)
{
	const struct hn_dag *task = e->t->state->root_dag;
	struct ffi f = { .e = e,
			 .task = task,
			 .size = HN_NEW_ARRAY(e->a, LLVMValueRef, hn_emit_n_size(e)),
			 .arg = HN_NEW_ARRAY(e->a, struct argument, task->n_arg) };
	LLVMTypeRef type[4] = { e->ptr, e->ptr, e->i32, e->ptr };
	struct emit_fn state = { 0 };

	if (!is_told(&f)) {
		return;
	}
	f.refuse = emit_refuse(e);
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, hn_arena_printf(e->a, "__tvm_ffi_%s", e->opt->symbol),
				LLVMFunctionType(e->i32, type, 4, 0));

	hn_emit_fn_begin(e, &state, fn);
	want(&f, is(e, LLVMIntEQ, LLVMGetParam(fn, 2), word(e, task->n_arg)),
	     hn_arena_printf(e->a, "it takes %u tensors", task->n_arg));
	for (uint32_t i = 0; i < task->n_arg; i++) {
		check_argument(&f, LLVMGetParam(fn, 1), i);
	}
	check_overlap(&f);
	call_packed(&f);
	LLVMBuildStore(e->b, hn_emit_const(e, 0), LLVMGetParam(fn, 3)); /* None */
	LLVMBuildStore(e->b, hn_emit_const(e, 0),
		       hn_emit_byte_at(e, LLVMGetParam(fn, 3), hn_emit_const(e, ANY_VALUE)));
	LLVMBuildRet(e->b, word(e, 0));
}
