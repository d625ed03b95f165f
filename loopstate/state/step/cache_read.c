/* step/cache_read.c -- CHR: readers read a copy of a stage, made in a memory nearer by.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/derive.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

static bool reads_first_output(const struct hn_op_access *acc, int32_t stage)
{
	for (uint32_t i = 0; i < acc->n_read; i++) {
		if (acc->read[i].producer == stage && acc->read[i].out == 0) {
			return true;
		}
	}
	return false;
}

static int check_readers(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	bool seen[HN_DAG_MAX_OPS] = { false };

	if (step->n_list == 0) {
		return hn_step_refuse(s, step, err, "name at least one reader");
	}
	for (uint32_t i = 0; i < step->n_list; i++) {
		int64_t r = step->list[i];

		if (r < 0 || r >= s->n_stage || seen[r] ||
		    !reads_first_output(&s->access->op[r], step->stage)) {
			return hn_step_refuse(s, step, err, "stage %" PRId64 " %s", r,
					      r >= 0 && r < s->n_stage && seen[r]
						      ? "is named twice"
						      : "does not read it");
		}
		seen[r] = true;
	}
	return 0;
}

static int read_check(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	if (step->stage < 0 || (uint32_t)step->stage >= s->n_stage) {
		return hn_step_refuse(s, step, err, "there are %" PRIu32 " stages",
				      s->n_stage);
	}
	int rc = hn_step_check_scope(s, step, err);

	return rc != 0 ? rc : check_readers(s, step, err);
}

static const struct hn_state *read_apply(const struct hn_state *s,
					 const struct hn_step *step, struct hn_arena *a)
{
	const struct hn_dag *dag = hn_derive_cache_read(s, step->stage, step->text,
							step->list, step->n_list, a);

	struct hn_state *n = hn_state_insert(s, dag, step->stage + 1, a);

	hn_state_own_stage(n, step->stage + 1, a)->scope = step->text;
	return n;
}

static void read_explain(const struct hn_state *s, const struct hn_step *step,
			 struct hn_buf *buf)
{
	hn_buf_printf(buf, "copy %s to %s memory for", hn_state_op(s, step->stage)->name,
		      step->text);
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_printf(buf, "%s %s", i > 0 ? "," : "",
			      hn_state_op(s, (int32_t)step->list[i])->name);
	}
}

static void read_te(struct hn_te *te, const struct hn_step *step)
{
	int32_t copy = step->stage + 1;

	hn_te_put_op(te, te->after, copy);
	hn_buf_puts(te->buf, " = s.cache_read(");
	hn_te_put_op(te, te->before, step->stage);
	hn_buf_printf(te->buf, ", \"%s\", [", step->text);
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_puts(te->buf, i > 0 ? ", " : "");
		hn_te_put_op(te, te->before, (int32_t)step->list[i]);
	}
	hn_buf_puts(te->buf, "])\n");
	hn_te_insert(te, copy);
	hn_te_put_axes(te, te->after, copy);
	hn_buf_puts(te->buf, " = tuple(");
	hn_te_put_op(te, te->after, copy);
	hn_buf_puts(te->buf, ".op.axis)\n");
}

const struct hn_step_ops hn_step_cache_read = {
	.tag = "CHR",
	.name = "cache_read",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_TEXT, "scope" },
		   { HN_FIELD_LIST, "reader_stages", HN_MEANS_STAGE } },
	.check = read_check,
	.apply = read_apply,
	.explain = read_explain,
	.te = read_te,
	.inserts = HN_INSERTS_BEHIND,
};
