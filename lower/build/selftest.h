/* lower/build/selftest.h -- hone's test of the code generator that it finds on a machine.
 *
 * The proof is about the loop tree. LLVM turns the tree into machine code, and has made
 * mistakes: one version stored twice the bytes of a lone lane, and read past the end behind a
 * mask (emit_masked.c). So when a version of LLVM first makes code for a processor, a few small
 * kernels of the kinds that went wrong are made and run (check.h, hone-board --check). A file
 * keeps the result:
 *
 *   HOME/codegen/KEY.json  {"llvm", "cpu", "hone", "verdict": "OK", or "NOT RUN" and "why", "ms"}
 *
 * KEY stands for LLVM's version, the processor with its features, hone's version and the
 * kernels.
 */
#ifndef HN_LOWER_BUILD_SELFTEST_H
#define HN_LOWER_BUILD_SELFTEST_H

#include "lower/lower.h"

/* What runs the kernels: this program, which reads a file as hone-board --check does. */
struct hn_selftest_place {
	const char *board; /* path of hone-board */
	const char *home;  /* the store's directory; made when it is missing.  What cannot be written
			    * there is forgotten, and the test is run again */
};

/* 0: it was right, now or before; or this machine runs no kernels, which one line on standard
 * error says once.  HONE_E_INTERNAL: it is wrong; the line names version, processor and kernel,
 * and nothing is kept.  The emitter must be one for this machine.  Takes some 0.3 s once. */
int hn_selftest(struct hn_emitter *em, const struct hn_selftest_place *at,
		struct hn_err *err) HN_NODISCARD;

#endif
