/* step/swap.c -- XC: a loop and the one inside it change places.
 *
 * No step of hone's: what docs/adding-a-step.md shows, and tests/e2e/toy.sh adds to a copy of the
 * tree to see that nothing else has to be touched. */
#include "loopstate/state/step.h"

#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"

static int swap_check(const struct hn_state *s, const struct hn_step *step, struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (step->a[0] < 0 || step->a[0] + 1 >= s->stage[step->stage]->n_iter) {
		return hn_step_refuse(s, step, err, "there is no loop inside it");
	}
	return 0;
}

static const struct hn_state *swap_apply(const struct hn_state *s, const struct hn_step *step,
					 struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, st->n_iter);
	uint32_t at = (uint32_t)step->a[0];
	int32_t to[HN_STAGE_MAX_ITERS];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		to[i] = (int32_t)(i == at ? at + 1 : i == at + 1 ? at : i);
		iter[to[i]] = st->iter[i];
	}
	st->iter = iter;
	hn_attach_renumber(n, step->stage, to, a);
	return n;
}

static void swap_explain(const struct hn_state *s, const struct hn_step *step, struct hn_buf *buf)
{
	hn_buf_printf(buf, "let loop %s of %s and the one inside it change places",
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name);
}

const struct hn_step_ops hn_step_swap = {
	.tag = "XC",
	.name = "swap",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_ITER, "iter" } },
	.check = swap_check,
	.apply = swap_apply,
	.explain = swap_explain,
	.te = NULL, /* no step of Ansor's */
};
