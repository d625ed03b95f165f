/* target/npu/npu_cube.c -- the cube: fractals of the left factor times fractals of the right one, and
 * its sums as they come out.
 *
 * float16 products are exact in float32; the sum is taken term by term, from the first on.  int8
 * sums wrap as int32 do.  Layouts, of the fractals of a matrix (each of 16 rows, or C0 of the terms):
 *   L0A  row by row of fractals, each row by row;        L0B  term by term of fractals, each column by
 *   column;                                              L0C  column by column, each row by row.
 */
#include <string.h>

#include "base/arith.h"
#include "target/npu/npu_op.h"

static void halves(float *c, const uint16_t *a, const uint16_t *b, const struct npu_op *op)
{
	int64_t m1 = hn_ceildiv(op->v[P_M], 16), n1 = hn_ceildiv(op->v[P_N], 16);
	int64_t k1 = hn_ceildiv(op->v[P_K], 16);

	for (int64_t m = 0; m < m1; m++) {
		for (int64_t n = 0; n < n1; n++) {
			float *to = c + (n * m1 + m) * 256;

			for (int i = 0; i < 256 && op->v[P_INIT] != 0; i++) {
				to[i] = 0;
			}
			for (int64_t k = 0; k < k1; k++) {
				const uint16_t *x = a + (m * k1 + k) * 256, *y = b + (k * n1 + n) * 256;
				float right[256]; /* by terms, so that columns are next to each other */

				for (int i = 0; i < 256; i++) {
					right[i % 16 * 16 + i / 16] = hn_half_to_float(y[i]);
				}
				for (int i = 0; i < 256; i++) {
					float left = hn_half_to_float(x[i]);

					for (int j = 0; j < 16; j++) {
						to[i / 16 * 16 + j] += left * right[i % 16 * 16 + j];
					}
				}
			}
		}
	}
}

static void bytes(int32_t *c, const int8_t *a, const int8_t *b, const struct npu_op *op)
{
	int64_t m1 = hn_ceildiv(op->v[P_M], 16), n1 = hn_ceildiv(op->v[P_N], 16);
	int64_t k1 = hn_ceildiv(op->v[P_K], 32);

	for (int64_t f = 0; f < m1 * n1 * 256; f++) {
		int64_t n = f / 256 / m1, m = f / 256 % m1, i = f % 256 / 16, j = f % 16;
		uint32_t sum = op->v[P_INIT] != 0 ? 0 : (uint32_t)c[f];

		for (int64_t k = 0; k < k1 * 32; k++) {
			sum += (uint32_t)(a[((m * k1 + k / 32) * 16 + i) * 32 + k % 32] *
					  b[((k / 32 * n1 + n) * 16 + j) * 32 + k % 32]);
		}
		c[f] = (int32_t)sum;
	}
}

static void drain(uint8_t *to, const uint8_t *from, const struct npu_op *op)
{
	int64_t size = hn_dtype_bytes(op->in->type[0]);
	bool relu = op->v[F_LAST] != 0;

	for (int64_t i = 0; i < op->v[F_N] * 256; i++) {
		const uint8_t *x = from + i / 256 * op->v[F_FROM] * 1024 + i % 256 * 4;
		uint8_t *y = to + (i / 256 * op->v[F_TO] * 256 + i % 256) * size;
		int32_t sum;
		float f;
		uint16_t half;

		memcpy(&sum, x, 4);
		memcpy(&f, x, 4);
		f = op->in->type[1] == HN_I32 ? (float)sum : f;
		f = relu && f < 0 ? 0 : f;
		sum = relu && sum < 0 ? 0 : sum;
		half = hn_half_of_float(f);
		memcpy(y, op->in->type[0] == HN_F16   ? (const void *)&half
			  : op->in->type[0] == HN_F32 ? (const void *)&f : (const void *)&sum, (size_t)size);
	}
}

void npu_cube(const struct npu_bases *b, const struct npu_op *op)
{
	uint8_t *c = b->memory[op->in->place[0].memory] + op->at[0];
	const uint8_t *x = b->memory[op->in->place[1].memory] + op->at[1];

	if (op->in->op == HN_NPU_I_DRAIN) {
		drain(c, x, op);
	} else if (op->in->type[0] == HN_F16) {
		halves((float *)(void *)c, (const uint16_t *)(const void *)x,
		       (const uint16_t *)(const void *)(b->memory[HN_NPU_L0B] + op->at[2]), op);
	} else {
		bytes((int32_t *)(void *)c, (const int8_t *)x,
		      (const int8_t *)(b->memory[HN_NPU_L0B] + op->at[2]), op);
	}
}
