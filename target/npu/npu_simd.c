/* target/npu/npu_simd.c -- the levels that npu_simd.h speaks of. */
#include "target/npu/npu_simd.h"

#include <stddef.h>

#include "target/npu/npu.h"

#define LEVEL
#define NAME(x) x##_plain
#define WIDE 4
#define ROWS 8
#include "target/npu/npu_simd_level.inc"
#if defined(__x86_64__)
#define LEVEL __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define WIDE 8
#define ROWS 8
#include "target/npu/npu_simd_level.inc"
#define LEVEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define NAME(x) x##_avx512
#define WIDE 16
#define ROWS 16
#include "target/npu/npu_simd_level.inc"
#endif

static int best_level(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
		return 2;
	}
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		return 1;
	}
#endif
	return 0;
}

const struct npu_simd *npu_simd_level(int level)
{
	static const struct npu_simd *const levels[] = {
		&simd_plain,
#if defined(__x86_64__)
		&simd_avx2, &simd_avx512,
#endif
	};

	return level <= best_level() ? levels[level] : NULL;
}

const struct npu_simd *npu_simd(void)
{
	return npu_simd_level(best_level());
}
