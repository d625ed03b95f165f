/* lower/cpu/emit_int.h -- what the emitter's files share; nobody else includes it.
 *
 * Code is made in one pass over the loop tree.  Three ideas carry it:
 *   - emit_lin, emit_place: index arithmetic is done on linear forms in the compiler; what
 *     is left for the kernel is placed in the outermost loop where its operands are known,
 *     so inner loops see a pointer and a constant;
 *   - emit_expr, emit_index, emit_mem: values are straight-line code, scalar or a vector of
 *     lanes.  A condition never branches: it masks the loads below it.  Lanes are constant
 *     offsets of loop variables, and how a load is done is decided by how its offset changes
 *     over the lanes;
 *   - emit_plan, emit_tile: the innermost part of a stage is a box of points kept in
 *     registers, with the reduction loops around it.
 */
#ifndef HN_LOWER_CPU_EMIT_INT_H
#define HN_LOWER_CPU_EMIT_INT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "loopstate/dag/liberty.h"
#include "lower/lower.h"
#include "lower/places.h"
#include "loopstate/expr/linear.h"
#include "target/cpu/tile.h"

#define EMIT_MAX_LANES HN_TILE_MAX_LANES

/* emit_cpu.c: hn_emit_ops.emit. */
int hn_emit_llvm(void *state, const struct hn_looptree *t,
		 const struct hn_emit_options *options, struct hn_arena *a,
		 struct hn_artefact *ret, struct hn_err *err) HN_NODISCARD;

/* emit_cpu.c: fill e's i1, i8, i32, ... of its context. */
struct emit;
void hn_emit_make_types(struct emit *e);

/* emit_model.c: hn_emit_ops.model. */
int hn_emit_llvm_model(void *state, const struct hn_model *m, const char *weights,
		       struct hn_arena *a, struct hn_artefact *ret,
		       struct hn_err *err) HN_NODISCARD;

struct emit_turn;
struct emit_table;

/* LLVM, ready for a target: what the cpu emitter keeps between kernels. */
struct hn_llvm {
	struct hn_target target;
	struct hn_arena arena; /* target's strings */
	LLVMContextRef ctx;
	LLVMTargetMachineRef tm;
	char *triple, *layout;
	char *cpu, *features;
	char diagnostic[400]; /* first error LLVM reported; "" = none */
};

/* A loop variable's value: base * mul + add (+ lane[k] in lane k).  base in [lo, hi]. */
struct emit_var {
	LLVMValueRef base; /* i64, NULL = 0 */
	int64_t mul, add, lo, hi;
	int32_t depth;	     /* of base */
	const int64_t *lane; /* NULL = the same in all lanes */
};

/* A buffer's address in the function being emitted, per output of the op. */
struct emit_buffer {
	LLVMValueRef *base; /* [n_out]; NULL = not there yet */
	int32_t depth;
	uint64_t offset; /* in the workspace or the prepared block, when it lives there */
	uint8_t place;	 /* enum hn_place */
};

struct emit_memo {
	uint32_t op;
	LLVMValueRef x, y, value;
};

/* One loop of the function being emitted (scope 0 is its entry): where values go that
 * depend on nothing further in. */
struct emit_scope {
	LLVMValueRef anchor; /* terminator to insert before */
	uint32_t n_memo, cap_memo;
	struct emit_memo *memo;
};

struct emit_fn {
	LLVMValueRef fn;
	LLVMValueRef alloca_anchor;
	LLVMValueRef
		sink; /* scratch that masked-off scalar accesses touch; NULL until used */
	LLVMValueRef env, worker; /* ptr, i32 */
	bool past;		  /* it has stored past the caches */
	LLVMValueRef amx_shape;	  /* of tiles, that it begins with; NULL = it has none */
	LLVMValueRef amx_other;	  /* space for another shape, and for copies of factors; NULL */
	LLVMValueRef amx_copy[2]; /* until used */
	int32_t depth;		  /* scopes - 1 */
	uint32_t cap_scope;
	struct emit_scope *scope;
};

struct emit_val {
	LLVMValueRef v;
	bool vec; /* a vector of e->n_lane lanes, else one value for all */
};

struct emit_let {
	int32_t slot;
	struct emit_val val;
};

/* Uniform values met in indices, so that each lane sees the same one. */
struct emit_uniform {
	const struct hn_expr *x;
	LLVMValueRef v;
	uint64_t epoch;
};

/* A comparison of indices that is true in all of the tile being emitted. */
struct emit_fact {
	const struct hn_expr *x;
	bool op_space; /* of the body; else a guard's, in loop space */
};

/* Of a tile that have forms of their own; in one that one iteration of a loop alone takes, that
 * iteration's number is a known value (loopstate/expr/linear.h). */
#define EMIT_MAX_EDGES HN_LINEAR_KNOWN

/* A store that waits for the end of its tile (emit_past.c). */
struct emit_later {
	LLVMValueRef base, at, value;
	uint32_t unit; /* bytes of an element */
};

struct emit {
	struct hn_llvm *em;
	const struct hn_looptree *t;
	const struct hn_emit_options *opt;
	struct hn_arena *a;
	struct hn_err *err;
	int rc; /* first failure; emission goes on harmlessly, the module is dropped */

	LLVMContextRef ctx;
	LLVMModuleRef mod;
	LLVMBuilderRef b;
	LLVMTypeRef i1, i8, i32, i64, ptr, void_;
	struct emit_fn *fn;
	struct emit_var *var;	      /* [n_loop] */
	struct emit_buffer *buffer;   /* [n_stage] */
	const struct emit_nest *nest; /* whose tile is being emitted */
	uint32_t
		forbidden; /* liberties (loopstate/dag/liberty.h); all, of the naive program */
	bool *decided;	   /* [n_stage] (loopstate/dag/decided.h) */
	bool in_parallel;
	bool tiles;	      /* the program uses tiles (emit_amx.h) */
	bool dry;	      /* planning: linear forms only, no code */
	LLVMValueRef workers; /* the workers' part of the workspace */
	LLVMValueRef *size;   /* [n_size] i64, the size parameters */
	uint64_t shared_bytes, worker_bytes, prepared_bytes;

	struct hn_linear_maker lin; /* whose values are LLVM's, i64 (emit_lin.c) */

	/* the point being emitted */
	const struct hn_expr *const
		*axis; /* op space -> loop space; NULL = in loop space */
	uint32_t n_axis;
	uint32_t n_lane, n_active; /* width of vectors, and how many lanes count */
	int32_t lane;		   /* >= 0: scalar code for that lane */
	struct emit_val mask;	   /* v NULL = no condition */
	bool spare; /* the kernel's own buffers have room for what the mask leaves out */
	uint32_t n_fact;
	const struct emit_fact *fact;
	struct emit_turn *turn; /* NULL = none */
	uint32_t n_choice;	/* choices around what is being evaluated */
	uint32_t n_let, cap_let;
	struct emit_let *let;
	uint64_t epoch; /* changes when the place of emission or a variable does */
	uint32_t n_uniform, cap_uniform;
	struct emit_uniform *uniform;
	uint32_t n_dry, cap_dry;
	struct emit_memo *dry_memo;
	uint32_t n_later, cap_later;
	struct emit_later *later;
	uint32_t n_table;
	struct emit_table *table; /* NULL until a choice is met */
};

/* -- emit_make.c: what code is made of --------------------------------------------------- */

/* Record the first failure. */
void hn_emit_refuse(struct emit *e, int code, const char *fmt, ...) HN_PRINTF(3, 4);

/* Whether the program that is being emitted may take this liberty. */
bool hn_emit_may(const struct emit *e, enum hn_liberty l);

LLVMTypeRef hn_emit_type(const struct emit *e, enum hn_dtype t);
LLVMValueRef hn_emit_const(const struct emit *e, int64_t v); /* i64 */
LLVMBasicBlockRef hn_emit_block(struct emit *e, const char *name);
LLVMValueRef hn_emit_alloca(struct emit *e, uint64_t bytes, uint32_t align);
/* over: the type that it is for; NULL: it is for one. */
LLVMValueRef hn_emit_intrinsic(struct emit *e, const char *name, LLVMValueRef *arg,
			       uint32_t n, LLVMTypeRef over);
uint32_t hn_emit_n_size(const struct emit *e); /* size parameters of the dag */

/* Begin a function's body: entry block, scope 0. fn is zeroed by the caller. */
void hn_emit_fn_begin(struct emit *e, struct emit_fn *fn, LLVMValueRef value);

/* What is placed behind `anchor` lasts until the scope ends. */
void hn_emit_scope_push(struct emit *e, LLVMValueRef anchor);
void hn_emit_scope_pop(struct emit *e);

struct emit_loop {
	LLVMBasicBlockRef header;
	LLVMValueRef iv;
	LLVMValueRef end; /* i64 */
	uint32_t n;	  /* carried values */
	LLVMValueRef *phi;
};

/* Begin `for (iv = begin; iv != end; iv++)` (at least once), n values carried; afterwards
 * code goes into the body.  carried[] is replaced by the values at the head of an
 * iteration. */
void hn_emit_loop_begin(struct emit *e, LLVMValueRef begin, LLVMValueRef end, uint32_t n,
			LLVMValueRef *carried, struct emit_loop *ret);
void hn_emit_loop_end(struct emit *e, struct emit_loop *loop, LLVMValueRef *carried);

/* Values of one number or of a vector of lanes.  Both operands in the same shape: vectors, or
 * not; true = vectors. */
bool hn_emit_match(struct emit *e, struct emit_val *x, struct emit_val *y);
LLVMValueRef hn_emit_splat(struct emit *e, struct emit_val v);
bool hn_emit_is_const_bool(struct emit_val v, bool *ret); /* v.v NULL: true */
struct emit_val hn_emit_and(struct emit *e, struct emit_val x, struct emit_val y);
struct emit_val hn_emit_select(struct emit *e, struct emit_val c, struct emit_val t,
			       struct emit_val f);

/* -- emit_buffer.c: where buffers live ---------------------------------------------------- */

LLVMValueRef hn_emit_byte_at(struct emit *e, LLVMValueRef base, LLVMValueRef offset);

/* Whether op i's tensor is a parameter of hone.main beside the arguments; how many parameters
 * it has. */
bool hn_emit_is_shared(const struct emit *e, uint32_t i);
uint32_t hn_emit_n_param(const struct emit *e);
void hn_emit_param_attrs(struct emit *e, LLVMValueRef fn, uint32_t i);

/* LOCAL buffers held by this loop: give them their addresses, or forget these. */
void hn_emit_locals(struct emit *e, int32_t loop, bool enter);

/* -- emit_uses.c: what an expression depends on ------------------------------------------- */

/* Axes of the op whose space is the current one; UINT32_MAX in loop space. */
uint32_t hn_emit_n_axis(const struct emit *e);

/* Whether x is index arithmetic: integers over axes alone, done in 64 bits. */
bool hn_emit_is_index(const struct emit *e, const struct hn_expr *x);

/* Whether x (of the current space) changes from lane to lane. */
bool hn_emit_lane_varies(const struct emit *e, const struct hn_expr *x);

/* Whether x uses loop `loop`, through the axes when in op space. */
bool hn_emit_uses_loop(const struct emit *e, const struct hn_expr *x, int32_t loop);

/* -- emit_lin.c: index arithmetic ---------------------------------------------------- */

/* The linear forms of e (loopstate/expr/linear.h): of the current space, in lane e->lane (0 when
 * the code is a vector). */
struct hn_linear_maker hn_emit_lin_maker(struct emit *e);

/* The linear form of x in lane k. */
void hn_emit_lin_lane(struct emit *e, const struct hn_expr *x, uint32_t k,
		      struct hn_linear *ret);

/* -- emit_place.c: where its code goes -------------------------------------------------- */

/* Operations on i64, beside those of loopstate/expr/linear.h; EMIT_GEP: pointer + bytes,
 * EMIT_GEP_IN: and that is in the object. */
enum { EMIT_GEP = HN_LINEAR_XOR + 1, EMIT_GEP_IN };

/* x op y in the scope `depth`, made once there; HN_LINEAR_HERE = at the current place. */
LLVMValueRef hn_emit_place(struct emit *e, uint32_t op, LLVMValueRef x, LLVMValueRef y,
			   int32_t depth);

/* While planning: the value of m, a word that no other has. */
LLVMValueRef hn_emit_dry_word(struct emit *e, struct emit_memo m);

/* x's value as i64, placed as far out as its operands allow. */
LLVMValueRef hn_emit_lin_value(struct emit *e, const struct hn_linear *x);

/* base + bytes of x * unit, the constant part last. */
LLVMValueRef hn_emit_lin_address(struct emit *e, LLVMValueRef base, int32_t depth,
				 const struct hn_linear *x, int64_t unit, bool inbounds);

/* -- emit_expr.c: values ------------------------------------------------------------- */

struct emit_val hn_emit_value(struct emit *e, const struct hn_expr *x);
struct emit_val hn_emit_condition(struct emit *e, const struct hn_expr *x);
void hn_emit_let_push(struct emit *e, int32_t slot, struct emit_val v);
LLVMValueRef hn_emit_lane_mask(struct emit *e); /* first n_active of n_lane */

/* -- emit_index.c: indices, and what compares them, as values -------------------------- */

struct emit_val hn_emit_index_value(struct emit *e, const struct hn_expr *x);
struct emit_val hn_emit_compare(struct emit *e, const struct hn_expr *x);

/* -- emit_table.c: matrices of constants ----------------------------------------------- */

/* The value of the choice x, of op space; NULL v = it is not one among constants. */
struct emit_val hn_emit_from_table(struct emit *e, const struct hn_expr *x);

/* -- emit_div.c: division of floating-point lanes by one value, 1.5 ulp ----------------
 */

struct emit_val hn_emit_divide_by_one(struct emit *e, struct emit_val x,
				      struct emit_val d);

/* -- emit_math.c: functions ---------------------------------------------------------- */

struct emit_val hn_emit_call_fn(struct emit *e, const struct hn_expr *x);

/* Whether the call x ends up in libm, lane by lane. */
bool hn_emit_fn_is_call(const struct emit *e, const struct hn_expr *x);

/* -- emit_narrow.c: what lies in memory in another form than it is computed in --------- */

LLVMTypeRef hn_emit_memory_type(struct emit *e, enum hn_dtype t);

/* A value or a vector of them, as loaded; as to be stored: then it has been rounded. */
LLVMValueRef hn_emit_from_memory(struct emit *e, enum hn_dtype t, LLVMValueRef m);
LLVMValueRef hn_emit_to_memory(struct emit *e, enum hn_dtype t, LLVMValueRef v);

/* The result of an operation, rounded to t where t is narrow. */
LLVMValueRef hn_emit_rounded(struct emit *e, enum hn_dtype t, LLVMValueRef v);

/* The float v, which x makes, as integer type t, whose form for v is `type`: towards zero; past
 * the type's end, its end; 0 for a NaN. */
LLVMValueRef hn_emit_saturated(struct emit *e, LLVMValueRef v, const struct hn_expr *x,
			       enum hn_dtype t, LLVMTypeRef type);

/* -- emit_mem.c: loads and stores ---------------------------------------------------- */

/* How an element's address changes over the lanes that count. */
enum emit_pattern { EMIT_UNIFORM, EMIT_CONTIGUOUS, EMIT_SCATTERED };

struct emit_address {
	enum emit_pattern pattern;
	struct hn_linear lane[EMIT_MAX_LANES];
	const struct emit_buffer *buffer;
	LLVMValueRef base;
	LLVMTypeRef type; /* of an element in memory */
	int64_t unit;	  /* its bytes */
	enum hn_dtype dtype;
};

/* The address of lane k's element plus `more` elements. */
LLVMValueRef hn_emit_pointer(struct emit *e, const struct emit_address *x, uint32_t k,
			     int64_t more, bool inbounds);

/* p where the condition holds (NULL = always), else scratch of 512 bytes. */
LLVMValueRef hn_emit_guarded(struct emit *e, LLVMValueRef p, LLVMValueRef cond);

/* The condition of lane k; NULL = always. */
LLVMValueRef hn_emit_mask_of_lane(struct emit *e, uint32_t k);

/* No mask for an access that needs none (emit_room.c); returns what is to be put back. */
struct emit_val hn_emit_spare_mask(struct emit *e, int32_t op, const struct hn_expr *const *index);

/* n elements at p; mask (NULL = all) says which may be touched, the others are 0. */
LLVMValueRef hn_emit_load_row(struct emit *e, const struct emit_address *x,
			      LLVMValueRef p, uint32_t n, LLVMValueRef mask);

struct emit_val hn_emit_load(struct emit *e, const struct hn_expr *load);

/* The n elements from the load's on, as one integer in each lane. */
struct emit_val hn_emit_load_group(struct emit *e, const struct hn_expr *load, int64_t n);

/* T[axes] (all at once over lanes); axis[] in loop space. */
struct emit_val hn_emit_load_at(struct emit *e, int32_t op, int32_t out,
				const struct hn_expr *const *axis);
void hn_emit_store_at(struct emit *e, int32_t op, int32_t out,
		      const struct hn_expr *const *axis, struct emit_val v);

/* Where T[index] is, index in the current space, at the one point that is being emitted. */
LLVMValueRef hn_emit_element(struct emit *e, int32_t op, int32_t out,
			     const struct hn_expr *const *index);

/* Offset in elements of T[index] in lane k: index in the current space, mins in loop
 * space. */
void hn_emit_offset(struct emit *e, int32_t op, const struct hn_expr *const *index,
		    uint32_t k, struct hn_linear *ret);

/* -- emit_shape.c: arguments whose extents are size parameters -------------------------- */

/* ret += sign * x * the stride of dim d of op's buffer, in elements. */
void hn_emit_add_index(struct emit *e, int32_t op, uint32_t d, const struct hn_linear *x,
		       int64_t sign, struct hn_linear *ret);

/* -- emit_past.c: results stored past the caches ---------------------------------------- */

/* Put off the store of whole vector v at p, the address x, to the end of the tile; false when
 * it cannot go past the caches. */
bool hn_emit_store_later(struct emit *e, const struct emit_address *x, LLVMValueRef p,
			 LLVMValueRef v);

/* The end of the tile; leaves the builder in a new block when anything was put off. */
void hn_emit_store_now(struct emit *e);

/* At a function's end: what it has stored so is seen by whoever sees it return. */
void hn_emit_past_fence(struct emit *e);

/* -- emit_stride.c: vectors whose elements do not lie in a row -------------------------- */

/* Points of a tile that follow each other along one loop, so that what is scattered over
 * the lanes of one lies in a row over the points: a block to be transposed. */
struct emit_turn {
	struct emit_var *var;
	int64_t first; /* var->add at the first point */
	uint32_t count;
	bool still; /* the mask of a lane is the same at all points */
	uint32_t n;
	struct {
		const struct hn_expr *load;
		LLVMValueRef *point; /* [count] */
	} known[8];
};

/* The load by whole vectors and shuffles; NULL v = it is not of a form that has one. */
struct emit_val hn_emit_load_strided(struct emit *e, const struct hn_expr *load,
				     const struct emit_address *x);

/* -- emit_loop.c: control --------------------------------------------------------------
 */

void hn_emit_node(struct emit *e, const struct hn_node *node);

/* -- emit_amx_op.c ---------------------------------------------------------------------- */

/* The function ends: it gives back the tiles that it has used. */
void hn_emit_amx_end(struct emit *e);

/* NAME_init, which asks the system for the tiles. */
void hn_emit_amx_init(struct emit *e);

/* -- emit_prefetch.c: operands fetched ahead ------------------------------------------- */

/* A loop inside, of `count` iterations from the value that its variable has. */
struct emit_fetch_dim {
	int32_t loop;
	int64_t count;
};

/* At the head of an iteration of `loop`: fetch what `stmt` reads, `distance` iterations
 * later, of the operands that the loop names.  An iteration of the code is `block` of the
 * loop's, which then is one of `dim` too; in_tile = these run unrolled. */
void hn_emit_prefetch(struct emit *e, const struct hn_node *loop,
		      const struct hn_node *stmt, const struct emit_fetch_dim *dim,
		      uint32_t n_dim, int64_t block, bool in_tile);

/* The same for a loop whose iterations are the code's, over all that it holds. */
void hn_emit_prefetch_below(struct emit *e, const struct hn_node *loop);

/* -- emit_entry.c: what the object exports ---------------------------------------------- */

/* NAME and NAME_packed around hone.main, NAME_prepare and NAME_prepare_packed around
 * hone.prep; prep NULL = there is nothing to prepare. */
void hn_emit_entries(struct emit *e, LLVMValueRef main, LLVMValueRef prep);

/* -- emit_info.c: what the object says of itself ---------------------------------------- */

/* SYMBOL_info, behind the plan of its buffers. */
void hn_emit_info(struct emit *e);

/* -- emit_tvm_ffi.c: the kernel as a function of TVM's FFI ------------------------------- */

/* __tvm_ffi_SYMBOL, behind SYMBOL_packed; none where tensors do not tell all sizes. */
void hn_emit_tvm_ffi(struct emit *e);

/* -- emit_cond.c: comparisons of indices ------------------------------------------------ */

/* Whether x compares indices (of the current space). */
bool hn_emit_compares_indices(const struct emit *e, const struct hn_expr *x);

/* Left minus right side of comparison x in lane k. */
void hn_emit_difference(struct emit *e, const struct hn_expr *x, uint32_t k,
			struct hn_linear *ret);

/* d op 0 for d in [lo, hi]: 1 true, 0 false, -1 it depends. */
int hn_emit_decide(uint8_t op, int64_t lo, int64_t hi);

/* The same for all values that f may have. */
int hn_emit_judge(uint8_t op, const struct hn_linear *f);

/* i1: f op 0, tested at run time. */
LLVMValueRef hn_emit_test(struct emit *e, uint8_t op, const struct hn_linear *f);
LLVMIntPredicate hn_emit_predicate(uint8_t op);

/* Whether g holds in all lanes of the current point: 1, 0 (in none), -1 not known. */
int hn_emit_known_here(struct emit *e, const struct hn_expr *g);

/* -- emit_live.c: code that runs under a condition -------------------------------------- */

/* What follows, up to the end, runs when the condition holds; NULL = always. */
LLVMBasicBlockRef hn_emit_when(struct emit *e, LLVMValueRef condition);
void hn_emit_end_when(struct emit *e, LLVMBasicBlockRef join);

/* i1: count > v; NULL for count NULL. */
LLVMValueRef hn_emit_more_than(struct emit *e, LLVMValueRef count, int64_t v);

/* -- emit_object.c
 * ----------------------------------------------------------------------- */

int hn_emit_object(struct emit *e, struct hn_artefact *ret);

/* -- emit_masked.c: masked accesses that LLVM gets wrong, after the passes ---------------- */

void hn_emit_mend_masked(struct emit *e);

/* -- emit_constants.c: constants that LLVM keeps where there is no room, after the passes -- */

void hn_emit_load_constants(struct emit *e);

#endif
