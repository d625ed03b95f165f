/* lower/cpu/emit_amx_op.c -- the instructions on tiles, and the shapes that these are given.
 *
 * The instructions are LLVM's that name registers: it takes them in the order they are written in,
 * and has nothing to allocate or to spill.  A thread's tiles have shapes of its own (ldtilecfg),
 * which cost a hundred cycles to set.  So a function sets the shape of its first sum where it
 * begins, and another one only where that is needed, and gives the tiles back at its end.  Where
 * a function starts threads, its own thread is one of them, and comes back without shapes: there
 * each sum sets its shape itself.
 *
 * For tests on machines without tiles each instruction is a call instead, of a function of that
 * name (lower.h, model_tiles).
 */
#include "lower/cpu/emit_amx.h"

#include <stdio.h>
#include <string.h>

#define MODEL "hone_model_"

/* -- one instruction -------------------------------------------------------------------- */

static LLVMValueRef declared(struct emit *e, const char *name, LLVMTypeRef *type,
			     uint32_t n)
{
	LLVMValueRef fn = LLVMGetNamedFunction(e->mod, name);

	return fn ? fn
		  : LLVMAddFunction(e->mod, name, LLVMFunctionType(e->void_, type, n, 0));
}

/* name: without "llvm.x86."; numbers of tiles are first. */
static void instruction(struct emit *e, const char *name, const uint32_t *tile,
			uint32_t n_tile, LLVMValueRef *more, uint32_t n_more)
{
	bool model = e->opt->model_tiles;
	LLVMTypeRef type[4], number = model ? e->i32 : e->i8;
	LLVMValueRef arg[4], fn;
	uint32_t n = 0;
	char full[64];

	for (uint32_t i = 0; i < n_tile; i++, n++) {
		type[n] = number;
		arg[n] = LLVMConstInt(number, tile[i], 0);
	}
	for (uint32_t i = 0; i < n_more; i++, n++) {
		type[n] = LLVMTypeOf(more[i]);
		arg[n] = more[i];
	}
	snprintf(full, sizeof full, "%s%s", model ? MODEL : "llvm.x86.", name);
	if (model) {
		fn = declared(e, full, type, n);
	} else {
		fn = LLVMGetIntrinsicDeclaration(
			e->mod, LLVMLookupIntrinsicID(full, strlen(full)), NULL, 0);
	}
	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, arg, n, "");
}

void hn_emit_amx_zero(struct emit *e, uint32_t tile)
{
	instruction(e, "tilezero", &tile, 1, NULL, 0);
}

void hn_emit_amx_load(struct emit *e, uint32_t tile, LLVMValueRef p, LLVMValueRef stride)
{
	instruction(e, "tileloadd64", &tile, 1, (LLVMValueRef[]){ p, stride }, 2);
}

void hn_emit_amx_store(struct emit *e, uint32_t tile, LLVMValueRef p, LLVMValueRef stride)
{
	instruction(e, "tilestored64", &tile, 1, (LLVMValueRef[]){ p, stride }, 2);
}

void hn_emit_amx_sum(struct emit *e, const struct hn_intrin *in, uint32_t acc,
		     uint32_t left, uint32_t right)
{
	instruction(e, in->llvm + strlen("llvm.x86."), (uint32_t[]){ acc, left, right },
		    3, NULL, 0);
}

static void configure(struct emit *e, LLVMValueRef at)
{
	instruction(e, "ldtilecfg", NULL, 0, &at, 1);
}

/* -- shapes ------------------------------------------------------------------------------ */

/* Where a configuration says how many bytes a row of a tile has, 16 bits each, and how many
 * rows. */
#define AT_PALETTE 0
#define AT_BYTES 16
#define AT_ROWS 48

uint32_t hn_emit_amx_held(const struct emit_amx_shape *s)
{
	uint32_t side = s->mt <= s->nt ? s->mt : s->nt;
	uint32_t room = HN_INTRIN_TILES - s->mt * s->nt - 1;

	return side < room ? side : room;
}

/* Registers in order: results, row by row; then those of the left and right factors, of which
 * the side with fewer tiles is held (emit_amx.c, which fills the rest in turn). */
static void roles(const struct emit_amx_shape *s, uint32_t tile, bool *ret_result,
		  bool *ret_left)
{
	uint32_t held = hn_emit_amx_held(s);

	*ret_result = tile < s->mt * s->nt;
	*ret_left = (tile < s->mt * s->nt + held) == (s->mt <= s->nt);
}

static LLVMValueRef constant_shape(struct emit *e, const struct emit_amx_shape *s)
{
	uint8_t bytes[EMIT_AMX_CONFIG] = { [AT_PALETTE] = 1 };
	int64_t rows = LLVMConstIntGetSExtValue(s->rows),
		columns = LLVMConstIntGetSExtValue(s->columns);
	char name[96];

	snprintf(name, sizeof name, "hone.tiles.%u.%u.%lld.%lld.%lld", s->mt, s->nt,
		 (long long)rows, (long long)columns, (long long)s->groups);
	LLVMValueRef global = LLVMGetNamedGlobal(e->mod, name);

	if (global) {
		return global;
	}
	for (uint32_t t = 0; t < HN_INTRIN_TILES; t++) {
		bool result, left;

		roles(s, t, &result, &left);
		bytes[AT_BYTES + 2 * t] =
			(uint8_t)(EMIT_AMX_ELEM *
				  (!result && left ? s->groups : columns));
		bytes[AT_ROWS + t] = (uint8_t)(result || left ? rows : s->groups);
	}
	global = LLVMAddGlobal(e->mod, LLVMArrayType2(e->i8, sizeof bytes), name);
	LLVMSetInitializer(global, LLVMConstStringInContext2(e->ctx, (const char *)bytes,
							     sizeof bytes, 1));
	LLVMSetGlobalConstant(global, 1);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetAlignment(global, EMIT_AMX_CONFIG);
	return global;
}

static bool starts_threads(const struct hn_node *n)
{
	if (n->kind == HN_NODE_LOOP && n->ann == HN_ANN_PARALLEL && n->extent > 1) {
		return true;
	}
	for (uint32_t k = 0; n->kind != HN_NODE_STMT && k < n->n_child; k++) {
		if (starts_threads(n->child[k])) {
			return true;
		}
	}
	return false;
}

/* Whether one shape lasts for the whole function. */
static bool lasts(const struct emit *e)
{
	return e->in_parallel || !starts_threads(e->t->root);
}

void hn_emit_amx_enter(struct emit *e, const struct emit_amx_shape *shape)
{
	struct emit_fn *fn = e->fn;
	LLVMValueRef at = constant_shape(e, shape);

	e->tiles = true;
	if (!lasts(e)) {
		configure(e, at);
	} else if (!fn->amx_shape) {
		LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

		LLVMPositionBuilderBefore(e->b, fn->alloca_anchor);
		configure(e, at);
		LLVMPositionBuilderAtEnd(e->b, here);
		fn->amx_shape = at;
	} else if (fn->amx_shape != at) {
		configure(e, at);
	}
}

void hn_emit_amx_leave(struct emit *e, const struct emit_amx_shape *shape)
{
	if (!lasts(e)) {
		instruction(e, "tilerelease", NULL, 0, NULL, 0);
	} else if (e->fn->amx_shape != constant_shape(e, shape)) {
		configure(e, e->fn->amx_shape);
	}
}

void hn_emit_amx_end(struct emit *e)
{
	if (e->fn->amx_shape) {
		instruction(e, "tilerelease", NULL, 0, NULL, 0);
	}
}

/* Linux gives a process these registers when it asks: arch_prctl(ARCH_REQ_XCOMP_PERM, the tiles'
 * data), written out, so that the object needs no C library's function for it. */
void hn_emit_amx_init(struct emit *e)
{
	enum { CALL = 158, REQUEST = 0x1023, TILE_DATA = 18 };
	static const char constraints[] = "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{"
					  "memory},~{dirflag},~{fpsr},~{flags}";
	LLVMTypeRef type[3] = { e->i64, e->i64, e->i64 };
	LLVMTypeRef shape = LLVMFunctionType(e->i64, type, 3, 0);
	LLVMValueRef arg[3] = { hn_emit_const(e, CALL), hn_emit_const(e, REQUEST),
				hn_emit_const(e, TILE_DATA) };
	LLVMValueRef call =
		LLVMGetInlineAsm(shape, "syscall", 7, constraints, sizeof constraints - 1,
				 /* HasSideEffects= */ 1,
				 /* IsAlignStack= */ 0, LLVMInlineAsmDialectATT,
				 /* CanThrow= */ 0);
	LLVMValueRef fn =
		LLVMAddFunction(e->mod, hn_arena_printf(e->a, "%s_init", e->opt->symbol),
				LLVMFunctionType(e->i32, NULL, 0, 0));
	struct emit_fn state = { 0 };

	hn_emit_fn_begin(e, &state, fn);
	LLVMValueRef answer = LLVMBuildCall2(e->b, shape, call, arg, 3, "");

	LLVMBuildRet(e->b, LLVMBuildTrunc(e->b, answer, e->i32, ""));
}

static void put(struct emit *e, LLVMValueRef base, uint32_t at, LLVMTypeRef type,
		LLVMValueRef v)
{
	LLVMValueRef p = hn_emit_byte_at(e, base, hn_emit_const(e, at));

	LLVMSetAlignment(LLVMBuildStore(e->b, LLVMBuildTrunc(e->b, v, type, ""), p), 1);
}

void hn_emit_amx_reshape(struct emit *e, const struct emit_amx_shape *s)
{
	LLVMTypeRef i16 = LLVMInt16TypeInContext(e->ctx),
		    all = LLVMVectorType(e->i64, EMIT_AMX_CONFIG / 8);
	LLVMValueRef groups = hn_emit_const(e, s->groups);
	LLVMValueRef elem = hn_emit_const(e, EMIT_AMX_ELEM);

	if (!e->fn->amx_other) {
		e->fn->amx_other = hn_emit_alloca(e, EMIT_AMX_CONFIG, EMIT_AMX_CONFIG);
	}
	LLVMBuildStore(e->b, LLVMConstNull(all), e->fn->amx_other);
	put(e, e->fn->amx_other, AT_PALETTE, e->i8, hn_emit_const(e, 1));
	for (uint32_t t = 0; t < HN_INTRIN_TILES; t++) {
		bool result, left;

		roles(s, t, &result, &left);
		LLVMValueRef wide = !result && left ? groups : s->columns;

		put(e, e->fn->amx_other, AT_BYTES + 2 * t, i16,
		    LLVMBuildMul(e->b, wide, elem, ""));
		put(e, e->fn->amx_other, AT_ROWS + t, e->i8,
		    result || left ? s->rows : groups);
	}
	configure(e, e->fn->amx_other);
}

void hn_emit_amx_shape_back(struct emit *e, const struct emit_amx_shape *shape)
{
	configure(e, constant_shape(e, shape));
}
