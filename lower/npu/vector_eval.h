/* lower/npu/vector_eval.h -- what an op's expressions are evaluated at: shared by the two files that
 * make values of a dag. */
#ifndef HN_LOWER_NPU_VECTOR_EVAL_H
#define HN_LOWER_NPU_VECTOR_EVAL_H

#include "lower/npu/vector_int.h"

struct vec_point {
	struct vec *x;
	const struct hn_op *op;
	uint32_t i; /* its number */
	struct vec_line *axis; /* of each of its axes */
};

/* vector_line.c: e as a linear form of the dimensions found; false: it is none. */
bool vec_line_of(const struct vec_point *p, const struct hn_expr *e, struct vec_line *ret);
/* The least and the greatest that it may be. */
void vec_line_ends(const struct vec *x, const struct vec_line *l, int64_t *lo, int64_t *hi);
/* Where what is read so lies in a tensor of this shape: dims, offset and strides of *ret. */
void vec_lie(const struct vec *x, const int64_t *shape, uint32_t rank, const struct vec_line *at,
	     struct vec_value *ret);

/* vector_eval.c: op i's value where its axes are these forms; -1 after an error. */
int32_t vec_value_of(struct vec *x, uint32_t i, uint32_t out, const struct vec_line *at);
/* The dimension of a part of an axis of op i: the same wherever it is asked for; -1: extent 1. */
int8_t vec_side_of(struct vec *x, uint32_t i, uint32_t d, int64_t from, int64_t extent);
/* What is computed with: int8 and its kin in float16, which has all of their numbers. */
enum hn_dtype vec_carrier(enum hn_dtype t);

/* vector_expr.c: e at the point; and `a` where the condition holds, else b. */
struct vec_item vec_expr(const struct vec_point *p, const struct hn_expr *e);
struct vec_item vec_guarded(const struct vec_point *p, const struct hn_expr *condition,
			    struct vec_item a, struct vec_item b, enum hn_dtype t);

/* vector_region.c: whether a condition on where a point is holds at all points of the box; where it does
 * for some, x->cut says where the box or a sum is to be cut, or x->apart_at along which a sum is to be
 * taken apart, if they can be. */
enum vec_truth { VEC_NO, VEC_YES, VEC_PARTLY, VEC_DATA };
enum vec_truth vec_decided(const struct vec_point *p, const struct hn_expr *e);
/* vector_sum.c: the value of an op that is a reduction; whether it is taken in parts along an axis. */
struct vec_item vec_reduced(struct vec_point *p, const struct hn_op *op);
bool vec_is_split(const struct vec *x, uint32_t i, uint32_t axis);

#endif
