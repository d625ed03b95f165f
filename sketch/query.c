/* sketch/query.c -- the questions that rules and fills ask of a stage.
 * Source: TVM auto_scheduler, search_policy/utils.h. */
#include <string.h>

#include "base/arith.h"
#include "loopstate/dag/ragged.h"
#include "loopstate/state/step.h"
#include "sketch/sketch_int.h"

const struct hn_op *hn_stage_op(const struct hn_state *s, int32_t stage)
{
	return s->dag->op[stage];
}

bool hn_stage_has_reduce_iter(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].kind != HN_ITER_SPATIAL) {
			return true;
		}
	}
	return false;
}

bool hn_stage_needs_tiling(const struct hn_state *s, int32_t stage)
{
	return hn_stage_op(s, stage)->kind == HN_OP_COMPUTE &&
	       s->access->op[stage].needs_multi_level_tiling;
}

bool hn_stage_has_cache_write(const struct hn_state *s, int32_t stage)
{
	for (uint32_t i = s->trace ? s->trace->n_step : 0; i-- > 0;) {
		const struct hn_step *step = s->trace->step[i];
		if (hn_step_ops(step->kind)->caches_writes && step->stage == stage) {
			return true;
		}
		stage = hn_stage_before(step, stage);
	}
	return false;
}

uint32_t hn_stage_split_steps(const struct hn_state *s, int32_t stage, int32_t *ret,
			      uint32_t n_max)
{
	uint32_t n = 0;

	for (uint32_t i = s->trace ? s->trace->n_step : 0; i-- > 0;) {
		const struct hn_step *step = s->trace->step[i];
		if (step->stage == stage && hn_step_has(step, HN_MEANS_PARTS)) {
			if (n < n_max) {
				ret[n] = (int32_t)i;
			}
			n++;
		}
		stage = hn_stage_before(step, stage);
	}
	return n;
}

/* The split of the stage that made the loop part `var`; NULL = none did. */
static const struct hn_rel *split_of(const struct hn_stage *st, int32_t var)
{
	for (uint32_t i = 0; i < st->n_rel; i++) {
		const struct hn_rel *r = &st->rel[i];

		for (uint32_t k = 0; r->kind == HN_REL_SPLIT && k < r->n; k++) {
			if (r->part[k] == var) {
				return r;
			}
		}
	}
	return NULL;
}

int32_t hn_iter_axis(const struct hn_stage *st, int32_t iter)
{
	int32_t var = st->iter[iter].var;
	const struct hn_rel *r;

	while ((r = split_of(st, var)) != NULL) {
		var = r->parent;
	}
	for (uint32_t i = 0; i < st->n_rel; i++) {
		if (st->rel[i].kind == HN_REL_FUSE && st->rel[i].parent == var) {
			return -1;
		}
	}
	return var;
}

int32_t hn_intrin_axis(const struct hn_stage *st, enum hn_intrin_dim d)
{
	const struct hn_rel *r = st->intrin != NULL && st->intrin_var[d] >= 0
					 ? split_of(st, st->intrin_var[d])
					 : NULL;

	return r != NULL ? r->parent : -1;
}

uint32_t hn_intrin_splits(const struct hn_stage *st)
{
	return st->intrin == NULL		? 0
	       : hn_intrin_is_tile(st->intrin) ? HN_INTRIN_TILE_SPLITS
						: 1;
}

int32_t hn_intrin_split_step(const struct hn_state *s, int32_t stage, int32_t axis)
{
	const struct hn_stage *st = s->stage[stage];
	uint32_t before = hn_intrin_splits(st), n;
	int32_t step[HN_DAG_MAX_ITERS];

	n = hn_stage_split_steps(s, stage, step, HN_DAG_MAX_ITERS);
	for (uint32_t i = 0; i < before && i < n && n <= HN_DAG_MAX_ITERS; i++) {
		if (st->rel[i].kind == HN_REL_SPLIT && st->rel[i].parent == axis) {
			return step[n - 1 - i];
		}
	}
	return -1;
}

bool hn_stage_has_ann(const struct hn_state *s, int32_t stage, enum hn_ann ann)
{
	const struct hn_stage *st = s->stage[stage];

	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].ann == ann) {
			return true;
		}
	}
	return false;
}

static bool reduces_over_threads(const struct hn_stage *st)
{
	for (uint32_t i = 0; i < st->n_iter; i++) {
		if (st->iter[i].ann == HN_ANN_THREAD_X &&
		    st->iter[i].kind == HN_ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

bool hn_stage_cross_thread_reduced(const struct hn_state *s, int32_t stage)
{
	bool any = reduces_over_threads(s->stage[stage]);

	for (uint32_t i = 0; i < s->n_attached && !any; i++) {
		const struct hn_attached *at = &s->attached[i];
		for (uint32_t k = 0; at->stage == stage && k < at->n; k++) {
			any |= reduces_over_threads(s->stage[at->child[k]]);
		}
	}
	return any;
}

bool hn_stage_name_ends(const struct hn_state *s, int32_t stage, const char *end)
{
	const char *name = hn_stage_op(s, stage)->name;
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

int32_t hn_stage_final_id(const struct hn_trace *t, uint32_t step, int32_t stage)
{
	for (uint32_t i = step + 1; i < t->n_step; i++) {
		stage = hn_stage_after(t->step[i], stage);
	}
	return stage;
}

bool hn_stage_inlineable(const struct hn_rule_ctx *ctx, const struct hn_state *s,
			 int32_t stage)
{
	if (hn_stage_op(s, stage)->kind != HN_OP_COMPUTE || s->access->op[stage].output ||
	    hn_stage_has_reduce_iter(s, stage)) {
		return false;
	}
	return (ctx->target->caps & HN_CAP_GPU_THREADS) ||
	       s->access->op[stage].strictly_inlineable;
}

bool hn_stage_matched_consumer(const struct hn_state *s, int32_t stage,
			       int32_t *ret_consumer)
{
	int32_t c[2];

	if (hn_state_consumers(s, stage, c, 2) != 1) {
		return false;
	}
	if (!hn_access_elementwise_match(s->dag, s->access, stage, c[0]) ||
	    (hn_stage_has_reduce_iter(s, stage) && hn_stage_has_reduce_iter(s, c[0])) ||
	    hn_stage_name_ends(s, c[0], ".shared")) {
		return false;
	}
	*ret_consumer = c[0];
	return true;
}

/* unknown: the attribute that lists axes whose extents count as unknown; NULL = none are. */
static void work(const struct hn_state *s, int32_t stage, const char *unknown,
		 int64_t *ret_spatial, int64_t *ret_reduce)
{
	const struct hn_stage *st = s->stage[stage];

	*ret_spatial = *ret_reduce = 1;
	for (uint32_t i = 0; i < st->n_iter; i++) {
		const struct hn_iter *iter = &st->iter[i];
		int64_t *into = iter->kind == HN_ITER_SPATIAL ? ret_spatial : ret_reduce;

		if (iter->extent > 1 &&
		    (!unknown || !hn_stage_attr_names(s, stage, unknown, iter->name))) {
			*into = hn_mul_sat(*into, iter->extent);
		}
	}
}

void hn_stage_work(const struct hn_state *s, int32_t stage, int64_t *ret_spatial,
		   int64_t *ret_reduce)
{
	work(s, stage, NULL, ret_spatial, ret_reduce);
}

void hn_rule_work(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		  int64_t *ret_spatial, int64_t *ret_reduce)
{
	work(s, stage, ctx->own ? NULL : HN_RAGGED_AXES, ret_spatial, ret_reduce);
}

bool hn_stage_attr_names(const struct hn_state *s, int32_t stage, const char *key,
			 const char *axis)
{
	const struct hn_attr *attr = hn_op_attr(hn_stage_op(s, stage), key);

	if (attr && stage > 0 && hn_stage_has_cache_write(s, stage - 1)) {
		return false;
	}
	for (uint32_t i = 0; attr && i < attr->n_item; i++) {
		if (strcmp(attr->item[i], axis) == 0) {
			return true;
		}
	}
	return false;
}

int64_t hn_stage_lanes(const struct hn_state *s, int32_t stage, const struct hn_target *t)
{
	int64_t bytes = hn_dtype_bytes(hn_stage_op(s, stage)->dtype[0]);
	int64_t lanes = t->param[HN_PARAM_VECTOR_UNIT_BYTES] / (bytes > 0 ? bytes : 1);

	return lanes > 1 ? lanes : 1;
}

int64_t hn_parallel_limit(const struct hn_target *t)
{
	int64_t cores = t->param[HN_PARAM_NUM_CORES];

	return 16 * (cores > 0 ? cores : 1);
}
