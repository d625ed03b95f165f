/* search/heuristic.c -- no search: the heuristic schedules, and then nothing.  What the rules alone
 * are worth, and an answer within a second. */

#include "search/search_int.h"

struct hn_policy {
	struct hn_space space;
};

static int create(const struct hn_task *task, struct hn_policy **ret, struct hn_err *err)
{
	return hn_policy_new(task, sizeof(struct hn_policy), ret, err);
}

static uint32_t ask(struct hn_policy *p, uint32_t n, struct hn_arena *a,
		    struct hn_candidate *ret)
{
	return hn_space_heuristics(&p->space, n, a, ret);
}

static void tell(struct hn_policy *p, const struct hn_told *told, uint32_t n)
{
	hn_space_heard(&p->space, told, n);
}

extern const struct hn_policy_ops hn_policy_heuristic;
const struct hn_policy_ops hn_policy_heuristic = {
	.name = "heuristic",
	.create = create,
	.destroy = hn_policy_free,
	.ask = ask,
	.tell = tell
};
