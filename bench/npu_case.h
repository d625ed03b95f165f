/* bench/npu_case.h -- the published times of the machine that the simulated NPU is like, each with
 * hone's program for what it is of. */
#ifndef HN_BENCH_NPU_CASE_H
#define HN_BENCH_NPU_CASE_H

#include "base/err.h"
#include "loopstate/dag/dag.h"
#include "lower/npu/npu.h"
#include "target/npu/npu.h"

enum hn_npu_class { HN_NPU_FUSED, HN_NPU_CONVOLUTION, HN_NPU_N_CLASS };

extern const char *const hn_npu_class_name[HN_NPU_N_CLASS];

struct hn_npu_case {
	char name[80];
	uint8_t class;		   /* enum hn_npu_class */
	const struct hn_dag *dag;  /* NULL: a convolution, or a program as it is */
	const struct hn_npu_conv *conv; /* NULL: none */
	const struct hn_npu_program *p; /* by rule, with flags */
	double published; /* cycles at 1 GHz; of a fused operator with its launch, of a convolution the
			   * core's alone, with sums of float32 as the machine has them */
	double halves;	  /* of a convolution with sums of float16 */
};

enum { HN_NPU_MOST_CASES = 80 };

/* All of them, a class after the other and in the order of npu_published.def, with programs for that
 * profile: at most HN_NPU_MOST_CASES. */
int hn_npu_cases(const struct hn_npu_profile *m, struct hn_arena *a, struct hn_npu_case *ret,
		 size_t *ret_n, struct hn_err *err) HN_NODISCARD;

/* What the machine takes for a program that was made for it or another one, as a case counts. */
int hn_npu_case_cycles(const struct hn_npu_case *c, const struct hn_npu_program *p,
		       const struct hn_npu_profile *m, double *ret, struct hn_err *err) HN_NODISCARD;

/* Rank correlation (Spearman), of ties the mean rank. */
double hn_npu_spearman(const double *x, const double *y, size_t n);
/* The middle one of |log2(x/y)|; of an even number the mean of both. */
double hn_npu_median_off(const double *x, const double *y, size_t n);

#endif
