/* lower/npu/vector_walk.h -- an operation lane by lane on its way through a tile: vector_lanes.c, which
 * writes it, and vector_course.c, which says how. */
#ifndef HN_LOWER_NPU_VECTOR_WALK_H
#define HN_LOWER_NPU_VECTOR_WALK_H

#include "lower/npu/vector_text.h"

#define VEC_BLOCKS 8 /* of a repeat */

struct vec_way { /* a dimension around runs */
	int64_t n, stride[4];
};

struct vec_walk {
	struct vec_tile *t;
	uint16_t what;
	float scale;
	int n_operand;
	int32_t value[4];
	int64_t base[4];
	bool runs[4]; /* else it stays at a block */
	int64_t lanes, length; /* of a repeat; of a run */
	int64_t room;	       /* numbers from a run to the next, where nothing is between */
	uint32_t n_way;
	struct vec_way way[VEC_DIMS]; /* the innermost first */
	int64_t bits; /* blocks of what was compared: of the next repeat */
	bool one_row; /* they are of one row, that all have */
};

static inline int64_t vec_walk_size(const struct vec_walk *w, int k)
{
	return vec_size(w->t->x, w->value[k]);
}

static inline enum vec_form vec_walk_form(const struct vec_walk *w, int k)
{
	return (enum vec_form)w->t->x->v[w->value[k]].form;
}

/* Which ways the repeats go along, and the blocks of each; n_way: those of a run. */
struct vec_course {
	uint32_t by, in;
	int64_t cycles;
};

struct vec_course vec_course(const struct vec_walk *w);

#endif
