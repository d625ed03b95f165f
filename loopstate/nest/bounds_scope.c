/* loopstate/nest/bounds_scope.c -- see bounds_scope.h.
 *
 * A loop over block or thread numbers runs for a memory of which all its iterations share one copy.
 * A stage without a memory of its own gets the nearest one that the loops around it share. */
#include "loopstate/nest/bounds_scope.h"

#include "loopstate/nest/memory.h"

#define NO_THREAD (-1)

/* 0: the same in all threads of a block; 1: differs from thread to thread. */
static int thread_rank(uint8_t ann)
{
	return !hn_ann_is_thread(ann) ? NO_THREAD : hn_ann_rows[ann].runs != HN_RUNS_BLOCKS;
}

static enum hn_memory memory_of(const struct hn_state *s, int32_t i)
{
	static const enum hn_memory by_rank[] = { HN_MEMORY_GLOBAL, HN_MEMORY_SHARED,
						  HN_MEMORY_LOCAL };
	const struct hn_stage *st = s->stage[i];
	enum hn_memory m = hn_memory_of_scope(st->scope);
	int rank = NO_THREAD;

	if (m != HN_N_MEMORY) {
		return m;
	}
	for (; st->at == HN_AT_ITER; st = s->stage[st->at_stage]) {
		for (int32_t k = 0; k <= st->at_iter; k++) {
			int r = thread_rank(s->stage[st->at_stage]->iter[k].ann);

			rank = r > rank ? r : rank;
		}
	}
	return by_rank[rank + 1];
}

/* threadIdx.x is the number within the warp whose memory it is. */
static bool thread_runs(enum hn_memory m, uint8_t ann)
{
	switch (hn_memory_rows[m].copies) {
	case HN_COPIES_GRID:
		return true;
	case HN_COPIES_BLOCK:
		return thread_rank(ann) > 0;
	case HN_COPIES_WARP:
		return ann == HN_ANN_THREAD_X;
	case HN_COPIES_THREAD:
		break;
	}
	return false;
}

bool hn_scope_serves(const struct hn_state *s, int32_t i, uint8_t ann)
{
	return hn_ann_is_thread(ann) && thread_runs(memory_of(s, i), ann);
}

void hn_scope_fix_loops(const struct hn_state *s, int32_t i, const int32_t *first_loop,
			bool *fixed)
{
	enum hn_memory m = memory_of(s, i);

	for (uint32_t c = 0; c < s->n_stage; c++) {
		for (uint32_t k = 0; k < s->stage[c]->n_iter; k++) {
			uint8_t ann = s->stage[c]->iter[k].ann;

			fixed[first_loop[c] + (int32_t)k] =
				hn_ann_is_thread(ann) && !thread_runs(m, ann);
		}
	}
	for (const struct hn_stage *st = s->stage[i]; st->at == HN_AT_ITER;
	     st = s->stage[st->at_stage]) {
		for (int32_t k = 0; k <= st->at_iter; k++) {
			if (!hn_ann_is_thread(s->stage[st->at_stage]->iter[k].ann)) {
				fixed[first_loop[st->at_stage] + k] = true;
			}
		}
	}
}
