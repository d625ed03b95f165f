/* client/builder.h -- one run of another program: of hone's, hone-build, which links LLVM, or
 * hone-board, which runs kernels; or of the system's, as its linker. */
#ifndef HN_CLIENT_BUILDER_H
#define HN_CLIENT_BUILDER_H

#include "base/buf.h"
#include "base/err.h"

struct hn_program {
	const char *path;
	char *const *argv; /* NULL ends the words */
	const char *dir;   /* it runs in; NULL: ours */
	int out;	   /* descriptor of its standard output; below 0: ours */
};

/* Run it to its end.  When it fails, its first line of complaint is the error's, behind `verb` and
 * argv[0]. */
int hn_program_run(const char *verb, const struct hn_program *p, struct hn_err *err) HN_NODISCARD;

/* Run the one of hone's programs that lies beside ours to its end; argv[0] is its name, NULL ends the words.  Its standard output
 * goes to descriptor `out`, or where ours goes when that is < 0.  When it fails, its first
 * line of complaint is the error's, behind `verb`. */
int hn_builder_run(const char *verb, char *const *argv, int out,
		   struct hn_err *err) HN_NODISCARD;

/* A file in memory that exists while it is open, by a path that a child can open too. */
struct hn_memory_file {
	int fd; /* -1 = none */
	char path[40];
};
int hn_memory_file_open(const char *verb, const char *text, struct hn_memory_file *ret,
			struct hn_err *err) HN_NODISCARD;
void hn_memory_file_close(struct hn_memory_file *f); /* none is fine */

/* Run hone-build on a computation and a history given as texts: `words`, at most eight and then NULL,
 * come behind "hone-build --dag FILE --steps FILE".  What it prints is appended to ret. */
int hn_builder_ask(const char *verb, const char *dag_json, const char *steps,
		   char *const *words, struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

#endif
