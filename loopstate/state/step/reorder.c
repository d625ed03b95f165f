/* step/reorder.c -- RE: the loops of a stage in another order.
 *
 * A stage attached in a loop stays in that loop (Ansor prints it at the old position: a
 * defect followed only when its records are replayed as it would).
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int reorder_check(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);
	bool seen[HN_STAGE_MAX_ITERS] = { false };

	if (rc != 0) {
		return rc;
	}
	uint32_t n = s->stage[step->stage]->n_iter;

	if (step->n_list != n) {
		return hn_step_refuse(s, step, err,
				      "the order names %" PRIu32
				      " iterators, the stage has %" PRIu32,
				      step->n_list, n);
	}
	for (uint32_t i = 0; i < n; i++) {
		int64_t p = step->list[i];

		if (p < 0 || p >= n || seen[p]) {
			return hn_step_refuse(s, step, err,
					      "the order must name each of 0..%" PRIu32
					      " once (%" PRId64 ")",
					      n - 1, p);
		}
		seen[p] = true;
	}
	return 0;
}

static const struct hn_state *
reorder_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	const struct hn_iter *old = st->iter;
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, st->n_iter);
	int32_t to[HN_STAGE_MAX_ITERS];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		iter[i] = old[step->list[i]];
		to[step->list[i]] = (int32_t)i;
	}
	st->iter = iter;
	if (s->mode == HN_REPLAY_ANSOR) {
		hn_attach_follow(n, step->stage, to, a);
	} else {
		hn_attach_renumber(n, step->stage, to, a);
	}
	return n;
}

static void reorder_explain(const struct hn_state *s, const struct hn_step *step,
			    struct hn_buf *buf)
{
	hn_buf_printf(buf, "order the loops of %s as", hn_state_op(s, step->stage)->name);
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_printf(buf, "%s %s", i > 0 ? "," : "",
			      s->stage[step->stage]->iter[step->list[i]].name);
	}
}

static void reorder_te(struct hn_te *te, const struct hn_step *step)
{
	const char **axis = HN_NEW_ARRAY(te->a, const char *, step->n_list);

	hn_te_call(te, step->stage, "reorder");
	for (uint32_t i = 0; i < step->n_list; i++) {
		axis[i] = te->stage[step->stage].axis[step->list[i]];
		hn_buf_puts(te->buf, i > 0 ? ", " : "");
		hn_te_put_axis(te, te->before, step->stage, step->list[i]);
	}
	hn_buf_puts(te->buf, ")\n");
	hn_te_replace(te, step->stage, 0, step->n_list, axis, step->n_list);
}

const struct hn_step_ops hn_step_reorder = {
	.tag = "RE",
	.name = "reorder",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_LIST, "order" } },
	.check = reorder_check,
	.apply = reorder_apply,
	.explain = reorder_explain,
	.te = reorder_te,
};
