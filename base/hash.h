/* base/hash.h -- one fast hash for tables, one strong one for names that must not collide. */
#ifndef HN_BASE_HASH_H
#define HN_BASE_HASH_H

#include <stdint.h>

#include "base/cdefs.h"

/* 64 bits, not for trust.  Stable across versions and machines: it is stored. */
uint64_t hn_hash64(const void *bytes, size_t n, uint64_t seed);

/* The same of a number's eight bytes, the lowest first. */
uint64_t hn_hash64_word(uint64_t word, uint64_t seed);

#define HN_SHA256_BYTES 32
void hn_sha256(const void *bytes, size_t n, uint8_t digest[HN_SHA256_BYTES]);

/* The same of bytes that come one part after the other. */
struct hn_sha256 {
	uint32_t state[8];
	uint64_t n; /* bytes so far */
	uint8_t rest[64]; /* of the last block, which is not whole */
};

void hn_sha256_begin(struct hn_sha256 *h);
void hn_sha256_add(struct hn_sha256 *h, const void *bytes, size_t n);
void hn_sha256_end(struct hn_sha256 *h, uint8_t digest[HN_SHA256_BYTES]);

#define HN_SHA256_HEX 65 /* 64 hex digits and the NUL */

/* SHA-256 in lower-case hex: names artefacts and workloads. */
void hn_sha256_text(const uint8_t digest[HN_SHA256_BYTES], char hex[HN_SHA256_HEX]);
void hn_sha256_hex(const void *bytes, size_t n, char hex[HN_SHA256_HEX]);

#endif
