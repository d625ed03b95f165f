/* base/seal.c -- see seal.h. */
#include <endian.h>
#include <string.h>

#include "base/hash.h"
#include "base/seal.h"

static const char word[] = "HONESEAL";

void hn_seal_make(const void *bytes, size_t n, uint8_t ret[HN_SEAL_BYTES])
{
	uint64_t number[3] = { htole64(n), htole64(hn_hash64(bytes, n, 1)),
			       htole64(hn_hash64(bytes, n, 2)) };

	memcpy(ret, word, 8);
	memcpy(ret + 8, number, sizeof(number));
}

int hn_seal_check(const char *what, const void *bytes, size_t n, size_t *ret, struct hn_err *err)
{
	const uint8_t *p = bytes;
	uint8_t want[HN_SEAL_BYTES];

	if (n < HN_SEAL_BYTES || memcmp(p + n - HN_SEAL_BYTES, word, 8) != 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "%s: no seal at its end: it was cut short, or changed, or is none of "
			       "hone's; make it anew",
			       what);
	}
	*ret = n - HN_SEAL_BYTES;
	hn_seal_make(p, *ret, want);
	if (memcmp(p + *ret, want, HN_SEAL_BYTES) != 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "%s: damaged: it is not what its seal says; make it anew", what);
	}
	return 0;
}
