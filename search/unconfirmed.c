/* search/unconfirmed.c -- no search: the schedules by rule whose instructions no machine has
 * confirmed, and then nothing.  What they are worth, on the first machine that can tell. */

#include "search/search_int.h"

struct hn_policy {
	struct hn_space space;
};

static int create(const struct hn_task *task, struct hn_policy **ret, struct hn_err *err)
{
	int rc = hn_policy_new(task, sizeof(struct hn_policy), ret, err);

	if (rc == 0) {
		hn_space_only_unconfirmed(&(*ret)->space);
	}
	return rc;
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

extern const struct hn_policy_ops hn_policy_unconfirmed;
const struct hn_policy_ops hn_policy_unconfirmed = {
	.name = "unconfirmed",
	.create = create,
	.destroy = hn_policy_free,
	.ask = ask,
	.tell = tell
};
