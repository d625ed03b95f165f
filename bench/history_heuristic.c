/* bench/history_heuristic.c -- a case's schedules by rule: no search, no store.  See history.h. */
#include "bench/history.h"
#include "search/answer.h"

static void add(const struct hn_trace *trace, struct hn_arena *a, struct hn_histories *ret)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_trace_write(trace, &b);
	ret->steps[ret->n++] = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
}

void hn_history_of_heuristics(const struct hn_dag *dag, const struct hn_target *target,
			  struct hn_arena *a, struct hn_histories *ret)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	uint32_t n = hn_auto(dag, target, a, trace);

	_Static_assert(HN_AUTO_MAX <= HN_HISTORY_MAX, "all heuristics can be raced");
	ret->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		add(trace[i], a, ret);
	}
}

void hn_history_of_auto(const struct hn_dag *dag, const struct hn_target *target,
			struct hn_arena *a, struct hn_histories *ret)
{
	struct hn_answers all;

	hn_answers_find(dag, target, a, &all);
	ret->n = 0;
	if (all.n > 0) {
		add(all.at[0].trace, a, ret);
	}
}
