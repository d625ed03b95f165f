/* client/explain_steps.c -- a history, a sentence a step. */
#include "client/explain.h"
#include "loopstate/state/step.h"

int hn_explain_steps(const struct hn_dag *dag, const struct hn_trace *trace,
		     struct hn_arena *a, struct hn_sentences *ret,
		     const struct hn_state **ret_state, struct hn_err *err)
{
	const struct hn_state *s = hn_state_init(dag, a), *next;
	const char **text = HN_NEW_ARRAY(a, const char *, trace->n_step);
	struct hn_buf b;
	int rc = 0;

	hn_buf_init(&b);
	for (uint32_t i = 0; i < trace->n_step && rc == 0; i++) {
		const struct hn_step *step = trace->step[i];

		rc = hn_state_apply(s, step, a, &next, err);
		if (rc != 0) {
			hn_err_within(err, "step %u", i);
			break;
		}
		hn_buf_reset(&b);
		hn_step_ops((enum hn_step_kind)step->kind)->explain(s, step, &b);
		text[i] = hn_arena_strdup(a, b.s);
		s = next;
	}
	hn_buf_fini(&b);
	*ret = (struct hn_sentences){ trace->n_step, text };
	*ret_state = s;
	return rc;
}
