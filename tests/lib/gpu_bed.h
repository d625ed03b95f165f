/* gpu_bed.h -- a target of a GPU and an arena, for tests of device programs. */
#ifndef HN_TESTS_GPU_BED_H
#define HN_TESTS_GPU_BED_H

#include "base/arena.h"
#include "target/target.h"

struct bed {
	struct hn_target gpu;
	struct hn_arena a;
};

/* *state is a bed for that line. */
static inline int gpu_bed(void **state, const char *line)
{
	static struct bed b;
	struct hn_err err;

	hn_arena_init(&b.a, 0);
	assert_int_equal(hn_target_parse(line, &b.a, &b.gpu, &err), 0);
	*state = &b;
	return 0;
}

static inline int tear_down(void **state)
{
	struct bed *b = *state;

	hn_arena_fini(&b->a);
	return 0;
}

#endif
