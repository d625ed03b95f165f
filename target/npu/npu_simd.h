/* target/npu/npu_simd.h -- the simulator's numbers by this machine's vector units: the same loops for
 * each level that the processor may have, one chosen when first asked for.
 *
 * All levels give the same bits: products of float16 are exact in float32, so that a fused
 * multiplication and addition rounds as the two of them do.
 */
#ifndef HN_TARGET_NPU_NPU_SIMD_H
#define HN_TARGET_NPU_NPU_SIMD_H

#include <stdbool.h>
#include <stdint.h>

struct npu_simd {
	/* Numbers are as many as asked for, rounded up to 16. */
	void (*widen)(float *to, const uint16_t *from, int n);	/* float16 */
	void (*narrow)(uint16_t *to, const float *from, int n); /* to nearest even */
	/* x = x op y; false, and nothing is done: the operation is none of these. */
	bool (*numbers)(uint8_t op, float *x, const float *y, int n);
	bool (*integers)(uint8_t op, int32_t *x, const int32_t *y, int n);
	/* to[i] = the left one's 16 rows of 16 float16; transposed for the right one. */
	void (*fractal)(float *to, const uint16_t *from, bool transposed);
	/* 16 x 16 sums += left * right, of k1 fractals each that `widen` made: those of the left one
	 * follow each other row by row, the right one's lie term by term, y_step numbers apart. */
	void (*product)(float *to, const float *left, const float *right, int64_t k1, int64_t y_step);
	/* The same of int8, 32 terms a fractal, as they lie in L0A and L0B; sums wrap. */
	void (*bytes)(int32_t *to, const int8_t *left, const int8_t *right, int64_t k1, int64_t y_step);
};

const struct npu_simd *npu_simd(void);
/* From the plainest (0) on: NULL behind the best that this processor has.  For tests. */
const struct npu_simd *npu_simd_level(int level);

#endif
