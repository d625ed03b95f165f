/* step/follow_split.c -- FSP: split a loop as an earlier split did, at fewer levels.
 *
 * With n lengths wanted: the source's first n - 1, then the product of all its others (1
 * when none are left).  Always from the inside out, as in Ansor.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>
#include <string.h>

#include "loopstate/state/split_iter.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static uint32_t lengths(const struct hn_step *src, const struct hn_step *step,
			int64_t *len)
{
	uint32_t n = (uint32_t)step->a[HN_FSP_N_SPLIT];

	if (n > 1) {
		memcpy(len, src->list, (n - 1) * sizeof(*len));
	}
	len[n - 1] = hn_split_iter_product(src->list + (n - 1), src->n_list - (n - 1));
	return n;
}

static int follow_check(const struct hn_state *s, const struct hn_step *step,
			struct hn_err *err)
{
	const struct hn_step *src = hn_split_iter_source(s, step->a[HN_FSP_SRC]);
	int64_t len[HN_STAGE_MAX_ITERS + 1], n = step->a[HN_FSP_N_SPLIT];
	int rc = hn_step_check_iter(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (src == NULL) {
		return hn_step_refuse(s, step, err,
				      "step %" PRId64 " is not an earlier split",
				      step->a[HN_FSP_SRC]);
	}
	if (n < 1 || n > (int64_t)src->n_list + 1) {
		return hn_step_refuse(
			s, step, err,
			"the split followed has %u lengths: n_split must lie in 1..%u",
			(unsigned)src->n_list, (unsigned)src->n_list + 1);
	}
	return hn_split_iter_check(s, step, len, lengths(src, step, len), err);
}

static const struct hn_state *follow_apply(const struct hn_state *s,
					   const struct hn_step *step, struct hn_arena *a)
{
	const struct hn_step *src = hn_split_iter_source(s, step->a[HN_FSP_SRC]);
	int64_t len[HN_STAGE_MAX_ITERS + 1];
	uint32_t n = lengths(src, step, len);

	return hn_split_iter_apply(s, step, len, n, /* inner_to_outer= */ true, a);
}

static void follow_explain(const struct hn_state *s, const struct hn_step *step,
			   struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "split loop %s of %s into %" PRId64
		      " loops with the lengths of step %" PRId64,
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		      step->a[HN_FSP_N_SPLIT] + 1, step->a[HN_FSP_SRC]);
}

static void follow_te(struct hn_te *te, const struct hn_step *step)
{
	const struct hn_step *src = hn_split_iter_source(te->before, step->a[HN_FSP_SRC]);
	int64_t len[HN_STAGE_MAX_ITERS + 1];
	uint32_t n = lengths(src, step, len);

	hn_te_split(te, step, len, n, /* inner_to_outer= */ true);
}

const struct hn_step_ops hn_step_follow_split = {
	.tag = "FSP",
	.name = "follow_split",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "src_step", HN_MEANS_STEP },
		   { HN_FIELD_INT, "n_split" } },
	.check = follow_check,
	.apply = follow_apply,
	.explain = follow_explain,
	.te = follow_te,
};
