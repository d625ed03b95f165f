/* graph/op/build.h -- small operators that others are written with.
 *
 * Each returns a value, and HN_BAD for HN_BAD, as all of hn_graph_add's kin.
 */
#ifndef HN_GRAPH_OP_BUILD_H
#define HN_GRAPH_OP_BUILD_H

#include "graph/ir/op.h"

int32_t hn_cast_to(struct hn_graph *g, int32_t v, enum hn_dtype t);

/* What sums are made of: 16-bit floats as float32, so that no sum rounds at each step or leaves the
 * type; all else as it is. */
int32_t hn_widened(struct hn_graph *g, int32_t v);

int32_t hn_reshaped(struct hn_graph *g, int32_t v, uint32_t rank, const int64_t *shape);

/* The vector v as it is broadcast along dimension `axis` of a tensor of `rank` dimensions. */
int32_t hn_along(struct hn_graph *g, int32_t v, uint32_t axis, uint32_t rank);

int32_t hn_transposed(struct hn_graph *g, int32_t v, uint32_t rank, const int64_t *perm);

/* Elements first .. first + count - 1 of dimension `axis`. */
int32_t hn_part(struct hn_graph *g, int32_t v, uint32_t axis, int64_t first, int64_t count);

/* v * by, v + more. */
int32_t hn_scaled(struct hn_graph *g, int32_t v, double by);
int32_t hn_plus(struct hn_graph *g, int32_t v, double more);

/* v to the power e, in v's type. */
int32_t hn_power(struct hn_graph *g, int32_t v, double e);

/* Over axes (ascending), by a sign of the text notation: "+=!", "*=!", "max=!", "min=!".  Of no
 * elements it is what the sign starts from, where numbers have it. */
int32_t hn_reduced(struct hn_graph *g, int32_t v, const char *sign, uint32_t n,
		   const int64_t *axes, bool keep);

/* (x - mean) / sqrt(variance + epsilon) over axes; not `centred`: x / sqrt(mean of squares + ..).
 */
int32_t hn_standardized(struct hn_graph *g, int32_t v, uint32_t n, const int64_t *axes,
			double epsilon, bool centred);

/* 0, 1, .. n-1 as int64. */
int32_t hn_counting(struct hn_graph *g, int64_t n);

/* A list of all numbers from `first` to before `end`; returns how many. */
uint32_t hn_axes_from(uint32_t first, uint32_t end, int64_t ret[HN_GRAPH_MAX_RANK]);

/* Attributes of one number, and of text, for hn_graph_add, which copies them. */
struct hn_gattr hn_attr_float(const char *name, const double *v);
struct hn_gattr hn_attr_string(const char *name, const char *s);

bool hn_is_float(const struct hn_gvalue *v);

#endif
