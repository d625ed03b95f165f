/* step/annotate.c -- AN: say how a loop is to be run (iters.def). */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int annotate_check(const struct hn_state *s, const struct hn_step *step,
			  struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);
	int64_t ann = step->a[HN_AN_ANN];

	if (rc != 0) {
		return rc;
	}
	if (!hn_ann_known(ann)) {
		return hn_step_refuse(s, step, err, "unknown annotation %" PRId64, ann);
	}
	uint8_t old = s->stage[step->stage]->iter[step->a[HN_AN_ITER]].ann;

	if (old != HN_ANN_NONE) {
		return hn_step_refuse(s, step, err, "%s is annotated %s already",
				      hn_step_iter_name(s, step), hn_ann_keyword(old));
	}
	return 0;
}

static const struct hn_state *
annotate_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	struct hn_iter *iter = hn_stage_own_iters(st, st->n_iter, a);

	iter[step->a[HN_AN_ITER]].ann = (uint8_t)step->a[HN_AN_ANN];
	return n;
}

static void annotate_explain(const struct hn_state *s, const struct hn_step *step,
			     struct hn_buf *buf)
{
	hn_buf_printf(buf, "mark loop %s of %s: %s", hn_step_iter_name(s, step),
		      hn_state_op(s, step->stage)->name,
		      hn_ann_keyword((uint8_t)step->a[HN_AN_ANN]));
}

static void annotate_te(struct hn_te *te, const struct hn_step *step)
{
	uint8_t ann = (uint8_t)step->a[HN_AN_ANN];
	bool call =
		ann == HN_ANN_UNROLL || ann == HN_ANN_VECTORIZE || ann == HN_ANN_PARALLEL;

	if (ann == HN_ANN_NONE) {
		return;
	}
	if (ann == HN_ANN_TENSORIZE) { /* the record does not say with what */
		hn_buf_puts(te->buf, "# ");
		call = true;
	}
	hn_te_call(te, step->stage, call ? hn_ann_keyword(ann) : "bind");
	hn_te_put_axis(te, te->before, step->stage, step->a[HN_AN_ITER]);
	if (!call) {
		hn_buf_printf(te->buf, ", te.thread_axis(\"%s\")", hn_ann_keyword(ann));
	}
	hn_buf_puts(te->buf, ")\n");
}

static void annotate_decide(const struct hn_step *step, const struct hn_step *before,
			    struct hn_plan_stage *ret)
{
	bool fused = before != NULL && before->kind == HN_STEP_fuse &&
		     before->stage == step->stage;

	if (step->a[HN_AN_ANN] == HN_ANN_PARALLEL) {
		ret->parallel = fused ? (int32_t)before->n_list : 1;
	}
}

const struct hn_step_ops hn_step_annotate = {
	.tag = "AN",
	.name = "annotate",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "annotation" } },
	.check = annotate_check,
	.apply = annotate_apply,
	.explain = annotate_explain,
	.te = annotate_te,
	.decide = annotate_decide,
};
