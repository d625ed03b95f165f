/* each_cropped.h -- a program of each_case.h cut down to a few elements, with its right answers. */
#ifndef HN_TESTS_EACH_CROPPED_H
#define HN_TESTS_EACH_CROPPED_H

#include "tests/lib/cropped.h"
#include "tests/lib/each_case.h"

/* NULL: what is left is no program.  Else *want is to be freed. */
static inline const struct hn_dag *each_cropped(const struct each *e, struct hn_arena *a,
						struct run_args *want)
{
	const struct hn_dag *few = crop_dag(e->dag, 4, 6, a);
	struct hn_err err = { 0 };

	if (hn_dag_check(e->name, few, 0, &err) != 0) {
		return NULL;
	}
	run_args_make(few, 7, want);
	assert_int_equal(hn_interpret(few, want->at, &err), 0);
	return few;
}

#endif
