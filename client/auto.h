/* client/auto.h -- the automatic schedule (search/auto.h) of a computation, proved, without
 * daemon, store or board. */
#ifndef HN_CLIENT_AUTO_H
#define HN_CLIENT_AUTO_H

#include "client/best.h"
#include "search/answer.h"

/* The first of hn_answers_find's programs that hone-build proves, as if it were the best record: its
 * median is 0 and it has no id.  A proof that takes too many of isl's operations is not waited for:
 * then what the quick check shows to be legal is the answer, and has no certificate.  ret_answers:
 * at[0] is the one, and what was predicted of it.  All in the arena; hn_best_close is fine.
 * HONE_E_UNSUPPORTED for targets that have none. */
int hn_auto_find(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		 struct hn_best *ret, struct hn_answers *ret_answers,
		 struct hn_err *err) HN_NODISCARD;

/* Whether hone-build proves the steps for all of the computation's sizes. */
bool hn_auto_proves(const struct hn_input *in, const char *steps, struct hn_arena *a);

/* What a schedule is made for: a dag whose sizes are parameters with the largest of them, as its
 * steps count (loopstate/dag/size.h). */
int hn_auto_largest(const struct hn_dag *dag, struct hn_arena *a, const struct hn_dag **ret,
		    struct hn_err *err) HN_NODISCARD;

/* What hn_best_find answered, rc, with the way without a store where it has nothing. */
int hn_auto_instead(int rc, struct hn_err *err) HN_NODISCARD;

#endif
