/* step/fragment.c -- FR: hold the results of a sum in the registers of the instruction that makes
 * it.  Not of Ansor's.
 *
 * The stage's loops are given to an instruction on tiles (TE).  Without FR each tile of results is
 * loaded before the instruction and stored behind it; with FR the tiles of the loops just around
 * the instruction's own, inside the reduction loops, are loaded once before these loops and stored
 * once behind them.  They have to fit the registers, beside one tile of each factor.  It changes
 * no value and no order: bounds, legality and the interpreter see the stage's buffer as it was, and
 * a machine without such registers has it in memory.  It ends where TE ends, and where a later
 * step leaves a block that does not fit.
 */
#include "loopstate/state/step.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/intrin.h"
#include "loopstate/state/state_int.h"

static bool is_given(const struct hn_stage *st, int32_t var)
{
	bool given = false;

	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		given = given || st->intrin_var[d] == var;
	}
	return given;
}

/* Tiles of results inside the innermost reduction loop around the instruction's; where there is
 * none, each is stored at once.  Loops whose length is not known yet count as one. */
static int64_t tiles_held(const struct hn_stage *st)
{
	uint32_t first = 0, i;
	int64_t n = 1;

	while (first < st->n_iter && !is_given(st, st->iter[first].var)) {
		first++;
	}
	for (i = first; i > 0 && st->iter[i - 1].kind == HN_ITER_SPATIAL; i--) {
		int64_t extent = st->iter[i - 1].extent;

		n = hn_mul_sat(n, extent > 1 ? extent : 1);
	}
	return i > 0 ? n : 1;
}

static int fragment_check(const struct hn_state *s, const struct hn_step *step,
			  struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_stage *st = s->stage[step->stage];

	if (step->text == NULL || strcmp(step->text, HN_INTRIN_MEMORY) != 0) {
		return hn_step_refuse(
			s, step, err, "'%.40s' is no memory of fragments: %s is",
			step->text != NULL ? step->text : "", HN_INTRIN_MEMORY);
	}
	if (st->intrin == NULL || !hn_intrin_is_tile(st->intrin) ||
	    hn_intrin_is_warp(st->intrin)) {
		return hn_step_refuse(
			s, step, err,
			"no instruction on tiles makes the stage's sum (TE)");
	}
	if (st->scope != NULL && strcmp(st->scope, HN_INTRIN_MEMORY) == 0) {
		return hn_step_refuse(s, step, err, "its results are held already");
	}
	int64_t n = tiles_held(st);

	return n > HN_INTRIN_RESULTS ? hn_step_refuse(s, step, err,
						      "a block of %" PRId64
						      " tiles; registers hold %d beside "
						      "the factors'",
						      n, HN_INTRIN_RESULTS)
				     : 0;
}

static const struct hn_state *
fragment_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);

	hn_state_own_stage(n, step->stage, a)->scope = HN_INTRIN_MEMORY;
	return n;
}

static void fragment_explain(const struct hn_state *s, const struct hn_step *step,
			     struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "hold the results of %s in %s registers over its reduction loops",
		      hn_state_op(s, step->stage)->name, step->text);
}

const struct hn_step_ops hn_step_fragment = {
	.tag = "FR",
	.name = "fragment",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_TEXT, "memory" } },
	.check = fragment_check,
	.apply = fragment_apply,
	.explain = fragment_explain,
	.te = NULL, /* no step of Ansor's */
};
