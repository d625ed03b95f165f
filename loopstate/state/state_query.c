/* state_query.c -- what rules and steps ask of a state, and the words of refusals. */
#include "loopstate/state/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/state/state_int.h"

const struct hn_op *hn_state_op(const struct hn_state *s, int32_t stage)
{
	return s->dag->op[stage];
}

bool hn_state_stage_tiled(const struct hn_state *s, int32_t stage)
{
	const struct hn_op *op = s->dag->op[stage];

	return s->stage[stage]->n_iter != op->n_spatial + op->n_reduce;
}

bool hn_state_is_arg(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		if (s->dag->arg[i] == stage) {
			return true;
		}
	}
	return false;
}

bool hn_stage_untouched(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];

	if (st->n_rel > 0 || st->auto_unroll_max_step != 0 || st->align_factor != 0 ||
	    st->n_prefetch > 0 || st->intrin != NULL || st->swizzle.bits != 0 ||
	    st->pipeline.stages != 0) {
		return false;
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].var != (int32_t)i || st->iter[i].ann != HN_ANN_NONE) {
			return false;
		}
	}
	return true;
}

/* Mark in `hit` the stages that see the values of `stage`, inlined ones standing for
 * those that read them.  Consumers come later in the order, so one pass suffices. */
uint32_t hn_state_consumers(const struct hn_state *s, int32_t stage, int32_t *ret,
			    uint32_t n_max)
{
	bool carries[HN_DAG_MAX_OPS + 1] = {false};
	uint32_t n = 0;

	hn_assert(s->n_stage <= HN_DAG_MAX_OPS);
	carries[stage] = true;
	for (int32_t c = stage + 1; c < (int32_t)s->n_stage; c++) {
		const struct hn_op_access *acc = &s->access->op[c];
		bool reads = false;

		for (uint32_t k = 0; k < acc->n_producer && !reads; k++) {
			reads = carries[acc->producer[k]];
		}
		if (!reads) {
			continue;
		}
		if (s->stage[c]->at == HN_AT_INLINED) {
			carries[c] = true;
			continue;
		}
		if (n < n_max) {
			ret[n] = c;
		}
		n++;
	}
	return n;
}

static bool has_iter_field(const struct hn_step_ops *ops)
{
	for (const struct hn_field *f = ops->field; f->kind != HN_FIELD_END; f++) {
		if (f->kind == HN_FIELD_ITER) {
			return true;
		}
	}
	return false;
}

int hn_step_refuse(const struct hn_state *s, const struct hn_step *step,
		   struct hn_err *err, const char *fmt, ...)
{
	const struct hn_step_ops *ops = hn_step_ops(step->kind);
	char why[600], iter[40] = "", name[64] = "";
	va_list ap;

	if (err == NULL) {
		return -HONE_E_INVALID;
	}
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (has_iter_field(ops)) {
		snprintf(iter, sizeof(iter), " iter %" PRId64, step->a[0]);
	}
	if (step->stage >= 0 && (uint32_t)step->stage < s->n_stage) {
		snprintf(name, sizeof(name), " (%.60s)", s->dag->op[step->stage]->name);
	}
	return hn_fail(err, HONE_E_INVALID, "%s stage %" PRId32 "%s%s: %s", ops->tag,
		       step->stage, name, iter, why);
}

int hn_step_check_computed(const struct hn_state *s, const struct hn_step *step,
			   struct hn_err *err)
{
	if (step->stage < 0 || (uint32_t)step->stage >= s->n_stage) {
		return hn_step_refuse(s, step, err, "there are %" PRIu32 " stages",
				      s->n_stage);
	}
	if (s->dag->op[step->stage]->kind != HN_OP_COMPUTE) {
		return hn_step_refuse(s, step, err, "a placeholder has no loops");
	}
	return 0;
}

int hn_step_check_looped(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	int rc = hn_step_check_computed(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (s->stage[step->stage]->at == HN_AT_INLINED) {
		return hn_step_refuse(s, step, err,
				      "the stage is inlined and has no loops");
	}
	return 0;
}

int hn_step_check_iter(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (step->a[0] < 0 || step->a[0] >= s->stage[step->stage]->n_iter) {
		return hn_step_refuse(s, step, err, "the stage has %" PRIu32 " iterators",
				      s->stage[step->stage]->n_iter);
	}
	return 0;
}

#define SCOPE_MAX 32
#define SUFFIX_MAX 16 /* ".d", ".repl", ".outer.v", "$17" */

int hn_step_check_room(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	const struct hn_op *op = s->dag->op[step->stage];
	size_t longest = strlen(op->name);

	if (s->n_stage >= HN_DAG_MAX_OPS) {
		return hn_step_refuse(s, step, err, "more than %d stages",
				      HN_DAG_MAX_OPS);
	}
	if (strlen(op->id) > longest) {
		longest = strlen(op->id);
	}
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		size_t n = strlen(op->axis[i].name);

		longest = n > longest ? n : longest;
	}
	if (longest + SCOPE_MAX + SUFFIX_MAX > HN_STATE_MAX_NAME) {
		return hn_step_refuse(s, step, err, "cached and factored too often");
	}
	return 0;
}

int hn_step_check_scope(const struct hn_state *s, const struct hn_step *step,
			struct hn_err *err)
{
	const char *allowed =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	size_t n = step->text != NULL ? strlen(step->text) : 0;

	if (n == 0 || n > SCOPE_MAX || strspn(step->text, allowed) != n) {
		return hn_step_refuse(
			s, step, err,
			"a scope is 1..%d letters, digits, _ and ., like local",
			SCOPE_MAX);
	}
	return hn_step_check_room(s, step, err);
}

const char *hn_step_iter_name(const struct hn_state *s, const struct hn_step *step)
{
	if (step->stage < 0 || (uint32_t)step->stage >= s->n_stage || step->a[0] < 0 ||
	    step->a[0] >= s->stage[step->stage]->n_iter) {
		return "?";
	}
	return s->stage[step->stage]->iter[step->a[0]].name;
}
