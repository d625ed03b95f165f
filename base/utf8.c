/* base/utf8.c -- see utf8.h.  The table is the one of RFC 3629, section 4: only the
 * second byte has a range that depends on the first. */
#include "base/utf8.h"

size_t hn_utf8_length(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (n == 0) {
		return 0;
	}
	if (u[0] < 0x80) {
		return 1;
	}
	if (u[0] < 0xc2 || u[0] > 0xf4) {
		return 0;
	}
	length = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	low = u[0] == 0xe0 ? 0xa0 : u[0] == 0xf0 ? 0x90 : low;
	high = u[0] == 0xed ? 0x9f : u[0] == 0xf4 ? 0x8f : high;
	if (n < length || u[1] < low || u[1] > high) {
		return 0;
	}
	for (size_t i = 2; i < length; i++) {
		if ((u[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	return length;
}

unsigned hn_utf8_get(const char *s, size_t length)
{
	unsigned c = (unsigned char)*s;

	c = length == 1 ? c : c & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	return c;
}

size_t hn_utf8_put(unsigned c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}
