/* step/compute_at.c -- CA: compute a stage inside a loop of one that needs it.
 *
 * Legal only towards a stage that reads it, directly or through others: nothing else can
 * hold all its readers.  That rules out cycles too.  Whether all readers do lie inside is
 * known when the state is complete (bounds.h).
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

/* Does the value of `from` reach `to`?  Ops read earlier ops only. */
static bool reaches(const struct hn_access *access, int32_t from, int32_t to)
{
	bool hit[HN_DAG_MAX_OPS + 1] = { false };

	hit[from] = true;
	for (int32_t i = from + 1; i <= to; i++) {
		const struct hn_op_access *acc = &access->op[i];

		for (uint32_t k = 0; k < acc->n_producer && !hit[i]; k++) {
			hit[i] = hit[acc->producer[k]];
		}
	}
	return to > from && hit[to];
}

static int check_target(const struct hn_state *s, const struct hn_step *step,
			int64_t target, struct hn_err *err)
{
	int64_t iter = step->a[HN_CA_ITER];

	if (target < 0 || target >= s->n_stage) {
		return hn_step_refuse(s, step, err,
				      "target %" PRId64 ": there are %u stages", target,
				      (unsigned)s->n_stage);
	}
	const char *name = s->dag->op[target]->name;

	if (!reaches(s->access, step->stage, (int32_t)target)) {
		return hn_step_refuse(s, step, err,
				      "target %" PRId64 " (%.60s) does not read it",
				      target, name);
	}
	if (s->stage[target]->at == HN_AT_INLINED) {
		return hn_step_refuse(s, step, err,
				      "target %" PRId64 " (%.60s) is inlined", target,
				      name);
	}
	if (iter < 0 || iter >= s->stage[target]->n_iter) {
		return hn_step_refuse(
			s, step, err,
			"iterator %" PRId64 ": target %" PRId64 " (%.60s) has %u", iter,
			target, name, (unsigned)s->stage[target]->n_iter);
	}
	return 0;
}

static int at_check(const struct hn_state *s, const struct hn_step *step,
		    struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (hn_state_is_arg(s, step->stage)) {
		return hn_step_refuse(s, step, err,
				      "an output is computed in full: it stays at root");
	}
	return check_target(s, step, step->a[HN_CA_TARGET], err);
}

static const struct hn_state *at_apply(const struct hn_state *s,
				       const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);

	hn_attach_set(n, step->stage, (int32_t)step->a[HN_CA_TARGET],
		      (int32_t)step->a[HN_CA_ITER], a);
	hn_stage_forget_extents((struct hn_stage *)n->stage[step->stage], a);
	return n;
}

static void at_explain(const struct hn_state *s, const struct hn_step *step,
		       struct hn_buf *buf)
{
	const struct hn_stage *target = s->stage[step->a[HN_CA_TARGET]];

	hn_buf_printf(buf, "compute %s inside loop %s of %s",
		      hn_state_op(s, step->stage)->name,
		      target->iter[step->a[HN_CA_ITER]].name,
		      hn_state_op(s, (int32_t)step->a[HN_CA_TARGET])->name);
}

static void at_te(struct hn_te *te, const struct hn_step *step)
{
	int32_t target = (int32_t)step->a[HN_CA_TARGET];

	hn_te_call(te, step->stage, "compute_at");
	hn_buf_puts(te->buf, "s[");
	hn_te_put_op(te, te->before, target);
	hn_buf_puts(te->buf, "], ");
	hn_te_put_axis(te, te->before, target, step->a[HN_CA_ITER]);
	hn_buf_puts(te->buf, ")\n");
}

static void at_decide(const struct hn_step *step, const struct hn_step *before,
		      struct hn_plan_stage *ret)
{
	(void)before;
	ret->at = HN_AT_ITER;
	ret->at_stage = (int32_t)step->a[HN_CA_TARGET];
	ret->at_iter = (int32_t)step->a[HN_CA_ITER];
}

const struct hn_step_ops hn_step_compute_at = {
	.tag = "CA",
	.name = "compute_at",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_INT, "target_stage", HN_MEANS_STAGE },
		   { HN_FIELD_INT, "target_iter" } },
	.check = at_check,
	.apply = at_apply,
	.explain = at_explain,
	.te = at_te,
	.decide = at_decide,
};
