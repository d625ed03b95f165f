/* base/file.h -- whole files, read and written so that nothing half-done is ever seen. */
#ifndef HN_BASE_FILE_H
#define HN_BASE_FILE_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* Read a whole regular file (or a pipe) of at most max_bytes onto buf. "-" is standard
 * input. HONE_E_NOT_FOUND, HONE_E_PERMISSION, HONE_E_IO, HONE_E_QUOTA,
 * HONE_E_INVALID (a directory or device), message "path: ...". */
int hn_file_read(const char *path, size_t max_bytes, struct hn_buf *buf, struct hn_err *err)
	HN_NODISCARD;

/* The same of a file that hone keeps, as those of a store's folder: no pipe, which would be waited
 * for without end, and "-" is a name as any. */
int hn_file_read_kept(const char *path, size_t max_bytes, struct hn_buf *buf, struct hn_err *err)
	HN_NODISCARD;

/* What hn_file_read reads, opened: a descriptor, or the error. */
int hn_file_open(const char *path, struct hn_err *err) HN_NODISCARD;

/* The same as a stream, to be fclosed. */
int hn_file_stream(const char *path, FILE **ret, struct hn_err *err) HN_NODISCARD;

/* The SHA-256 of what hn_file_read_kept reads, which is not kept in memory. */
int hn_file_sha256(const char *path, size_t max_bytes, char hex[HN_SHA256_HEX],
		   struct hn_err *err) HN_NODISCARD;

/* Write to a temporary beside `path`, fsync, rename over it, fsync the directory. On
 * failure the old file is untouched. HONE_E_DISK_FULL, HONE_E_PERMISSION, HONE_E_NOT_FOUND (no
 * such directory), HONE_E_IO. */
int hn_file_replace(const char *path, const void *bytes, size_t n, struct hn_err *err)
	HN_NODISCARD;

/* Whether a directory is one to keep things in: it is ours or root's, and nobody else may swap
 * names in it.  HONE_E_PERMISSION says what to do. */
struct stat;
int hn_file_check_owner(const char *dir, const struct stat *st, struct hn_err *err) HN_NODISCARD;

/* mkdir -p with this mode for what is created. */
int hn_file_mkdirs(const char *path, unsigned mode, struct hn_err *err) HN_NODISCARD;

/* rm -rf, of a temporary folder: links are removed, never followed, and what cannot be removed
 * stays. */
void hn_file_remove_tree(const char *path);

#endif
