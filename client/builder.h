/* client/builder.h -- one run of hone-build, the program beside this one that links LLVM. */
#ifndef HN_CLIENT_BUILDER_H
#define HN_CLIENT_BUILDER_H

#include "base/buf.h"
#include "base/err.h"

/* Run it to its end; argv[0] is "hone-build", NULL ends the words.  Its standard output
 * goes to descriptor `out`, or where ours goes when that is < 0.  When it fails, its first
 * line of complaint is the error's, behind `verb`. */
int hn_builder_run(const char *verb, char *const *argv, int out,
		   struct hn_err *err) HN_NODISCARD;

/* Run it on a computation and a history given as texts: `words`, at most eight and then NULL,
 * come behind "hone-build --dag FILE --steps FILE".  What it prints is appended to ret. */
int hn_builder_ask(const char *verb, const char *dag_json, const char *steps,
		   char *const *words, struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

#endif
