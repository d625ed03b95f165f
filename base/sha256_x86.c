/* base/sha256_x86.c -- SHA-256 by x86's SHA instructions: some twenty times as fast as C, which counts
 * where models of hundreds of megabytes are told apart.
 *
 * The instructions want the eight words of the state as two vectors, (a, b, e, f) and (c, d, g, h)
 * with the first word highest, and do two rounds each.
 */
#include "base/sha256_int.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define SHA_BIT (1u << 29) /* of leaf 7's EBX */
#define SSE41_BIT (1u << 19) /* of leaf 1's ECX */

static bool has_sha(void)
{
	static int known; /* 0: not asked yet; races write the same */
	unsigned a, b, c, d;
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (is == 0) {
		is = __get_cpuid(1, &a, &b, &c, &d) && (c & SSE41_BIT) != 0 &&
				     __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & SHA_BIT) != 0
			     ? 1
			     : -1;
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is > 0;
}

__attribute__((target("sha,sse4.1,ssse3"))) static void
add_block(__m128i *abef, __m128i *cdgh, const uint8_t *block)
{
	const __m128i bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	const __m128i abef0 = *abef, cdgh0 = *cdgh;
	__m128i w[4];

#pragma GCC unroll 16
	for (int i = 0; i < 16; i++) { /* four rounds each; w[i % 4]: their words */
		if (i < 4) {
			w[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i)), bytes);
		} else {
			__m128i next = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);

			next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
			w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
		}
		__m128i k = _mm_loadu_si128(
			(const __m128i *)(const void *)(hn_sha256_constant + 4 * i));
		__m128i sum = _mm_add_epi32(w[i % 4], k);

		*cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
		*abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
	}
	*abef = _mm_add_epi32(*abef, abef0);
	*cdgh = _mm_add_epi32(*cdgh, cdgh0);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void
add_blocks(uint32_t s[8], const uint8_t *block, size_t n)
{
	__m128i abef = _mm_set_epi32((int)s[0], (int)s[1], (int)s[4], (int)s[5]);
	__m128i cdgh = _mm_set_epi32((int)s[2], (int)s[3], (int)s[6], (int)s[7]);
	uint32_t x[4], y[4];

	for (; n > 0; n--, block += HN_SHA256_BLOCK) {
		add_block(&abef, &cdgh, block);
	}
	_mm_storeu_si128((__m128i *)(void *)x, abef);
	_mm_storeu_si128((__m128i *)(void *)y, cdgh);
	s[0] = x[3], s[1] = x[2], s[4] = x[1], s[5] = x[0];
	s[2] = y[3], s[3] = y[2], s[6] = y[1], s[7] = y[0];
}

bool hn_sha256_blocks_x86(uint32_t state[8], const uint8_t *block, size_t n)
{
	if (has_sha()) {
		add_blocks(state, block, n);
	}
	return has_sha();
}

#else

bool hn_sha256_blocks_x86(uint32_t state[8], const uint8_t *block, size_t n)
{
	(void)state, (void)block, (void)n;
	return false;
}

#endif
