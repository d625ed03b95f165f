/* search/random.c -- the baseline: programs drawn from the sketches, no model, no memory
 * but of what has been out. */

#include "search/search_int.h"

#define DRAWS_PER_CANDIDATE 64 /* fruitless draws until the space counts as exhausted */

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
	struct hn_arena scratch;
	uint32_t got = 0;
	uint64_t index = 0;

	hn_arena_init(&scratch, 0);
	for (uint32_t dry = 0; got < n && dry < DRAWS_PER_CANDIDATE; dry++) {
		struct hn_indiv x;
		hn_arena_reset(&scratch);
		if (hn_space_sample(&p->space, index++, &scratch, &x) == HN_VERDICT_OK &&
		    hn_space_take(&p->space, &x)) {
			hn_space_score(&p->space, &x, 1);
			ret[got++] = hn_space_candidate(&p->space, &x, a);
			dry = 0;
		}
	}
	p->space.round++;
	hn_arena_fini(&scratch);
	return got;
}

static void tell(struct hn_policy *p, const struct hn_told *told, uint32_t n)
{
	hn_space_heard(&p->space, told, n);
}

extern const struct hn_policy_ops hn_policy_random;
const struct hn_policy_ops hn_policy_random = {
	.name = "random", .create = create, .destroy = hn_policy_free, .ask = ask, .tell = tell};
