/* step/tensorize.c -- TE: give loops of a sum to an instruction that does several of its terms at
 * once.  Not of Ansor's.
 *
 * The step names a loop for each dimension of the instruction (intrin.h), in the instruction's
 * order: the terms of a vector's; rows, columns, groups and terms of a tile's.  It changes no
 * order that matters: the sum may be taken in any order, or the step is refused.  So bounds and
 * legality see the loops as they were, and a machine without the instruction runs them as loops.
 * It stays with its loops through reorders; splitting or fusing one of them ends it.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/intrin.h"
#include "loopstate/state/state_int.h"

static int check_loop(const struct hn_state *s, const struct hn_step *step, uint32_t i,
		      const struct hn_intrin *in, struct hn_err *err)
{
	const struct hn_stage *st = s->stage[step->stage];
	enum hn_intrin_dim d = hn_intrin_dim(in, i);
	bool reduces = d == HN_INTRIN_K || d == HN_INTRIN_TERMS;
	int64_t p = step->list[i];

	if (p < 0 || p >= st->n_iter) {
		return hn_step_refuse(s, step, err,
				      "there is no iterator %" PRId64 ", the stage has %" PRIu32,
				      p, st->n_iter);
	}
	for (uint32_t k = 0; k < i; k++) {
		if (step->list[k] == p) {
			return hn_step_refuse(s, step, err, "iterator %" PRId64 " is named twice",
					      p);
		}
	}
	const struct hn_iter *it = &st->iter[p];

	if (it->kind != (reduces ? HN_ITER_REDUCE : HN_ITER_SPATIAL) || it->ann != HN_ANN_NONE) {
		return hn_step_refuse(s, step, err, "%s is no plain %s loop", it->name,
				      reduces ? "reduction" : "spatial");
	}
	if (it->extent != HN_EXTENT_UNKNOWN && !hn_intrin_takes(in, d, it->extent)) {
		return hn_step_refuse(s, step, err,
				      "%s takes %s%" PRId64 " %s, the loop has %" PRId64,
				      in->name,
				      d == HN_INTRIN_TERMS || hn_intrin_is_warp(in)
					      ? ""
					      : "up to ",
				      in->most[d], hn_intrin_dim_name(d), it->extent);
	}
	return 0;
}

static int tensorize_check(const struct hn_state *s, const struct hn_step *step,
			   struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_stage *st = s->stage[step->stage];
	const struct hn_intrin *in = step->text != NULL ? hn_intrin_of(step->text) : NULL;

	if (in == NULL) {
		return hn_step_refuse(s, step, err, "there is no instruction '%.40s'",
				      step->text != NULL ? step->text : "");
	}
	if (st->intrin != NULL) {
		return hn_step_refuse(s, step, err,
				      "loops of the stage are given to %s already",
				      st->intrin->name);
	}
	if (step->n_list != hn_intrin_n_dim(in)) {
		return hn_step_refuse(s, step, err,
				      "%s does %" PRIu32 " loops, the step names %" PRIu32,
				      in->name, hn_intrin_n_dim(in), step->n_list);
	}
	for (uint32_t i = 0; i < step->n_list && rc == 0; i++) {
		rc = check_loop(s, step, i, in, err);
	}
	if (rc != 0) {
		return rc;
	}
	const char *why = hn_intrin_why_not(in, s->root_dag, hn_state_op(s, step->stage));

	return why != NULL ? hn_step_refuse(s, step, err, "%s: %s", in->name, why) : 0;
}

static const struct hn_state *
tensorize_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	int32_t *var = HN_NEW_ARRAY(a, int32_t, HN_INTRIN_DIMS);

	st->intrin = hn_intrin_of(step->text);
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		var[d] = -1;
	}
	for (uint32_t i = 0; i < step->n_list; i++) {
		var[hn_intrin_dim(st->intrin, i)] = st->iter[step->list[i]].var;
	}
	st->intrin_var = var;
	return n;
}

static void tensorize_explain(const struct hn_state *s, const struct hn_step *step,
			      struct hn_buf *buf)
{
	const struct hn_stage *st = s->stage[step->stage];

	hn_buf_printf(buf, "do loop%s", step->n_list > 1 ? "s" : "");
	for (uint32_t i = 0; i < step->n_list; i++) {
		bool known = step->list[i] >= 0 && step->list[i] < st->n_iter;

		hn_buf_printf(buf, "%s %s", i > 0 ? "," : "",
			      known ? st->iter[step->list[i]].name : "?");
	}
	hn_buf_printf(buf, " of %s by the instruction %s", hn_state_op(s, step->stage)->name,
		      step->text);
}

const struct hn_step_ops hn_step_tensorize = {
	.tag = "TE",
	.name = "tensorize",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_LIST, "iters" },
		   { HN_FIELD_TEXT, "instruction" } },
	.check = tensorize_check,
	.apply = tensorize_apply,
	.explain = tensorize_explain,
	.groups = true,
	.te = NULL, /* a te schedule would need the intrinsic declared */
};
