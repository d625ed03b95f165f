/* bench/contest.c -- what all contenders share. */
#include "bench/contest.h"

int64_t hn_contest_elements(const struct hn_contest *t, uint32_t i)
{
	return hn_op_elements(t->dag->op[t->dag->arg[i]]);
}

size_t hn_contest_bytes(const struct hn_contest *t)
{
	return (size_t)hn_dag_arg_bytes(t->dag);
}

struct hn_contender *hn_contest_add(struct hn_contest *t, const char *name)
{
	struct hn_contender *c = &t->contender[t->n++];

	hn_assert(t->n <= HN_RACE_MAX_CONTENDER);
	*c = (struct hn_contender){ .name = name, .ctx = t };
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		hn_contender_range(c, t->arg[i],
				   (size_t)hn_contest_elements(t, i) * sizeof(float));
	}
	return c;
}
