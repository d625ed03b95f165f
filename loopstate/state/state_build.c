/* state_build.c -- one call per step, for rules that write schedules in C. */
#include "loopstate/state/state.h"

int hn_split(const struct hn_state *s, int32_t stage, int32_t iter, const int64_t *len,
	     uint32_t n_len, bool inner_to_outer, struct hn_arena *a,
	     const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {
		.kind = HN_STEP_split, .stage = stage, .n_list = n_len, .list = len};
	int64_t extent = 0;

	if (stage >= 0 && (uint32_t)stage < s->n_stage && iter >= 0 &&
	    (uint32_t)iter < s->stage[stage]->n_iter) {
		extent = s->stage[stage]->iter[iter].extent;
	}
	step.a[HN_SP_ITER] = iter;
	step.a[HN_SP_EXTENT] = extent == HN_EXTENT_UNKNOWN ? 0 : extent;
	step.a[HN_SP_INNER_TO_OUTER] = inner_to_outer;
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_follow_split(const struct hn_state *s, int32_t stage, int32_t iter,
		    int32_t src_step, int32_t n_split, struct hn_arena *a,
		    const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_follow_split, .stage = stage};

	step.a[HN_FSP_ITER] = iter;
	step.a[HN_FSP_SRC] = src_step;
	step.a[HN_FSP_N_SPLIT] = n_split;
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_fuse(const struct hn_state *s, int32_t stage, int32_t first, uint32_t n,
	    struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	uint32_t n_list = n <= HN_STAGE_MAX_ITERS ? n : HN_STAGE_MAX_ITERS + 1;
	int64_t *list = HN_NEW_ARRAY(a, int64_t, n_list);
	struct hn_step step = {
		.kind = HN_STEP_fuse, .stage = stage, .n_list = n_list, .list = list};

	for (uint32_t i = 0; i < n_list; i++) {
		list[i] = (int64_t)first + i;
	}
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_reorder(const struct hn_state *s, int32_t stage, const int64_t *order, uint32_t n,
	       struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {
		.kind = HN_STEP_reorder, .stage = stage, .n_list = n, .list = order};

	return hn_state_apply(s, &step, a, ret, err);
}

int hn_annotate(const struct hn_state *s, int32_t stage, int32_t iter, enum hn_ann ann,
		struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_annotate, .stage = stage};

	step.a[HN_AN_ITER] = iter;
	step.a[HN_AN_ANN] = ann;
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_pragma(const struct hn_state *s, int32_t stage, int32_t iter, const char *text,
	      struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_pragma, .stage = stage, .text = text};

	step.a[HN_PR_ITER] = iter;
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_compute_at(const struct hn_state *s, int32_t stage, int32_t target, int32_t iter,
		  struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_compute_at, .stage = stage};

	step.a[HN_CA_TARGET] = target;
	step.a[HN_CA_ITER] = iter;
	return hn_state_apply(s, &step, a, ret, err);
}

int hn_compute_inline(const struct hn_state *s, int32_t stage, struct hn_arena *a,
		      const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_compute_inline, .stage = stage};

	return hn_state_apply(s, &step, a, ret, err);
}

int hn_compute_root(const struct hn_state *s, int32_t stage, struct hn_arena *a,
		    const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_compute_root, .stage = stage};

	return hn_state_apply(s, &step, a, ret, err);
}

int hn_cache_write(const struct hn_state *s, int32_t stage, const char *scope,
		   struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {
		.kind = HN_STEP_cache_write, .stage = stage, .text = scope};

	return hn_state_apply(s, &step, a, ret, err);
}

int hn_rfactor(const struct hn_state *s, int32_t stage, int32_t iter, int32_t factor_iter,
	       struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	struct hn_step step = {.kind = HN_STEP_rfactor, .stage = stage};

	step.a[HN_RF_ITER] = iter;
	step.a[HN_RF_FACTOR_ITER] = factor_iter;
	return hn_state_apply(s, &step, a, ret, err);
}
