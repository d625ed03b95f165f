/* client/builder.h -- one run of hone-build, the program beside this one that links LLVM. */
#ifndef HN_CLIENT_BUILDER_H
#define HN_CLIENT_BUILDER_H

#include "base/err.h"

/* Run it to its end; argv[0] is "hone-build", NULL ends the words.  Its standard output
 * goes to descriptor `out`, or where ours goes when that is < 0.  When it fails, its first
 * line of complaint is the error's, behind `verb`. */
int hn_builder_run(const char *verb, char *const *argv, int out,
		   struct hn_err *err) HN_NODISCARD;

#endif
