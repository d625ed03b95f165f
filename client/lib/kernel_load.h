/* client/lib/kernel_load.h -- a loaded kernel, as libhone's own files see it. */
#ifndef HN_CLIENT_LIB_KERNEL_LOAD_H
#define HN_CLIENT_LIB_KERNEL_LOAD_H

#include "base/loader.h"
#include "client/lib/kernel_info.h"
#include "hone/load.h"

typedef int32_t (*hn_packed_fn)(void *const *args, const struct hone_env *env);
typedef int32_t (*hn_sized_fn)(const int64_t *sizes, void *const *args,
			       const struct hone_env *env);
typedef int32_t (*hn_prepare_fn)(void *const *args, void *prepared, const struct hone_env *env);

struct hone_kernel {
	struct hn_arena arena;
	struct hn_object *object; /* one of these two */
	void *library;
	const char *text; /* what it says of itself */
	struct hn_kernel_info info;
	hn_packed_fn packed; /* one of these two */
	hn_sized_fn sized;
	hn_prepare_fn prepare; /* NULL: it has nothing to prepare */
};

/* kernel_file.c: the bytes of the file, which are not needed after, and what they say; its functions;
 * and an end. */
int hn_lib_load(const char *path, const char *bytes, size_t n, struct hone_kernel *k,
		struct hn_err *err) HN_NODISCARD;
void (*hn_lib_function(const struct hone_kernel *k, const char *name))(void);
void hn_lib_unload(struct hone_kernel *k);

/* rc and the error, as the public functions give them. */
int hn_lib_give(int rc, const struct hn_err *err, struct hone_error *error);

/* The pool of libhone's own (kernel_pool.c): of kernels that are open, and made at the first call
 * that wants it. */
void hn_lib_pool_hold(void);
void hn_lib_pool_release(void);

/* Call the kernel with it, or on this thread alone while another call has it. */
int32_t hn_lib_pool_call(const struct hone_kernel *k, const int64_t *sizes, void *const *args);

#endif
