/* step/prefetch.c -- PF: while a loop runs one iteration, fetch into the cache what a
 * later one will read of an operand.  Not of Ansor's.
 *
 * It changes no value and no order, so that nothing but emission heeds it.  It stays with
 * its loop through reorders, and with its operand through copies of that (CHR, PK);
 * splitting or fusing the loop ends it, as it ends an annotation.  Source: Mowry, Lam,
 * Gupta, "Design and evaluation of a compiler algorithm for prefetching", 1992.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>
#include <string.h>

#include "loopstate/state/prefetch.h"
#include "loopstate/state/state_int.h"

static int check_room(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	const struct hn_stage *st = s->stage[step->stage];

	if (st->n_prefetch >= HN_STAGE_MAX_PREFETCHES) {
		return hn_step_refuse(s, step, err, "more than %d prefetches",
				      HN_STAGE_MAX_PREFETCHES);
	}
	for (uint32_t i = 0; i < st->n_prefetch; i++) {
		if (st->prefetch[i].var == st->iter[step->a[HN_PF_ITER]].var &&
		    st->prefetch[i].operand == step->a[HN_PF_OPERAND]) {
			return hn_step_refuse(s, step, err,
					      "the loop fetches the operand already");
		}
	}
	return 0;
}

static int prefetch_check(const struct hn_state *s, const struct hn_step *step,
			  struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);
	int64_t operand = step->a[HN_PF_OPERAND], distance = step->a[HN_PF_DISTANCE];

	if (rc != 0) {
		return rc;
	}
	if (operand < 0 || operand >= s->n_stage) {
		return hn_step_refuse(s, step, err,
				      "operand %" PRId64 ": there are %" PRIu32 " stages",
				      operand, s->n_stage);
	}
	if (distance < 1 || distance > HN_PREFETCH_MAX_DISTANCE) {
		return hn_step_refuse(s, step, err,
				      "distance %" PRId64 " must lie in 1..%d", distance,
				      HN_PREFETCH_MAX_DISTANCE);
	}
	const char *why = hn_prefetch_why_not(
		s, step->stage, (uint32_t)step->a[HN_PF_ITER], (int32_t)operand);

	if (why != NULL) {
		return hn_step_refuse(s, step, err, "operand %" PRId64 " (%.60s): %s",
				      operand, hn_state_op(s, (int32_t)operand)->name,
				      why);
	}
	return check_room(s, step, err);
}

static const struct hn_state *
prefetch_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	struct hn_prefetch *to = HN_NEW_ARRAY(a, struct hn_prefetch, st->n_prefetch + 1);

	if (st->n_prefetch > 0) {
		memcpy(to, st->prefetch, st->n_prefetch * sizeof(*to));
	}
	to[st->n_prefetch++] = (struct hn_prefetch){
		.var = st->iter[step->a[HN_PF_ITER]].var,
		.operand = (int32_t)step->a[HN_PF_OPERAND],
		.distance = (int32_t)step->a[HN_PF_DISTANCE],
	};
	st->prefetch = to;
	return n;
}

static void prefetch_explain(const struct hn_state *s, const struct hn_step *step,
			     struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "in loop %s of %s, fetch what it reads of %s %" PRId64
		      " iteration%s later",
		      hn_step_iter_name(s, step), hn_state_op(s, step->stage)->name,
		      hn_state_op(s, (int32_t)step->a[HN_PF_OPERAND])->name,
		      step->a[HN_PF_DISTANCE], step->a[HN_PF_DISTANCE] == 1 ? "" : "s");
}

static void prefetch_decide(const struct hn_step *step, const struct hn_step *before,
			    struct hn_plan_stage *ret)
{
	(void)before;
	ret->fetch = (int32_t)step->a[HN_PF_DISTANCE];
	ret->fetch_iter = (int32_t)step->a[HN_PF_ITER];
	ret->fetch_operand = (int32_t)step->a[HN_PF_OPERAND];
}

const struct hn_step_ops hn_step_prefetch = {
	.tag = "PF",
	.name = "prefetch",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_ITER, "iter" },
		   { HN_FIELD_INT, "operand", HN_MEANS_STAGE },
		   { HN_FIELD_INT, "distance" } },
	.check = prefetch_check,
	.apply = prefetch_apply,
	.explain = prefetch_explain,
	.te = NULL, /* no step of Ansor's: its records cannot hold it */
	.decide = prefetch_decide,
};
