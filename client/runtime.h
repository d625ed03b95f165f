/* client/runtime.h -- what a program needs beside a kernel: hone's two headers and its thread
 * pool, an object or, for another family of processors, its source. `hone` carries these files
 * (runtime.def). */
#ifndef HN_CLIENT_RUNTIME_H
#define HN_CLIENT_RUNTIME_H

#include "base/err.h"
#include "target/target.h"

/* Write those for the target into the folder `dir`, which exists; files that have these bytes already stay as they
 * are.  `wrote` is told the path of each.  HONE_E_IO and the like, naming the file. */
int hn_runtime_write(const char *dir, const struct hn_target *target,
		     void (*wrote)(const char *path), struct hn_err *err) HN_NODISCARD;

/* Whether the thread pool's source is written for it, and not an object. */
bool hn_runtime_is_source(const struct hn_target *target);

#endif
