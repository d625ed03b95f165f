/* base/seal.h -- the last bytes of a file of code: that it is whole, and as it was written.
 *
 * A library that was cut short, or in which a bit fell over, must not be run.  So hone ends such a
 * file with 32 bytes more, which linkers and loaders do not look at: the word HONESEAL, how many
 * bytes went before, and two hashes of these.  It is against accidents: who may write the file may
 * write a seal as well.
 */
#ifndef HN_BASE_SEAL_H
#define HN_BASE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define HN_SEAL_BYTES 32

void hn_seal_make(const void *bytes, size_t n, uint8_t ret[HN_SEAL_BYTES]);

/* That the n bytes of the file `what` end in their seal; *ret is how many there are without it.
 * HONE_E_CORRUPT. */
int hn_seal_check(const char *what, const void *bytes, size_t n, size_t *ret,
		  struct hn_err *err) HN_NODISCARD;

/* The same of files: look at the seal that is there; and put one behind a file, in place. */
int hn_seal_check_file(const char *path, struct hn_err *err) HN_NODISCARD;
int hn_seal_file(const char *path, struct hn_err *err) HN_NODISCARD;

#endif
