/* base/hash.c -- see hash.h.  The 64-bit hash mixes little-endian words with
 * MurmurHash3's finalizer (Appleby); its values are stored, so it may never change.
 * SHA-256 is in sha256.c. */
#include "base/hash.h"

#include <endian.h>
#include <string.h>

static uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdU;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53U;
	return x ^ x >> 33;
}

static uint64_t hash_word(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	for (size_t i = 0; i < n; i++) {
		w |= (uint64_t)p[i] << (8 * i);
	}
	return w;
}

static uint64_t hash_step(uint64_t h, uint64_t word)
{
	h ^= hash_mix(word + 0x9e3779b97f4a7c15U);
	return (h << 27 | h >> 37) * 5 + 0x52dce729U;
}

uint64_t hn_hash64(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_mix(seed ^ 0x2545f4914f6cdd1dU);
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t w;

		memcpy(&w, p + i, sizeof(w));
		h = hash_step(h, le64toh(w));
	}
	if (i < n) {
		h = hash_step(h, hash_word(p + i, n - i));
	}
	return hash_mix(h ^ n);
}

uint64_t hn_hash64_word(uint64_t word, uint64_t seed)
{
	return hash_mix(hash_step(hash_mix(seed ^ 0x2545f4914f6cdd1dU), word) ^ 8);
}
