/* base/name.c -- see name.h. */
#include "base/name.h"

#include <string.h>

#include "base/cdefs.h"
#include "base/utf8.h"

bool hn_name_fits(const char *s, size_t most)
{
	static const char first[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	static const char further[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.:@-";
	size_t n = s != NULL ? strspn(s, further) : 0;

	return n > 0 && n <= most && s[n] == '\0' && strchr(first, *s) != NULL;
}

size_t hn_scheme_length(const char *place)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char further[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+-.";
	size_t n = strspn(place, first) > 0 ? strspn(place, further) : 0;

	return strncmp(place + n, "://", 3) == 0 ? n : 0;
}

bool hn_label_fits(const char *s, size_t most)
{
	size_t n = strlen(s), i = 0, length;

	while (i < n && (length = hn_shown_length(s + i, n - i)) > 0) {
		i += length;
	}
	return i == n && n <= most;
}

/* Characters of Unicode that are not seen but act: they break the line, turn its direction, join
 * or hide what is beside them. */
static const struct {
	unsigned from, to;
} acts[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0xad, 0xad },	      { 0x61c, 0x61c },
	{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },
	{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xfffe, 0xffff },   { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

size_t hn_shown_length(const char *s, size_t n)
{
	size_t length = hn_utf8_length(s, n);
	unsigned c = length > 0 ? hn_utf8_get(s, length) : 0;

	for (size_t i = 0; i < HN_COUNT_OF(acts) && c >= acts[i].from; i++) {
		if (c <= acts[i].to) {
			return 0;
		}
	}
	return length;
}

size_t hn_shown(char *to, size_t cap, const char *text, size_t n)
{
	size_t used = 0, i = 0;

	while (i < n) {
		size_t shown = hn_shown_length(text + i, n - i);
		size_t length = shown > 0 ? shown : hn_utf8_length(text + i, n - i);

		if (used + (shown > 0 ? shown : 1) >= cap) {
			break;
		}
		if (shown > 0) {
			memmove(to + used, text + i, shown);
			used += shown;
		} else {
			to[used++] = length == 1 ? ' ' : '?';
		}
		i += length > 0 ? length : 1;
	}
	to[used] = '\0';
	return used;
}
