/* lower/prove/equal.h -- whether a derived dag computes the same as the task's dag.
 *
 * Steps that cache, pack, inline or factor give a state its own dag, and the legality of its
 * loops is about that dag. This file shows one of two things for each stage that is still read:
 * the stage is an op of the task's dag, element by element, or its reader is, with the stage
 * unfolded.
 *
 *   copy        the stage loads another at its own axes;
 *   unfolding   all stages that are no op of the task are unfolded, and all ops that are no
 *               stage any more.  Then both bodies are the same expression: indices as
 *               quasi-affine functions where they are evaluated (isl), data by the laws of
 *               its type (equal_law.c), conditions case by case;
 *   partition   a reduction in parts: the parts' points correspond one to one to those of the op
 *               (isl, guards included), the sources are the same there, and the combiner and its
 *               identity obey the laws that allow it (loopstate/dag/law.h, liberty.h).
 *
 * The proof uses nothing of the code that derives dags. It guesses from ids and order which
 * stage is which op, and from matching sources how parts correspond. Then it proves both
 * guesses. What is not shown is refused. legal.c proves that loads stay within what has been
 * computed.
 */
#ifndef HN_LOWER_PROVE_EQUAL_H
#define HN_LOWER_PROVE_EQUAL_H

#include <isl/ctx.h>

#include "base/buf.h"
#include "base/err.h"
#include "loopstate/dag/dag.h"

/* What was shown of a stage, and by which rule; strings and rows in the arena of the call. */
struct hn_equal_row {
	const char *stage; /* its name */
	const char *is;	   /* the op of the task's dag; NULL: it is part of its readers */
	const char *rule;  /* "copy", "unfolding" or "partition" */
	const char *by;	   /* for a person: what was unfolded, what allows it; or "" */
};

struct hn_equal {
	uint32_t n;
	const struct hn_equal_row *row; /* stages that are what they were are left out */
	bool gave_up; /* it took too long, which says nothing of the dags */
};

/* True: every output of `derived` is that of `given`, and *ret says how it was shown.  False:
 * err says in one sentence which stage was not shown, or isl gave up (its ctx says so). */
bool hn_equal_dags(const struct hn_dag *given, const struct hn_dag *derived, isl_ctx *ctx,
		   struct hn_arena *a, struct hn_equal *ret, struct hn_err *err);

/* A line for each row: "C.repl is C: partition of k; ...". */
void hn_equal_print(const struct hn_equal *e, struct hn_buf *ret);

#endif
