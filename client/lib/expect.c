/* client/lib/expect.c -- see expect.h. */
#include "client/lib/expect.h"

#include <string.h>

#include "costmodel/model.h"
#include "loopstate/nest/looptree.h"
#include "loopstate/read/dag_read.h"

static int read_tree(const struct hn_expect *x, struct hn_arena *a, const struct hn_looptree **ret,
		     struct hn_err *err)
{
	const struct hn_trace *trace;
	const struct hn_state *state;
	const struct hn_dag *dag;
	int rc = hn_dag_parse_sized("dag", x->dag, strlen(x->dag), 0, a, &dag, err);

	rc = rc ? rc : hn_trace_parse("steps", x->steps, strlen(x->steps), a, &trace, err);
	rc = rc ? rc : hn_state_replay(dag, trace, a, &state, err);
	return rc ? rc : hn_looptree_build(state, a, ret, err);
}

static int time_on(const struct hn_looptree *tree, const struct hn_target *t, bool cold,
		   struct hn_arena *a, double *ret, struct hn_err *err)
{
	struct hn_features f;

	if (!hn_features_of(tree, t, a, &f)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "the program is deeper, or reads more, than the cost model looks at");
	}
	*ret = hn_model_analytic_ns(&f, cold);
	return 0;
}

int hn_expect(const struct hn_expect *x, struct hn_arena *a, double *ret_ns, struct hn_err *err)
{
	const struct hn_looptree *tree;
	double there = 0;
	int rc = read_tree(x, a, &tree, err);

	rc = rc ? rc : time_on(tree, x->here, x->cold, a, ret_ns, err);
	if (rc == 0 && x->median_ns > 0) {
		rc = time_on(tree, x->there, x->cold, a, &there, err);
		*ret_ns = there > 0 ? x->median_ns * *ret_ns / there : *ret_ns;
	}
	return rc;
}
