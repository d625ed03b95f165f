/* client/log.h -- the log a user names, opened for reading. */
#ifndef HN_CLIENT_LOG_H
#define HN_CLIENT_LOG_H

#include <stdio.h>

#include "base/err.h"

/* "-" is standard input.  HONE_E_NOT_FOUND, HONE_E_PERMISSION, HONE_E_IO; HONE_E_INVALID
 * for a directory or device. */
int hn_log_open(const char *path, FILE **ret, struct hn_err *err) HN_NODISCARD;
void hn_log_close(FILE *file);

#endif
