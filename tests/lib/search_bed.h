/* search_bed.h -- the space of a task, for tests of what goes on inside a search. */
#ifndef HN_TESTS_SEARCH_BED_H
#define HN_TESTS_SEARCH_BED_H

#include "tests/lib/search_dags.h"

#include "search/search_int.h"

struct fixture {
	struct hn_arena a;
	struct hn_target target;
	struct hn_task task;
	struct hn_space space;
};

static inline void setup(struct fixture *f)
{
	hn_arena_init(&f->a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=2 "
					 "-vector_unit_bytes=64",
					 &f->a, &f->target, NULL),
			 0);
}

/* hn_space_fini is the caller's. */
static inline void open_space(struct fixture *f, const struct hn_dag *dag)
{
	struct hn_err err = { 0 };

	f->task = (struct hn_task){
		.dag = dag, .target = &f->target, .seed = 1, .model = "analytic"
	};
	if (hn_space_init(&f->space, &f->task, &err) < 0) {
		fail_msg("%s", err.msg);
	}
}

#endif
