/* bench/contest.c -- what all contenders share. */
#include "bench/contest.h"

#include <stdlib.h>

#include "measure/board/inputs.h"

#define SEED 5

void hn_contest_arguments(struct hn_contest *t, struct hn_arena *a)
{
	const struct hn_inputs in = { .kind = HN_INPUTS_PLAIN, .seed = SEED };

	t->arg = HN_NEW_ARRAY(a, void *, t->dag->n_arg);
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		size_t bytes = hn_contest_arg_bytes(t, i);
		struct hn_tensor x = { .elem = hn_contest_type(t, i),
				       .n_elem = hn_contest_elements(t, i),
				       .bytes = (int64_t)bytes };

		hn_assert(posix_memalign(&t->arg[i], 4096,
					 (bytes + 4095) / 4096 * 4096) == 0);
		hn_inputs_fill(&in, &x, i, t->arg[i]);
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

enum hn_dtype hn_contest_type(const struct hn_contest *t, uint32_t i)
{
	return (enum hn_dtype)t->dag->op[t->dag->arg[i]]
		->dtype[hn_dag_arg_out(t->dag, i)];
}

int64_t hn_contest_elements(const struct hn_contest *t, uint32_t i)
{
	return hn_op_elements(t->dag->op[t->dag->arg[i]]);
}

size_t hn_contest_arg_bytes(const struct hn_contest *t, uint32_t i)
{
	return (size_t)hn_contest_elements(t, i) * hn_dtype_bytes(hn_contest_type(t, i));
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
		hn_contender_range(c, t->arg[i], hn_contest_arg_bytes(t, i));
	}
	return c;
}
