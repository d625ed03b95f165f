/* client/lib/kernel_info.h -- what a kernel's object says of itself (lower/cpu/emit_info.c), read
 * and checked. */
#ifndef HN_CLIENT_LIB_KERNEL_INFO_H
#define HN_CLIENT_LIB_KERNEL_INFO_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/err.h"

enum { HN_KERNEL_MAX_ARGS = 256, HN_KERNEL_MAX_RANK = 32, HN_KERNEL_MAX_SIZES = 32 };

struct hn_kernel_size {
	const char *name;
	int64_t least, most;
};

/* An extent: a number; or the size of that index; or an expression, of which no more is known. */
struct hn_kernel_extent {
	int64_t n;   /* below 0: no number */
	int32_t size; /* below 0: none */
	const char *text;
};

struct hn_kernel_arg {
	const char *name;
	enum hn_dtype dtype;
	uint32_t rank;
	struct hn_kernel_extent *extent;
	bool output;
};

struct hn_kernel_info {
	const char *symbol, *key, *target;
	uint32_t n_arg, n_size;
	struct hn_kernel_arg *arg;
	struct hn_kernel_size *size;
	uint64_t workspace_bytes, worker_bytes, prepared_bytes;
	bool init;
};

/* Of n bytes of text; all of it in `a`.  HONE_E_CORRUPT, HONE_E_VERSION. */
int hn_kernel_info_read(const char *what, const char *text, size_t n, struct hn_arena *a,
			struct hn_kernel_info *ret, struct hn_err *err) HN_NODISCARD;

#endif
