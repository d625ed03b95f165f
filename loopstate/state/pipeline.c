/* pipeline.c -- see pipeline.h. */
#include "loopstate/state/pipeline.h"

#include "loopstate/state/state_int.h"

/* Some stage with loops of its own is computed in the loop; all its readers are there, too. */
static bool holds_any(const struct hn_state *s, int32_t stage, uint32_t iter)
{
	for (int32_t i = 0; i < stage; i++) {
		const struct hn_stage *st = s->stage[i];

		if (st->at == HN_AT_ITER && st->at_stage == stage &&
		    st->at_iter == (int32_t)iter) {
			return true;
		}
	}
	return false;
}

const char *hn_pipeline_why_not(const struct hn_state *s, int32_t stage, uint32_t iter)
{
	uint8_t ann = s->stage[stage]->iter[iter].ann;

	if (ann != HN_ANN_NONE && ann != HN_ANN_UNROLL) {
		return "the loop's iterations do not follow one another in one thread";
	}
	if (s->dag->sizes != NULL) {
		return "sizes that are parameters rule it out";
	}
	if (!holds_any(s, stage, iter)) {
		return "no stage is computed in the loop";
	}
	return NULL;
}
