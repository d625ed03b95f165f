/* client/explain_asm.h -- the machine code part of `hone explain`. */
#ifndef HN_CLIENT_EXPLAIN_ASM_H
#define HN_CLIENT_EXPLAIN_ASM_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Append the inner loops of the kernel that `steps` make, with their instruction mix. */
int hn_explain_asm(const char *dag_json, const char *steps, const char *target_line,
		   struct hn_arena *a, struct hn_buf *b, struct hn_err *err) HN_NODISCARD;

#endif
