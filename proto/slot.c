/* slot.c -- an object into shared memory and out of it. */
#include "proto/slot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static off_t place(uint32_t slot)
{
	return (off_t)slot * HN_SLOT_BYTES;
}

bool hn_slot_write(int fd, uint32_t slot, const void *bytes, size_t n,
		   char ret_hash[HN_SHA256_HEX])
{
	if (n == 0 || n > HN_SLOT_BYTES || pwrite(fd, bytes, n, place(slot)) != (ssize_t)n) {
		return false;
	}
	hn_sha256_hex(bytes, n, ret_hash);
	return true;
}

int hn_slot_read(int fd, uint32_t slot, size_t n, const char *hash, void *ret,
		 struct hn_err *err)
{
	char found[HN_SHA256_HEX];
	ssize_t got;

	if (n == 0 || n > HN_SLOT_BYTES) {
		return hn_fail(err, HONE_E_INVALID, "slot %u: %zu bytes, it has %u", slot, n,
			       HN_SLOT_BYTES);
	}
	got = pread(fd, ret, n, place(slot));
	if (got != (ssize_t)n) {
		return hn_fail(err, HONE_E_IO, "slot %u: %s", slot,
			       got < 0 ? strerror(errno) : "the memory ends before it does");
	}
	hn_sha256_hex(ret, n, found);
	if (strcmp(found, hash) != 0) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "slot %u: its bytes are not those that were announced", slot);
	}
	return 0;
}
