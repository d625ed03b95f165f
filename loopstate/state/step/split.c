/* step/split.c -- SP: one loop becomes several. */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/split_iter.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int split_check(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	return hn_split_iter_check(s, step, step->list, step->n_list, err);
}

static const struct hn_state *split_apply(const struct hn_state *s,
					  const struct hn_step *step, struct hn_arena *a)
{
	return hn_split_iter_apply(s, step, step->list, step->n_list,
				   step->a[HN_SP_INNER_TO_OUTER] != 0, a);
}

static void split_explain(const struct hn_state *s, const struct hn_step *step,
			  struct hn_buf *buf)
{
	bool inner = step->a[HN_SP_INNER_TO_OUTER] != 0;

	hn_buf_printf(buf, "split loop %s of %s into %u loops, ",
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		      (unsigned)step->n_list + 1);
	hn_buf_puts(buf, inner ? "the rest" : "");
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_puts(buf, inner || i > 0 ? " x " : "");
		if (step->list[i] == HN_HOLE) {
			hn_buf_putc(buf, '?');
		} else {
			hn_buf_printf(buf, "%" PRId64, step->list[i]);
		}
	}
	hn_buf_puts(buf, inner ? "" : step->n_list > 0 ? " x the rest" : "the rest");
}

static void split_te(struct hn_te *te, const struct hn_step *step)
{
	hn_te_split(te, step, step->list, step->n_list,
		    step->a[HN_SP_INNER_TO_OUTER] != 0);
}

static void split_decide(const struct hn_step *step, const struct hn_step *before,
			 struct hn_plan_stage *ret)
{
	(void)before;
	if (step->n_list == 1) {
		ret->strip = (int32_t)step->list[0];
	}
}

const struct hn_step_ops hn_step_split = {
	.tag = "SP",
	.name = "split",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "extent", HN_MEANS_EXTENT },
		   { HN_FIELD_LENS, "lens", HN_MEANS_PARTS },
		   { HN_FIELD_FLAG, "inner_to_outer" } },
	.check = split_check,
	.apply = split_apply,
	.explain = split_explain,
	.te = split_te,
	.decide = split_decide,
};
