/* bench/contest.c -- what all contenders share. */
#include "bench/contest.h"

#include <stdlib.h>

#include "base/rng.h"

void hn_contest_arguments(struct hn_contest *t, struct hn_arena *a)
{
	t->arg = HN_NEW_ARRAY(a, float *, t->dag->n_arg);
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		int64_t n = hn_contest_elements(t, i);
		struct hn_rng rng = hn_rng_stream(5, i, 0, 0);
		void *at;

		hn_assert(posix_memalign(&at, 4096,
					 ((size_t)n * sizeof(float) + 4095) / 4096 *
						 4096) == 0);
		t->arg[i] = at;
		for (int64_t k = 0; k < n; k++) {
			t->arg[i][k] = (float)(2 * hn_rng_unit(&rng) - 1);
		}
	}
}

void hn_contest_drop_arguments(struct hn_contest *t)
{
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		free(t->arg[i]);
	}
}

int hn_contest_pool(struct hn_contest *t, struct hn_err *err)
{
	hn_assert(sched_getaffinity(0, sizeof(t->cores), &t->cores) == 0);
	return hn_kernel_pool_new(t->n_threads, NULL, NULL, &t->pool, err);
}

void hn_contest_drop_pool(struct hn_contest *t)
{
	hone_pool_destroy(t->pool);
	sched_setaffinity(0, sizeof(t->cores), &t->cores);
}

void hn_contest_close(struct hn_contest *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->contender[i].close != NULL) {
			t->contender[i].close(t->contender[i].ctx);
		}
	}
	t->n = 0;
}

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
