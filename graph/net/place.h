/* graph/net/place.h -- in whose memory each value lies.
 *
 * A step costs what it moves, so what is moved already is not moved again:
 *   - a reshape, and a transposition that the layouts settle (layout.h), are their operand's memory;
 *   - the parts of a concatenation are written where they lie in the whole, by the steps that
 *     compute them, and the concatenation is nothing to do;
 *   - a slice is read where it lies in what it is a part of.
 * Along any dimension but the outermost a part's rows lie apart; then it has strides, and so have
 * the kernels that read and write it (loopstate/nest/strided.h).  What a task computes does not
 * change.
 *
 * Source: in-place concatenation as memory planners of inference engines do it; strides are numpy's.
 */
#ifndef HN_GRAPH_NET_PLACE_H
#define HN_GRAPH_NET_PLACE_H

#include "graph/ir/graph.h"

struct hn_gplace {
	int32_t root;	       /* the value whose memory it is; itself: its own */
	int64_t at;	       /* where in it, in elements */
	const int64_t *stride; /* [rank] elements, in the order of memory; NULL: in a row */
};

struct hn_places {
	const struct hn_gplace *of; /* [n_value] */
	const bool *is_alias;	    /* [n_node] its results are memory of others: nothing to do */
};

/* After hn_layout_choose; parts: concatenations and slices are as said, else only reshapes and
 * transpositions are another's memory, and no value is strided.  All in g's arena. */
void hn_places_make(struct hn_graph *g, bool parts, struct hn_places *ret);

/* A value's elements as rows at one distance; n 1: they lie in a row. */
struct hn_grows {
	int64_t n, length, pitch; /* the latter two in elements */
};
struct hn_grows hn_gplace_rows(const struct hn_gvalue *v, const struct hn_gplace *p);

/* The extent of v's dimension k in the order of memory. */
static inline int64_t hn_gvalue_extent(const struct hn_gvalue *v, uint32_t k)
{
	return v->shape[v->order != NULL ? v->order[k] : k];
}

#endif
