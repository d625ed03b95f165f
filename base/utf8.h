/* base/utf8.h -- which bytes are UTF-8 (RFC 3629: no surrogates, no overlong forms). */
#ifndef HN_BASE_UTF8_H
#define HN_BASE_UTF8_H

#include <stddef.h>

/* Length (1..4) of the well-formed sequence that s[0..n) begins with; 0 when it begins
 * with none, or is cut short, or n is 0. */
size_t hn_utf8_length(const char *s, size_t n);

/* The code point of a well-formed sequence of that length. */
unsigned hn_utf8_get(const char *s, size_t length);

/* Append code point `c` (below 0x110000, no surrogate) at `out`; returns its length. */
size_t hn_utf8_put(unsigned c, char out[4]);

#endif
