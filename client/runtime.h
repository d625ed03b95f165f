/* client/runtime.h -- what a program needs beside a kernel: hone's two headers and its thread
 * pool. `hone` carries these files (runtime.def). */
#ifndef HN_CLIENT_RUNTIME_H
#define HN_CLIENT_RUNTIME_H

#include "base/err.h"

/* Write them into the folder `dir`, which exists; files that have these bytes already stay as they
 * are.  `wrote` is told the path of each.  HONE_E_IO and the like, naming the file. */
int hn_runtime_write(const char *dir, void (*wrote)(const char *path),
		     struct hn_err *err) HN_NODISCARD;

#endif
