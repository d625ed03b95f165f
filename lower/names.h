/* lower/names.h -- names that a kernel may not have: words of C and C++, functions of the C library
 * that kernels call or that a program cannot do without, those of hone/pool.h. */
#ifndef HN_LOWER_NAMES_H
#define HN_LOWER_NAMES_H

#include <stdbool.h>

bool hn_name_is_taken(const char *name);

#endif
