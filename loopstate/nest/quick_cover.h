/* loopstate/nest/quick_cover.h -- what guards say of a statement, for the check of what it computes
 * (quick_cover.c). */
#ifndef HN_LOOPSTATE_NEST_QUICK_COVER_H
#define HN_LOOPSTATE_NEST_QUICK_COVER_H

#include "loopstate/nest/quick_int.h"

#define HN_QUICK_MAX_GUARDS 24

/* lo <= sum of the terms <= hi; the form's own interval is 0. */
struct hn_quick_guard {
	struct hn_digit_form g;
	int64_t lo, hi;
	bool made; /* into a digit of every axis it is part of */
	bool own;  /* what a loop runs over: it leaves nothing out */
};

struct hn_quick_covering {
	struct hn_quick_check *c;
	struct hn_quick_stmt *s;
	uint32_t n_guard;
	struct hn_quick_guard guard[HN_QUICK_MAX_GUARDS];
	struct hn_digit_form form; /* scratch */
};

/* quick_guard.c: the statement's guards; false: one is no bound on a sum of loops.  And one more for
 * each loop whose digits could count further than it runs. */
bool hn_quick_read_guards(struct hn_quick_covering *v);
void hn_quick_bound_ragged(struct hn_quick_covering *v);

#endif
