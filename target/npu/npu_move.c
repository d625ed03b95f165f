/* target/npu/npu_move.c -- what the transfers do: bursts, fractals, windows of an image. */
#include <string.h>

#include "base/arith.h"
#include "target/npu/npu_op.h"

static uint8_t *base(const struct npu_bases *b, const struct npu_op *op, uint32_t place)
{
	const struct hn_npu_place *at = &op->in->place[place];
	uint8_t *memory = at->memory == HN_NPU_GM ? b->gm[at->buffer] : b->memory[at->memory];

	return memory + op->at[place];
}

static void bursts(const struct npu_bases *b, const struct npu_op *op)
{
	const int64_t *v = op->v;
	bool from_gm = op->in->place[1].memory == HN_NPU_GM, to_gm = op->in->place[0].memory == HN_NPU_GM;
	int64_t fill = from_gm ? -v[L_BURST] & (HN_NPU_BLOCK - 1) : 0;
	int64_t bytes = from_gm || to_gm ? v[L_BURST] : (v[L_BURST] + HN_NPU_BLOCK - 1) & -HN_NPU_BLOCK;
	const uint8_t *from = base(b, op, 1);
	uint8_t *to = base(b, op, 0);

	for (int64_t i = 0; i < v[L_N]; i++) {
		memcpy(to + i * v[L_TO], from + i * v[L_FROM], (size_t)bytes);
		memset(to + i * v[L_TO] + bytes, 0, (size_t)fill);
	}
}

static void matrix(const struct npu_bases *b, const struct npu_op *op)
{
	int64_t c0 = npu_c0(op->in), size = HN_NPU_BLOCK / c0, bytes = op->v[Z_COLS] * size;
	int64_t rows = hn_ceildiv(op->v[Z_ROWS], 16) * 16, columns = hn_ceildiv(op->v[Z_COLS], c0);
	const uint8_t *from = base(b, op, 1);
	uint8_t *to = base(b, op, 0);

	for (int64_t c = 0; c < columns; c++) {
		int64_t n = bytes - c * HN_NPU_BLOCK < HN_NPU_BLOCK ? bytes - c * HN_NPU_BLOCK
								    : HN_NPU_BLOCK;

		for (int64_t r = 0; r < rows; r++) {
			uint8_t *at = to + (c * op->v[Z_HEIGHT] + r) * HN_NPU_BLOCK;

			memset(at, 0, HN_NPU_BLOCK);
			if (r < op->v[Z_ROWS]) {
				memcpy(at, from + r * op->v[Z_FROM] + c * HN_NPU_BLOCK, (size_t)n);
			}
		}
	}
}

static void transpose(uint16_t *to, const uint16_t *from)
{
	uint16_t copy[256];

	memcpy(copy, from, sizeof(copy));
	for (int i = 0; i < 16; i++) {
		for (int j = 0; j < 16; j++) {
			to[i * 16 + j] = copy[j * 16 + i];
		}
	}
}

static void fractals(const struct npu_bases *b, const struct npu_op *op)
{
	const uint8_t *from = base(b, op, 1);
	uint8_t *to = base(b, op, 0);

	for (int64_t i = 0; i < op->v[F_N]; i++) {
		uint8_t *at = to + i * op->v[F_TO] * 512;

		if (op->v[F_LAST] != 0) {
			transpose((uint16_t *)(void *)at,
				  (const uint16_t *)(const void *)(from + i * op->v[F_FROM] * 512));
		} else {
			memcpy(at, from + i * op->v[F_FROM] * 512, 512);
		}
	}
}

/* One row of a fractal: C0 channels at a point of a window, zero outside of the image. */
void npu_image(const struct npu_bases *b, const struct npu_op *op)
{
	const int64_t *g = op->image, *v = op->v;
	int64_t wide = npu_windows(g[G_W], g[G_PL], g[G_PR], g[G_KW], g[G_SW], g[G_DW]);
	int64_t high = npu_windows(g[G_H], g[G_PT], g[G_PB], g[G_KH], g[G_SH], g[G_DH]);
	const uint8_t *from = base(b, op, 1);
	uint8_t *to = base(b, op, 0);

	for (int64_t r = 0; r < v[I_M] * 16; r++) {
		int64_t window = v[I_M0] + r, oy = window / wide, ox = window % wide;

		for (int64_t k = 0; k < v[I_K]; k++) {
			int64_t point = v[I_K0] + k, c1 = point / (g[G_KH] * g[G_KW]);
			int64_t y = oy * g[G_SH] - g[G_PT] + point / g[G_KW] % g[G_KH] * g[G_DH];
			int64_t x = ox * g[G_SW] - g[G_PL] + point % g[G_KW] * g[G_DW];
			uint8_t *at = to + ((r / 16 * v[I_K] + k) * 16 + r % 16) * HN_NPU_BLOCK;

			if (oy < high && y >= 0 && y < g[G_H] && x >= 0 && x < g[G_W]) {
				memcpy(at, from + ((c1 * g[G_H] + y) * g[G_W] + x) * HN_NPU_BLOCK,
				       HN_NPU_BLOCK);
			} else {
				memset(at, 0, HN_NPU_BLOCK);
			}
		}
	}
}

void npu_compute(const struct npu_bases *b, const struct npu_op *op)
{
	switch (hn_npu_op[op->in->op].kind) {
	case HN_NPU_K_LOAD:
	case HN_NPU_K_STORE:
	case HN_NPU_K_INTO_L1:
	case HN_NPU_K_FROM_L1:
		bursts(b, op);
		return;
	case HN_NPU_K_FRACTALS:
		matrix(b, op);
		return;
	case HN_NPU_K_LOAD2D:
		fractals(b, op);
		return;
	case HN_NPU_K_LOAD3D:
		npu_image(b, op);
		return;
	case HN_NPU_K_TRANSPOSE:
		for (int64_t i = 0; i < op->v[F_N]; i++) {
			transpose((uint16_t *)(void *)(base(b, op, 0) + i * 512),
				  (const uint16_t *)(const void *)(base(b, op, 1) + i * 512));
		}
		return;
	case HN_NPU_K_PRODUCT:
	case HN_NPU_K_DRAIN:
		npu_cube(b, op);
		return;
	case HN_NPU_K_IMAGE:
		return;
	default:
		npu_vector(b, op);
	}
}
