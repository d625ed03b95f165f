/* lower/c/c.h -- a loop tree as C source, for people and for any C compiler.
 *
 * One file that defines what the kernel's header declares (include/hone/kernel.h): C11 with vectors
 * as gcc and clang have them, no intrinsics.  The numbers are those of the tree's program: in the
 * order of its loops, functions are libm's, products and sums are contracted only where the task
 * lets them be.  Sums of floating point are held in registers (c_tile.c), and other loops of lanes
 * are marked for gcc, which makes vectors of them.
 */
#ifndef HN_LOWER_C_C_H
#define HN_LOWER_C_C_H

#include "lower/lower.h"

/* Append the source of the kernel of that name; the target says how wide its vectors are and how
 * many registers it has, not which processors it runs on.  `made` is the same tree's object, whose header
 * serves both.  HONE_E_UNSUPPORTED names a construct that has no C here. */
int hn_c_source(const struct hn_looptree *t, const struct hn_target *target, const char *symbol,
		const struct hn_artefact *made, struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

#endif
