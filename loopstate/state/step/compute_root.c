/* step/compute_root.c -- CR: compute a stage on its own, in full. */
#include "loopstate/state/step.h"

#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static const struct hn_state *root_apply(const struct hn_state *s,
					 const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);

	hn_attach_remove(n, step->stage, a);

	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);

	st->at = HN_AT_ROOT;
	hn_stage_forget_extents(st, a);
	return n;
}

static void root_explain(const struct hn_state *s, const struct hn_step *step,
			 struct hn_buf *buf)
{
	hn_buf_printf(buf, "compute %s on its own", hn_state_op(s, step->stage)->name);
}

static void root_te(struct hn_te *te, const struct hn_step *step)
{
	hn_te_call(te, step->stage, "compute_root");
	hn_buf_puts(te->buf, ")\n");
}

static void root_decide(const struct hn_step *step, const struct hn_step *before,
			struct hn_plan_stage *ret)
{
	(void)step;
	(void)before;
	ret->at = HN_AT_ROOT;
}

const struct hn_step_ops hn_step_compute_root = {
	.tag = "CR",
	.name = "compute_root",
	.field = { { HN_FIELD_STAGE, "stage" } },
	.check = hn_step_check_computed,
	.apply = root_apply,
	.explain = root_explain,
	.te = root_te,
	.decide = root_decide,
};
