/* tests/ptx/ptx_tensor.h -- elements of tensor cores' factors as float32: every product of two such
 * numbers is exact there, and so is a sum of an instruction's products of integers. */
#ifndef HN_TESTS_PTX_PTX_TENSOR_H
#define HN_TESTS_PTX_PTX_TENSOR_H

#include <stdbool.h>
#include <string.h>

#include "base/half.h"
#include "tests/ptx/ptx_int.h"

enum ptx_kind { PTX_NO_KIND, PTX_F16, PTX_BF16, PTX_TF32, PTX_S8, PTX_U8 };

static inline enum ptx_kind ptx_kind_of(const char *word)
{
	static const char *const name[] = { "f16", "bf16", "tf32", "s8", "u8" };

	for (uint32_t i = 0; i < sizeof name / sizeof name[0]; i++) {
		if (!strcmp(word, name[i])) {
			return (enum ptx_kind)(i + 1);
		}
	}
	return PTX_NO_KIND;
}

static inline bool ptx_kind_whole(enum ptx_kind kind)
{
	return kind == PTX_S8 || kind == PTX_U8;
}

static inline uint32_t ptx_kind_bytes(enum ptx_kind kind)
{
	return kind == PTX_TF32 ? 4 : ptx_kind_whole(kind) ? 1 : 2;
}

/* A factor's 32 bits of tf32: sign, exponent and ten bits; what is below them is not looked at. */
#define PTX_TF32_BITS 0xffffe000U

/* `n` elements that lie one behind another, each `stride` floats behind the one before. */
static inline void ptx_widen(float *to, uint32_t stride, const void *from, uint32_t n,
			     enum ptx_kind kind)
{
	const unsigned char *byte = from;
	uint32_t word;
	uint16_t half;

	for (uint32_t i = 0; i < n; i++) {
		switch (kind) {
		case PTX_S8:
			to[i * stride] = (float)(int8_t)byte[i];
			break;
		case PTX_U8:
			to[i * stride] = (float)byte[i];
			break;
		case PTX_TF32:
			memcpy(&word, byte + 4 * i, sizeof word);
			to[i * stride] = hn_float_of_bits(word & PTX_TF32_BITS);
			break;
		case PTX_F16:
			memcpy(&half, byte + 2 * i, sizeof half);
			to[i * stride] = hn_half_to_float(half);
			break;
		case PTX_BF16:
		case PTX_NO_KIND:
			memcpy(&half, byte + 2 * i, sizeof half);
			to[i * stride] = hn_bfloat_to_float(half);
			break;
		}
	}
}

/* -- ptx_matrix.c: matrices in shared memory ------------------------------------------------------ */

#define PTX_MATRIX_ROWS 256 /* at most; of the second factor, columns */

/* Where a matrix lies, by its descriptor. */
struct ptx_matrix {
	uint32_t start, leading, stride; /* bytes */
	uint32_t base;			 /* of the swizzle's pattern: rows of 128 bytes */
	uint32_t span;			 /* of the swizzle: 0, 32, 64, 128 bytes */
	bool across; /* rows (columns of the second) lie side by side: "MN-major" */
};

struct ptx_matrix ptx_matrix(uint64_t descriptor, bool across);

/* `n` rows from the `from`-th as floats: row r's k-th at to[at[r] + k * step]. */
enum ptx_did ptx_matrix_read(struct ptx_warp *w, const struct ptx_insn *in,
			     const struct ptx_matrix *p, enum ptx_kind kind,
			     uint32_t from, uint32_t n, uint32_t n_k, float *to,
			     const uint32_t *at, uint32_t step);

#endif
