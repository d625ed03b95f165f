/* client/runtime.h -- what a program needs beside a kernel: hone's headers and its thread pool, and
 * beside a compiled network what walks its table; objects or, for another family of processors,
 * their sources. `hone` carries these files (runtime.def). */
#ifndef HN_CLIENT_RUNTIME_H
#define HN_CLIENT_RUNTIME_H

#include "base/err.h"
#include "target/target.h"

/* What they go with; bits, for the rows of runtime.def. */
enum hn_runtime_with { HN_RUNTIME_KERNEL = 1, HN_RUNTIME_NETWORK = 2, HN_RUNTIME_GPU = 4 };

/* Write those for the target into the folder `dir`, which exists; files that have these bytes already stay as they
 * are.  `with`: a kernel, a network, or a network for a GPU, which the target is the host of.  `wrote` is told the path of each.  HONE_E_IO and the like, naming the file. */
int hn_runtime_write(const char *dir, const struct hn_target *target, enum hn_runtime_with with,
		     void (*wrote)(const char *path), struct hn_err *err) HN_NODISCARD;

/* Whether sources are written for it, and not objects. */
bool hn_runtime_is_source(const struct hn_target *target);

#endif
