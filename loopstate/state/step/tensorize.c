/* step/tensorize.c -- TE: give a reduction loop to an instruction that does several terms of a
 * sum at once.  Not of Ansor's.
 *
 * The loop has as many iterations as the instruction has terms.  It changes no order that
 * matters: the sum may be taken in any order, or the step is refused.  So bounds and legality see
 * the loop as it was, and a machine without the instruction runs it as a loop.  It stays with its
 * loop through reorders; splitting or fusing the loop ends it.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/intrin.h"
#include "loopstate/state/state_int.h"

static int tensorize_check(const struct hn_state *s, const struct hn_step *step,
			   struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_stage *st = s->stage[step->stage];
	const struct hn_iter *it = &st->iter[step->a[HN_TE_ITER]];
	const struct hn_intrin *in = step->text != NULL ? hn_intrin_of(step->text) : NULL;

	if (in == NULL) {
		return hn_step_refuse(s, step, err, "there is no instruction '%.40s'",
				      step->text != NULL ? step->text : "");
	}
	if (st->intrin != NULL) {
		return hn_step_refuse(s, step, err,
				      "a loop of the stage is given to %s already",
				      st->intrin->name);
	}
	if (it->kind != HN_ITER_REDUCE || it->ann != HN_ANN_NONE) {
		return hn_step_refuse(s, step, err, "%s is no plain reduction loop",
				      hn_step_iter_name(s, step));
	}
	if (it->extent != HN_EXTENT_UNKNOWN && it->extent != in->terms) {
		return hn_step_refuse(s, step, err,
				      "%s takes %" PRId64 " terms, the loop has %" PRId64,
				      in->name, in->terms, it->extent);
	}
	const char *why = hn_intrin_why_not(in, s->root_dag, hn_state_op(s, step->stage));

	return why != NULL ? hn_step_refuse(s, step, err, "%s: %s", in->name, why) : 0;
}

static const struct hn_state *
tensorize_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);

	st->intrin = hn_intrin_of(step->text);
	st->intrin_var = st->iter[step->a[HN_TE_ITER]].var;
	return n;
}

static void tensorize_explain(const struct hn_state *s, const struct hn_step *step,
			      struct hn_buf *buf)
{
	hn_buf_printf(buf, "do loop %s of %s by the instruction %s",
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		      step->text);
}

const struct hn_step_ops hn_step_tensorize = {
	.tag = "TE",
	.name = "tensorize",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_TEXT, "instruction" } },
	.check = tensorize_check,
	.apply = tensorize_apply,
	.explain = tensorize_explain,
	.groups = true,
	.te = NULL, /* a te schedule would need the intrinsic declared */
};
