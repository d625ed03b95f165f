/* Loop trees of histories in text, and what each of those that judge them says: the quick check, the
 * exact one, and the run with every access looked at.  The program includes <cmocka.h> and
 * lower_forms.h's needs before this. */
#ifndef HN_TESTS_LOWER_JUDGED_H
#define HN_TESTS_LOWER_JUDGED_H

#include "tests/lib/looptree_trace.h"
#include "tests/lib/lower_forms.h"

#define JUDGED_MS 20000

static inline const struct hn_looptree *tree_of(const char *text, const char *steps,
						struct hn_arena *a,
						const struct hn_dag **ret_dag)
{
	const struct hn_trace *trace;
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err;

	*ret_dag = dag_open(text, a);
	if (hn_trace_parse("steps", steps, strlen(steps), a, &trace, &err) ||
	    hn_state_replay(*ret_dag, trace, a, &s, &err) ||
	    hn_looptree_build(s, a, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	return t;
}

/* Whether both checks take the tree; and whether it computes the dag when every access is looked
 * at. */
static inline void judged(const struct hn_looptree *t, const struct hn_dag *dag,
			  bool right, const char *why)
{
	struct hn_quick *quick = hn_quick_new();
	struct hn_err err = { 0 };
	struct eval meaning;
	char fault[300];

	if (hn_quick_legal(quick, t, &err) != right ||
	    hn_legal_check(t, JUDGED_MS, &err) !=
		    (right ? HN_VERDICT_OK : HN_VERDICT_ILLEGAL)) {
		fail_msg("the checks: %s", err.msg);
	}
	if (!right && strstr(err.msg, why) == NULL) {
		fail_msg("\"%s\" is not in \"%s\"", why, err.msg);
	}
	eval_dag(&meaning, dag);
	if (trace_right(t, &meaning, fault) != right) {
		fail_msg("the evaluation: %s", fault);
	}
	eval_free(&meaning);
	hn_quick_free(quick);
}

#endif
