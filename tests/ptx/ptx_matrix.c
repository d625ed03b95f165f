/* ptx_matrix.c -- where a matrix of a warpgroup's product lies in shared memory, as its
 * descriptor says; and its rows as floats.
 *
 * Source: Parallel Thread Execution ISA 8.5, "Shared memory matrix layout", "Matrix descriptor format";
 * the layouts that a descriptor can say are also in a comment of CUTLASS's mma_traits_sm90_gmma.hpp. */
#include "tests/ptx/ptx_tensor.h"

struct ptx_matrix ptx_matrix(uint64_t descriptor, bool across)
{
	static const uint32_t span[4] = { 0, 128, 64, 32 };

	return (struct ptx_matrix){
		.start = (uint32_t)(descriptor & 0x3fff) << 4,
		.leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
		.stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
		.base = (uint32_t)(descriptor >> 49 & 7),
		.span = span[descriptor >> 62],
		.across = across,
	};
}

/* Swizzles exchange chunks of 16 bytes within a span by the number of the 128 bytes they lie in,
 * counted from where the pattern begins. */
static uint32_t matrix_swizzled(const struct ptx_matrix *p, uint32_t address)
{
	uint32_t row = (address >> 7) - p->base;

	return p->span ? address ^ (row & (p->span / 16 - 1)) << 4 : address;
}

/* The address of a chunk: of row `r`, the c-th 16 bytes along the sum. */
static uint32_t matrix_along(const struct ptx_matrix *p, uint32_t r, uint32_t c)
{
	uint32_t within =
		p->span ? r % 8 * p->span + c * 16 : r % 8 * 16 + c * p->leading;

	return matrix_swizzled(p, p->start + within + r / 8 * p->stride);
}

/* Of the k-th of the sum, eight rows from 8 i. */
static uint32_t matrix_across(const struct ptx_matrix *p, uint32_t i, uint32_t k)
{
	uint32_t chunks = p->span / 16;

	if (!p->span) {
		return p->start + k % 8 * 16 + i * p->stride + k / 8 * p->leading;
	}
	return matrix_swizzled(p, p->start + i % chunks * 16 + i / chunks * p->leading +
					  k % 8 * p->span + k / 8 * p->stride);
}

/* A swizzle's pattern is eight rows of a span.  The matrix begins in the first of them, and what
 * follows begins patterns as well; the base offset says at which 128 bytes, if that is no multiple of a
 * pattern's size. */
static bool matrix_begins_well(const struct ptx_matrix *p)
{
	uint32_t pattern = 8 * p->span, within;

	if (!p->span) {
		return true;
	}
	within = (p->start - p->base * 128) % pattern;
	return within + (p->across ? 16 : 32) <= p->span && p->stride % pattern == 0 &&
	       (!p->across || p->leading % pattern == 0);
}

enum ptx_did ptx_matrix_read(struct ptx_warp *w, const struct ptx_insn *in,
			     const struct ptx_matrix *p, enum ptx_kind kind,
			     uint32_t from, uint32_t n, uint32_t n_k, float *to,
			     const uint32_t *at, uint32_t step)
{
	uint32_t address[PTX_MATRIX_ROWS * 2], chunks = 0, least = UINT32_MAX, most = 0;
	uint32_t each = 16 / ptx_kind_bytes(kind);
	const char *memory;

	if (!matrix_begins_well(p)) {
		return ptx_fault(w, in, 0,
				 "a matrix at %u, of strides %u and %u, begins within a "
				 "pattern of "
				 "%u rows of %u bytes",
				 p->start, p->leading, p->stride, 8, p->span);
	}
	for (uint32_t r = 0; r < n && !p->across; r++) {
		address[chunks++] = matrix_along(p, from + r, 0);
		address[chunks++] = matrix_along(p, from + r, 1);
	}
	for (uint32_t k = 0; k < n_k && p->across; k++) {
		for (uint32_t i = 0; i < n / 8; i++) {
			address[chunks++] = matrix_across(p, from / 8 + i, k);
		}
	}
	for (uint32_t i = 0; i < chunks; i++) {
		least = address[i] < least ? address[i] : least;
		most = address[i] > most ? address[i] : most;
	}
	memory = ptx_shared(w, in, 0, least, most + 16 - least, 16);
	if (!memory) {
		return PTX_FAULT;
	}
	for (uint32_t i = 0; i < chunks; i++) {
		const char *chunk = memory + (address[i] - least);

		if (!ptx_visible(w, in, address[i], 16)) {
			return PTX_FAULT;
		}
		if (!p->across) {
			ptx_widen(to + at[i / 2] + i % 2 * each * step, step, chunk, each,
				  kind);
			continue;
		}
		for (uint32_t e = 0; e < 8;
		     e++) { /* of 16 bits: others lie along the sum */
			ptx_widen(to + at[i % (n / 8) * 8 + e] + i / (n / 8) * step, 1,
				  chunk + 2 * e, 1, kind);
		}
	}
	return PTX_DONE;
}
