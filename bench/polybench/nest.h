/* bench/polybench/nest.h -- what the plain loop nests share.
 *
 * Each kernel is written from its definition as a C programmer would: loops in the order in
 * which rows are walked, each array touched through `restrict`, extents known to the compiler.
 * They are compiled as shared objects by several compilers (CMakeLists.txt), which is
 * what hone's kernels are compared with.  arg[] are the computation's arguments as its
 * .dag names them: inputs, then outputs, float32, row-major.
 *
 * POLYBENCH_PLAIN: no pragmas, for a compiler that finds parallel loops itself.
 * POLYBENCH_SMALL: the short extents of sizes.def.
 */
#ifndef HN_BENCH_POLYBENCH_NEST_H
#define HN_BENCH_POLYBENCH_NEST_H

/* A nest is a function of its own: compilers believe `restrict` of parameters alone. */
#define NEST __attribute__((noinline)) static

/* Before a loop whose iterations run in any order; that only add into x. */
#ifdef POLYBENCH_PLAIN
#define PARALLEL
#define PARALLEL_SUM(x)
#else
#define PRAGMA(text) _Pragma(#text)
#define PARALLEL PRAGMA(omp parallel for)
#define PARALLEL_SUM(x) PRAGMA(omp parallel for reduction(+ : x))
#endif

/* N1000, ...: extents by their names in the set LARGE */
#ifdef POLYBENCH_SMALL
#define SIZE(large, small) N##large = small,
#else
#define SIZE(large, small) N##large = large,
#endif
enum {
#include "bench/polybench/sizes.def"
};
#undef SIZE

#define KERNEL(name, file) void polybench_##name(float *const *arg);
#include "bench/polybench/kernels.def"
#undef KERNEL

#endif
