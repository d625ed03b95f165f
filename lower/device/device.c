/* lower/device/device.c -- the spaces' names. */
#include "lower/device/device.h"

const char *hn_space_keyword(enum hn_space s)
{
	static const char *const word[HN_N_SPACE] = {
#define SPACE(name, keyword, copies, param) keyword,
#include "lower/device/spaces.def"
#undef SPACE
	};

	return word[s];
}
