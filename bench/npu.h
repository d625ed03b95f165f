/* bench/npu.h -- what the files of `hone-bench npu` share. */
#ifndef HN_BENCH_NPU_H
#define HN_BENCH_NPU_H

#include "base/err.h"
#include "target/npu/npu.h"

/* Rows of the times that were published of such a machine. */
int hn_bench_npu_published(const struct hn_npu_profile *m, struct hn_err *err) HN_NODISCARD;

#endif
