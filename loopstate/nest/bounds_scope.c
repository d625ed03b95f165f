/* loopstate/nest/bounds_scope.c -- see bounds_scope.h.
 *
 * Memories and thread numbers have ranks: a loop over a thread number of rank r runs for
 * memory of rank <= r.  A stage without a memory of its own gets the nearest one that the
 * loops around it share. */
#include "loopstate/nest/bounds_scope.h"

#include <string.h>

enum memory { GLOBAL, SHARED, WARP, LOCAL, UNITS };

#define NO_THREAD (-1)

/* 0: the same in all threads of a block; 1: differs from thread to thread. */
static int thread_rank(uint8_t ann)
{
	return !hn_ann_is_thread(ann) ? NO_THREAD : hn_ann_rows[ann].runs != HN_RUNS_BLOCKS;
}

/* The memory named (also "shared.dyn"); false when the name is not one we know. */
static bool named_memory(const char *scope, enum memory *ret)
{
	static const struct {
		const char *prefix;
		enum memory memory;
	} known[] = { { "global", GLOBAL },
		      { "shared", SHARED },
		      { "warp", WARP },
		      { "local", LOCAL },
		      { "wmma", UNITS } };

	for (uint32_t k = 0; k < HN_COUNT_OF(known); k++) {
		if (strncmp(scope, known[k].prefix, strlen(known[k].prefix)) == 0) {
			*ret = known[k].memory;
			return true;
		}
	}
	return false;
}

static enum memory memory_of(const struct hn_state *s, int32_t i)
{
	static const enum memory by_rank[] = { GLOBAL, SHARED, LOCAL };
	const struct hn_stage *st = s->stage[i];
	int rank = NO_THREAD;
	enum memory m;

	if (st->scope != NULL && named_memory(st->scope, &m)) {
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
static bool thread_runs(enum memory m, uint8_t ann)
{
	return (int)m <= thread_rank(ann) || (m == WARP && ann == HN_ANN_THREAD_X);
}

bool hn_scope_serves(const struct hn_state *s, int32_t i, uint8_t ann)
{
	return hn_ann_is_thread(ann) && thread_runs(memory_of(s, i), ann);
}

void hn_scope_fix_loops(const struct hn_state *s, int32_t i, const int32_t *first_loop,
			bool *fixed)
{
	enum memory m = memory_of(s, i);

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
