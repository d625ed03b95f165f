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

/* Both factors become float32 first, the right one by terms, so that its columns are next to each
 * other. */
static void halves(const struct npu_bases *b, float *c, const uint16_t *x, const uint16_t *y,
		   const struct npu_op *op)
{
	int64_t m1 = hn_ceildiv(op->v[P_M], 16), n1 = hn_ceildiv(op->v[P_N], 16);
	int64_t k1 = hn_ceildiv(op->v[P_K], 16);

	for (int64_t i = 0; i < m1 * k1; i++) {
		b->simd->fractal(b->left + i * 256, x + i * 256, false);
	}
	for (int64_t i = 0; i < n1 * k1; i++) {
		b->simd->fractal(b->right + i * 256, y + i * 256, true);
	}
	for (int64_t n = 0; n < n1; n++) {
		for (int64_t m = 0; m < m1; m++) {
			b->simd->product(c + (n * m1 + m) * 256, b->left + m * k1 * 256, b->right + n * 256,
					 k1, n1 * 256);
		}
	}
}

static void bytes(const struct npu_bases *b, int32_t *c, const int8_t *x, const int8_t *y,
		  const struct npu_op *op)
{
	int64_t m1 = hn_ceildiv(op->v[P_M], 16), n1 = hn_ceildiv(op->v[P_N], 16);
	int64_t k1 = hn_ceildiv(op->v[P_K], 32);

	for (int64_t n = 0; n < n1; n++) {
		for (int64_t m = 0; m < m1; m++) {
			b->simd->bytes(c + (n * m1 + m) * 256, x + m * k1 * 512, y + n * 512, k1, n1 * 512);
		}
	}
}

static void product(const struct npu_bases *b, const struct npu_op *op)
{
	void *c = b->memory[HN_NPU_L0C] + op->at[0];
	const void *x = b->memory[HN_NPU_L0A] + op->at[1], *y = b->memory[HN_NPU_L0B] + op->at[2];

	if (op->v[P_INIT] != 0) { /* no sums yet: the same bits of both types */
		memset(c, 0, (size_t)(hn_ceildiv(op->v[P_M], 16) * hn_ceildiv(op->v[P_N], 16) * 1024));
	}
	if (op->in->type[0] == HN_F16) {
		halves(b, c, x, y, op);
	} else {
		bytes(b, c, x, y, op);
	}
}

/* A fractal of sums. */
static void drain(const struct npu_bases *b, uint8_t *to, const uint8_t *from, const struct npu_op *op)
{
	bool relu = op->v[F_LAST] != 0;
	int32_t sum[256];
	float f[256];

	memcpy(sum, from, sizeof(sum));
	memcpy(f, from, sizeof(f));
	for (int i = 0; i < 256 && op->in->type[1] == HN_I32; i++) {
		f[i] = (float)sum[i];
	}
	if (relu) {
		b->simd->numbers(HN_NPU_I_RELU, f, f, 256);
		b->simd->integers(HN_NPU_I_RELU, sum, sum, 256);
	}
	if (op->in->type[0] == HN_F16) {
		b->simd->narrow((uint16_t *)(void *)to, f, 256);
	} else {
		memcpy(to, op->in->type[0] == HN_F32 ? (const void *)f : (const void *)sum, sizeof(f));
	}
}

void npu_cube(const struct npu_bases *b, const struct npu_op *op)
{
	int64_t size = hn_dtype_bytes(op->in->type[0]);

	if (op->in->op != HN_NPU_I_DRAIN) {
		product(b, op);
		return;
	}
	for (int64_t i = 0; i < op->v[F_N]; i++) {
		drain(b, b->memory[op->in->place[0].memory] + op->at[0] + i * op->v[F_TO] * 256 * size,
		      b->memory[op->in->place[1].memory] + op->at[1] + i * op->v[F_FROM] * 1024, op);
	}
}
