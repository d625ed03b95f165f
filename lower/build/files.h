/* lower/build/files.h -- what a request gave, as files: object, header, the same as text, what a
 * caller has to provide, what it is to answer.
 */
#ifndef HN_LOWER_BUILD_FILES_H
#define HN_LOWER_BUILD_FILES_H

#include "lower/build/build.h"

/* Kernels beside this one that the header is for, too: it asks for no less than this. */
struct hn_build_room {
	unsigned long long shared_bytes, worker_bytes, prepared_bytes;
	bool init, wanted;
};

/* Paths; NULL = not wanted. */
struct hn_build_files {
	const char *object, *header;
	const char *source, *ir, *assembly; /* C, LLVM's text, the target's */
	const char *target; /* of source: whose vectors and registers it is written for */
	const char *facts;		    /* JSON: the header's figures, and which inputs are read */
	const char *check;		    /* lower/build/check.h */
	struct hn_build_room room;
};

/* The answer is OK, and was asked for the texts that are wanted. */
int hn_build_write(const struct hn_build_files *f, const char *symbol,
		   const struct hn_build_answer *ans, struct hn_arena *a,
		   struct hn_err *err) HN_NODISCARD;

#endif
