/* step/follow_fused_split.c -- FFSP: split a fused loop in two as earlier splits together
 * did.
 *
 * The one length is the product, over the listed splits, of their length at `level`; it
 * is the inner part's (factor = 1) or the outer part's (factor = 0).  Of no splits it is 1:
 * Ansor's sampler writes that where a copy to shared memory is made for a reduction over
 * threads, which has no spatial splits to follow.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "base/arith.h"
#include "loopstate/state/split_iter.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int64_t length(const struct hn_state *s, const struct hn_step *step)
{
	int64_t product = 1;

	for (uint32_t i = 0; i < step->n_list; i++) {
		const struct hn_step *src = hn_split_iter_source(s, step->list[i]);
		int64_t len = src->list[step->a[HN_FFSP_LEVEL]];

		if (len == HN_HOLE) {
			return HN_HOLE;
		}
		product = hn_mul_sat(product, len);
	}
	return product;
}

static int fused_check(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (step->n_list > HN_STEP_MAX_LIST) {
		return hn_step_refuse(s, step, err, "at most %d splits can be followed",
				      HN_STEP_MAX_LIST);
	}
	for (uint32_t i = 0; i < step->n_list; i++) {
		const struct hn_step *src = hn_split_iter_source(s, step->list[i]);

		if (src == NULL) {
			return hn_step_refuse(s, step, err,
					      "step %" PRId64 " is not an earlier split",
					      step->list[i]);
		}
		if (step->a[HN_FFSP_LEVEL] < 0 || step->a[HN_FFSP_LEVEL] >= src->n_list) {
			return hn_step_refuse(s, step, err,
					      "level %" PRId64 ": step %" PRId64
					      " has %u lengths",
					      step->a[HN_FFSP_LEVEL], step->list[i],
					      (unsigned)src->n_list);
		}
	}
	int64_t len = length(s, step);

	return hn_split_iter_check(s, step, &len, 1, err);
}

static const struct hn_state *fused_apply(const struct hn_state *s,
					  const struct hn_step *step, struct hn_arena *a)
{
	int64_t len = length(s, step);

	return hn_split_iter_apply(s, step, &len, 1, step->a[HN_FFSP_FACTOR] != 0, a);
}

static void fused_explain(const struct hn_state *s, const struct hn_step *step,
			  struct hn_buf *buf)
{
	hn_buf_printf(
		buf,
		"split loop %s of %s in two; its %s loop is as long as level %" PRId64
		" of steps",
		hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		step->a[HN_FFSP_FACTOR] != 0 ? "inner" : "outer", step->a[HN_FFSP_LEVEL]);
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_printf(buf, "%s %" PRId64, i > 0 ? "," : "", step->list[i]);
	}
	hn_buf_puts(buf, step->n_list > 0 ? " together" : ", of which there are none: 1");
}

static void fused_te(struct hn_te *te, const struct hn_step *step)
{
	int64_t len = length(te->before, step);

	hn_te_split(te, step, &len, 1, step->a[HN_FFSP_FACTOR] != 0);
}

const struct hn_step_ops hn_step_follow_fused_split = {
	.tag = "FFSP",
	.name = "follow_fused_split",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_LIST, "src_steps", HN_MEANS_STEP },
		   { HN_FIELD_INT, "level" },
		   { HN_FIELD_FLAG, "factor" } },
	.check = fused_check,
	.apply = fused_apply,
	.explain = fused_explain,
	.te = fused_te,
};
