/* base/loader.h -- bring a relocatable ELF object into this process and find its
 * functions.
 *
 * No linker process, no file, no dlopen: sections are mapped into one region, relocated,
 * and made executable or read-only before anything runs (never writable and executable at
 * once). Undefined symbols are looked up in a closed list (loader_syms.def).  The object
 * is hostile: every offset, size and index is checked; a refusal is an error, never a
 * crash.
 */
#ifndef HN_BASE_LOADER_H
#define HN_BASE_LOADER_H

#include "base/err.h"

struct hn_object;

/* Load an ET_REL object of n bytes for this machine; `bytes` is not needed after.
 * HONE_E_INVALID (malformed), HONE_E_UNSUPPORTED (a construct or symbol not allowed,
 * named), HONE_E_NOMEM. Thread-safe. */
int hn_object_load(const void *bytes, size_t n, struct hn_object **ret,
		   struct hn_err *err) HN_NODISCARD;
/* From now on a write to its static storage is a fault: a kernel keeps no state (hone/kernel.h).
 * Where that storage is, in *ret_data; 0 bytes = it has none. */
int hn_object_freeze(struct hn_object *o, const void **ret_data, size_t *ret_bytes,
		     struct hn_err *err) HN_NODISCARD;
void hn_object_free(struct hn_object *o); /* NULL is fine; its code must not be running */

/* A global function the object defines, or NULL. */
void (*hn_object_function(const struct hn_object *o, const char *name))(void);

/* The constant data of the first global name that ends so, and its length; NULL when there is
 * none. */
const void *hn_object_constant(const struct hn_object *o, const char *ending, size_t *ret_bytes);

#endif
