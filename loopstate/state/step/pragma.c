/* step/pragma.c -- PR: a hint on a stage.  Only auto_unroll_max_step$N is known.
 *
 * Ansor also has debug_skip_region, which leaves a stage out of the program; its answer
 * would be wrong, so it is refused.
 */
#include "loopstate/state/step.h"

#include <string.h>

#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static const char unroll[] = "auto_unroll_max_step$";

/* The digits behind the `$`; -1 when they are no number below 2^31. */
static int64_t unroll_of(const char *text)
{
	int64_t v = 0;
	const char *p = text + strlen(unroll);

	if (*p == '\0') {
		return -1;
	}
	for (; *p != '\0'; p++) {
		if (*p < '0' || *p > '9') {
			return -1;
		}
		v = v * 10 + (*p - '0');
		if (v > INT32_MAX) {
			return -1;
		}
	}
	return v;
}

static int pragma_check(const struct hn_state *s, const struct hn_step *step,
			struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (step->text == NULL || strncmp(step->text, unroll, strlen(unroll)) != 0) {
		return hn_step_refuse(s, step, err,
				      "unknown pragma \"%.60s\"; known: %s<N>",
				      step->text != NULL ? step->text : "", unroll);
	}
	if (unroll_of(step->text) < 0) {
		return hn_step_refuse(s, step, err,
				      "\"%.60s\": the number must lie in 0..%d",
				      step->text, INT32_MAX);
	}
	return 0;
}

static const struct hn_state *pragma_apply(const struct hn_state *s,
					   const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);

	hn_state_own_stage(n, step->stage, a)->auto_unroll_max_step =
		(int32_t)unroll_of(step->text);
	return n;
}

static void pragma_explain(const struct hn_state *s, const struct hn_step *step,
			   struct hn_buf *buf)
{
	hn_buf_printf(buf, "let loops of %s be unrolled up to %d copies of the body",
		      hn_state_op(s, step->stage)->name, (int)unroll_of(step->text));
}

static void pragma_te(struct hn_te *te, const struct hn_step *step)
{
	hn_te_call(te, step->stage, "pragma");
	hn_te_put_axis(te, te->before, step->stage, step->a[HN_PR_ITER]);
	hn_buf_printf(te->buf, ", \"auto_unroll_max_step\", %d)\n",
		      (int)unroll_of(step->text));
	hn_te_call(te, step->stage, "pragma");
	hn_te_put_axis(te, te->before, step->stage, step->a[HN_PR_ITER]);
	hn_buf_puts(te->buf, ", \"unroll_explicit\", True)\n");
}

static void pragma_decide(const struct hn_step *step, const struct hn_step *before,
			  struct hn_plan_stage *ret)
{
	(void)before;
	if (step->text != NULL && strncmp(step->text, unroll, strlen(unroll)) == 0) {
		ret->unroll = (int32_t)unroll_of(step->text);
	}
}

const struct hn_step_ops hn_step_pragma = {
	.tag = "PR",
	.name = "pragma",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_TEXT, "pragma" } },
	.check = pragma_check,
	.apply = pragma_apply,
	.explain = pragma_explain,
	.te = pragma_te,
	.decide = pragma_decide,
};
