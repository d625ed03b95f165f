/* base/sha256.c -- SHA-256 (FIPS 180-4), which names workloads and artefacts.
 *
 * By the processor's own instructions where it has them (sha256_x86.c), else plain C.  The round constants are the first 32 bits
 * of the cube roots' fractions of the first 64 primes, the first state those of square roots.
 */
#include <string.h>

#include "base/hash.h"
#include "base/sha256_int.h"

#define BLOCK HN_SHA256_BLOCK

const uint32_t hn_sha256_constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t first_state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* The 64 words that a block's rounds take. */
static void expand(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++) {
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	}
	for (int i = 16; i < 64; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];

		w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
		       (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8];

	expand(block, w);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[0], e = s[4];
		uint32_t t = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			     ((e & s[5]) ^ (~e & s[6])) + hn_sha256_constant[i] + w[i];
		uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			     ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t;
		s[0] = t + u;
	}
	for (int i = 0; i < 8; i++) {
		state[i] += s[i];
	}
}

void hn_sha256_blocks_c(uint32_t state[8], const uint8_t *block, size_t n)
{
	for (; n > 0; n--, block += BLOCK) {
		add_block(state, block);
	}
}

static void add_blocks(uint32_t state[8], const uint8_t *block, size_t n)
{
	if (!hn_sha256_blocks_x86(state, block, n)) {
		hn_sha256_blocks_c(state, block, n);
	}
}

void hn_sha256_begin(struct hn_sha256 *h)
{
	*h = (struct hn_sha256){ 0 };
	memcpy(h->state, first_state, sizeof(first_state));
}

void hn_sha256_add(struct hn_sha256 *h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t have = h->n % BLOCK, take = BLOCK - have < n ? BLOCK - have : n;

	h->n += n;
	if (have > 0) {
		memcpy(h->rest + have, p, take);
		if (have + take < BLOCK) {
			return;
		}
		add_blocks(h->state, h->rest, 1);
		p += take;
		n -= take;
	}
	add_blocks(h->state, p, n / BLOCK);
	if (n % BLOCK > 0) {
		memcpy(h->rest, p + n / BLOCK * BLOCK, n % BLOCK);
	}
}

void hn_sha256_end(struct hn_sha256 *h, uint8_t digest[HN_SHA256_BYTES])
{
	size_t left = h->n % BLOCK, padded = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	uint8_t last[2 * BLOCK] = { 0 };

	memcpy(last, h->rest, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++) {
		last[padded - 1 - i] = (uint8_t)(h->n * 8 >> 8 * i);
	}
	add_blocks(h->state, last, padded / BLOCK);
	for (size_t i = 0; i < HN_SHA256_BYTES; i++) {
		digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
	}
}

void hn_sha256(const void *bytes, size_t n, uint8_t digest[HN_SHA256_BYTES])
{
	struct hn_sha256 h;

	hn_sha256_begin(&h);
	hn_sha256_add(&h, bytes, n);
	hn_sha256_end(&h, digest);
}

void hn_sha256_text(const uint8_t digest[HN_SHA256_BYTES], char hex[HN_SHA256_HEX])
{
	for (size_t i = 0; i < HN_SHA256_BYTES; i++) {
		hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	hex[HN_SHA256_HEX - 1] = '\0';
}

void hn_sha256_hex(const void *bytes, size_t n, char hex[HN_SHA256_HEX])
{
	uint8_t digest[HN_SHA256_BYTES];

	hn_sha256(bytes, n, digest);
	hn_sha256_text(digest, hex);
}
