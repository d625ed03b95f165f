/* lower/npu/naive.h -- the naive program of a dag: what others are measured by.
 *
 * Each op of the dag is done by itself and whole, as in hone's naive program for the CPU.  What it
 * reads is loaded from global memory, what it makes is stored there, with one slot, nothing that is
 * used again, and `barrier all` behind each instruction.  Rows are spread over the cores.
 *
 * An op is a program of its own, a step, on as many cores as it has rows for.  All steps are taken to
 * be launched once, and a core that is done waits for no other.
 */
#ifndef HN_LOWER_NPU_NAIVE_H
#define HN_LOWER_NPU_NAIVE_H

#include "lower/npu/npu.h"

struct hn_npu_step {
	const struct hn_npu_program *p;
	const int32_t *op; /* of the dag: the program's buffers, in order */
};

struct hn_npu_steps {
	uint32_t n;
	const struct hn_npu_step *step;
};

/* HN_NPU_LEAST: a row, or 256 numbers, at a time, or as little as the program has room for, and 16 x
 * 16 x 16 of a product.  HN_NPU_MOST: what fits, and of a product what hn_npu_product_plan says. */
enum hn_npu_tile { HN_NPU_LEAST, HN_NPU_MOST };

/* HONE_E_UNSUPPORTED: an op that has no program by itself. */
int hn_npu_naive(const struct hn_dag *dag, const struct hn_npu_profile *m, enum hn_npu_tile tile,
		 struct hn_arena *a, const struct hn_npu_steps **ret, struct hn_err *err) HN_NODISCARD;

/* Step after step: cycles, with one launch.  memory: of each op of the dag, NULL: it is timed alone. */
int hn_npu_naive_run(const struct hn_npu_steps *s, const struct hn_npu_profile *m, void *const *memory,
		     int64_t *ret_cycles, struct hn_err *err) HN_NODISCARD;

/* naive_product.c: C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) of float16, in steps of 16 x 16 x 16. */
bool hn_npu_naive_is_product(const struct hn_dag *dag, struct hn_npu_product *ret);
int hn_npu_naive_product(const struct hn_npu_product *p, const struct hn_npu_profile *m,
			 struct hn_arena *a, const struct hn_npu_program **ret,
			 struct hn_err *err) HN_NODISCARD;

#endif
