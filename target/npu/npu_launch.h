/* target/npu/npu_launch.h -- a program with sizes, for one launch: values for its sizes, which have to be
 * those that it is for.
 */
#ifndef HN_TARGET_NPU_NPU_LAUNCH_H
#define HN_TARGET_NPU_NPU_LAUNCH_H

#include "target/npu/npu.h"

/* The program with size i = value[i], to be run.  HONE_E_INVALID, in one line: a value is not in its
 * range, a condition of the program does not hold, or a buffer has no such length. */
int hn_npu_launch(const struct hn_npu_program *p, const int64_t *value, struct hn_arena *a,
		  const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

/* The first program of n, which have the same sizes, that is for these sizes: those that ask more stand before those that ask less. */
int hn_npu_launch_first(const struct hn_npu_program *const *p, uint32_t n, const int64_t *value,
			struct hn_arena *a, const struct hn_npu_program **ret,
			struct hn_err *err) HN_NODISCARD;

/* Programs one behind the other, each from its own first line on: HONE_E_INVALID also where there are more
 * than `most`, or where they differ in sizes. */
int hn_npu_parse_kernels(const char *what, const char *text, size_t n, uint32_t most, struct hn_arena *a,
			 const struct hn_npu_program **ret, uint32_t *ret_n, struct hn_err *err) HN_NODISCARD;

#endif
