/* lower/gpu/ptx_int.h -- what the files of PTX by way of LLVM share. */
#ifndef HN_LOWER_GPU_PTX_INT_H
#define HN_LOWER_GPU_PTX_INT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "lower/gpu/gpu_int.h"

enum { GPU_PTX_GLOBAL = 1, GPU_PTX_SHARED = 3 }; /* numbers of LLVM's address spaces */

struct gpu_ptx {
	LLVMContextRef ctx;
	LLVMModuleRef mod;
	LLVMBuilderRef b;
	LLVMTargetMachineRef tm;
	LLVMTypeRef i1, i8, i16, i32, i64, f32, f64;
	char diagnostic[300];
	/* the kernel at hand */
	LLVMValueRef fn;
	LLVMBasicBlockRef entry;     /* variables of registers are declared there */
	LLVMValueRef *base;	     /* [n_buffer] a pointer; of kept arrays NULL */
	LLVMValueRef *map;	     /* [n_map] a pointer */
	LLVMValueRef **element;	     /* [n_buffer][n_elem] of kept arrays */
	LLVMBasicBlockRef *loop_top; /* [n_slot] */
	LLVMBasicBlockRef *after;    /* where conditions end, innermost last */
	uint32_t n_after, cap_after;
};

static inline struct gpu_ptx *gpu_ptx_of(struct gpu *g)
{
	return g->own;
}

/* ptx_value.c */
LLVMTypeRef hn_gpu_ptx_type(struct gpu *g, enum hn_dtype t);   /* of a value */
LLVMTypeRef hn_gpu_ptx_stored(struct gpu *g, enum hn_dtype t); /* of an element in memory */
LLVMValueRef hn_gpu_ptx_intrinsic(struct gpu *g, const char *name, LLVMTypeRef over,
				  LLVMValueRef *arg, uint32_t n);
gpu_val hn_gpu_ptx_number(struct gpu *g, enum hn_dtype t, int64_t v);
gpu_val hn_gpu_ptx_real(struct gpu *g, enum hn_dtype t, double v);
gpu_val hn_gpu_ptx_binary(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x, gpu_val y,
			  bool exact);
gpu_val hn_gpu_ptx_not(struct gpu *g, gpu_val x);
gpu_val hn_gpu_ptx_cast(struct gpu *g, enum hn_dtype to, enum hn_dtype from, gpu_val x);
gpu_val hn_gpu_ptx_round(struct gpu *g, enum hn_dtype to, gpu_val x);
gpu_val hn_gpu_ptx_call(struct gpu *g, enum hn_fn fn, enum hn_dtype t, const gpu_val *x);
gpu_val hn_gpu_ptx_select(struct gpu *g, enum hn_dtype t, gpu_val c, gpu_val x, gpu_val y);

/* ptx_warp.c */
void hn_gpu_ptx_ldmatrix(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
			 uint32_t n, bool trans);
void hn_gpu_ptx_mma(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		    const struct gpu_at *left, const struct gpu_at *right);

/* ptx_wgmma.c */
void hn_gpu_ptx_wgmma(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		      const struct gpu_at from[2]);
void hn_gpu_ptx_settle(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		       int64_t but);
void hn_gpu_ptx_fence(struct gpu *g);

/* Its parts: a factor's descriptor; one step of a product, whose descriptors these operands hold, by
 * registers a and b and predicate p; assembly that takes values; the same that takes the results of a
 * product, too, as the first operands, and gives them back. */
LLVMValueRef hn_gpu_ptx_descriptor(struct gpu *g, const struct gpu_at *at,
				   const struct hn_device_matrix *m);
void hn_gpu_ptx_put_step(const struct hn_device_warp *w, int64_t step, const char *left,
			 const char *right, struct hn_buf *out);
LLVMValueRef hn_gpu_ptx_run(struct gpu *g, const struct hn_buf *code, const struct hn_buf *operands,
			    LLVMTypeRef result, LLVMTypeRef *type, LLVMValueRef *arg, unsigned n);
void hn_gpu_ptx_with_sums(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
			  const LLVMValueRef *from, unsigned n_from, const char *constraints,
			  const struct hn_buf *code);

/* ptx_role.c */
void hn_gpu_ptx_mbarrier(struct gpu *g, const struct gpu_at *at, int64_t count);
void hn_gpu_ptx_registers(struct gpu *g, int64_t n, bool more);
void hn_gpu_ptx_await(struct gpu *g, const struct gpu_at *at, gpu_val parity);
void hn_gpu_ptx_arrive(struct gpu *g, const struct gpu_at *at);
void hn_gpu_ptx_expect(struct gpu *g, const struct gpu_at *at, int64_t bytes);
void hn_gpu_ptx_bulk(struct gpu *g, int32_t map, const struct gpu_at *to, const gpu_val *from,
		     const struct gpu_at *mbarrier);
void hn_gpu_ptx_turns(struct gpu *g, const struct gpu_turns *t);

/* ptx_wide.c: the function, or NULL where there is no code for it.  y: NULL unless it takes two. */
LLVMValueRef hn_gpu_ptx_wide(struct gpu *g, enum hn_fn fn, enum hn_dtype t, LLVMValueRef x,
			     LLVMValueRef y);

/* ptx_fmod.c: the exact remainder of two float32. */
LLVMValueRef hn_gpu_ptx_fmod(struct gpu *g, LLVMValueRef x, LLVMValueRef y);

/* ptx_code.c */
LLVMValueRef hn_gpu_ptx_place(struct gpu *g, const struct gpu_at *at); /* a pointer */
gpu_val hn_gpu_ptx_load(struct gpu *g, const struct gpu_at *at);
gpu_val hn_gpu_ptx_name(struct gpu *g, enum hn_dtype t, gpu_val v);
void hn_gpu_ptx_store(struct gpu *g, const struct gpu_at *at, gpu_val v);
void hn_gpu_ptx_copy(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
		     uint32_t bytes);
void hn_gpu_ptx_commit(struct gpu *g);
void hn_gpu_ptx_wait(struct gpu *g, int64_t n);
void hn_gpu_ptx_barrier(struct gpu *g);
void *hn_gpu_ptx_choose(struct gpu *g, enum hn_dtype t, gpu_val c);
void hn_gpu_ptx_otherwise(struct gpu *g, void *choice, gpu_val x);
gpu_val hn_gpu_ptx_chosen(struct gpu *g, void *choice, gpu_val y);
void hn_gpu_ptx_begin_loop(struct gpu *g, int32_t slot, int64_t extent, bool written_out);
void hn_gpu_ptx_end_loop(struct gpu *g, int32_t slot, int64_t extent);
void hn_gpu_ptx_begin_if(struct gpu *g, gpu_val c);
void hn_gpu_ptx_end_if(struct gpu *g);

/* ptx_target.c: the machine of g's target; passes, and the text of the module. */
void hn_gpu_ptx_open(struct gpu *g);
void hn_gpu_ptx_finish(struct gpu *g, struct hn_gpu_module *ret);

#endif
