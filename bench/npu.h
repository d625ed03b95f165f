/* bench/npu.h -- what the files of `hone-bench npu` share. */
#ifndef HN_BENCH_NPU_H
#define HN_BENCH_NPU_H

#include "bench/npu_case.h"

/* Rows of the times that were published of such a machine. */
int hn_bench_npu_published(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

/* Constants that fit half of the published times, and what they make of the other half. */
int hn_bench_npu_fit(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

/* Tuned programs beside naive ones; cases: the folder of shared cases. */
int hn_bench_npu_naive(const struct hn_npu_profile *m, const char *cases, struct hn_err *err) HN_NODISCARD;

/* Published tiles beside hone's. */
int hn_bench_npu_tiles(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

/* Products of all kinds of sizes beside the machine's bound. */
int hn_bench_npu_products(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

/* Programs for ranges of sizes beside those for each size. */
int hn_bench_npu_sizes(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

/* m1 rows of n1 fractals of float32, times a number, as rows. */
int hn_bench_npu_transposed(int64_t m1, int64_t n1, const struct hn_npu_profile *m, struct hn_arena *a,
			    const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

#endif
