/* step/pipeline.c -- PL: what is computed in a loop runs some iterations ahead of the loop's own
 * stage, into a ring of buffers.  Not of Ansor's.
 *
 * A block that is packed or copied for an iteration is then there when the iteration begins, and
 * the machine has both to do at the same time.  It changes the order alone: each iteration's values
 * are computed as they were, into a copy of their own (loopstate/nest/ring.h).  It stays with its
 * loop through reorders; splitting or fusing the loop ends it, as it ends an annotation.  Source:
 * Lam, "Software pipelining", 1988.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/pipeline.h"
#include "loopstate/state/state_int.h"

static bool is_loop(const struct hn_stage *st, int32_t var)
{
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].var == var) {
			return true;
		}
	}
	return false;
}

static int pipeline_check(const struct hn_state *s, const struct hn_step *step,
			  struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);
	int64_t stages = step->a[HN_PL_STAGES], kind = step->a[HN_PL_KIND];

	if (rc != 0) {
		return rc;
	}
	if (stages < 2 || stages > HN_PIPELINE_MAX_STAGES) {
		return hn_step_refuse(s, step, err,
				      "%" PRId64 " stages must lie in 2..%d", stages,
				      HN_PIPELINE_MAX_STAGES);
	}
	if (kind < 0 || kind >= HN_N_PIPELINE) {
		return hn_step_refuse(s, step, err, "kind %" PRId64 " must lie in 0..%d",
				      kind, HN_N_PIPELINE - 1);
	}
	const struct hn_stage *st = s->stage[step->stage];
	const char *why =
		hn_pipeline_why_not(s, step->stage, (uint32_t)step->a[HN_PL_ITER]);

	if (why != NULL) {
		return hn_step_refuse(s, step, err, "%s", why);
	}
	if (st->pipeline.stages != 0 && is_loop(st, st->pipeline.var)) {
		return hn_step_refuse(s, step, err,
				      "a loop of the stage is pipelined already");
	}
	return 0;
}

static const struct hn_state *
pipeline_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);

	st->pipeline = (struct hn_pipeline){
		.var = st->iter[step->a[HN_PL_ITER]].var,
		.stages = (uint8_t)step->a[HN_PL_STAGES],
		.kind = (uint8_t)step->a[HN_PL_KIND],
	};
	return n;
}

static void pipeline_explain(const struct hn_state *s, const struct hn_step *step,
			     struct hn_buf *buf)
{
	static const char *const by[HN_N_PIPELINE] = {
		[HN_PIPELINE_NONE] = "",
		[HN_PIPELINE_REGISTER] = ", through registers",
		[HN_PIPELINE_ASYNC] = ", by asynchronous copies",
		[HN_PIPELINE_OPEN] = ", by asynchronous copies, while products of the turn before go on",
		[HN_PIPELINE_BULK] = ", by bulk copies (TMA) that a warpgroup of its own begins, the "
				     "producer, for others that multiply, the consumers",
	};
	int64_t ahead = step->a[HN_PL_STAGES] - 1;

	hn_buf_printf(buf,
		      "compute what is in loop %s of %s %" PRId64
		      " iteration%s ahead, into %" PRId64 " buffers%s",
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		      ahead, ahead == 1 ? "" : "s", step->a[HN_PL_STAGES],
		      by[step->a[HN_PL_KIND]]);
}

const struct hn_step_ops hn_step_pipeline = {
	.tag = "PL",
	.name = "pipeline",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "stages" },
		   { HN_FIELD_INT, "kind" } },
	.check = pipeline_check,
	.apply = pipeline_apply,
	.explain = pipeline_explain,
	.te = NULL, /* a te schedule has double buffers at most */
};
