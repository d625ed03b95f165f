/* sketch/plan.c -- a complete program's decisions as data, read from its trace and put
 * back.
 *
 * A complete trace is the sketch's trace with its holes filled, then what the fills
 * appended. Mutation edits the plan and the program is rebuilt from it, so that
 * everything that depends on an edited decision (a fuse, a vector loop) is decided again,
 * legally.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sketch/sketch_int.h"

enum hn_verdict hn_sketch_rebuild(const struct hn_sketch *sketch,
				  const struct hn_plan *plan,
				  const struct hn_target *target, struct hn_rng *rng,
				  struct hn_arena *a, const struct hn_state **ret)
{
	const struct hn_state *s = sketch->state;
	struct hn_fill_ctx ctx = { .sketch = sketch,
				   .plan = plan ? plan : hn_plan_open(sketch, a),
				   .target = target,
				   .rng = rng,
				   .arena = a };

	const struct hn_structure *st = hn_structure_of(target);
	const struct hn_fill_ops *f;
	uint32_t at = 0;

	while (st && (f = hn_structure_fill(st, &at)) != NULL) {
		enum hn_verdict v = f->fill(&ctx, s, &s);
		if (v != HN_VERDICT_OK) {
			return v;
		}
	}
	if (!s->concrete) {
		return HN_VERDICT_ILLEGAL;
	}
	*ret = s;
	return HN_VERDICT_OK;
}

enum hn_verdict hn_sketch_fill(const struct hn_sketch *sketch,
			       const struct hn_target *target, struct hn_rng *rng,
			       struct hn_arena *a, const struct hn_state **ret)
{
	return hn_sketch_rebuild(sketch, NULL, target, rng, a, ret);
}

struct hn_plan *hn_plan_open(const struct hn_sketch *sketch, struct hn_arena *a)
{
	struct hn_plan *p = HN_NEW(a, struct hn_plan);
	struct hn_plan_stage *stage =
		HN_NEW_ARRAY(a, struct hn_plan_stage, sketch->state->n_stage);

	for (uint32_t i = 0; i < sketch->state->n_stage; i++) {
		stage[i] = (struct hn_plan_stage){
			.at = -1, .strip = -1, .parallel = -1, .unroll = -1, .fetch = -1
		};
	}
	p->len = HN_NEW_ARRAY(a, const int64_t *, sketch->n_hole);
	p->stage = stage;
	return p;
}

struct hn_plan *hn_plan_copy(const struct hn_sketch *sketch, const struct hn_plan *plan,
			     const int64_t ***ret_len, struct hn_plan_stage **ret_stage,
			     struct hn_arena *a)
{
	struct hn_plan *p = HN_NEW(a, struct hn_plan);
	uint32_t n_stage = sketch->state->n_stage;
	const int64_t **len = HN_NEW_ARRAY(a, const int64_t *, sketch->n_hole);
	struct hn_plan_stage *stage = HN_NEW_ARRAY(a, struct hn_plan_stage, n_stage);

	for (uint32_t i = 0; i < sketch->n_hole; i++) {
		if (plan->len[i]) {
			int64_t *copy = HN_NEW_ARRAY(a, int64_t, sketch->hole[i].n_len);
			memcpy(copy, plan->len[i], sketch->hole[i].n_len * sizeof *copy);
			len[i] = copy;
		}
	}
	memcpy(stage, plan->stage, n_stage * sizeof *stage);
	p->len = len;
	p->stage = stage;
	*ret_len = len;
	*ret_stage = stage;
	return p;
}

/* Equal but for the lengths and the recorded extent of an open split. */
static bool fits(const struct hn_step *open, const struct hn_step *step, bool hole)
{
	if (open->kind != step->kind || open->stage != step->stage ||
	    open->n_list != step->n_list || !open->text != !step->text ||
	    (open->text && strcmp(open->text, step->text) != 0)) {
		return false;
	}
	for (int i = 0; i < HN_STEP_MAX_SCALARS; i++) {
		if (open->a[i] != step->a[i] &&
		    hn_step_scalar_means(step, (uint32_t)i) != HN_MEANS_EXTENT) {
			return false;
		}
	}
	for (uint32_t i = 0; i < step->n_list; i++) {
		if (hole ? step->list[i] < 1 : open->list[i] != step->list[i]) {
			return false;
		}
	}
	return true;
}

bool hn_plan_of(const struct hn_sketch *sketch, const struct hn_trace *trace,
		struct hn_arena *a, struct hn_plan **ret)
{
	const struct hn_trace *open = sketch->state->trace;
	uint32_t n_open = open ? open->n_step : 0, h = 0;
	struct hn_plan_stage *stage;
	const int64_t **len;
	struct hn_plan *p;

	if (!trace || trace->n_step < n_open) {
		return false;
	}
	p = hn_plan_copy(sketch, hn_plan_open(sketch, a), &len, &stage, a);
	for (uint32_t i = 0; i < n_open; i++) {
		bool hole = h < sketch->n_hole && sketch->hole[h].step == i;
		if (!fits(open->step[i], trace->step[i], hole)) {
			return false;
		}
		if (hole) {
			int64_t *copy = HN_NEW_ARRAY(a, int64_t, sketch->hole[h].n_len);
			memcpy(copy, trace->step[i]->list,
			       sketch->hole[h].n_len * sizeof *copy);
			len[h] = sketch->hole[h].pack
					 ? hn_pack_parts(sketch, h, copy, len, a)
					 : copy;
			if (!len[h++]) {
				return false;
			}
		}
	}
	for (uint32_t i = 0; i < sketch->state->n_stage; i++) {
		stage[i].fetch = 0; /* a complete trace says all there is to fetch */
	}
	for (uint32_t i = n_open; i < trace->n_step; i++) {
		const struct hn_step *x = trace->step[i];
		const struct hn_step_ops *ops = hn_step_ops(x->kind);

		if (x->stage < 0 || x->stage >= (int32_t)sketch->state->n_stage ||
		    hn_step_has(x, HN_MEANS_BLOCKS)) {
			return false;
		}
		if (ops->decide != NULL) {
			ops->decide(x, i > 0 ? trace->step[i - 1] : NULL, &stage[x->stage]);
		}
	}
	*ret = p;
	return true;
}
