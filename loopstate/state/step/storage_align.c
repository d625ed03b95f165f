/* step/storage_align.c -- SA: pad rows so that their stride is offset modulo factor. */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int align_check(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);
	int64_t factor = step->a[HN_SA_FACTOR], offset = step->a[HN_SA_OFFSET];

	if (rc != 0) {
		return rc;
	}
	if (factor < 1 || factor > INT32_MAX || offset < 0 || offset > INT32_MAX) {
		return hn_step_refuse(s, step, err,
				      "factor %" PRId64
				      " must lie in 1..%d, offset %" PRId64 " in 0..%d",
				      factor, INT32_MAX, offset, INT32_MAX);
	}
	return 0;
}

static const struct hn_state *align_apply(const struct hn_state *s,
					  const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);

	st->align_factor = step->a[HN_SA_FACTOR];
	st->storage_offset = step->a[HN_SA_OFFSET];
	return n;
}

static void align_explain(const struct hn_state *s, const struct hn_step *step,
			  struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "pad the buffer of %s at %s: stride %" PRId64 " modulo %" PRId64
		      " elements",
		      hn_state_op(s, step->stage)->name, hn_step_iter_name(s, step),
		      step->a[HN_SA_OFFSET], step->a[HN_SA_FACTOR]);
}

static void align_te(struct hn_te *te, const struct hn_step *step)
{
	hn_te_call(te, step->stage, "storage_align");
	hn_te_put_axis(te, te->before, step->stage, step->a[HN_SA_ITER]);
	hn_buf_printf(te->buf, ", %lld, %lld)\n", (long long)step->a[HN_SA_FACTOR],
		      (long long)step->a[HN_SA_OFFSET]);
}

const struct hn_step_ops hn_step_storage_align = {
	.tag = "SA",
	.name = "storage_align",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "factor" },
		   { HN_FIELD_INT, "offset" } },
	.check = align_check,
	.apply = align_apply,
	.explain = align_explain,
	.te = align_te,
};
