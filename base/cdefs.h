/* base/cdefs.h -- attributes and the few macros every file may use. */
#ifndef HN_BASE_CDEFS_H
#define HN_BASE_CDEFS_H

#include <stddef.h>
#include <stdint.h>

#define HN_PRINTF(fmt_arg, first) __attribute__((format(printf, fmt_arg, first)))
#define HN_NODISCARD __attribute__((warn_unused_result))
#define HN_NORETURN __attribute__((noreturn))

/* Ownership words of isl, for heap objects and everything that touches isl. */
#define HN_TAKE
#define HN_GIVE
#define HN_KEEP

#define HN_COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* A bug in hone, never a fault of the user's: print the place and abort. */
HN_NORETURN void hn_bug(const char *file, int line, const char *what);

/* Kept in release builds: on cold paths the price is nothing, the answer is everything. */
#define hn_assert(cond) ((cond) ? (void)0 : hn_bug(__FILE__, __LINE__, #cond))

#endif
