/* step/compute_inline.c -- CI: compute a stage's elements where they are read. */
#include "loopstate/state/step.h"

#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int inline_check(const struct hn_state *s, const struct hn_step *step,
			struct hn_err *err)
{
	int rc = hn_step_check_computed(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (hn_state_op(s, step->stage)->reduce != NULL) {
		return hn_step_refuse(s, step, err, "a reduction cannot be inlined");
	}
	if (hn_state_is_arg(s, step->stage)) {
		return hn_step_refuse(s, step, err, "an output cannot be inlined");
	}
	if (hn_attach_any(s, step->stage, 0)) {
		return hn_step_refuse(s, step, err,
				      "other stages are attached to its loops");
	}
	return 0;
}

static const struct hn_state *inline_apply(const struct hn_state *s,
					   const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);

	hn_attach_remove(n, step->stage, a);
	hn_state_own_stage(n, step->stage, a)->at = HN_AT_INLINED;
	return n;
}

static void inline_explain(const struct hn_state *s, const struct hn_step *step,
			   struct hn_buf *buf)
{
	hn_buf_printf(buf, "compute elements of %s where they are read",
		      hn_state_op(s, step->stage)->name);
}

static void inline_te(struct hn_te *te, const struct hn_step *step)
{
	hn_te_call(te, step->stage, "compute_inline");
	hn_buf_puts(te->buf, ")\n");
}

const struct hn_step_ops hn_step_compute_inline = {
	.tag = "CI",
	.name = "compute_inline",
	.field = { { HN_FIELD_STAGE, "stage" } },
	.check = inline_check,
	.apply = inline_apply,
	.explain = inline_explain,
	.te = inline_te,
};
