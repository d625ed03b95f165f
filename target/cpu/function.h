/* target/cpu/function.h -- how the code generator makes a function: as an instruction, as
 * straight-line vector code, or as a call of libm.
 */
#ifndef HN_TARGET_CPU_FUNCTION_H
#define HN_TARGET_CPU_FUNCTION_H

#include "loopstate/expr/expr.h"
#include "target/target.h"

/* One instruction of a vector, as a sum is: absolute values and roundings. */
bool hn_function_is_cheap(enum hn_fn f);

/* Whether the call ends up in libm, lane by lane; exact = libm's result to the bit is asked for,
 * or there are no lanes. */
bool hn_function_is_call(const struct hn_expr *call, const struct hn_target *t, bool exact);

#endif
