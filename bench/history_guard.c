/* bench/history_guard.c -- a case's guard schedules: no search, no store.  See history.h. */
#include "bench/history.h"
#include "sketch/guard.h"

void hn_history_of_guards(const struct hn_dag *dag, const struct hn_target *target,
			  struct hn_arena *a, struct hn_histories *ret)
{
	const struct hn_state *guard[HN_GUARD_MAX];

	_Static_assert(HN_GUARD_MAX <= HN_HISTORY_MAX, "all guards can be raced");
	ret->n = hn_guards(dag, target, a, guard);
	for (uint32_t i = 0; i < ret->n; i++) {
		struct hn_buf b;

		hn_buf_init(&b);
		hn_trace_write(guard[i]->trace, &b);
		ret->steps[i] = hn_arena_strdup(a, b.s);
		hn_buf_fini(&b);
	}
}
