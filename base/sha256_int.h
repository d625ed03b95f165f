/* base/sha256_int.h -- SHA-256's inner loop, in C and by the processor's own instructions. */
#ifndef HN_BASE_SHA256_INT_H
#define HN_BASE_SHA256_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HN_SHA256_BLOCK 64u

extern const uint32_t hn_sha256_constant[64];

/* Take n whole blocks into the state. */
void hn_sha256_blocks_c(uint32_t state[8], const uint8_t *block, size_t n);

/* The same where the processor has instructions for it; false, and nothing done, where it has none. */
bool hn_sha256_blocks_x86(uint32_t state[8], const uint8_t *block, size_t n);

#endif
