/* base/hash.c -- see hash.h.  The 64-bit hash mixes little-endian words with
 * MurmurHash3's finalizer (Appleby); its values are stored, so it may never change.
 * SHA-256 is nettle's. */
#include "base/hash.h"

#include <nettle/sha2.h>
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
		h = hash_step(h, hash_word(p + i, 8));
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

void hn_sha256_hex(const void *bytes, size_t n, char hex[HN_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, n, bytes);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[HN_SHA256_HEX - 1] = '\0';
}
