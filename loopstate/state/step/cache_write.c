/* step/cache_write.c -- CHW: compute into a nearer memory, then copy to where it belongs.
 *
 * The stage becomes two: the computation, and a copy under the old name that keeps the
 * old stage's place.  Both start with fresh loops, so the stage must be untouched.
 */
#include "loopstate/state/step.h"

#include "loopstate/state/attach.h"
#include "loopstate/state/derive.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static int write_check(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	rc = rc != 0 ? rc : hn_step_check_scope(s, step, err);
	if (rc != 0) {
		return rc;
	}
	if (!hn_stage_untouched(s, step->stage)) {
		return hn_step_refuse(
			s, step, err,
			"its loops have been changed: cache it before that");
	}
	if (hn_attach_any(s, step->stage,
			  (int32_t)hn_state_op(s, step->stage)->n_spatial)) {
		return hn_step_refuse(s, step, err,
				      "stages are attached to its reduction loops");
	}
	return 0;
}

static const struct hn_state *write_apply(const struct hn_state *s,
					  const struct hn_step *step, struct hn_arena *a)
{
	const struct hn_dag *dag = hn_derive_cache_write(s, step->stage, step->text, a);
	struct hn_state *n = hn_state_insert(s, dag, step->stage, a);

	hn_state_own_stage(n, step->stage, a)->scope = step->text;
	hn_state_refresh(n, step->stage + 1, a);
	return n;
}

static void write_explain(const struct hn_state *s, const struct hn_step *step,
			  struct hn_buf *buf)
{
	const char *name = hn_state_op(s, step->stage)->name;

	hn_buf_printf(buf, "compute %s into %s memory first, as %s.%s", name, step->text,
		      name, step->text);
}

/* All outputs are cached at once: Ansor names the stage once for each. */
static void write_te(struct hn_te *te, const struct hn_step *step)
{
	uint32_t n_out = hn_state_op(te->before, step->stage)->n_out;
	int32_t n_new = 0;

	for (uint32_t k = 0; k < n_out; k++) {
		hn_te_put_op(te, te->after, step->stage);
		hn_buf_puts(te->buf, ", ");
	}
	hn_buf_puts(te->buf, "= s.cache_write([");
	for (uint32_t k = 0; k < n_out; k++) {
		hn_buf_puts(te->buf, k > 0 ? ", " : "");
		hn_te_put_op(te, te->before, step->stage);
	}
	hn_buf_printf(te->buf, "], \"%s\")\n", step->text);
	while (te->n_stage < te->after->n_stage) {
		hn_te_insert(te, step->stage);
		n_new++;
	}
	for (int32_t k = 1; k <= n_new; k++) {
		hn_te_refresh(te, step->stage + k);
	}
	for (uint32_t k = 0; k < n_out; k++) {
		hn_te_unpack(te, step->stage);
	}
}

const struct hn_step_ops hn_step_cache_write = {
	.tag = "CHW",
	.name = "cache_write",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_TEXT, "scope" } },
	.check = write_check,
	.apply = write_apply,
	.explain = write_explain,
	.te = write_te,
	.inserts = HN_INSERTS_BEFORE,
	.caches_writes = true,
};
