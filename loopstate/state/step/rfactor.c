/* step/rfactor.c -- RF: cut a reduction in two, so that one loop of it can run in
 * parallel.
 *
 * The stage becomes the partial reduction "<name>.rf", with that loop as one more spatial
 * axis, and the final one "<name>.repl", which keeps the old stage's place.  Both start
 * with fresh loops: of what was done to the stage before, only splits, fuses and orders
 * of the loops that the factored one comes from enter (Ansor: the split and fuse just
 * before).
 */
#include "loopstate/state/step.h"

#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/state/attach.h"
#include "loopstate/state/derive.h"
#include "loopstate/state/state_int.h"
#include "loopstate/state/te_int.h"

/* Relations and loops that the factored loop has nothing to do with are as they were. */
static bool rest_untouched(const struct hn_stage *st, uint32_t n_spatial,
			   const bool *touched)
{
	int32_t last = -1;

	if (st->auto_unroll_max_step != 0 || st->align_factor != 0 ||
	    st->n_prefetch > 0 || st->intrin != NULL || st->swizzle.bits != 0 ||
	    st->pipeline.stages != 0) {
		return false;
	}
	for (uint32_t i = 0; i < st->n_rel; i++) {
		if (!touched[st->rel[i].parent]) {
			return false;
		}
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		const struct hn_iter *it = &st->iter[i];

		if (it->ann != HN_ANN_NONE || (i < n_spatial && it->var != (int32_t)i)) {
			return false;
		}
		if (touched[it->var]) {
			continue;
		}
		if (it->var < last) {
			return false;
		}
		last = it->var;
	}
	return true;
}

static int check_loops(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	const struct hn_stage *st = s->stage[step->stage];
	const struct hn_op *op = hn_state_op(s, step->stage);
	bool touched[HN_DAG_MAX_ITERS + HN_STAGE_MAX_RELS * (HN_STAGE_MAX_ITERS + 1)];

	hn_derive_touched(st, st->iter[step->a[HN_RF_ITER]].var, touched);
	for (uint32_t d = 0; d < op->n_spatial; d++) {
		if (touched[d]) {
			return hn_step_refuse(
				s, step, err,
				"the loop mixes spatial axis %s with a reduction",
				op->axis[d].name);
		}
	}
	if (!rest_untouched(st, op->n_spatial, touched)) {
		return hn_step_refuse(
			s, step, err,
			"its other loops have been changed: factor before that");
	}
	if (hn_attach_any(s, step->stage, (int32_t)op->n_spatial)) {
		return hn_step_refuse(s, step, err,
				      "stages are attached to its reduction loops");
	}
	return 0;
}

static int rfactor_check(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);

	rc = rc != 0 ? rc : hn_step_check_room(s, step, err);
	if (rc != 0) {
		return rc;
	}
	const struct hn_stage *st = s->stage[step->stage];
	const struct hn_op *op = hn_state_op(s, step->stage);

	if (s->dag->sizes != NULL) {
		return hn_step_refuse(s, step, err, "sizes that are parameters rule it out");
	}
	if (op->reduce == NULL || st->iter[step->a[HN_RF_ITER]].kind != HN_ITER_REDUCE) {
		return hn_step_refuse(s, step, err, "%s is not a reduction loop",
				      hn_step_iter_name(s, step));
	}
	const char *why = hn_against_parts(s->root_dag, op);

	if (why) {
		return hn_step_refuse(s, step, err, "%s may not be reduced in parts: %s", op->name,
				      why);
	}
	if (step->a[HN_RF_FACTOR_ITER] < 0 ||
	    step->a[HN_RF_FACTOR_ITER] > op->n_spatial) {
		return hn_step_refuse(
			s, step, err, "position %" PRId64 " must lie in 0..%u",
			step->a[HN_RF_FACTOR_ITER], (unsigned)op->n_spatial);
	}
	if (st->n_iter <= op->n_spatial + 1) {
		return hn_step_refuse(
			s, step, err,
			"it is the only reduction loop left: split it first");
	}
	if (op->n_dim >= HN_DAG_MAX_RANK || st->n_iter > HN_DAG_MAX_ITERS) {
		return hn_step_refuse(s, step, err,
				      "the partial result would have too many axes");
	}
	return check_loops(s, step, err);
}

static const struct hn_state *
rfactor_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	const struct hn_dag *dag =
		hn_derive_rfactor(s, step->stage, (int32_t)step->a[HN_RF_ITER],
				  (uint32_t)step->a[HN_RF_FACTOR_ITER], a);
	struct hn_state *n = hn_state_insert(s, dag, step->stage, a);

	hn_state_refresh(n, step->stage + 1, a);
	return n;
}

static void rfactor_explain(const struct hn_state *s, const struct hn_step *step,
			    struct hn_buf *buf)
{
	hn_buf_printf(buf, "reduce %s in two passes: for each %s apart, then over those",
		      hn_state_op(s, step->stage)->name, hn_step_iter_name(s, step));
}

/* How many factorings of s's history the stage is the final reduction of. */
static uint32_t times_factored(const struct hn_state *s, int32_t stage)
{
	uint32_t n = 0;

	for (uint32_t i = s->trace ? s->trace->n_step : 0; i-- > 0;) {
		const struct hn_step *step = s->trace->step[i];
		const struct hn_step_ops *ops = hn_step_ops(step->kind);

		if (ops->inserts != HN_INSERTS_NONE &&
		    stage == step->stage + (ops->inserts == HN_INSERTS_BEHIND)) {
			return n; /* this step made it */
		}
		n += ops->parts && stage == step->stage + 1;
		stage = hn_stage_before(step, stage);
	}
	return n;
}

/* TE looks a stage up by its first tensor: "C" also once the stage is "C.repl". */
static void put_first_name(struct hn_te *te, int32_t stage)
{
	const char *name = hn_state_op(te->before, stage)->name;
	size_t n = strlen(name),
	       tail = times_factored(te->before, stage) * strlen(".repl");

	hn_te_put_word(te, tail < n ? hn_arena_strndup(te->a, name, n - tail) : name);
}

static void rfactor_te(struct hn_te *te, const struct hn_step *step)
{
	uint32_t n_out = hn_state_op(te->before, step->stage)->n_out;
	int32_t final = step->stage + 1;

	for (uint32_t k = 0; k < n_out; k++) {
		hn_buf_puts(te->buf, k > 0 ? ", " : "");
		hn_te_put_op(te, te->after, step->stage);
	}
	hn_buf_puts(te->buf, " = s.rfactor(");
	put_first_name(te, step->stage);
	hn_buf_puts(te->buf, ", ");
	hn_te_put_word(te, te->stage[step->stage].axis[step->a[HN_RF_ITER]]);
	hn_buf_printf(te->buf, ", %" PRId64 ")\n", step->a[HN_RF_FACTOR_ITER]);
	hn_te_insert(te, step->stage);
	hn_te_refresh(te, final);
	for (uint32_t k = 0; k < n_out; k++) {
		hn_te_unpack(te, step->stage);
	}
	hn_te_put_axes(te, te->after, final);
	hn_buf_puts(te->buf, " = tuple(s[");
	hn_te_put_op(te, te->after, final);
	hn_buf_puts(te->buf, "].op.axis) + tuple(s[");
	hn_te_put_op(te, te->after, final);
	hn_buf_puts(te->buf, "].op.reduce_axis)\n");
}

const struct hn_step_ops hn_step_rfactor = {
	.tag = "RF",
	.name = "rfactor",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "factor_iter" } },
	.check = rfactor_check,
	.apply = rfactor_apply,
	.explain = rfactor_explain,
	.te = rfactor_te,
	.inserts = HN_INSERTS_BEFORE,
	.parts = true,
};
