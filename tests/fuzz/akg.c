/* tests/fuzz/akg.c -- fused operators of AKG. */
#include "fuzz.h"

#include "tests/lib/akg_try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hn_import_dim dim[] = { { .name = "batch", .value = 3 } };
	struct hn_err err = { 0 };

	hn_akg_is((const char *)data, n);
	(void)akg_try(data, n, dim, 1, &err);
	return 0;
}
